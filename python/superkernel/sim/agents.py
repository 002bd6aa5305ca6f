"""Host agents: what acts on global memory beside the kernel, as part of the deterministic schedule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union

from superkernel import _core
from superkernel._errors import SuperKernelError
from superkernel.sim import _arguments as check
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

    def add_to(self, request: _core.LaunchRequest) -> None:
        """Makes it a part of a launch."""
        word = None if self.word is None else (_address(self.word), _word("equals", self.equals))
        request.add_agent(
            check.text("name", self.name),
            [(_address(place), _encode(value)) for place, value in self._pairs()],
            None if self.step is None else check.integer("step", self.step, 0, 2**64 - 1),
            word,
            None if self.after is None else check.text("after", self.after),
            check.integer("delay", self.delay, 0, 2**64 - 1),
            check.integer("times", self.times, 0, 2**32 - 1),
            bool(self.required),
        )

    def _pairs(self) -> list[tuple[Any, Any]]:
        pairs = [tuple(pair) if isinstance(pair, (tuple, list)) else () for pair in check.listed("writes", self.writes)]
        if any(len(pair) != 2 for pair in pairs):
            raise check.refuse(f"`writes` of agent `{self.name}`", "`writes` is a list of (where, value)")
        return pairs


def _address(place: Any) -> int:
    if isinstance(place, Word):
        return place.address
    if isinstance(place, Buffer):
        return place.at(0)
    try:
        return check.integer("address", place, 0, 2**64 - 1)
    except SuperKernelError:
        problem = f"{check.shown(place)} as a place in memory"
        raise check.refuse(problem, "`Agent` takes a `Word`, a buffer or an address") from None


def _word(name: str, value: Any) -> int:
    return check.integer(name, value, -(2**63), 2**64 - 1) & (2**64 - 1)


def _encode(value: Any) -> bytes:
    """Bytes as they are; a number as a word."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return _word("value", value).to_bytes(8, "little")


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
