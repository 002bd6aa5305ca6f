"""``superkernel.configure``: what the user set, process-wide and for the current context.

This module only keeps what was set. Which value is in force, given CANN and the environment variables, is decided in
``superkernel._environment``.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any, Callable, Literal, TypeVar, cast

from superkernel import _core
from superkernel._fork import new_lock

__all__ = [
    "SETTINGS",
    "BadValue",
    "Configured",
    "check",
    "configure",
    "configured",
    "flag",
    "in_flags",
    "repeatable",
    "settings_are_flags",
]

#: Every setting and what the native core knows about it.
SETTINGS: Mapping[str, Mapping[str, Any]] = {row["name"]: row for row in _core.setting_table()}


class BadValue(ValueError):
    """A value its setting refuses; the text says what would be accepted."""


def check(name: str, value: object) -> Any:
    """``value`` in the one form setting ``name`` has, or ``BadValue``."""
    accepted, result = _core.check_setting(name, value)
    if not accepted:
        raise BadValue(result)
    return result


def repeatable(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a recorded build that may be set again: those that decide about the result.

    A record may come from anywhere, and from a version that knew fewer settings.
    """
    return {name: recorded[name] for name, row in SETTINGS.items() if row["repeatable"] and name in recorded}


def flag(name: str) -> str:
    """The flag of a setting on the command line."""
    return f"--{name.replace('_', '-')}"


_flags: contextvars.ContextVar[bool] = contextvars.ContextVar("superkernel_settings_are_flags", default=False)


@contextlib.contextmanager
def settings_are_flags() -> Iterator[None]:
    """For the command line: inside, what was set by ``configure`` is reported as coming from a flag."""
    token = _flags.set(True)
    try:
        yield
    finally:
        _flags.reset(token)


def in_flags(text: str) -> str:
    """A message in the words of the command line: ``superkernel.configure(jobs=4)`` is ``--jobs 4`` there."""
    import re

    def flagged(call: re.Match[str]) -> str:
        name, value = call[1], call[2].strip("\"'")
        if name not in SETTINGS:
            return call[0]
        return flag(name) if SETTINGS[name]["placeholder"] is None else f"{flag(name)} {value}"

    return re.sub(r"superkernel\.configure\((\w+)=([^)]*)\)", flagged, text) if "configure(" in text else text


class Configured:
    """A value that ``configure`` set, and by which form of it."""

    def __init__(self, value: Any, origin: str) -> None:
        self.value = value
        self.origin = origin


class _Layer:
    """The settings of one ``with`` block, on top of those of the blocks around it."""

    def __init__(self, owner: _Configuring, outer: _Layer | None) -> None:
        self.owner = owner
        self.outer = outer
        self.values: dict[str, Any] = {**(outer.values if outer else {}), **owner.values}


#: Replaced as a whole: who reads it needs no lock.
_process: dict[str, Any] = {}
_process_lock = new_lock()
_context: contextvars.ContextVar[_Layer | None] = contextvars.ContextVar("superkernel_configuration", default=None)


def configured() -> dict[str, Configured]:
    """What is set here and now: process-wide settings under those of the ``with`` blocks around."""
    found = {name: Configured(value, "configure(...)") for name, value in _process.items()}
    layer = _context.get()
    if layer is not None:
        by = flag if _flags.get() else lambda _: "with configure(...)"
        found.update((name, Configured(value, by(name))) for name, value in layer.values.items())
    # None resets a setting, in a `with` block also one that is set process-wide.
    return {name: entry for name, entry in found.items() if entry.value is not None}


