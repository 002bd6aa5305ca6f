"""Cube and vector operators side by side on two streams, joined by an event.

stream 0:  product (cube) ──event──┐
stream 1:  scale (vector) ─────── add (vector)
"""

from __future__ import annotations

import numpy as np
from common import CUBE, VEC, Studio, claim, run, show
from superkernel.sim import Kernel, Report

DONE = 1


def build(place: Studio, *, joined: bool) -> Kernel:
    events = [DONE] if joined else []
    return place.fuse(
        [
            place.op("product", CUBE, 8).entry(stream_id=0, send_events=events),
            place.op("scale", VEC, 8).entry(stream_id=1),
            place.op("add", VEC, 4).entry(stream_id=1, recv_events=events),
        ],
        "stream-fusion=1",
    )


def launch(place: Studio, kernel: Kernel, seed: int, *, joined: bool) -> tuple[Report, bool]:
    generator = np.random.default_rng(seed)
    a, b = (generator.integers(-9, 9, (32, 32), dtype=np.int32) for _ in range(2))
    x = generator.integers(-999, 999, (32, 32), dtype=np.int32)
    device = place.device
    memory = {name: device.buffer(content, name) for name, content in (("a", a), ("b", b), ("x", x))}
    for name in ("a x b", "2x + 1", "sum"):
        memory[name] = device.buffer(np.zeros((32, 32), np.int32), name)
    locks = [device.buffer(64, "lock sent"), device.buffer(64, "lock received")] if joined else []
    scratch = device.buffer(64, "workspace")
    product = [memory["a"], memory["b"], memory["a x b"], scratch]
    scale = [memory["x"], memory["2x + 1"], scratch]
    add = [memory["a x b"], memory["2x + 1"], memory["sum"], scratch]
    # An operator's locks stand behind its parameters.
    report = kernel.launch(
        [*product, *locks[:1], *scale, *add, *locks[1:]],
        seed=seed,
        accesses={
            "product": {"reads": product[:2], "writes": product[2:3]},
            "scale": {"reads": scale[:1], "writes": scale[1:2]},
            "add": {"reads": add[:2], "writes": add[2:3]},
        },
    )
    right = np.array_equal(memory["sum"].numpy(), a @ b + 2 * x + 1)
    return report, right


def right(place: Studio) -> None:
    kernel = build(place, joined=True)
    overlapped = 0
    for seed in range(10):
        report, is_right = launch(place, kernel, seed, joined=True)
        report.raise_for_status()
        assert is_right
        begun = [event.step for event in report.events if event.op == "scale" and "begin" in event.what]
        ended = [event.step for event in report.events if event.op == "product" and "end" in event.what]
        overlapped += min(begun) < max(ended)
    claim(overlapped == 10, "cube and vector cores worked at the same time in all of 10 schedules")
    claim(True, "add always had the whole product: the results are right and no order was left to luck")


def faulty(place: Studio) -> None:
    kernel = build(place, joined=False)
    reports = [launch(place, kernel, seed, joined=False) for seed in range(10)]
    hazards = [report for report, _ in reports if report.hazards]
    lucky = sum(is_right for _, is_right in reports)
    show(hazards[0])
    claim(len(hazards) == 10, "without the event every schedule is reported")
    claim(
        all("product" in str(report) and "add" in str(report) for report in hazards),
        f"each report names product and add, also where the values were right by luck ({lucky} of 10)",
    )


if __name__ == "__main__":
    run(right, faulty)
