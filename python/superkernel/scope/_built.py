"""What the graph engine itself says it built, and how that compares with a plan.

Not verified: no dump of this kind from a real machine was known when this was written, only what the engine's sources
say about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from superkernel._core import ScopePiece as Piece
from superkernel._errors import SuperKernelError, make_error
from superkernel._logging import logger
from superkernel.scope._graph import Graph
from superkernel.scope._plan import ScopePlan

__all__ = ["UNVERIFIED", "BuiltKernel", "Difference", "beside", "compare", "dumps_in", "kernels_of", "lines"]

UNVERIFIED = (
    "what the engine built, by its own dumps (this reader is UNVERIFIED: it follows the engine's published sources, no "
    "dump of this kind from a real machine was known)"
)

#: The outer graph, and one graph per super kernel.
_NAMED = re.compile(r"ge_proto_(\d*).*(?:AfterSkGraph|super_kernel_sub_graph).*\.(?:txt|pbtxt|pb)")

#: In the graph of a super kernel, but none of its ops.
_NO_MEMBERS = ("Data", "NetOutput", "Send", "Recv", "SendMem", "RecvMem", "SendNotify", "RecvNotify")


class BuiltKernel(NamedTuple):
    """A super kernel of the engine."""

    #: That of its node: ``sk_<piece>_start_<first op>_end_<last op>``.
    name: str
    #: ``None``: the outer graph is not among the dumps.
    stream: int | None
    #: Name, type, stream, ids of events sent and waited for inside; in order.
    members: list[dict[str, Any]]


class Difference(NamedTuple):
    """One super kernel of the plan, of the engine, or of both."""

    planned: str | None
    built: str | None
    #: Ops that only one of them has.
    only_planned: list[str]
    only_built: list[str]
    #: The ops of both stand in another order.
    reordered: bool

    @property
    def is_same(self) -> bool:
        """Both have the same ops in the same order."""
        return None not in (self.planned, self.built) and not (self.only_planned or self.only_built or self.reordered)


def dumps_in(path: Path) -> list[Path]:
    """The engine's dumps in a folder, or those that belong to one of them, as they were written."""
    if path.is_dir():
        found = [file for file in path.rglob("ge_proto_*") if _NAMED.fullmatch(file.name)]
    elif "AfterSkGraph" in path.name:
        found = [path, *(file for file in path.parent.glob("ge_proto_*super_kernel_sub_graph*"))]
    else:
        found = [path]

    def written(file: Path) -> tuple[int, str]:
        named = _NAMED.fullmatch(file.name)
        return int(named[1] or 0) if named else 0, str(file)

    return sorted(found, key=written)


def kernels_of(graphs: Iterable[Graph]) -> list[BuiltKernel]:
    """The super kernels that these dumps show; a later dump of a kernel replaces an earlier one."""
    streams: dict[str, int] = {}
    members: dict[str, list[dict[str, Any]]] = {}
    for graph in graphs:
        inside: dict[str, list[dict[str, Any]]] = {}
        for node in graph.native().built_nodes():
            part = node.get("part_of", {})
            if node["type"] == "SuperKernel":
                streams[node["name"]] = node["stream"]
            elif part.get("kernel") and node["type"] not in _NO_MEMBERS:
                inside.setdefault(part["kernel"], []).append(
                    {
                        "name": node["name"],
                        "type": node["type"],
                        "stream": node["stream"],
                        "sends": part["sends"],
                        "receives": part["receives"],
                    }
                )
        members.update(inside)
    names = dict.fromkeys([*streams, *members])
    return [BuiltKernel(name, streams.get(name), members.get(name, [])) for name in names]


def read(path: Path) -> list[BuiltKernel]:
    """What a folder or file of dumps says."""
    kernels = kernels_of(Graph.read(file) for file in dumps_in(path))
    if not kernels:
        raise make_error(
            "SK1056",
            f"`{path}` shows no super kernel of the engine: no node of type SuperKernel and no `sk_parent_node_name`",
            'run the model with DUMP_GE_GRAPH=2 and DUMP_GRAPH_LEVEL="AfterSkGraph|super_kernel_sub_graph", and give '
            "the folder with its ge_proto_* files",
        )
    return kernels


