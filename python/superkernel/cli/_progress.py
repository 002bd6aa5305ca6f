"""Shows how far a build is: one changing line on a terminal, elsewhere only what becomes of it."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, TextIO

from superkernel.cli._output import shown, steered

__all__ = ["ModelProgress", "NoProgress", "TerminalProgress", "model_progress", "progress_for"]

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
        """``stage`` begins."""


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

    if quiet or not sys.stderr.isatty():
        return NoProgress()
    return TerminalProgress(shown(kernel), _core.build_stages(), steered(sys.stderr))


class ModelProgress:
    """A line per super kernel as it ends; on a terminal also a changing one: what runs, how much is done and left."""

    def __init__(self, results: TextIO, terminal: TextIO | None = None, *, quiet: bool = False) -> None:
        self._results = results
        self._terminal = terminal
        #: Only failures are worth a line.
        self._quiet = quiet
        self._started = time.monotonic()
        #: Running pieces and their stages, in the order they began.
        self._running: dict[str, str] = {}
        self._done, self._total = 0, 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> ModelProgress:
        if self._terminal is not None:
            self._write_line()
            self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._terminal is not None:
            self._over.set()
            self._ticker.join()
            self._clear()

    def stage(self, piece: str, stage: str) -> None:
        """A stage of a piece begins; called from any thread."""
        with self._lock:
            self._running[piece] = stage

    def __call__(self, done: int, total: int, result: Any) -> None:
        """A piece has ended."""
        with self._lock:
            self._running.pop(result.piece, None)
            self._done, self._total = done, total
            if self._terminal is not None:
                self._clear()
            if not self._quiet or result.state == "failed":
                print(f"[{done}/{total}] {result}", file=self._results, flush=True)
        if self._terminal is not None:
            self._write_line()

    def planned(self, plan: Any) -> None:
        """What will be built."""
        with self._lock:
            self._done, self._total = 0, len(plan.pieces)

    def line(self, elapsed: float, width: int = 80) -> str:
        """The changing line after so many seconds."""
        with self._lock:
            running = [f"{piece} ({stage})" for piece, stage in self._running.items()]
            done, total = self._done, self._total
        count = f"[{done}/{total}]" if total else "[planning]"
        # Before the first one ends there is nothing to judge by.
        left = f", about {clock(elapsed / done * (total - done))} left" if 0 < done < total else ""
        text = shown(f"{count} {clock(elapsed)}{left}  {', '.join(running)}".rstrip())
        return text if len(text) < width else f"{text[: width - 4]}..."

    def _tick(self) -> None:
        while not self._over.wait(_INTERVAL):
            self._write_line()

    def _write_line(self) -> None:
        import shutil

        assert self._terminal is not None
        elapsed = time.monotonic() - self._started
        self._terminal.write(_CLEAR + self.line(elapsed, shutil.get_terminal_size().columns))
        self._terminal.flush()

    def _clear(self) -> None:
        assert self._terminal is not None
        self._terminal.write(_CLEAR)
        self._terminal.flush()


def clock(seconds: float) -> str:
    """``1:05``, ``1:02:03``."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def model_progress(*, quiet: bool, as_json: bool) -> ModelProgress:
    """The display of a model's build; where standard output has the results as JSON, it has no lines."""
    terminal = steered(sys.stderr) if not quiet and sys.stderr.isatty() else None
    return ModelProgress(sys.stderr if as_json else sys.stdout, terminal, quiet=quiet)
