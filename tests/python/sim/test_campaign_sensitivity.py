"""Would the campaign notice? Every synchronising statement of a generated super kernel is taken out, one at a time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import superkernel
from kernels.handmade import build_sources
from kernels.programs import Program, chain
from kernels.runner import NAME, Fused, Workshop, platform

#: Statements of generated code whose only purpose is order.
SYNCHRONISES = re.compile(
    r"\bsk_(set_next|wait_previous|meet_\w+|tell_\w+|wait_for_\w+|end_sync_all|complement_sync_all)\b"
)


class Sabotage:
    """The generated source of a program, and super kernels made of it with one line missing."""

    def __init__(self, workshop: Workshop, program: Program) -> None:
        self.workshop = workshop
        self.program = program
        infos = workshop.kernel_infos(program)
        with platform(program.chip):
            self.plan = superkernel.plan(infos, NAME)
            self.lines = superkernel.generate(infos, NAME).split("\n")
        # Behind the helpers: the code of either core kind.
        start = next(n for n, line in enumerate(self.lines) if line.startswith("SK_FUNCTION("))
        self.candidates = [n for n in range(start, len(self.lines)) if SYNCHRONISES.search(self.lines[n])]

    def build(self, directory: Path, missing: int | None) -> Fused:
        lines = [";" if number == missing else line for number, line in enumerate(self.lines)]
        kinds = ("aic", "aiv")
        sources = {kind: f"#define auto_gen_{NAME}_kernel {NAME}_mix_{kind}\n" + "\n".join(lines) for kind in kinds}
        library = self.workshop.library(self.program.chip)
        json_path = build_sources(
            directory,
            sources,
            [library[step.kernel.name] for step in self.program.steps],
            ratio="MIX12",
            blocks=self.plan["block_num"],
            offsets=[op["param_offset"] for op in self.plan["ops"]],
            name=NAME,
            defines=["-D__MIX_CORE_MACRO__=1", *self.plan["defines"]],
            workspace=self.plan["workspace_size"],
        )
        return Fused(self.workshop, self.program, json_path)


def first_problem(fused: Fused) -> str | None:
    for number in range(10):
        run = fused.launch(number, ("round-robin", "random", "skewed")[min(number, 1 + number % 2)], poll_limit=100)
        if run.problems:
            return run.problems[0]
    return None


# Neighbours of different classes, on fewer cores than the super kernel has: no statement is without effect.
PROGRAMS = {
    "early-start": chain("c220", ["vec3", "cub2", "mix2s", "vec3w", "mix2", "cub2sw", "mix4"], split_mode="1"),
    "no-early-start": chain("c220", ["vec3", "cub2", "mix2", "vec8", "mix4"], split_mode="1", early_start="0"),
    "feed-sync-all": chain(
        "c220", ["vec3meet", "cub4", "mix2meet", "vec8"], split_mode="1", early_start="0", feed_sync_all="1"
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_can_be_left_out(workshop: Workshop, tmp_path: Path, name: str) -> None:
    sabotage = Sabotage(workshop, PROGRAMS[name])
    assert sabotage.plan["kernel_type"] == "KERNEL_TYPE_MIX_AIC_1_2"
    whole = sabotage.build(tmp_path / "whole", None)
    assert first_problem(whole) is None
    whole.close()
    # Fewer would mean that the generator's helpers have other names now.
    assert len(sabotage.candidates) >= len(PROGRAMS[name].steps) - 1
    unnoticed = []
    for number in sabotage.candidates:
        fused = sabotage.build(tmp_path / str(number), number)
        if first_problem(fused) is None:
            unnoticed.append(f"line {number}: {sabotage.lines[number].strip()}")
        fused.close()
    assert not unnoticed