class _Configuring:
    """What ``configure`` returns: use it in a ``with`` statement to keep the settings to the block."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self._replaced: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"configure({', '.join(f'{name}={value!r}' for name, value in self.values.items())})"

    def _set_process_wide(self) -> None:
        global _process
        with _process_lock:
            self._replaced = {name: _process.get(name) for name in self.values}
            _process = {**_process, **self.values}

    def _take_back(self) -> None:
        global _process
        with _process_lock:
            # Somebody else may have set one since; theirs stays.
            replaced = self._replaced or {}
            mine = {name: value for name, value in replaced.items() if _process.get(name) is self.values[name]}
            _process = {**_process, **mine}
            self._replaced = None

    def __enter__(self) -> _Configuring:
        _context.set(_Layer(self, _context.get()))
        self._take_back()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        layer = _context.get()
        while layer is not None and layer.owner is not self:
            layer = layer.outer
        if layer is not None:
            _context.set(layer.outer)


# A setting that `configure` was not given: it keeps its value.
_KEEP: Any = ...

_Configure = TypeVar("_Configure", bound=Callable[..., Any])


def _refusing_others(function: _Configure) -> _Configure:
    """Refuses settings that do not exist, which type checkers refuse by the signature, with a suggestion."""

    @functools.wraps(function)
    def configure(**given: Any) -> Any:
        unknown = given.keys() - SETTINGS.keys()
        if unknown:
            raise _unknown_setting(min(unknown))
        return function(**given)

    return cast(_Configure, configure)


@_refusing_others
def configure(
    *,
    # table: settings (written by `make tables`)
    soc: str | None = _KEEP,
    aic_num: int | None = _KEEP,
    aiv_num: int | None = _KEEP,
    kernel_meta_parent_dir: str | os.PathLike[str] | None = _KEEP,
    op_debug_config: str | Sequence[str] | None = _KEEP,
    keep: bool | None = _KEEP,
    toolchain: Literal["auto", "cann", "host"] | None = _KEEP,
    linker: Literal["vendor", "own", "both"] | None = _KEEP,
    cache_dir: str | os.PathLike[str] | None = _KEEP,
    cache_size: int | str | None = _KEEP,
    cache_shared: bool | None = _KEEP,
    strict: bool | None = _KEEP,
    ascendc: str | os.PathLike[str] | None = _KEEP,
    save_reproducer: str | os.PathLike[str] | None = _KEEP,
    reproducer_size: int | str | None = _KEEP,
    jobs: int | None = _KEEP,
    tool_timeout: float | None = _KEEP,
    # end of table
) -> _Configuring:
    """Sets what super kernels are built for and with.

    As a call it sets process-wide; as a ``with`` block it holds in the current context only and wins::

        superkernel.configure(soc="Ascend950", jobs=4)
        with superkernel.configure(kernel_meta_parent_dir=folder):
            superkernel.compile(kernel_infos, "te_superkernel_ab")

    A setting that is not named keeps its value; ``None`` resets it. Raises ``SuperKernelError`` for a setting
    that does not exist or a value it cannot have; then nothing is set. See ``docs/configuration.md``.
    """
    given = dict(locals())
    values = {name: _checked(name, value) for name, value in given.items() if value is not _KEEP}
    result = _Configuring(values)
    # The frame above is the one that refuses unknown settings.
    if not _opens_with_block(sys._getframe(2)):
        result._set_process_wide()
    return result


def _checked(name: str, value: object) -> Any:
    from superkernel._errors import make_error

    if value is None:
        return None
    try:
        checked = check(name, value)
    except BadValue as refusal:
        raise make_error(
            "SK0011",
            f"setting `{name}` cannot be {_shown(value)}; expected {refusal}",
            f"pass `{name}` as {refusal}, or `None` to reset the setting",
        ) from None
    if SETTINGS[name]["keeps_other_words"]:
        _warn_of_ineffective(name, checked)
    return checked


def _unknown_setting(name: str) -> Exception:
    from superkernel._errors import make_error

    shown = name[:60].encode(errors="replace").decode()
    return make_error(
        "SK0010",
        f"there is no setting `{shown}`{_did_you_mean(shown, SETTINGS)}",
        f"the settings are {', '.join(f'`{known}`' for known in SETTINGS)}",
    )


def _warn_of_ineffective(name: str, words: list[str]) -> None:
    from superkernel._logging import logger

    known = SETTINGS[name]["words"]
    for word in words:
        if word not in known:
            logger.warning("%s: `%s` has no effect on super kernels%s", name, word[:60], _did_you_mean(word, known))


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = _core.nearest(name, list(known), 1)
    return f"; did you mean `{near[0]}`?" if near else ""


def _shown(value: object) -> str:
    """``value`` for a message: short, whatever it is."""
    try:
        text = repr(value)
    except Exception:
        text = f"an object of type {type(value).__name__}"
    return f"`{text[:80]}{'…' if len(text) > 80 else ''}`"


def _opens_with_block(caller: FrameType) -> bool:
    """Is the call that ``caller`` is executing the subject of a ``with`` statement?

    Setting process-wide and taking it back on entry would be simpler, but for an instant other threads would see the
    values of the block. So the instruction after the call is read: it is the one that enters the block. Where it
    cannot be recognised (another interpreter, ``ExitStack.enter_context``), entering takes the values back.
    """
    from opcode import opname

    code = caller.f_code.co_code
    position = caller.f_lasti + 2
    # From 3.11 on, an instruction is followed by the slots of its inline cache; before, entering a long block has a
    # prefix.
    while position < len(code) and opname[code[position]] in ("CACHE", "EXTENDED_ARG"):
        position += 2
    following = [opname[byte] for byte in code[position : position + 4 : 2]]
    return following[:1] in (["SETUP_WITH"], ["BEFORE_WITH"]) or following == ["COPY", "LOAD_SPECIAL"]
