"""An operator on 3 cores that calls SyncAll, inside a super kernel on 8: the idle cores follow along."""

from __future__ import annotations

import numpy as np
from common import VEC, Studio, claim, run, show
from superkernel.sim import Kernel, Report

LENGTH = 1024


def build(place: Studio, options: str) -> Kernel:
    return place.fuse([place.op("running_sum", VEC, 3).entry(), place.op("scale", VEC, 8).entry()], options)


def launch(place: Studio, kernel: Kernel, seed: int, *, fed: bool) -> tuple[Report, bool]:
    x = np.random.default_rng(seed).integers(-99, 99, LENGTH, dtype=np.int32)
    buffer = place.device.buffer
    sums, result = buffer(np.zeros(LENGTH, np.int32), "sums"), buffer(np.zeros(LENGTH, np.int32), "result")
    scratch = buffer(4096, "workspace")
    # With feed-sync-all the super kernel has a workspace of its own, behind all operators.
    own = [buffer(64 * 1024, "super kernel's workspace")] if fed else []
    report = kernel.launch([buffer(x, "x"), sums, scratch, sums, result, buffer(64, "scratch"), *own], seed=seed)
    return report, np.array_equal(result.numpy(), 2 * np.cumsum(x, dtype=np.int32) + 1)


def right(place: Studio) -> None:
    kernel = build(place, "feed-sync-all=1")
    for seed in range(10):
        report, is_right = launch(place, kernel, seed, fed=True)
        report.raise_for_status()
        assert is_right
    claim(report.counts["complements"] == 5, "5 of 8 cores did not run the operator and followed its SyncAll")
    claim(is_right, "the running sums are right in all of 10 schedules")


def faulty(place: Studio) -> None:
    kernel = build(place, "feed-sync-all=0")
    report, _ = launch(place, kernel, 0, fed=False)
    show(report)
    claim(report.status == "deadlock", "without feed-sync-all the 3 cores wait for 5 that never come")
    claim("running_sum" in report.message, "the report names the operator")


if __name__ == "__main__":
    run(right, faulty)
