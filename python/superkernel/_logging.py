"""The logger ``superkernel``, and CANN's compile log behind it.

The native core logs through the ``log`` crate; a target ``superkernel::plan`` is the logger ``superkernel.plan``. So
one handler here sees everything and repeats it in CANN's log, which is where CANN's users look.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
from collections.abc import Iterator

__all__ = ["building", "install", "logger", "print_to_stderr"]

logger = logging.getLogger("superkernel")

#: The kernel the current context works on, for CANN's log.
_kernel_name: contextvars.ContextVar[str] = contextvars.ContextVar("superkernel_kernel_name", default="superkernel")


@contextlib.contextmanager
def building(kernel_name: object) -> Iterator[None]:
    """What is logged inside concerns ``kernel_name``, which may not have been checked yet."""
    token = _kernel_name.set(kernel_name if isinstance(kernel_name, str) else "superkernel")
    try:
        yield
    finally:
        _kernel_name.reset(token)


class CannHandler(logging.Handler):
    """Repeats records in CANN's compile log."""

    def emit(self, record: logging.LogRecord) -> None:
        from superkernel import _environment

        try:
            _environment.cann_log(_kernel_name.get(), record.levelno, record.getMessage())
            # Python prints the warnings of loggers that have no handler. This handler must not end that.
            last_resort = logging.lastResort
            if last_resort is not None and record.levelno >= last_resort.level and not _is_heard(record.name):
                last_resort.handle(record)
        except Exception:
            self.handleError(record)


def _is_heard(name: str) -> bool:
    """Does a handler other than ours get what logger ``name`` logs?"""
    source: logging.Logger | None = logging.getLogger(name)
    while source is not None:
        if any(not isinstance(handler, CannHandler) for handler in source.handlers):
            return True
        source = source.parent if source.propagate else None
    return False


def install() -> None:
    """Attaches the handler, once."""
    if not any(isinstance(handler, CannHandler) for handler in logger.handlers):
        logger.addHandler(CannHandler())


class _Lines(logging.Formatter):
    """``superkernel: warning: ...`` as the command line prints it."""

    def format(self, record: logging.LogRecord) -> str:
        return f"superkernel: {record.levelname.lower()}: {super().format(record)}"


def print_to_stderr(verbosity: int) -> None:
    """For the command line: warnings, from verbosity 1 on progress and from 2 on details, go to standard error."""
    if not any(isinstance(handler.formatter, _Lines) for handler in logger.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(_Lines())
        logger.addHandler(handler)
    logger.setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbosity, 2)])
