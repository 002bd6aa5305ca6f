"""Noticing an unrelated package of our name; part of every import of this one, so it loads next to nothing."""

from __future__ import annotations

import os

__all__ = ["GRAPH_ENGINE_S_MODULE", "warn_of_stranger"]

#: The module the graph engine imports: the replaced software has it, a stranger does not.
GRAPH_ENGINE_S_MODULE = "super_kernel.py"


def warn_of_stranger() -> None:
    """Warns if an unrelated distribution called ``superkernel`` is installed into the same folder as this package.

    The two overwrite each other's files. The replaced software is no stranger: being installed over it, in a toolkit's
    own folder, is as intended, and the toolkit needs it to be listed.
    """
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    try:
        names = os.listdir(folder)
    except OSError:
        # Imported from an archive: nothing was overwritten there.
        return
    for name in names:
        if name.startswith("superkernel-") and name.endswith((".dist-info", ".egg-info")):
            if not _is_stranger(os.path.join(folder, name)):
                continue
            import warnings

            warnings.warn(
                f"another distribution named `superkernel` is installed beside `superkernel-rs` (`{name}` in "
                f"`{folder}`); they overwrite each other's files. Run: pip uninstall superkernel superkernel-rs && "
                "pip install superkernel-rs",
                RuntimeWarning,
                stacklevel=4,
            )


def _is_stranger(information: str) -> bool:
    """By the list of files that every installed distribution comes with; a toolkit's installer may leave it out."""
    for list_of_files in ("RECORD", "SOURCES.txt"):
        try:
            with open(os.path.join(information, list_of_files), encoding="utf-8", errors="replace") as file:
                files = file.read()
        except OSError:
            continue
        return f"superkernel/{GRAPH_ENGINE_S_MODULE}" not in files
    return False
