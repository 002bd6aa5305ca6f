"""Super kernels with one mistake each, beside the right ones: the simulator tells them apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kernels.handmade import build_by_hand
from kernels.library import N
from kernels.mistakes import DEADLOCK, HAZARD, MISTAKES, OK, WRONG_DATA, Mistake
from kernels.programs import DATA_BUFFERS
from kernels.runner import Workshop
from superkernel.sim import Agent, Buffer, Report

#: Enough schedules to catch what needs luck.
SCHEDULES = [("round-robin", 0)] + [(policy, seed) for seed in range(24) for policy in ("random", "skewed")]


class Bench:
    """One hand-made super kernel, loaded, with its memory."""

    def __init__(self, workshop: Workshop, mistake: Mistake, text: str, directory: Path) -> None:
        self.mistake = mistake
        self.device = workshop.device("c220")
        library = workshop.library("c220")
        ops = [library[name] for name, *_ in mistake.ops]
        self.data = [self.device.buffer(4 * N, f"data{number}") for number in range(DATA_BUFFERS)]
        self.words = [self.device.buffer(64, f"word{number}") for number in range(mistake.words)]
        self.zeros = self.device.buffer(1024, "zeros")
        self.workspaces = [self.device.buffer(4 * N, f"workspace{number}") for number in range(len(ops))]
        self.arguments: list[Buffer | int] = []
        offsets = []
        for number, (op, (_, x1, x2, y)) in enumerate(zip(ops, mistake.ops)):
            # The device puts the scheduler's address into slot 0.
            offsets.append(1 + len(self.arguments))
            if op.params[0] == "ffts_addr":
                self.arguments.append(0x1000)
            self.arguments += [self.data[x1], self.data[x2], self.data[y], self.workspaces[number]]
        slots = {f"W{number}": 1 + len(self.arguments) + number for number in range(mistake.words)}
        self.arguments += self.words
        slots["DATA"] = 1 + len(self.arguments)
        self.arguments.append(self.zeros)
        json_path = build_by_hand(
            directory, text, ops, ratio=mistake.ratio, blocks=mistake.blocks, offsets=offsets, slots=slots
        )
        self.kernel = self.device.load(json_path)

    def run(self, policy: str, seed: int) -> tuple[Report, list[np.ndarray]]:
        generator = np.random.default_rng(1)
        for buffer in self.data:
            buffer.write(generator.integers(0, 2**32, N, dtype=np.uint32))
        for buffer in (*self.words, self.zeros):
            buffer.write(bytes(buffer.nbytes))
        accesses: dict[str | int, dict[str, list[Buffer]]] = {
            number: {"reads": [self.data[x1], self.data[x2]], "writes": [self.data[y], self.workspaces[number]]}
            for number, (_, x1, x2, y) in enumerate(self.mistake.ops)
        }
        report = self.kernel.launch(
            self.arguments,
            schedule=policy,
            seed=seed,
            agents=self._agents(),
            accesses=accesses,
            poll_limit=200,
        )
        written = sorted({y for *_, y in self.mistake.ops})
        return report, [self.data[number].numpy(np.uint32) for number in written]

    def _agents(self) -> list[Agent]:
        found = []
        for number, agent in enumerate(self.mistake.agents):
            writes: list[tuple[Buffer, int | bytes]] = []
            for buffer, value in agent.fills:
                writes.append((self.data[buffer], np.full(N, value, np.uint32).tobytes()))
            writes += [(self.words[word], 1) for word in agent.words]
            word = None if agent.when is None else self.words[agent.when]
            found.append(Agent(f"partner {number}", writes, word=word, delay=agent.delay))
        return found

    def close(self) -> None:
        for buffer in (*self.data, *self.words, *self.workspaces, self.zeros):
            buffer.free()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_mistake_shows_and_the_right_way_does_not(workshop: Workshop, mistake: Mistake, tmp_path: Path) -> None:
    reference: list[np.ndarray] | None = None
    if mistake.right is not None:
        right = Bench(workshop, mistake, mistake.right, tmp_path / "right")
        for policy, seed in SCHEDULES:
            report, data = right.run(policy, seed)
            assert report.status == OK, f"{policy} {seed}: {report}"
            reference = reference or data
            assert all(map(np.array_equal, reference, data)), f"{policy} {seed}: the right way is not deterministic"
        right.close()
    wrong = Bench(workshop, mistake, mistake.wrong, tmp_path / "wrong")
    outcomes: dict[str, list[Report]] = {}
    for policy, seed in SCHEDULES:
        report, data = wrong.run(policy, seed)
        outcome = report.status
        if report.ok and reference is not None and not all(map(np.array_equal, reference, data)):
            outcome = WRONG_DATA
        outcomes.setdefault(outcome, []).append(report)
    wrong.close()
    shown = [status for status in mistake.shows if status in outcomes]
    assert shown, f"never shown; outcomes: { {status: len(reports) for status, reports in outcomes.items()} }"
    unexpected = set(outcomes) - {*mistake.shows, OK, HAZARD, WRONG_DATA}
    assert not unexpected, outcomes[next(iter(unexpected))][0]
    for status in shown:
        text = str(outcomes[status][0])
        for position in mistake.names:
            assert mistake.ops[position][0] in text, text
        if status == DEADLOCK:
            assert any(core in text for core in ("AIC", "AIV")), text
