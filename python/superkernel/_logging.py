"""The logger ``superkernel``, and CANN's compile log beside it.

There are two readers with levels of their own. Python's loggers are set up as usual; CANN's log has its level in
``ASCEND_GLOBAL_LOG_LEVEL`` and is where CANN's users look. A record reaches each of them if its level asks for it,
whatever the other one wants. The native core's records arrive through ``pyo3-log``, which asks a logger whether a level
is enabled and hands it the record.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from superkernel import _core

__all__ = [
    "building",
    "error_in_cann_s_log",
    "follow_the_environment",
    "logger",
    "lowest_level",
    "named",
    "print_to_stderr",
]

#: The kernel the current context works on, for CANN's log.
_kernel_name: contextvars.ContextVar[str] = contextvars.ContextVar("superkernel_kernel_name", default="superkernel")

#: The command line has a log of its own, and CANN prints its log to standard output, where results go.
_with_cann = True

if TYPE_CHECKING:
    _Base = logging.Logger
else:
    # A mixin: which class it is mixed with is known at run time.
    _Base = object


class _AlsoForCann(_Base):
    """What makes a logger repeat its records in CANN's log."""

    def isEnabledFor(self, level: int) -> bool:
        return super().isEnabledFor(level) or level >= _cann_s_level()

    def callHandlers(self, record: logging.LogRecord) -> None:
        if super().isEnabledFor(record.levelno):
            try:
                super().callHandlers(record)
            except Exception:
                # What is logged about is more than the log: nothing stops because a handler failed.
                if logging.raiseExceptions:
                    traceback.print_exc()
        _to_cann(record.levelno, record.getMessage())


def named(name: str) -> logging.Logger:
    """The logger of this name, made to repeat its records in CANN's log."""
    found = logging.getLogger(name)
    if not isinstance(found, _AlsoForCann):
        # Only this object: the class of everybody's loggers is not ours to set.
        found.__class__ = type("Logger", (_AlsoForCann, type(found)), {})
    return found


def lowest_level() -> int:
    """The lowest level anybody listens to: the native core need not make records below it."""
    return min(_cann_s_level(), *(found.getEffectiveLevel() for found in NATIVE))


@contextlib.contextmanager
def building(kernel_name: object) -> Iterator[None]:
    """What is logged inside concerns ``kernel_name``, which may not have been checked yet."""
    token = _kernel_name.set(kernel_name if isinstance(kernel_name, str) else "superkernel")
    try:
        yield
    finally:
        _kernel_name.reset(token)


def error_in_cann_s_log(message: str) -> None:
    """Writes an error that is about to be raised to CANN's log. Python's callers get the exception itself."""
    _to_cann(logging.ERROR, message)


def _cann_s_level() -> int:
    from superkernel import _environment

    return _environment.cann_log_level() if _with_cann else logging.CRITICAL + 1


def _to_cann(level: int, message: str) -> None:
    from superkernel import _environment

    if _with_cann:
        _environment.cann_log(_kernel_name.get(), level, message)


class _Lines(logging.Formatter):
    """``superkernel: warning: ...`` as the command line prints it."""

    def format(self, record: logging.LogRecord) -> str:
        from superkernel._config import in_flags

        return f"superkernel: {record.levelname.lower()}: {in_flags(super().format(record))}"


class _ToStderr(logging.StreamHandler):  # type: ignore[type-arg]  # no type of its stream at run time before 3.11
    """Writes to whatever standard error is at the moment."""

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, _: Any) -> None:
        """Set by the constructor."""


class _Once(logging.Filter):
    """A command that plans twice, for two pictures, warns once."""

    def __init__(self) -> None:
        super().__init__()
        self.told: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        is_new = (text := record.getMessage()) not in self.told
        self.told.add(text)
        return is_new


_once = _Once()


def print_to_stderr(verbosity: int) -> None:
    """For the command line: warnings, from verbosity 1 on progress and from 2 on details, go to standard error."""
    global _with_cann

    _with_cann = False
    _attach((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbosity, 2)])


def _attach(level: int) -> None:
    """Standard error gets what is of this level, or of the one that the environment asks for, if that is lower."""
    if not any(isinstance(handler.formatter, _Lines) for handler in logger.handlers):
        handler = _ToStderr()
        handler.setFormatter(_Lines())
        # What is an error is raised as well, and reported where it is caught.
        handler.addFilter(lambda record: record.levelno < logging.ERROR)
        handler.addFilter(_once)
        logger.addHandler(handler)
    _once.told.clear()
    asked = _asked_level()
    logger.setLevel(level if asked is None else min(level, asked))
    _core.set_log_level(lowest_level())


#: The environment variable for who cannot change the program, and what it can be.
VARIABLE = "SUPERKERNEL_LOG"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


def _asked_level() -> int | None:
    return LEVELS.get(os.environ.get(VARIABLE, "").strip().lower())


def follow_the_environment() -> None:
    """Prints the log where the environment asks for it, whatever the program does about logging."""
    asked = os.environ.get(VARIABLE)
    if not asked:
        return
    _attach(logging.WARNING)
    if _asked_level() is None:
        logger.warning("%s=%s is not understood; it can be %s", VARIABLE, asked[:80], ", ".join(LEVELS))


logger = named("superkernel")

#: The loggers that the native core writes to.
NATIVE = [named(f"superkernel.{part}") for part in ("cache", "compile", "operator", "scope", "sim", "toolchain")]

# Threads of the core may outlive the interpreter, which takes no records then.
atexit.register(_core.set_log_level, logging.CRITICAL + 1)
