"""Standard output and error as a command meets them: closed, full, or unable to show every letter."""

from __future__ import annotations

import codecs
import io
import os
import re
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


_RED, _GREEN, _YELLOW, _BOLD, _PLAIN_AGAIN = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"

#: What a reader looks for first, by the line it stands in.
_COLOURS = tuple(
    (re.compile(pattern, re.MULTILINE), colour)
    for pattern, colour in (
        (r"^superkernel: error\b", _RED),
        (r"^superkernel: warning\b|^(?:warning|not checked)(?=: )", _YELLOW),
        (r"^  hint(?=: )", _BOLD),
        (r"(?<=: )ok(?=, \d+ seeds)", _GREEN),
        (r"(?<=: )\d+ of \d+ seeds found something$", _RED),
        (r"^\[\d+/\d+\] failed\b", _RED),
        (r"^ +problem(?=: )", _RED),
    )
)


def coloured(text: str) -> str:
    """The same with colours of a terminal."""
    for pattern, colour in _COLOURS:
        text = pattern.sub(rf"{colour}\g<0>{_PLAIN_AGAIN}", text)
    return text


def _takes_colours(stream: TextIO) -> bool:
    # https://no-color.org: whatever the variable holds, if it holds anything.
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


class Shown:
    """A stream that everything is written to in a form that can be shown."""

    def __init__(self, stream: TextIO) -> None:
        #: For those who steer the terminal themselves, with text that went through ``shown``.
        self.steered = stream
        self._has_colours = _takes_colours(stream)

    def write(self, text: str) -> int:
        plain = shown(text)
        self.steered.write(coloured(plain) if self._has_colours else plain)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.steered, name)


def steered(stream: TextIO) -> TextIO:
    """The underlying stream, for lines that change in place."""
    return getattr(stream, "steered", stream)


class Output(Shown):
    """Standard output that remembers the first failure: code that prints may not notice, or not know what failed."""

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
        """Hands over what is still buffered, while trouble can be reported; the first failure, if there was one."""
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
    """Inside, writing works or fails in a way that can be reported."""
    codecs.register_error(_PLAIN, _in_plain_letters)
    _occupy_closed_descriptors()
    before = sys.stdout, sys.stderr
    # Python has no streams for what was closed when it started. Errors that cannot be seen are no reason to stop.
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
            # Output that was not asked for may vanish; what was asked for must fail, hence not writable.
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)


def _in_plain_letters(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_INSTEAD.get(letter, "?") for letter in letters), error.end
