"""Makes ``import superkernel`` find this package even if another of that name is in front of it.

``superkernel-rs activate`` has this file run whenever Python starts, by its path: nothing of the package is imported
here, no syntax newer Pythons alone have is used, and the cost is a few microseconds until something imports
``superkernel``.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # `typing` itself would cost every start of Python more than all the rest.
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

#: What the start of our package says and no other's does.
_OUR_MARK = b"superkernel._core"
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_ours(folder: str | os.PathLike[str]) -> bool:
    """Is the package in ``folder`` this software, of whatever version and wherever it is?"""
    try:
        with open(os.path.join(folder, "__init__.py"), "rb") as file:
            return _OUR_MARK in file.read()
    except OSError:
        return False


class PreferOurs:
    """Finds our package where the search path would give a foreign one."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """What the import system asks first."""
        if name != "superkernel" or sys.version_info < (3, 9) or not is_ours(_OURS):
            return None
        from importlib.machinery import PathFinder
        from importlib.util import spec_from_file_location

        usual = PathFinder.find_spec(name, path)
        if usual is not None and usual.origin and is_ours(os.path.dirname(usual.origin)):
            # Another copy of ours that was put in front on purpose.
            return None
        start = os.path.join(_OURS, "__init__.py")
        return spec_from_file_location(name, start, submodule_search_locations=[_OURS])


if __name__ == "superkernel_startup" and not any(
    getattr(finder, "__module__", "") == "superkernel_startup" for finder in sys.meta_path
):
    sys.meta_path.insert(0, PreferOurs)
