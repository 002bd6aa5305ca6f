"""How long ``superkernel tune`` takes for a super kernel of a whole model.

    python benches/tune_scale.py

1,160 ops on one stream and on two, 50 candidates each, with a synthetic profile. The aim is under 60 s on two cores.
"""

from __future__ import annotations

import logging
import tempfile
import time
from pathlib import Path

from plan_scale import KINDS, op_list, write_kernels
from superkernel import cost

OPS, CANDIDATES, KERNELS = 1160, 50, 25
TASK_TYPES = dict(zip(KINDS, ("AI_VECTOR_CORE", "AI_CORE", "MIX_AIC", "MIX_AIC")))


def write_profile(path: Path) -> None:
    """A row per kernel: ops are found by the name of their kernel."""
    lines = ["Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim"]
    for number in range(KERNELS):
        task_type = TASK_TYPES[KINDS[number % len(KINDS)]]
        lines.append(f"k{number},Op{number},{task_type},{4 + number % 7},1.5,20,20")
    path.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Prints the times."""
    logging.getLogger("superkernel").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_kernels(Path(folder), KERNELS)
        profile = Path(folder) / "op_summary.csv"
        write_profile(profile)
        for streams, options in ((1, ""), (2, "stream-fusion=1")):
            infos = {"op_list": op_list(paths, OPS, streams), "super_kernel_options": options}
            start = time.perf_counter()
            found = cost.tune(infos, profile, candidates=CANDIDATES)
            seconds = time.perf_counter() - start
            (scope,) = found["scopes"]
            tried = len(scope["ranking"]) + len(scope["refused"])
            print(f"{streams} stream(s), {OPS} ops, {tried} candidates and their cuts: {seconds:.2f} s (aim: 60 s)")


if __name__ == "__main__":
    main()
