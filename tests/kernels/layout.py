"""The memory of a launch: buffers, words, and the slots that point to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernels.library import TILING_WORDS, N
from kernels.programs import DATA_BUFFERS, WORKSPACES, Program

#: Bytes per core in the profiling buffer, and how many areas it has: cube cores are numbered from 50.
PROFILING_AREA = 64 * 1024
PROFILING_CORES = 64


@dataclass
class Layout:
    """Names of what each slot points to, in the order of the slots; None: a null pointer."""

    slots: list[str | None] = field(default_factory=list)
    #: Sizes in bytes of everything pointed to.
    sizes: dict[str, int] = field(default_factory=dict)
    #: First slot of every step's parameters, and how many they are.
    parameters: list[tuple[int, int]] = field(default_factory=list)

    def point(self, name: str, size: int) -> None:
        self.slots.append(name)
        self.sizes[name] = size


def layout_of(program: Program, workspace_size: int) -> Layout:
    """The slots of the program, written down independently of the compiler: what a runtime has to know."""
    layout = Layout()
    if program.chip == "c220":
        layout.point("ffts", 4096)
    for number, step in enumerate(program.steps):
        first = len(layout.slots)
        if program.chip == "c220" and "MIX" in step.kernel.kernel_type:
            layout.point("ffts", 4096)
        for name in (f"data{step.x1}", f"data{step.x2}", f"data{step.y}"):
            layout.point(name, 4 * N)
        layout.point(f"workspace{step.workspace}", 4 * N)
        if step.tiling:
            layout.point(f"tiling{number}", 4 * TILING_WORDS)
        layout.parameters.append((first, len(layout.slots) - first))
        if step.tiling:
            for name in ("key", "blocks", "lock"):
                layout.point(f"{name}{number}", 64)
        for event in step.sends:
            layout.point(f"send{event}", 64)
        for event in step.receives:
            layout.point(f"receive{event}", 64)
    if program.on("feed-sync-all") or any(step.kernel.debug_size for step in program.steps):
        layout.point("super_kernel_workspace", workspace_size)
    if program.on("profiling"):
        layout.point("profiling", 64 + PROFILING_CORES * PROFILING_AREA)
        layout.slots.append("task_id")
    for number in range(DATA_BUFFERS):
        layout.sizes.setdefault(f"data{number}", 4 * N)
    for number in range(WORKSPACES):
        layout.sizes.setdefault(f"workspace{number}", 4 * N)
    return layout
