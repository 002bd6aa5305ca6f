"""Types for callers: what ``kernel_infos`` holds, and the words that arguments and results are made of.

At run time other mappings are as good, and further keys are accepted; these are for type checkers and editors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict

__all__ = [
    "Arrivals",
    "CompiledKernel",
    "EventKind",
    "Events",
    "KernelInfos",
    "KernelType",
    "OpEntry",
    "Origin",
    "Position",
    "Schedule",
    "Stage",
    "TaskType",
    "ToolchainKind",
]

TaskType = Literal["normal", "dynamic"]
ToolchainKind = Literal["cann", "host"]
#: Where a kernel came from: built now, there already, taken from the cache directory.
Origin = Literal["compiled", "up to date", "from cache"]
#: The stages of a build, in order; see docs/build.md.
Stage = Literal[
    "load", "read", "compare", "plan", "emit", "cache", "copy", "compile", "link", "localize", "check", "publish"
]  # fmt: skip
#: In which order the simulator runs cores.
Schedule = Literal["round-robin", "random", "skewed"]
Arrivals = Literal["per-core", "summed"]
Events = Literal["none", "ops", "sync", "instructions"]
#: Where in a super kernel an operator stands, for `sim.build_op`.
Position = Literal["start", "middle", "end"]
EventKind = Literal["normal", "notify", "mem"]
KernelType = Literal[
    "KERNEL_TYPE_AIV_ONLY",
    "KERNEL_TYPE_AIC_ONLY",
    "KERNEL_TYPE_MIX_AIV_1_0",
    "KERNEL_TYPE_MIX_AIC_1_0",
    "KERNEL_TYPE_MIX_AIC_1_1",
    "KERNEL_TYPE_MIX_AIC_1_2",
]


class _Files(TypedDict):
    json_path: str
    bin_path: str


class OpEntry(_Files, total=False):
    """One op of a super kernel."""

    stream_id: int
    task_type: TaskType
    send_event_list: Sequence[int]
    recv_event_list: Sequence[int]


class _Ops(TypedDict):
    op_list: Sequence[OpEntry]


class KernelInfos(_Ops, total=False):
    """What a super kernel is made of: the first argument of ``superkernel.compile``."""

    super_kernel_options: str
    kernel_name: str


class CompiledKernel(NamedTuple):
    """What ``superkernel.compile_kernel`` returns."""

    name: str
    origin: Origin
    #: Why it was built though there was one; empty for a new one, and where nothing was built.
    reason: list[str]
    #: Milliseconds per stage, and in all under ``total``.
    timings: dict[str, float]
    #: What works but deserves a look.
    warnings: list[str]
    #: The kernel, its description and the record of its build.
    object: Path
    json: Path
    manifest: Path
    toolchain: ToolchainKind
    #: How many ops it has, from how many files.
    ops: int
    files: int
