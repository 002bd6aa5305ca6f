"""Notices a namesake: PyPI has an unrelated distribution that also installs a package ``superkernel``.

Whichever of the two is installed last overwrites files of the other. If ours came last, the import works and a warning
is all there is to say. If the other came last, ``superkernel/__init__.py`` is theirs; what is left of ours (the command
line) can still say what happened.
"""

from __future__ import annotations

import os
import warnings

REPAIR = "pip uninstall superkernel superkernel-rs && pip install superkernel-rs"


def warn_of_namesake() -> None:
    """Warns if the other distribution is installed beside this package."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        names = os.listdir(folder)
    except OSError:
        # Imported from an archive: nothing was overwritten there.
        return
    for name in names:
        if name.startswith("superkernel-") and name.endswith((".dist-info", ".egg-info")):
            warnings.warn(
                f"another distribution named `superkernel` is installed beside `superkernel-rs` (`{name}` in "
                f"`{folder}`); they overwrite each other's files. Run: {REPAIR}",
                RuntimeWarning,
                stacklevel=3,
            )


def foreign_package_message() -> str | None:
    """What to tell the user if ``superkernel/__init__.py`` is not ours; ``None`` if it is."""
    import superkernel

    if hasattr(superkernel, "SuperKernelError"):
        return None
    return (
        f"the package `superkernel` in `{os.path.dirname(__file__)}` was overwritten by another distribution of that "
        f"name. Run: {REPAIR}"
    )
