"""How the time of the program checker grows with the number of ops: two streams, an event for every fourth op.

    python benches/check_scale.py

Prints the best of several runs for each size: reading the text form and checking it, as ``superkernel check`` does.
10,000 ops with 2,500 events are meant to stay under a second in the release build.
"""

from __future__ import annotations

import logging
import tempfile
import time
from pathlib import Path

from plan_scale import op_list, write_kernels
from superkernel import _core
from superkernel._generate import program_text

SIZES = (1250, 2500, 5000, 10000)
ROUNDS = 3


def best(text: str) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        violations = _core.check_program(text)
        times.append(time.perf_counter() - start)
        if violations:
            raise SystemExit(f"the checker refuses a good program: {violations[:3]}")
    return min(times)


def main() -> None:
    """Prints a line per size."""
    # Every kernel without an object is a warning.
    logging.getLogger("superkernel").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_kernels(Path(folder), 40)
        for count in SIZES:
            infos = {"op_list": op_list(paths, count, streams=2), "super_kernel_options": "stream-fusion=1"}
            text = program_text(infos, "bench")
            seconds = best(text)
            print(f"{count:6} ops on two streams: {seconds * 1000:8.1f} ms, {seconds / count * 1e6:6.2f} µs per op")


if __name__ == "__main__":
    main()
