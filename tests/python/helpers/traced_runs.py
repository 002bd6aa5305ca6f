"""Super kernels that were run once with all events, for tests of what is drawn and recorded of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import superkernel
from kernels.programs import Program
from kernels.runner import Fused, Workshop, platform

#: The ops of the plain one.
NAMES = ["vec3", "mix2sw", "cub2", "vec8"]


class Ran:
    """One launch with all events, and the buffer it recorded into."""

    def __init__(self, workshop: Workshop, folder: Path, program: Program) -> None:
        self.program = program
        self.json = workshop.compile(program, folder)
        fused = Fused(workshop, program, self.json)
        run = fused.launch(5, events="sync", event_limit=200_000)
        assert not run.problems, run.problems
        self.report = run.report
        assert fused.profiling is not None
        self.infos = workshop.kernel_infos(program)
        self.profile = fused.profiling.decode(fused.kernel)
        self.dump = fused.profiling.dump()
        self.records = fused.profiling.records()
        fused.close()

    def plan(self) -> dict[str, Any]:
        """What the super kernel was planned to do."""
        with platform(self.program.chip):
            return superkernel.plan(self.infos, "te_superkernel_campaign")

    def runs(self) -> set[tuple[int, str]]:
        """Every op with every core that runs it, from the description alone."""
        found = set()
        for position, step in enumerate(self.program.steps):
            kernel = step.kernel
            kinds = {"vec": ("AIV",), "cub": ("AIC",), "mix": ("AIC", "AIV")}[kernel.name[:3]]
            for kind in kinds:
                per_block = 2 if kind == "AIV" and kernel.name.startswith("mix") else 1
                found |= {(position, f"{kind}{core}") for core in range(kernel.block_dim * per_block)}
        return found
