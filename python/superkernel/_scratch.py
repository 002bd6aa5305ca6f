"""Folders for the files of one task, which do not outlive their process: after a crash the next one removes them."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from types import TracebackType

from superkernel import _core
from superkernel._errors import make_error

__all__ = ["ScratchFolder", "own_temporary_folder"]


class ScratchFolder:
    """A new, private folder; removed by ``cleanup``, at the end of a ``with`` block or of the process.

    Unlike those of ``tempfile`` it also disappears after ``SIGKILL``, with the next one that anybody makes, and a
    forked process does not remove the folder of its parent.
    """

    def __init__(self, purpose: str) -> None:
        folder = _core.ScratchFolder(own_temporary_folder(), purpose)
        self.name = folder.name
        self.cleanup = weakref.finalize(self, folder.close)

    def __enter__(self) -> str:
        return self.name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cleanup()


def own_temporary_folder() -> Path:
    """The user's own folder among those that everybody may write to."""
    try:
        folder = Path(tempfile.gettempdir()) / f"superkernel-{os.getuid()}"
        folder.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise make_error(
            "SK0001", f"there is no folder for temporary files: {error}", "set TMPDIR to a folder of your own"
        ) from None
    if folder.lstat().st_uid != os.getuid():
        raise make_error("SK0001", f"`{folder}` belongs to another user", "set TMPDIR to a folder of your own")
    return folder
