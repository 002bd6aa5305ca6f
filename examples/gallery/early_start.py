"""Early start inside kernels: the second operator loads its weights while the first is still busy."""

from __future__ import annotations

import numpy as np
from common import VEC, Studio, claim, run, show
from superkernel.sim import Kernel, Report

LENGTH = 1024


def build(place: Studio, *flags: str) -> Kernel:
    return place.fuse(
        [
            place.op("produce", VEC, 8, position="start", compile_options=list(flags)).entry(),
            place.op("consume", VEC, 4, position="end").entry(),
        ],
        "early-start=1",
    )


def launch(place: Studio, kernel: Kernel, seed: int) -> tuple[Report, bool]:
    generator = np.random.default_rng(seed)
    x, weight = (generator.integers(-999, 999, LENGTH, dtype=np.int32) for _ in range(2))
    buffer = place.device.buffer
    between, result = buffer(np.zeros(LENGTH, np.int32), "3x"), buffer(np.zeros(LENGTH, np.int32), "result")
    scratch = [buffer(64, "scratch of produce"), buffer(64, "scratch of consume")]
    report = kernel.launch(
        [buffer(x, "x"), between, scratch[0], between, buffer(weight, "weight"), result, scratch[1]],
        # Some cores far ahead of others.
        schedule="skewed",
        seed=seed,
    )
    return report, np.array_equal(result.numpy(), 3 * x + weight)


def right(place: Studio) -> None:
    kernel = build(place)
    overlaps = 0
    for seed in range(10):
        report, is_right = launch(place, kernel, seed)
        report.raise_for_status()
        assert is_right
        begun = [event.step for event in report.events if event.op == "consume" and "begin" in event.what]
        ended = [event.step for event in report.events if event.op == "produce" and "end" in event.what]
        overlaps += min(begun) < max(ended)
    claim(overlaps == 10, "consume began before produce had ended in all of 10 schedules")
    claim(is_right, "and yet it never read anything that was not written yet")


def faulty(place: Studio) -> None:
    kernel = build(place, "-DTOO_EARLY")
    reports = [launch(place, kernel, seed) for seed in range(10)]
    wrong = [report for report, is_right in reports if not is_right or not report.ok]
    # No synchronisation is missing, so no flag tells: with SetNextTaskStart the operator promised that all is written.
    show(reports[0][0])
    claim(len(wrong) > 0, f"produce lets consume start before it has written: {len(wrong)} of 10 results are wrong")


if __name__ == "__main__":
    run(right, faulty)
