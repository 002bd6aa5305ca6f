"""Things a path may lead to that are no regular files."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path


def _directory(path: Path) -> None:
    path.mkdir()
    (path / "precious").write_text("kept")


def _socket(path: Path) -> None:
    # The path of a socket must be short.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(before)


#: How each is made.
SPECIAL: dict[str, Callable[[Path], None]] = {
    "directory": _directory,
    "pipe": os.mkfifo,
    "socket": _socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
}
