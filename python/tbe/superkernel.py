"""``tbe.superkernel``: the historical place of the package ``superkernel``, as an alias.

``tbe`` belongs to CANN; this file must never stand in its way. So there is no ``tbe/__init__.py`` here: Python makes a
namespace of this folder only after it has found no real package ``tbe`` anywhere on ``sys.path``, before or behind this
one. And this is a module, not a folder ``tbe/superkernel``: should a ``tbe`` with its own ``superkernel`` be installed
into the very same folder, the two share no file, and Python prefers the folder.

What is left is handled below: a ``tbe`` around this file that is not ours alone.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType

_REAL = "superkernel"


class _AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes ``tbe.superkernel.x`` the very module ``superkernel.x``: a second copy would have its own enums."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(f"{__name__}.") or sys.modules.get(__name__) is not sys.modules.get(_REAL):
            return None
        real = _REAL + fullname[len(__name__) :]
        if importlib.util.find_spec(real) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_REAL + spec.name[len(__name__) :])
        # The import system is about to write the alias's spec into the module; `exec_module` puts this one back.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        alias = module.__spec__
        if alias is not None and alias.loader is self:
            module.__spec__ = alias.loader_state


def _other_folders() -> list[str]:
    """Folders of the package ``tbe`` around this module that are not this one."""
    here = os.path.realpath(os.path.dirname(__file__))
    return [folder for folder in sys.modules["tbe"].__path__ if os.path.realpath(folder) != here]


def _become_alias() -> None:
    if getattr(sys.modules["tbe"], "__file__", None) is not None:
        _refuse(f"`tbe` is another package, `{sys.modules['tbe'].__file__}`")
    others = _other_folders()
    if others:
        # Another `tbe` without an `__init__.py`. If it has a `superkernel`, that one was meant.
        spec = importlib.machinery.PathFinder.find_spec(__name__, others)
        if spec is None or spec.loader is None:
            _refuse(f"`tbe` is another package, in `{others[0]}`")
        else:
            module = importlib.util.module_from_spec(spec)
            sys.modules[__name__] = module
            spec.loader.exec_module(module)
        return
    sys.modules[__name__] = importlib.import_module(_REAL)
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())


def _refuse(reason: str) -> None:
    raise ModuleNotFoundError(f"No module named {__name__!r}: {reason}; import `{_REAL}` instead", name=__name__)


_become_alias()
