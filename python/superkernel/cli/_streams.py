"""Streams that a user names on the command line: ``-``, ``/dev/stdin``, ``<(command)``, ``-o /dev/stdout``.

They are open already, so nothing waits for their other end, and reading them to their end is what was asked for. Files
named anywhere else (in op lists, in settings, by ``superkernel.plan``) are regular files or errors.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import tarfile

_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_NUMBERED = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")
_PIECE = 1 << 20


def stream_number(path: str) -> int | None:
    """The descriptor a path names, if a pipe, a socket, a terminal or a file is open there.

    A file too: its path is a link of the system, which must not be replaced by a file.
    """
    numbered = _NUMBERED.fullmatch(path)
    number = int(numbered.group(1)) if numbered else _STANDARD.get(path)
    if number is None:
        return None
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return None
    is_stream = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode) or os.isatty(number)
    return number if is_stream else None


def read(path: str) -> bytes:
    """The content of a file or stream of the command line."""
    from superkernel import _files

    if path == "-":
        return sys.stdin.buffer.read()
    number = stream_number(path)
    if number is None:
        return _files.read(path)
    with _opened(number, "rb", path) as stream:
        return _checked(path, stream.read)


def write(path: str, data: bytes) -> None:
    """Writes a file or stream of the command line."""
    from superkernel import _files

    number = stream_number(path)
    if number is not None:
        with _opened(number, "wb", path) as stream:
            stream.write(data)
    elif not is_nowhere(path):
        _files.write(path, data)


@contextmanager
def tar_to(path: str) -> Iterator[tarfile.TarFile]:
    """A tar file or stream to write."""
    import tarfile

    number = stream_number(path)
    if number is None:
        # Refuses what is no file, before it is opened to be written.
        write(path, b"")
        with tarfile.open(path, "w") as archive:
            yield archive
    else:
        with _opened(number, "wb", path) as stream, tarfile.open(fileobj=stream, mode="w|") as archive:
            yield archive


def is_nowhere(path: str) -> bool:
    """Is it the device that swallows everything?"""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev


def as_file(path: str, folder: str | os.PathLike[str]) -> str:
    """The path of a file; a stream is copied into ``folder`` first."""
    number = 0 if path == "-" else stream_number(path)
    if number is None:
        return path
    copy = os.path.join(folder, ".from-stream")
    with _opened(number, "rb", path) as stream, open(copy, "wb") as target:
        while piece := _checked(path, lambda: stream.read(_PIECE)):
            target.write(piece)
    return copy


def _opened(number: int, mode: str, path: str) -> IO[bytes]:
    from superkernel._errors import make_error

    if number in (1, 2):
        sys.stdout.flush()
    try:
        # A copy: closing it leaves the caller's stream open.
        stream: IO[bytes] = os.fdopen(os.dup(number), mode)
        return stream
    except OSError as error:
        raise make_error(
            "SK0001", f"cannot open `{path}`: {error.strerror or error}", "check what the command is connected to"
        ) from None


def _checked(path: str, action: Callable[[], bytes]) -> bytes:
    from superkernel._errors import make_error

    try:
        return action()
    except OSError as error:
        raise make_error(
            "SK0001", f"cannot read `{path}`: {error.strerror or error}", "check what the command is connected to"
        ) from None
