"""What is known of a super kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from superkernel._migration import moved
from superkernel._plan import plan
from superkernel.super_kernel_sub_op_infos import Key, SubOperatorInfos, View, numbers, rows, strings

__all__ = ["SuperOperatorInfos"]


def _ops(values: Any) -> tuple[SubOperatorInfos, ...]:
    return tuple(SubOperatorInfos(value) for value in values)


class SuperOperatorInfos(View):
    """A super kernel as the core knows it: an attribute per key of ``superkernel.plan``. Nothing is built.

    >>> infos = SuperOperatorInfos(kernel_infos, "te_superkernel_ab")      # doctest: +SKIP
    >>> infos.kernel_type, infos.block_num, infos.ops[0].param_offset      # doctest: +SKIP
    ('KERNEL_TYPE_MIX_AIC_1_2', 24, 1)
    """

    kernel_name = Key(str)
    soc = Key(str)
    chip = Key(str)
    kernel_type = Key(str)
    block_num = Key(int)
    split_mode = Key(int)
    two_streams = Key(bool)
    workspace_size = Key(int)
    debug_option = Key(str)
    debug_size = Key(int)
    inner_events = Key(numbers)
    defines = Key(strings)
    slots = Key(rows)
    ops = Key(_ops)
    edges = Key(rows)
    order = Key(rows)
    steps = Key(rows)
    warnings = Key(strings)

    def __init__(self, kernel_infos: Mapping[str, Any], kernel_name: str = "ascendc_super_kernel_plus") -> None:
        super().__init__(plan(kernel_infos, kernel_name))


__getattr__ = moved(__name__)
