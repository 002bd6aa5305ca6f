"""The profiling buffer of a super kernel: making it, and reading what the cores recorded."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from superkernel import _core
from superkernel._files import checked_path
from superkernel.profiling import Profile
from superkernel.sim._arguments import integer, refuse
from superkernel.sim.memory import Buffer

if TYPE_CHECKING:
    from superkernel.sim.device import Device

__all__ = ["ProfilingBuffer", "ProfilingRecord"]

MAGIC = 0xBDCA8756
HEADER = 64
#: Magic, next free record, end.
AREA_HEAD = 24
FIRST_RECORD = 64
RECORD = 16
#: AIC ``b`` has the number ``b + 50``.
FIRST_CUBE = 50

_KINDS = {0x0: "super-kernel", 0x4: "notify", 0x8: "op", 0xC: "wait"}


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
        cubes, vectors = integer("cubes", cubes, 0, 1000), integer("vectors", vectors, 0, FIRST_CUBE)
        records = integer("records", records, 0, 1 << 24)
        self._areas = FIRST_CUBE + cubes
        self._vectors = vectors
        self._area_size = FIRST_RECORD + RECORD * records
        self.buffer: Buffer = device.buffer(HEADER + self._areas * self._area_size, "profiling")
        self.reset()

    def reset(self) -> None:
        """Empties all areas."""
        self.buffer.write(bytes(self.buffer.nbytes))
        self.buffer.write(struct.pack("<I", self._area_size), 12)
        for area in range(self._areas):
            start = self._start(area)
            address = self.buffer.at(start)
            head = struct.pack("<QQQ", MAGIC, address + FIRST_RECORD, address + self._area_size)
            self.buffer.write(head, start)

    def _start(self, area: int) -> int:
        return HEADER + area * self._area_size

    def dump(self) -> bytes:
        """The bytes of the buffer, as a tool on a device would save them."""
        return self.buffer.read()

    def decode(self, kernel: str | os.PathLike[str]) -> Profile:
        """What the cores recorded about the super kernel with this JSON: tables, gaps, traces."""
        return Profile(_core.profiling_decode(self.dump(), self.buffer.name, checked_path(kernel)))

    def records(self) -> list[ProfilingRecord]:
        """What the cores recorded, core by core, each in its order."""
        found = []
        for area in range(self._areas):
            start = self._start(area)
            _, following, _ = struct.unpack("<QQQ", self.buffer.read(start, AREA_HEAD))
            used = following - self.buffer.at(start) - FIRST_RECORD
            if not 0 <= used <= self._area_size - FIRST_RECORD or used % RECORD:
                raise refuse(f"the head of area {area} of the profiling buffer is overwritten", "look who writes there")
            data = self.buffer.read(start + FIRST_RECORD, used)
            found += [_decode(area, *struct.unpack_from("<QQ", data, at)) for at in range(0, used, RECORD)]
        return found


def _decode(area: int, info: int, cycle: int) -> ProfilingRecord:
    core = f"AIC{area - FIRST_CUBE}" if area >= FIRST_CUBE else f"AIV{area}"
    index = info >> 32
    if info & 0xFF == 0xFF:
        return ProfilingRecord(core, "start", index, False, cycle)
    kind = _KINDS.get(info >> 8 & 0xF, "unknown")
    # Operators are numbered from 1 in the record.
    return ProfilingRecord(core, kind, index - 1 if kind == "op" else index, bool(info >> 12 & 1), cycle)
