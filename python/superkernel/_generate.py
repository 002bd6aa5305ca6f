"""The source of a super kernel, without building it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from superkernel import _core
from superkernel._build import settings
from superkernel._logging import building

__all__ = ["generate", "program_text"]


def generate(kernel_infos: Mapping[str, Any], kernel_name: str = "ascendc_super_kernel_plus") -> str:
    """The C++ source that a compile of the same arguments would build.

    Reads the sub-kernels' JSONs and objects; needs no toolchain and writes nothing.
    """
    return _call(_core.generate, kernel_infos, kernel_name)


def program_text(kernel_infos: Mapping[str, Any], kernel_name: str = "ascendc_super_kernel_plus") -> str:
    """The device program, step by step, as text for people. Works without the objects."""
    return _call(_core.program_text, kernel_infos, kernel_name)


def _call(function: Any, kernel_infos: Mapping[str, Any], kernel_name: str) -> str:
    current = settings()
    with building(kernel_name):
        text: str = function(kernel_infos, kernel_name, current)
    return text
