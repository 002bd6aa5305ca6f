"""Order inside a core: pipes that run side by side, and a data cache that nobody keeps the same.

Every step that makes an order can be left out, or spoiled: `TWINS` says what is found then, and how.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from common import CUBE, VEC, Studio, claim, run, show
from superkernel.sim import Kernel, Report

CHECKED: dict[str, Any] = {"pipes": "checked"}
STRICT: dict[str, Any] = {"cache": "strict"}


class Twin(NamedTuple):
    """A mistake, the mode that finds it, what it is called, and what is said about it."""

    mistake: str
    mode: dict[str, Any]
    kind: str
    told: str


TWINS = [
    Twin("NO_FLAG", CHECKED, "unordered", "SetFlag<HardEvent::V_MTE3> and WaitFlag<HardEvent::V_MTE3>"),
    Twin("NO_DEQUE", CHECKED, "unordered", "a buffer of a VECIN queue"),
    Twin("NO_BARRIER", CHECKED, "unordered", "PipeBarrier<PIPE_MTE3> between them is missing"),
    Twin("NEVER_WRITTEN", CHECKED, "never-written", "which nothing has written since the operator began"),
    Twin("OVERLAP", CHECKED, "overlap", "repeat 0 reads and writes bytes that overlap in part"),
    Twin("EVENT_RAISED_TWICE", CHECKED, "event-doubled", "which is raised already"),
    Twin("EVENT_LEFT", CHECKED, "event-left", "event 2 from MTE3 to V is still raised at the end"),
    Twin("QUEUE_NOT_DRAINED", CHECKED, "queue-left", "a tensor of a VECIN queue was enqueued and never dequeued"),
    # On a cube core.
    Twin("PRODUCT_RAISES_NO_FLAG", CHECKED, "unit-flag", "waits for the flags of bytes 0 to 512 of L0C"),
    Twin("RESULT_WAITS_FOR_NO_FLAG", CHECKED, "unordered", "SetFlag<HardEvent::M_FIX> and WaitFlag<HardEvent::M_FIX>"),
    # These end the run in every mode.
    Twin("NO_ENQUE", {}, "api", "EnQue is missing"),
    Twin("EVENT_OUT_OF_RANGE", {}, "api", "event id 8; ids are 0 to 7"),
    Twin("MISALIGNED", {}, "api", "is not a multiple of 32"),
    Twin("OUTSIDE_OF_BUFFERS", {}, "api", "which are not all in one buffer"),
    # This one too, where loads and stores are looked at.
    Twin("LOAD_OUTSIDE_OF_BUFFERS", CHECKED, "api", "0 bytes past the end of `x`: they are in no buffer"),
    # These need two cores.
    Twin(
        "NO_DCCI_AFTER_WRITE",
        STRICT,
        "unflushed",
        "still in the data cache of AIV0: dcci after the write is missing",
    ),
    Twin("NO_DCCI_BEFORE_READ", STRICT, "stale-read", "dcci before the read is missing"),
    Twin("TWO_CORES_IN_ONE_LINE", STRICT, "lost-neighbour", "two cores must not write to one line"),
]
NUMBERS = {twin.mistake: number for number, twin in enumerate(TWINS, 1)}


def build(place: Studio) -> Kernel:
    flags = [f"-D{mistake}={number}" for mistake, number in NUMBERS.items()]
    ops = [place.op("add_one", VEC, 1, compile_options=flags), place.op("square", CUBE, 1, compile_options=flags)]
    for function in ("look", "announce", "answer"):
        ops.append(place.op(function, VEC, 2, source="hand_over", compile_options=flags))
    return place.fuse([op.entry() for op in ops])


def launch(place: Studio, kernel: Kernel, mistake: str | None, mode: dict[str, Any]) -> tuple[Report, bool]:
    buffer = place.device.buffer
    x = np.arange(64, dtype=np.float32)
    result, words, answer = buffer(np.zeros(192, np.float32), "y"), buffer(256, "words"), buffer(256, "answer")
    chosen = buffer(NUMBERS.get(mistake or "", 0).to_bytes(4, "little"), "mistake")
    scratch = buffer(64, "workspace")
    matrix = np.arange(256, dtype=np.float16).reshape(16, 16) % 7
    product = buffer(np.zeros((16, 16), np.float32), "product")
    square = [buffer(matrix, "matrix"), product, chosen, scratch]
    hand_over = [words, answer, chosen, scratch]
    arguments = [buffer(x, "x"), result, chosen, scratch, *square, *hand_over, *hand_over, *hand_over]
    report = kernel.launch(arguments, **mode)
    counted = np.frombuffer(words.read(), np.int32)[16:].sum() == 2
    answered = np.frombuffer(answer.read(), np.int32)[0] == 7
    added = np.array_equal(result.numpy()[:64], x + 1)
    squared = np.array_equal(product.numpy(), matrix.astype(np.float32) @ matrix.T.astype(np.float32))
    return report, bool(added and squared and counted and answered)


def right(place: Studio) -> None:
    kernel = build(place)
    modes: list[dict[str, Any]] = [CHECKED, STRICT, {}, *({"pipes": "reordered", "seed": seed} for seed in range(5))]
    for mode in modes:
        report, is_right = launch(place, kernel, None, mode)
        report.raise_for_status()
        claim(is_right and report.findings == (), f"with {mode or 'no mode'} nothing is found, and the result is right")


def faulty(place: Studio) -> None:
    kernel = build(place)
    for twin in TWINS:
        report, is_right = launch(place, kernel, twin.mistake, twin.mode)
        print(f"{twin.mistake}:")
        show(report)
        if twin.kind == "api":
            claim(report.status == "api" and twin.told in report.message, f"{twin.mistake} ends the run")
            continue
        texts = [finding.text for finding in report.findings if finding.kind == twin.kind]
        claim(any(twin.told in text for text in texts), f"{twin.mistake} is found: {twin.kind}")
        # A cache that is not flushed shows in the values; pipes in order do no harm, and are found all the same.
        if twin.mode is STRICT:
            claim(not is_right, "and the result is wrong")
            claim(launch(place, kernel, twin.mistake, {})[1], "which a coherent cache does not show")


if __name__ == "__main__":
    run(right, faulty)
