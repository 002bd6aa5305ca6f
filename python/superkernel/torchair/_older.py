"""Names that older releases of TorchAir import and newer libraries do not have any more."""

from __future__ import annotations

import importlib.util
import sys
from types import FrameType, SimpleNamespace
from typing import Any

from superkernel.torchair._silent import SilentModule


def provide() -> None:
    """Puts them where they are looked for, if they are missing there."""
    _pkg_resources()
    _hint_int()
    _overloads()


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


def _overloads() -> None:
    """Overloads of torch's operators that are gone.

    TorchAir's converters name all there were. A file that names one that is not there would be left out as a whole,
    while a converter for ``None`` is none.
    """
    from torch._ops import OpOverloadPacket

    original: Any = OpOverloadPacket.__getattr__

    def overload(self: Any, name: str) -> Any:
        try:
            return original(self, name)
        except AttributeError:
            if name.startswith("_") or not _is_torchairs(sys._getframe(1)):
                raise
            return None

    OpOverloadPacket.__getattr__ = overload


def _is_torchairs(caller: FrameType) -> bool:
    return str(caller.f_globals.get("__name__", "")).startswith("torchair.")


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
