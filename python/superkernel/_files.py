"""Opening files: nothing but regular files, and every failure is an error of this package."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Union

from superkernel import _core
from superkernel._errors import make_error

__all__ = ["PathLike", "by_age", "checked_path", "open_to_read", "read", "write"]

PathLike = Union[str, "os.PathLike[str]"]


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


def by_age(paths: Iterable[Path]) -> list[Path]:
    """The oldest first; what cannot be looked at (a link that leads nowhere) counts as the oldest."""

    def age(path: Path) -> tuple[float, str]:
        try:
            return path.stat().st_mtime, str(path)
        except OSError:
            return 0.0, str(path)

    return sorted(paths, key=age)
