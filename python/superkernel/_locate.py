"""Which op a device was in: program counters looked up in a kernel's object."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from superkernel import _core
from superkernel._errors import make_error
from superkernel._files import PathLike, checked_path

__all__ = ["Location", "locate", "locate_log"]

Location = _core.Location


def locate(
    kernel: PathLike, pc: int | Iterable[int], *, start: int = 0, function: str | None = None
) -> list[_core.Location]:
    """Core kind, copy, op, function and source line of program counters, from the kernel's object alone.

    ``start`` is the address the code was loaded at, or, with ``function``, the address of that function (an entry such
    as ``NAME_mix_aiv``). Without it the counters are offsets in the code.
    """
    counters = list(pc) if isinstance(pc, Iterable) else [pc]
    pairs = [(_address("pc", counter), _address("start", start)) for counter in counters]
    return _core.locate(checked_path(kernel), pairs, function)


def locate_log(kernel: PathLike, log: PathLike, *, function: str | None = None) -> list[tuple[int, _core.Location]]:
    """The same for every core that a device's log tells of (``pc start: 0x..., current: 0x...``), with its line."""
    cores = _core.stopped_cores(checked_path(log, "log"))
    pairs = [(pc, start) for _, start, pc, _ in cores]
    found = _core.locate(checked_path(kernel), pairs, function)
    return [(line, location) for (line, _, _, _), location in zip(cores, found)]


def _address(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise make_error("SK0960", f"{name}={value!r:.80}", f"`{name}` is an address of 64 bits")
    return number
