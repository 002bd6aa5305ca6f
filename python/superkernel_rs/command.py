"""The commands ``superkernel`` and ``superkernel-rs``.

Everything here runs before it is known which ``superkernel`` there is and whether this Python can run it: no import
from it at the top, and syntax that older Pythons read.
"""

from __future__ import annotations

import importlib.util
import os
import sys

#: The package that was installed together with this module.
OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "superkernel")

FAILED = 1


def main() -> int:
    """Runs the command line of our own package."""
    problem = _problem()
    if problem:
        print("superkernel: error: " + problem, file=sys.stderr)
        return FAILED
    found = _found_by_import()
    if found != OURS:
        _load_ours()
    from superkernel._install.packages import shadow_note
    from superkernel.cli import main as run

    note = None if found is None else shadow_note(found)
    if note:
        print("superkernel: note: " + note, file=sys.stderr)
    return run()


def _problem() -> str | None:
    """Why our own package cannot be used at all."""
    if sys.version_info < (3, 9):  # noqa: UP036  # not what pip installs into, but what a shared folder meets
        found = ".".join(map(str, sys.version_info[:2]))
        return f"Python 3.9 or newer is needed; this is {found} ({sys.executable})"
    try:
        with open(os.path.join(OURS, "__init__.py"), "rb") as file:
            intact = b"superkernel._core" in file.read()
    except OSError as error:
        return (
            f"the package `{OURS}` cannot be read ({error.strerror}). Run: pip install --force-reinstall superkernel-rs"
        )
    if intact:
        return None
    return (
        f"another distribution was installed over `{OURS}` and replaced its files. "
        "Run: pip install --force-reinstall --no-deps superkernel-rs"
    )


def _found_by_import() -> str | None:
    """The folder of the package that ``import superkernel`` gives here."""
    try:
        spec = importlib.util.find_spec("superkernel")
    except (ImportError, ValueError):
        return None
    return os.path.dirname(os.path.abspath(spec.origin)) if spec is not None and spec.origin else None


def _load_ours() -> None:
    """Imports our own package as ``superkernel``; its sub-modules follow it."""
    start = os.path.join(OURS, "__init__.py")
    spec = importlib.util.spec_from_file_location("superkernel", start, submodule_search_locations=[OURS])
    assert spec is not None and spec.loader is not None  # a file named *.py always has a loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["superkernel"] = module
    spec.loader.exec_module(module)
