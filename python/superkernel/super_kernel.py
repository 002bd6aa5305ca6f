"""The entry the graph engine calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from superkernel._errors import make_error

__all__ = ["compile"]


def compile(
    kernel_infos: Mapping[str, Any],
    called_kernel_name: str = "ascendc_super_kernel_plus",
    compile_infos: Mapping[str, Any] | None = None,
) -> None:
    """Fuses the kernels of ``kernel_infos`` into ``<kernel_meta_parent_dir>/kernel_meta/<called_kernel_name>.o``."""
    raise make_error("SK0090", "this version cannot build super kernels yet", "use `superkernel.plan`")
