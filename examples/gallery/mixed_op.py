"""An operator on both kinds of core: the cube core of each block multiplies, its two vector cores add the bias."""

from __future__ import annotations

import numpy as np
from common import MIX, VEC, Studio, claim, run, show
from superkernel.sim import Kernel, Report


def build(place: Studio, *flags: str) -> Kernel:
    mixed = place.op("product_plus_bias", MIX, 4, compile_options=list(flags))
    return place.fuse([mixed.entry(), place.op("scale", VEC, 8).entry()])


def launch(place: Studio, kernel: Kernel, seed: int) -> tuple[Report, bool]:
    generator = np.random.default_rng(seed)
    a, b = (generator.integers(-9, 9, (32, 32), dtype=np.int32) for _ in range(2))
    bias = generator.integers(-9, 9, 32, dtype=np.int32)
    buffer = place.device.buffer
    between = buffer(np.zeros((32, 32), np.int32), "product")
    result = buffer(np.zeros((32, 32), np.int32), "result")
    scratch = buffer(4096, "workspace")
    # A mixed operator has the address of the cross-core scheduler among its parameters, in front.
    mixed = [0x1000, buffer(a, "a"), buffer(b, "b"), buffer(bias, "bias"), between, buffer(4096, "rows")]
    report = kernel.launch([*mixed, between, result, scratch], seed=seed)
    return report, np.array_equal(result.numpy(), 2 * (a @ b + bias) + 1)


def right(place: Studio) -> None:
    kernel = build(place)
    for seed in range(5):
        report, is_right = launch(place, kernel, seed)
        report.raise_for_status()
        assert is_right
    claim(len(report.cores) == 12, "4 cube and 8 vector cores worked together")
    claim(is_right, "the results are right in all schedules, and every flag is down at the end")


def faulty(place: Studio) -> None:
    kernel = build(place, "-DONE_ANSWERS")
    report, _ = launch(place, kernel, 0)
    show(report)
    claim(report.status == "deadlock", "one vector core of a block does not answer: the cube cores wait for ever")
    claim("product_plus_bias" in report.message, "the report names the operator")


if __name__ == "__main__":
    run(right, faulty)
