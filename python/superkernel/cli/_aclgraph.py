"""The options of the other engine, for people who move between the two.

Captured graphs (npugraph_ex) are optimised by a library of their own, whose options have other names. Nothing but their
names is known here; what has no counterpart says so.
"""

from __future__ import annotations

from typing import NamedTuple


class Counterpart(NamedTuple):
    """An option of captured graphs and what does the same for a super kernel here."""

    name: str
    #: Options here that mean the same, or the nearest there are.
    here: tuple[str, ...]
    note: str


_SAME = "the same"

COUNTERPARTS = (
    Counterpart("preload_code", ("preload-code",), _SAME),
    Counterpart("split_mode", ("split-mode",), _SAME),
    Counterpart("stream_fusion", ("stream-fusion",), _SAME),
    Counterpart("early_start", ("early-start",), _SAME),
    Counterpart("dcci_before_kernel_start", ("dcci-before-kernel-start",), _SAME),
    Counterpart("dcci_after_kernel_end", ("dcci-after-kernel-end",), _SAME),
    Counterpart("dcci_disable_on_kernel", ("dcci-disable-on-kernel",), _SAME),
    Counterpart("debug_sync_all", ("debug-sync-all",), _SAME),
    Counterpart("debug_op_exec_trace", ("profiling",), "nearest: times of every op, read by `superkernel profile`"),
    Counterpart(
        "debug_per_op_max_core_num",
        ("debug-aic-num", "debug-aiv-num"),
        "nearest: these force the kernel's core counts; ops are limited by `limit_core_num` around them",
    ),
    Counterpart(
        "debug_cross_core_sync_check",
        (),
        "no option: every compile checks its synchronisation, `superkernel run` plays it in many orders",
    ),
    Counterpart(
        "auto_op_parallel", (), "none: streams come from the graph (`npu_stream_switch`), with `stream-fusion`"
    ),
    Counterpart("constant_codegen", (), "none"),
    Counterpart("ubuf_lock_ignore_kernel", (), "none"),
    Counterpart("aggressive_opt_strategies", (), "none (its event_, value_ and task_breaker_bypass neither)"),
    Counterpart("opt_extend", (), "none"),
    Counterpart("debug_extend", (), "none"),
)


def only_here(names: list[str]) -> list[str]:
    """Options here that captured graphs have nothing for."""
    known = {name for counterpart in COUNTERPARTS for name in counterpart.here}
    return [name for name in names if name not in known]
