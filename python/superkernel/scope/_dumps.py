"""Folders of dumps: which files in them are graphs, and which of several are the newest."""

from __future__ import annotations

import re
from pathlib import Path

from superkernel._errors import make_error

#: As TorchAir names them: per graph and rank one file for every run.
_NAMED = re.compile(r"dynamo_optimized_(.+)_rank_(\d+)_pid_\d+_ts_(\d+)\.(?:txt|pbtxt|py)")
#: As `TORCH_COMPILE_DEBUG=1` leaves them.
_DEBUG = "*_optimized_ge_graph.txt"


def graphs_in(folder: Path) -> list[tuple[str, Path]]:
    """The newest graph of every graph and rank below a folder, with what it is called."""
    newest: dict[tuple[str, int], tuple[int, Path]] = {}
    for path in sorted(folder.rglob("dynamo_optimized_*")):
        named = _NAMED.fullmatch(path.name)
        if named is not None:
            key = (named.group(1), int(named.group(2)))
            newest[key] = max(newest.get(key, (-1, path)), (int(named.group(3)), path))
    found = [(f"{graph}, rank {rank}", path) for (graph, rank), (_, path) in sorted(newest.items())]
    if not found:
        found = [(str(path.relative_to(folder)), path) for path in sorted(folder.rglob(_DEBUG))]
    if not found:
        raise make_error(
            "SK1055",
            f"there is no dynamo_optimized_* below `{folder}`",
            'let TorchAir dump its graphs: config.debug.graph_dump.type = "txt"; or name one file',
        )
    return found
