"""How long a timeline of 1,160 ops on 72 cores takes to make and to write, and how large its file is.

    python benches/trace_scale.py

Limits that the project promises: under 3 s, under 60 MB. Two forms: every op on all cores, one stream and two.
"""

from __future__ import annotations

import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import superkernel
from plan_scale import op_list, write_kernels
from superkernel import cost

OPS = 1160
SECONDS, MEGABYTES = 3.0, 60.0


def measure(infos: dict[str, Any]) -> tuple[float, float, float, list[str]]:
    """Seconds of one processor, seconds of the clock, megabytes, and what the picture says about itself."""
    started, clock = time.process_time(), time.perf_counter()
    traces, _ = cost.trace(infos)
    data = traces.to_bytes()
    busy, took = time.process_time() - started, time.perf_counter() - clock
    return busy, took, len(data) / 1e6, traces.kernels[0][2]


def main() -> None:
    """Prints the table."""
    logging.getLogger("superkernel").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, superkernel.configure(soc="Ascend910_93", aic_num=24, aiv_num=48):
        # Blocks of every op: with one vector op of 48 blocks and MIX ops of 24 the launch has 24 + 48 cores.
        paths = write_kernels(Path(folder), 25, blocks=24)
        for streams, options in ((1, ""), (1, "early-start=0:debug-dcci-all=1:profiling=1"), (2, "stream-fusion=1")):
            infos = {"op_list": op_list(paths, OPS, streams), "super_kernel_options": options}
            seconds, took, megabytes, notes = min(measure(infos) for _ in range(3))
            kept = seconds < SECONDS and megabytes < MEGABYTES
            form = f"{streams} stream(s) {options or 'default options'}"
            limits = f"{'within' if kept else 'OVER'} {SECONDS:.0f} s and {MEGABYTES:.0f} MB"
            print(f"{form}: {seconds:.2f} s of a processor ({took:.2f} s), {megabytes:.1f} MB ({limits})")
            for note in notes:
                print(f"  {note}")


if __name__ == "__main__":
    main()