def beside(folder: Path) -> list[BuiltKernel] | None:
    """What the dumps in a folder of graphs say, if there are any; trouble with them is no reason not to plan."""
    dumps = dumps_in(folder)
    try:
        return kernels_of(Graph.read(file) for file in dumps) if dumps else None
    except SuperKernelError as error:
        logger.warning("the engine's dumps in `%s` are left out: %s", folder, error.errorinfo["message"])
        return None


def compare(plan: ScopePlan, kernels: Iterable[BuiltKernel]) -> list[Difference]:
    """Every super kernel of the plan with its counterpart of the engine: that of its name, else the most alike."""
    left = {kernel.name: kernel for kernel in kernels}
    found: dict[str, BuiltKernel] = {}
    for piece in plan.pieces:
        if piece.node_name in left:
            found[piece.name] = left.pop(piece.node_name)
    for piece in plan.pieces:
        alike = {name: len(_names(kernel) & set(piece.members)) for name, kernel in left.items()}
        best = max(alike, key=lambda name: alike[name], default="")
        if piece.name not in found and alike.get(best):
            found[piece.name] = left.pop(best)
    differences = [_difference(piece, found.get(piece.name)) for piece in plan.pieces]
    return differences + [
        Difference(None, name, [], [op["name"] for op in kernel.members], False) for name, kernel in left.items()
    ]


def _names(kernel: BuiltKernel) -> set[str]:
    return {op["name"] for op in kernel.members}


def _difference(piece: Piece, built: BuiltKernel | None) -> Difference:
    ops = [op["name"] for op in piece.ops]
    if built is None:
        return Difference(piece.name, None, ops, [], False)
    if not built.members:
        # Only the outer graph is known.
        return Difference(piece.name, built.name, [], [], False)
    inside = _names(built)
    # Members without a task may stand in the engine's graph or not.
    common = [name for name in ops if name in inside]
    in_order = [op["name"] for op in built.members if op["name"] in common]
    only_built = [op["name"] for op in built.members if op["name"] not in piece.members]
    return Difference(
        piece.name, built.name, [name for name in ops if name not in inside], only_built, common != in_order
    )


def lines(kernels: Iterable[BuiltKernel], differences: Iterable[Difference] | None = None) -> Iterable[str]:
    """The report; without ``differences`` there is no plan to compare with."""
    kernels = list(kernels)
    yield UNVERIFIED
    for kernel in kernels:
        stream = "" if kernel.stream is None else f", stream {kernel.stream}"
        yield f"  {kernel.name}{stream}: " + (
            f"{len(kernel.members)} ops" if kernel.members else "its graph (…_super_kernel_sub_graph0) is not here"
        )
        for op in kernel.members:
            events = "".join(
                f", {word} {op[key]}" for key, word in (("receives", "waits"), ("sends", "sends")) if op[key]
            )
            yield f"    {op['name']}  {op['type']}  stream {op['stream']}{events}"
    if differences is None:
        return
    yield "compared with the plan:"
    for difference in differences:
        yield from _compared(difference)


def _compared(difference: Difference) -> Iterable[str]:
    if difference.planned is None:
        yield f"  {difference.built}: built, not planned"
    elif difference.built is None:
        yield f"  {difference.planned}: planned, not built"
    elif difference.is_same:
        yield f"  {difference.planned}: the same"
    else:
        yield f"  {difference.planned}: built as {difference.built}"
    if difference.only_planned and difference.built is not None:
        yield f"    only planned: {', '.join(difference.only_planned)}"
    if difference.only_built and difference.planned is not None:
        yield f"    only built: {', '.join(difference.only_built)}"
    if difference.reordered:
        yield "    the ops of both are in another order"
