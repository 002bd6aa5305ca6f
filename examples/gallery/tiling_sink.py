"""A tiling-sink operator: a task on the AICPU decides, while the super kernel runs, how the operator is tiled."""

from __future__ import annotations

import struct

import numpy as np
from common import VEC, Studio, claim, run, show
from superkernel.sim import Kernel, Report, aicpu_tiling

LENGTH = 1024
KEY = 10000


def build(place: Studio) -> Kernel:
    dynamic = place.op("scale_by_tiling", VEC, 8, tiling_keys=[KEY])
    return place.fuse([place.op("scale", VEC, 8).entry(), dynamic.entry()])


def launch(
    place: Studio, kernel: Kernel, seed: int, *, factor: int, blocks: int, key: int = KEY, tiles: bool = True
) -> tuple[Report, bool]:
    x = np.random.default_rng(seed).integers(-999, 999, LENGTH, dtype=np.int32)
    buffer = place.device.buffer
    between, result = buffer(np.zeros(LENGTH, np.int32), "2x + 1"), buffer(np.zeros(LENGTH, np.int32), "result")
    scratch, tiling = buffer(64, "workspace"), buffer(64, "tiling")
    key_word, blocks_word, lock = buffer(64, "tiling key"), buffer(64, "block number"), buffer(64, "lock")
    task = aicpu_tiling(
        tiling=(tiling, struct.pack("<iI", factor, LENGTH)),
        key=(key_word, key),
        block_num=(blocks_word, blocks),
        lock=lock,
        delay=500,
    )
    report = kernel.launch(
        [buffer(x, "x"), between, scratch, between, result, scratch, tiling, key_word, blocks_word, lock],
        seed=seed,
        agents=[task] if tiles else [],
    )
    return report, np.array_equal(result.numpy(), factor * (2 * x + 1)) and lock.word() == 0


def right(place: Studio) -> None:
    kernel = build(place)
    for seed, (factor, blocks) in enumerate([(3, 1), (-5, 7), (11, 48)]):
        report, is_right = launch(place, kernel, seed, factor=factor, blocks=blocks)
        report.raise_for_status()
        claim(
            is_right, f"factor {factor} on {blocks} blocks, decided during the run: right, and the lock is down again"
        )


def faulty(place: Studio) -> None:
    kernel = build(place)
    report, _ = launch(place, kernel, 0, factor=3, blocks=4, tiles=False)
    show(report)
    claim(report.status == "deadlock", "the tiling task never comes: all cores poll the lock for ever")
    claim("lock" in report.message, "the report names the lock")
    report, _ = launch(place, kernel, 0, factor=3, blocks=4, key=KEY + 1)
    show(report)
    claim(report.status == "trap", "a tiling key that the operator does not have stops the kernel")


if __name__ == "__main__":
    run(right, faulty)
