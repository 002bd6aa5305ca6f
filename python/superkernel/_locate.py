"""Which op a device was in: program counters looked up in a kernel's object."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from superkernel import _core
from superkernel._core import Location, StoppedCores
from superkernel._errors import make_error
from superkernel._files import PathLike, checked_path

__all__ = ["Location", "StoppedCores", "locate", "locate_log"]


def locate(
    kernel: PathLike, pc: int | Iterable[int], *, start: int = 0, function: str | None = None
) -> list[_core.Location]:
    """Core kind, copy, op, function and source line of program counters, from the kernel's object alone.

    ``kernel`` is the object or the description beside it. Of a counter that is not in this kernel the location has a
    ``problem`` and nothing else; if none of them is, that is an error.

    ``start`` is the address the code was loaded at, or, with ``function``, the address of that function (an entry such
    as ``NAME_mix_aiv``). Without it the counters are offsets in the code.
    """
    counters = list(pc) if isinstance(pc, Iterable) else [pc]
    pairs = [(_address("pc", counter), _address("start", start)) for counter in counters]
    return _core.locate(checked_path(kernel), pairs, function)


def locate_log(
    kernel: PathLike, log: PathLike, *, start: int = 0, function: str | None = None
) -> list[_core.StoppedCores]:
    """The same for every place at which cores stopped that a device's log names, such as ``pc start: 0x..., current:
    0x...`` or ``start_pc=0x... current_pc=0x...``.

    ``start`` is where the code is if the log does not say. What a log calls the start is the start of the code or,
    where only that fits, of an entry; with ``function`` it is the address of that function. Places outside this kernel
    are in the list too, with a ``problem`` instead of a ``location``; if all are, that is an error.
    """
    return _core.locate_log(checked_path(kernel), checked_path(log, "log"), _address("start", start), function)


def _address(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise make_error("SK0960", f"{name}={value!r:.80}", f"`{name}` is an address of 64 bits")
    return number
