"""Opening files: nothing but regular files, and every failure is an error of this package."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Union

from superkernel import _core
from superkernel._errors import make_error

if TYPE_CHECKING:
    import tarfile

__all__ = [
    "PathLike",
    "by_age",
    "checked_path",
    "is_page",
    "open_tar",
    "open_to_read",
    "read",
    "write",
    "write_traces",
]

PathLike = Union[str, "os.PathLike[str]"]

_log = logging.getLogger("superkernel.trace")


def checked_path(path: PathLike, what: str = "path") -> str:
    """``path`` as text the system can take; anything else is an error about ``what``."""
    try:
        text = os.fspath(path)
        # Fails for what no file name can hold.
        os.fsencode(text)
    except (TypeError, UnicodeEncodeError):
        text = None
    if not isinstance(text, str) or "\0" in text:
        raise make_error("SK0001", f"{what}: `{ascii(path)[:80]}` is no path", "give the path of a file")
    return text


def open_to_read(path: PathLike) -> BinaryIO:
    """The file, opened; a pipe, a device or a directory is refused at once."""
    return os.fdopen(_core.open_file(checked_path(path)), "rb")


def read(path: PathLike) -> bytes:
    """The content of a file."""
    with open_to_read(path) as file:
        try:
            return file.read()
        except OSError as error:
            raise make_error(
                "SK0001",
                f"cannot read `{os.fspath(path)}`: {error.strerror or error}",
                "check that the path exists and that this user may access it",
            ) from None


def write(path: PathLike, data: bytes) -> None:
    """Writes a whole file."""
    _core.write_file(checked_path(path), data)


def is_page(path: PathLike) -> bool:
    """Whether a name is that of an HTML file."""
    return os.fspath(path).lower().endswith((".html", ".htm"))


def write_traces(path: PathLike, traces: _core.Traces, write_to: Callable[[Any, bytes], None] = write) -> list[str]:
    """Writes timelines, as a page if the name ends so, else for https://ui.perfetto.dev.

    Logs and returns what a reader of each must know.
    """
    data, described = traces.written()
    if is_page(path):
        from superkernel import pictures
        from superkernel.pictures import timeline

        title = described[0][0] if described else "nothing ran"
        data = pictures.page("timeline", title, timeline.of_runs([("", timeline.parsed(data, "trace"))])).encode()
    write_to(path, data)
    lines = []
    for kernel, axis, notes in described:
        lines += [f"{kernel}: {axis}", *(f"{kernel}: note: {note}" for note in notes)]
    for line in lines:
        _log.info("%s: %s", path, line)
    return lines


class _Bounded:
    """A file for ``tarfile``, which asks for as many bytes as a header claims, and gets memory for them first."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self.seek = file.seek
        self.tell = file.tell

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._file.tell())
        return self._file.read(left if size < 0 else min(size, left))


@contextmanager
def open_tar(path: PathLike) -> Iterator[tarfile.TarFile]:
    """A tar file that may come from anywhere; whatever is wrong with it is an ``OSError`` or a ``tarfile.TarError``."""
    import tarfile

    with open_to_read(path) as file:
        bounded: Any = _Bounded(file)
        try:
            with tarfile.open(fileobj=bounded, mode="r:") as archive:
                yield archive
        except (ValueError, RecursionError) as error:
            raise tarfile.ReadError(f"damaged: {error}") from None


def by_age(paths: Iterable[Path]) -> list[Path]:
    """The oldest first; what cannot be looked at (a link that leads nowhere) counts as the oldest."""

    def age(path: Path) -> tuple[float, str]:
        try:
            return path.stat().st_mtime, str(path)
        except OSError:
            return 0.0, str(path)

    return sorted(paths, key=age)
