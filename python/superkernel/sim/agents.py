"""Host agents: whoever acts on global memory beside the kernel, as part of the deterministic schedule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union

from superkernel.sim.memory import Buffer

__all__ = ["Agent", "Word", "aicpu_tiling", "event_partner"]


@dataclass(frozen=True)
class Word:
    """A 64-bit word of global memory."""

    buffer: Buffer
    index: int = 0

    @property
    def address(self) -> int:
        """Where it is."""
        return self.buffer.at(8 * self.index)


Place = Union[Word, Buffer, int]


def _address(place: Place) -> int:
    return place if isinstance(place, int) else place.address


@dataclass(frozen=True)
class Agent:
    """Waits for its moment, then writes, in the given order.

    Without a condition it starts with the run. ``step`` waits for the clock of the run, ``word`` and ``equals`` for a
    64-bit word of memory, ``after`` for another agent. ``delay`` counts steps from there.
    """

    name: str
    #: (where, value) pairs: an int is a 64-bit word, bytes are stored as they are.
    writes: Iterable[tuple[Place, int | bytes]] = ()
    step: int | None = None
    word: Place | None = None
    equals: int = 1
    after: str | None = None
    delay: int = 0
    times: int = 1
    #: The run fails if it never acted.
    required: bool = False

    def spec(self) -> dict[str, Any]:
        """As the native core reads it."""
        when: Any = "start"
        if self.step is not None:
            when = {"step": self.step}
        elif self.word is not None:
            when = {"word": {"address": _address(self.word), "equals": self.equals}}
        elif self.after is not None:
            when = {"agent": self.after}
        return {
            "name": self.name,
            "when": when,
            "delay": self.delay,
            "times": self.times,
            "required": self.required,
            "writes": [{"address": _address(place), "bytes": list(_encode(value))} for place, value in self.writes],
        }


def _encode(value: int | bytes) -> bytes:
    return (value & (2**64 - 1)).to_bytes(8, "little") if isinstance(value, int) else bytes(value)


def aicpu_tiling(
    *,
    lock: Place,
    key: tuple[Place, int],
    block_num: tuple[Place, int],
    tiling: tuple[Place, bytes] | None = None,
    delay: int = 0,
    word: Place | None = None,
    name: str = "aicpu tiling",
) -> Agent:
    """The AICPU task of a dynamic operator: tiling data, tiling key and block number, then the lock.

    ``key`` and ``block_num`` are (where, value). With ``word`` it starts when that word becomes 1 (a notify of the
    kernel), otherwise with the run.
    """
    writes: list[tuple[Place, int | bytes]] = []
    if tiling is not None:
        writes.append(tiling)
    writes += [key, block_num, (lock, 1)]
    return Agent(name=name, writes=tuple(writes), delay=delay, word=word, required=True)


def event_partner(
    *, notify: Place | None = None, wait: Place | None = None, delay: int = 0, name: str = "event partner"
) -> Agent:
    """The far side of events: once the kernel notified (if ``notify`` is given), after a delay sets the wait word."""
    writes: tuple[tuple[Place, int | bytes], ...] = () if wait is None else ((wait, 1),)
    return Agent(name=name, writes=writes, word=notify, delay=delay, required=True)
