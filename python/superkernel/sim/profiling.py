"""The profiling buffer of a super kernel: making it, and reading what the cores recorded."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from superkernel import _core
from superkernel._files import checked_path
from superkernel.profiling import Profile
from superkernel.sim._arguments import integer, refuse
from superkernel.sim.memory import Buffer

if TYPE_CHECKING:
    from superkernel.sim.device import Device
    from superkernel.sim.kernel import Kernel

__all__ = ["ProfilingBuffer", "ProfilingRecord"]

#: Areas of vector cores; those of cube cores come after them.
_VECTORS = 50


@dataclass(frozen=True)
class ProfilingRecord:
    """One record of one core."""

    #: ``AIV3`` or ``AIC0``.
    core: str
    #: ``start``, ``super-kernel``, ``op``, ``notify`` or ``wait``.
    kind: str
    #: Position of an operator, id of an event, the task id of the first record.
    index: int
    #: Whether it closes what an earlier record opened.
    is_end: bool
    cycle: int


class ProfilingBuffer:
    """Device memory in the layout that generated code records into; :attr:`buffer` goes into the profiling slot."""

    def __init__(self, device: Device, *, cubes: int = 50, vectors: int = 50, records: int = 1024) -> None:
        cubes, vectors = integer("cubes", cubes, 0, 1000), integer("vectors", vectors, 0, _VECTORS)
        records = integer("records", records, 0, 1 << 24)
        self._areas = _core.ProfilingAreas(cubes, records)
        self.buffer: Buffer = device.buffer(self._areas.size, "profiling")
        self.reset()

    def reset(self) -> None:
        """Empties all areas."""
        self.buffer.write(self._areas.empty(self.buffer.address))

    def dump(self) -> bytes:
        """The bytes of the buffer, as a tool on a device would save them."""
        return self.buffer.read()

    def decode(self, kernel: Kernel | str | os.PathLike[str]) -> Profile:
        """What the cores recorded about this super kernel, or the one with this JSON: tables, gaps, traces."""
        from superkernel.sim.kernel import Kernel

        named = Path(kernel.description.object).with_suffix(".json") if isinstance(kernel, Kernel) else kernel
        return Profile(_core.profiling_decode(self.dump(), self.buffer.name, checked_path(named)))

    def records(self) -> list[ProfilingRecord]:
        """What the cores recorded, core by core, each in its order."""
        found, damaged = self._areas.records(self.buffer.address, self.buffer.read())
        if damaged is not None:
            raise refuse(f"the head of area {damaged} of the profiling buffer is overwritten", "look who writes there")
        return [ProfilingRecord(*record) for record in found]
