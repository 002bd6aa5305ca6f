"""Files and folders of dumps: which files are graphs, which of several are the newest, and what is only a view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from superkernel._errors import SuperKernelError, make_error
from superkernel.scope._graph import Graph

#: As TorchAir names them: per graph and rank one file for every run.
_NAMED = re.compile(r"dynamo_optimized_(.+)_rank_(\d+)_pid_\d+_ts_(\d+)\.(?:txt|pbtxt|py)")
#: As `TORCH_COMPILE_DEBUG=1` leaves them, in a folder `run_<time>-pid_<process>` per run.
_DEBUG = re.compile(r"\d+_.*_optimized_ge_graph\.(?:txt|pbtxt|py)")
#: Files that a message names.
_SHOWN = 6
#: What stands in every form, but under a name of its own.
_SOURCES = ("Data", "RefData", "Const", "NetOutput")


class Dump(NamedTuple):
    """A graph of a folder."""

    title: str
    path: Path
    #: Of another run: one of the two is in the form that alone has lines of Python.
    other: Path | None = None


def graphs_in(folder: Path) -> list[Dump]:
    """The newest graph of every graph and rank below a folder, with what it is called."""
    dumped: dict[tuple[str, int], list[tuple[int, Path]]] = {}
    for path in sorted(folder.rglob("dynamo_optimized_*")):
        named = _NAMED.fullmatch(path.name)
        if named is not None:
            dumped.setdefault((named.group(1), int(named.group(2))), []).append((int(named.group(3)), path))
    found = [_newest(f"{graph}, rank {rank}", files) for (graph, rank), files in sorted(dumped.items())]
    return found or _of_debug_runs(folder)


def _of_debug_runs(folder: Path) -> list[Dump]:
    """The graphs of the newest run of each folder of runs."""
    newest: dict[tuple[Path, str], Dump] = {}
    for path in sorted(folder.rglob("*_optimized_ge_graph.*")):
        if _DEBUG.fullmatch(path.name) is None:
            continue
        run = next((parent for parent in path.parents if parent.name.startswith("run_")), path.parent)
        newest[run.parent, str(path.relative_to(run))] = Dump(str(path.relative_to(folder)), path)
    return [*newest.values()]


def _newest(title: str, files: list[tuple[int, Path]]) -> Dump:
    """The newest file; of a Python form and the others the newest too."""
    newest = max(files)[1]
    others = [file for file in files if (file[1].suffix == ".py") != (newest.suffix == ".py")]
    return Dump(title, newest, max(others)[1] if others else None)


def read(dump: Dump, *, compile_results: bool = False) -> Graph:
    """The graph, with lines of Python where another form of the same graph tells them."""
    newest = Graph.read(dump.path, compile_results=compile_results)
    if dump.other is None:
        return newest
    try:
        other = Graph.read(dump.other)
    except SuperKernelError:
        # It was only to add to the newest.
        return newest
    code, whole = (newest, other) if dump.path.suffix == ".py" else (other, newest)
    ops = _ops(code)
    if [*ops] != [*_ops(whole)]:
        return newest
    whole.add_origins({name: {"line": origin["line"]} for (name, _), origin in ops.items() if origin.get("line")})
    return whole


def _ops(graph: Graph) -> dict[tuple[str, str], dict[str, str]]:
    """Where each op comes from, by name and type."""
    nodes: list[dict[str, Any]] = graph.to_dict()["nodes"]
    return {(node["name"], node["type"]): node.get("origin", {}) for node in nodes if node["type"] not in _SOURCES}


def exclusions(exclude: Iterable[str], graphs: Sequence[Graph]) -> Iterator[list[str]]:
    """The nodes to leave out of each of several graphs: one that is in any of them need not be in the others."""
    exclude = list(exclude)
    names: list[set[str]] = [{node["name"] for node in graph.nodes} if exclude else set() for graph in graphs]
    known = set().union(*names)
    for own in names:
        yield [name for name in exclude if name in own or name not in known]


def nothing_in(folder: Path) -> Exception:
    """The error about a folder without graphs."""
    views = any(path.name.startswith(("ge_onnx_", "ge_readable_")) for path in folder.rglob("ge_*"))
    what = ", only views for people (ge_onnx_*, ge_readable_*), which do not have what a plan needs" if views else ""
    return make_error(
        "SK1055",
        f"there is no dynamo_optimized_* below `{folder}`{what}",
        'let TorchAir dump its graphs: config.debug.graph_dump.type = "txt"; or name one file',
    )


def only_one_in(folder: Path, *, compile_results: bool = False) -> Graph:
    """The graph of a folder, for commands that take one."""
    found = graphs_in(folder)
    if not found:
        raise nothing_in(folder)
    if len(found) > 1:
        names = ", ".join(f"`{dump.path}`" for dump in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise make_error(
            "SK1057",
            f"there are {len(found)} graphs below `{folder}`, and this command takes one",
            f"name one of them: {names}{more}",
        )
    return read(found[0], compile_results=compile_results)
