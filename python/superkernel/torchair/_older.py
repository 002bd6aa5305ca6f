"""Names that older releases of TorchAir import and newer libraries do not have any more."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

from superkernel.torchair._silent import SilentModule


def provide() -> None:
    """Puts them where they are looked for, if they are missing there."""
    _pkg_resources()
    _hint_int()


def _pkg_resources() -> None:
    """Asked for versions; newer setuptools have it no more."""
    if importlib.util.find_spec("pkg_resources") is not None:
        return
    from importlib.metadata import version

    from packaging.version import parse

    module = SilentModule("pkg_resources")
    module.parse_version = parse
    module.get_distribution = lambda name: SimpleNamespace(version=version(name))
    sys.modules["pkg_resources"] = module


def _hint_int() -> None:
    """The size that a symbol stood for when the model was traced."""
    from torch.fx.experimental import symbolic_shapes

    def hint_int(size: Any, fallback: int | None = None) -> int:
        hint = getattr(getattr(size, "node", None), "hint", None)
        if hint is not None:
            return int(hint)
        return int(size) if fallback is None else fallback

    if not hasattr(symbolic_shapes, "hint_int"):
        symbolic_shapes.hint_int = hint_int
