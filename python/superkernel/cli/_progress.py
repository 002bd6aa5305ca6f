"""Shows how far a build is: one changing line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, TextIO

__all__ = ["LineProgress", "NoProgress", "TerminalProgress", "progress_for"]

_INTERVAL = 0.1
_CLEAR = "\r\x1b[K"


class NoProgress:
    """Shows nothing."""

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def __call__(self, stage: str) -> None:
        """Is told that ``stage`` begins."""


class LineProgress(NoProgress):
    """A line per stage."""

    def __init__(self, kernel: str, out: TextIO) -> None:
        self._kernel = kernel
        self._out = out

    def __call__(self, stage: str) -> None:
        print(f"{self._kernel}: {stage}", file=self._out, flush=True)


class TerminalProgress(NoProgress):
    """One line with the stage and the time, which disappears in the end."""

    def __init__(self, kernel: str, stages: list[str], out: TextIO) -> None:
        self._kernel = kernel
        self._stages = stages
        self._out = out
        self._stage = ""
        self._started = time.monotonic()
        self._done = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> TerminalProgress:
        self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._ticker.join()
        self._write(_CLEAR)

    def __call__(self, stage: str) -> None:
        self._stage = stage
        self._show()

    def _tick(self) -> None:
        while not self._done.wait(_INTERVAL):
            self._show()

    def _show(self) -> None:
        if self._stage:
            number = self._stages.index(self._stage) + 1
            bar = "#" * number + "." * (len(self._stages) - number)
            elapsed = time.monotonic() - self._started
            self._write(f"{_CLEAR}{self._kernel} [{bar}] {self._stage} {elapsed:.1f} s")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def progress_for(kernel: str, *, quiet: bool) -> NoProgress:
    """The display for standard error."""
    from superkernel import _core

    if quiet:
        return NoProgress()
    if sys.stderr.isatty():
        return TerminalProgress(kernel, _core.build_stages(), sys.stderr)
    return LineProgress(kernel, sys.stderr)
