"""What a compile would do, without doing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from superkernel import _core
from superkernel._environment import snapshot
from superkernel._logging import building

__all__ = ["plan"]


def plan(kernel_infos: Mapping[str, Any], kernel_name: str = "ascendc_super_kernel_plus") -> dict[str, Any]:
    """The plan of a super kernel as JSON-able data: its shape, slots, ops, events, device program.

    Reads the sub-kernels' JSONs and, where they exist, their objects; needs no toolchain and writes nothing.
    """
    environment = snapshot()
    with building(kernel_name):
        return _core.plan(kernel_infos, kernel_name, environment["soc"], environment["aic_num"], environment["aiv_num"])
