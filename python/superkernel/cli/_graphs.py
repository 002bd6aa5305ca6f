"""Super kernels of a marked graph, to be run: which parameters share memory follows from its data edges."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superkernel._core import Parameter
    from superkernel.scope import Graph, Piece

__all__ = ["graph_of", "pieces", "shared"]


def graph_of(options: argparse.Namespace) -> Graph | None:
    """The graph of the file; ``None`` if it holds an op list or a kernel's description."""
    import json
    import os

    from superkernel.cli import _streams
    from superkernel.scope import Graph

    if _streams.stream_number(options.file) is not None or options.file == "-":
        return None
    data = _streams.read(options.file)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        # A dump, unless it is meant to be JSON: that is reported by its reader.
        return (
            None if data.lstrip()[:1] in (b"{", b"[", b"") else Graph.parse(data, folder=os.path.dirname(options.file))
        )
    if not isinstance(content, dict) or "nodes" not in content:
        return None
    return Graph.parse(data, folder=os.path.dirname(options.file))


def pieces(graph: Graph, options: argparse.Namespace) -> Iterator[Piece]:
    """The super kernels that are wanted."""
    from superkernel import _core
    from superkernel.scope import plan
    from superkernel.sim import _arguments as check

    found = plan(graph).pieces
    names = [piece.kernel_name for piece in found]
    if not found:
        raise check.refuse(f"{options.file} has no super kernel", "`superkernel scope` prints why")
    if options.piece is not None:
        if options.piece not in names:
            near = _core.nearest(options.piece, names, 3)
            hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(names[:24])}"
            raise check.refuse(f"--piece {options.piece}: there is no such super kernel", hint)
        found = [piece for piece in found if piece.kernel_name == options.piece]
    elif len(found) > 1 and (options.input or options.expect or options.ignore):
        raise check.refuse(
            f"--input, --expect and --ignore name parameters of one super kernel, {options.file} has {len(found)}",
            f"name it: --piece {names[0]}",
        )
    yield from found


def shared(graph: Graph, piece: Piece, parameters: Sequence[Parameter]) -> dict[str, str]:
    """Parameters that are the memory of another one: ops read what an op has written, or two of them read the same."""
    content = graph.to_dict()
    edges = content["data"]
    places = {name: place for place, name in enumerate(piece.members)}
    own: dict[int, list[str]] = {}
    for parameter in parameters:
        if parameter.op is not None and not parameter.hidden and parameter.own_name not in ("workspace", "tiling"):
            own.setdefault(parameter.op, []).append(parameter.name)
    #: How many inputs the ops have: outputs follow.
    inputs: dict[str, int] = {}
    for edge in edges:
        inputs[edge["to"]] = max(inputs.get(edge["to"], 0), edge["input"] + 1)
    found: dict[str, str] = {}
    readers: dict[tuple[str, int], str] = {}
    for edge in edges:
        reader = own.get(places.get(edge["to"], -1), [])
        if edge["input"] >= len(reader):
            continue
        name, source = reader[edge["input"]], (edge["from"], edge["output"])
        written = own.get(places.get(edge["from"], -1), [])[inputs.get(edge["from"], 0) :]
        if edge["output"] < len(written):
            found[name] = written[edge["output"]]
        elif source in readers:
            found[name] = readers[source]
        else:
            readers[source] = name
    return found
