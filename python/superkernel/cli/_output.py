"""Standard output and error as a command meets them: closed, full, or unable to show every letter."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

__all__ = ["Output", "shown", "standard_streams", "steered"]

_PLAIN = "superkernel-plain"
#: What the texts of this package hold beside ASCII, in letters that every terminal has.
_INSTEAD = {"\u2026": "...", "\u2192": "->", "\u2190": "<-", "\u2013": "-", "\u2014": "-", "\u00d7": "x", "\u00b7": "*"}


#: What a terminal obeys instead of showing it: control characters but the ends of lines and tabs, and what turns the
#: direction of text. Names come from files, and files from anywhere.
_OBEYED = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}


def shown(text: str) -> str:
    """Text as everything that is printed has it: nothing in it changes how a terminal shows the rest."""
    return text.translate(_OBEYED)


class Shown:
    """A stream that everything is written to in a form that can be shown."""

    def __init__(self, stream: TextIO) -> None:
        #: For those who steer the terminal themselves, with text that went through ``shown``.
        self.steered = stream

    def write(self, text: str) -> int:
        return self.steered.write(shown(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.steered, name)


def steered(stream: TextIO) -> TextIO:
    """The stream behind, for lines that change in place."""
    return getattr(stream, "steered", stream)


class Output(Shown):
    """Standard output that remembers the first failure: whoever prints may not notice, or not know what failed."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self.failure = self.failure or error
            raise

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self.failure = self.failure or error
            raise

    def finish(self) -> OSError | None:
        """Hands over what is still buffered, while trouble can be told; the first failure, if there was one."""
        try:
            self.flush()
        except OSError:
            pass
        except ValueError:
            # Closed by the command itself.
            return None
        if self.failure is not None:
            # What is buffered has nowhere to go, and must not be tried again when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
        return self.failure


@contextmanager
def standard_streams() -> Iterator[Output]:
    """Inside, writing works or fails in a way that can be told."""
    codecs.register_error(_PLAIN, _in_plain_letters)
    _occupy_closed_descriptors()
    before = sys.stdout, sys.stderr
    # Python has no streams for what was closed when it started. Errors that nobody can see are not worth an end.
    out = open(1, "w", closefd=False) if before[0] is None else before[0]  # noqa: SIM115
    errors = open(os.devnull, "w") if before[1] is None else before[1]  # noqa: SIM115
    for stream in (out, errors):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_PLAIN)
    output: Any = Output(out)
    shown_errors: Any = Shown(errors)
    sys.stdout, sys.stderr = output, shown_errors
    try:
        yield output
    finally:
        sys.stdout, sys.stderr = before


def _occupy_closed_descriptors() -> None:
    """A file that is opened later must not become standard output by accident."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            # Output that nobody asked for may vanish; what was asked for must fail, hence not writable.
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)


def _in_plain_letters(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_INSTEAD.get(letter, "?") for letter in letters), error.end
