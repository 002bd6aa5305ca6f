"""The entry the graph engine calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from superkernel._build import build
from superkernel._migration import moved

__all__ = ["compile"]


def compile(
    kernel_infos: Mapping[str, Any],
    called_kernel_name: str = "ascendc_super_kernel_plus",
    compile_infos: Mapping[str, Any] | None = None,
) -> None:
    """Fuses the kernels of ``kernel_infos`` into ``<kernel_meta_parent_dir>/kernel_meta/<called_kernel_name>.o``."""
    build(kernel_infos, called_kernel_name)


__getattr__ = moved(__name__)
