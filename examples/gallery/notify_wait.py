"""Events exchanged with somebody outside: the kernel notifies, a partner answers with data, the kernel goes on."""

from __future__ import annotations

import numpy as np
from common import VEC, Studio, claim, run, show
from superkernel.sim import Agent, Kernel, Report

LENGTH = 1024
ASK, ANSWER = 5, 6


def build(place: Studio) -> Kernel:
    return place.fuse(
        [
            place.op("scale", VEC, 8).entry(send_events=[ASK]),
            place.op("add", VEC, 4).entry(recv_events=[ANSWER]),
        ]
    )


def launch(place: Studio, kernel: Kernel, seed: int, *, answers: bool = True) -> tuple[Report, bool]:
    generator = np.random.default_rng(seed)
    x, sent = (generator.integers(-999, 999, LENGTH, dtype=np.int32) for _ in range(2))
    buffer = place.device.buffer
    between, result = buffer(np.zeros(LENGTH, np.int32), "2x + 1"), buffer(np.zeros(LENGTH, np.int32), "result")
    theirs = buffer(np.zeros(LENGTH, np.int32), "the partner's data")
    ask, answer = buffer(64, "lock of the question"), buffer(64, "lock of the answer")
    scratch = [buffer(64, "scratch of scale"), buffer(64, "scratch of add")]
    partner = Agent("partner", [(theirs, sent.tobytes()), (answer, 1)], word=ask, delay=300)
    report = kernel.launch(
        [buffer(x, "x"), between, scratch[0], ask, between, theirs, result, scratch[1], answer],
        seed=seed,
        agents=[partner] if answers else [],
    )
    return report, np.array_equal(result.numpy(), 2 * x + 1 + sent) and ask.word() == 1 and answer.word() == 0


def right(place: Studio) -> None:
    kernel = build(place)
    for seed in range(10):
        report, is_right = launch(place, kernel, seed)
        report.raise_for_status()
        assert is_right
    claim(report.agents["partner"] == 1, "the partner was asked, and answered 300 steps later")
    claim(is_right, "add waited for the answer on all cores, and its lock is down again")


def faulty(place: Studio) -> None:
    kernel = build(place)
    report, _ = launch(place, kernel, 0, answers=False)
    show(report)
    claim(report.status == "deadlock", "the partner does not answer: one core polls, the others wait for it")
    claim("lock of the answer" in report.message, "the report names the word that is polled")


if __name__ == "__main__":
    run(right, faulty)
