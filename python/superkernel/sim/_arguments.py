"""Checks of what users pass: a wrong value is reported with its name and the values it may have."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping
from typing import Any

from superkernel import _core
from superkernel._errors import SuperKernelError, make_error

__all__ = ["choice", "flag", "integer", "listed", "number", "path", "refuse", "seconds", "shown", "text", "texts"]

#: Longer than any launch, and within what timers of the system take.
_FOREVER = 1e9


def refuse(problem: str, solution: str) -> SuperKernelError:
    """The error about an argument."""
    return make_error("SK0902", problem, solution)


def shown(value: object) -> str:
    """A value in a message: short, and whatever it is."""
    try:
        shown = repr(value)
    except Exception:
        shown = f"an object of type {type(value).__name__}"
    return ascii(shown)[1:-1][:80]


def integer(name: str, value: Any, least: int, most: int) -> int:
    """A whole number from ``least`` to ``most``; integers of other libraries are as good."""
    allowed = f"`{name}` is a whole number from {least} to {most}"
    if isinstance(value, bool) or (getattr(value, "ndim", 0) or 0) > 0:
        raise refuse(f"{name}={shown(value)}", allowed)
    try:
        number = operator.index(value)
    except TypeError:
        raise refuse(f"{name}={shown(value)}", allowed) from None
    if not least <= number <= most:
        raise refuse(f"{name}={shown(number)}", allowed)
    return number


def seconds(name: str, value: Any) -> float | None:
    """A time limit; ``None`` and infinity are none."""
    allowed = f"`{name}` is a number of seconds above 0; `math.inf` waits for ever"
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise refuse(f"{name}={shown(value)}", allowed) from None
    if isinstance(value, (str, bytes, bool)) or math.isnan(number) or number <= 0:
        raise refuse(f"{name}={shown(value)}", allowed)
    return None if number > _FOREVER else number


def number(name: str, value: Any) -> float:
    """A number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise refuse(f"{name}={shown(value)}", f"`{name}` is a number from 0 on")
    return float(value)


def choice(name: str, value: Any) -> str:
    """One of the values that the core knows for ``name``."""
    allowed = _core.sim_choices(name)
    if not isinstance(value, str) or value not in allowed:
        raise refuse(f"{name}={shown(value)}", f"`{name}` is one of {', '.join(map(repr, allowed))}")
    return value


def text(name: str, value: Any) -> str:
    """Unicode text."""
    try:
        if isinstance(value, str) and value.encode() is not None:
            return value
    except UnicodeEncodeError:
        pass
    raise refuse(f"{name}={shown(value)}", f"`{name}` is text")


def path(name: str, value: Any) -> str:
    """The absolute path of a file or folder."""
    try:
        found = os.fspath(value)
        if isinstance(found, str) and "\0" not in found and os.fsencode(found) is not None:
            return os.path.abspath(found)
    except (TypeError, UnicodeEncodeError):
        pass
    raise refuse(f"{name}={shown(value)}", f"`{name}` is a path: text, or a `pathlib.Path`")


def flag(name: str, value: Any) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise refuse(f"{name}={shown(value)}", f"`{name}` is True or False")
    return value


def texts(name: str, value: Any) -> dict[str, str]:
    """A mapping from text to text that is not empty."""
    if not isinstance(value, Mapping) or not value:
        raise refuse(f"{name}={shown(value)}", f"`{name}` is a dict of texts, not empty")
    return {text(name, key): text(name, entry) for key, entry in value.items()}


def listed(name: str, values: Any) -> list[Any]:
    """A list, or anything that can be gone through; no text, no mapping."""
    if not isinstance(values, (str, bytes, Mapping)):
        try:
            return list(values)
        except TypeError:
            pass
    raise refuse(f"`{name}` of type {type(values).__name__}", f"`{name}` is a list")
