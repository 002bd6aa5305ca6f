"""How the time of the program checker grows: with the number of ops (two streams, an event for every fourth op), and
with the number of events that one op waits for or sends.

    python benches/check_scale.py

Prints the best of several runs for each size: reading the text form and checking it, as ``superkernel check`` does.
10,000 ops with 2,500 events are meant to stay under a second in the release build. Events are planned too: the plan
of one op with 20,000 events must not take longer per event than that of one with 5,000.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import superkernel
from plan_scale import op_list, write_kernels
from superkernel import _core
from superkernel._generate import program_text

SIZES = (1250, 2500, 5000, 10000)
EVENTS = (5000, 10000, 20000)
ROUNDS = 3


def best(run: Callable[[], object]) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def check(text: str) -> None:
    """Checks a program that is right."""
    if violations := _core.check_program(text):
        raise SystemExit(f"the checker refuses a good program: {violations[:3]}")


def with_events(paths: list[str], outer: int, inner: int) -> dict[str, Any]:
    """Four ops on two streams: the second waits for events from outside, the third sends some to the fourth."""
    ops = op_list(paths, 4, streams=1)
    for op, stream in zip(ops, (0, 0, 0, 1)):
        op.update(stream_id=stream, send_event_list=[], recv_event_list=[])
    ops[1]["recv_event_list"] = list(range(outer))
    ops[2]["send_event_list"] = ops[3]["recv_event_list"] = list(range(10**6, 10**6 + inner))
    return {"op_list": ops, "super_kernel_options": "stream-fusion=1"}


def main() -> None:
    """Prints a line per size."""
    # Every kernel without an object is a warning.
    logging.getLogger("superkernel").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_kernels(Path(folder), 40)
        for count in SIZES:
            infos = {"op_list": op_list(paths, count, streams=2), "super_kernel_options": "stream-fusion=1"}
            text = program_text(infos, "bench")
            seconds = best(partial(check, text))
            print(f"{count:6} ops on two streams: {seconds * 1000:8.1f} ms, {seconds / count * 1e6:6.2f} µs per op")
        for kind in ("outer", "inner"):
            for count in EVENTS:
                infos = with_events(paths, **{"outer": 1, "inner": 1, kind: count})
                seconds = best(partial(superkernel.plan, infos))
                each = f"{seconds / count * 1e6:6.2f} µs per event"
                print(f"{count:6} {kind} events of one op: {seconds * 1000:8.1f} ms, {each}")


if __name__ == "__main__":
    main()
