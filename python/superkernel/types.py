"""Types for callers: what ``kernel_infos`` holds, and the words that arguments and results are made of.

At run time other mappings are as good, and further keys are accepted; these are for type checkers and editors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

__all__ = [
    "Arrivals",
    "Asserts",
    "Cache",
    "CompiledKernel",
    "Estimate",
    "EventKind",
    "Events",
    "KernelInfos",
    "KernelType",
    "OpEntry",
    "Origin",
    "Part",
    "Pipes",
    "Planned",
    "PlannedFunction",
    "PlannedOp",
    "PlannedSlot",
    "PlannedStep",
    "Position",
    "Predicted",
    "PredictedCore",
    "PredictedKernel",
    "PredictedOp",
    "Schedule",
    "Skipped",
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
#: How the simulator orders the pipes of a core, and what it says about code that relies on that order.
Pipes = Literal["in-order", "reordered", "checked"]
#: What follows where AscendC's headers complain about what device builds do not look at.
Asserts = Literal["warn", "strict"]
#: Whether the simulator's caches are kept alike.
Cache = Literal["coherent", "strict"]
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


class PlannedFunction(TypedDict, total=False):
    """A function of a planned op: of a static one by kind of core, of a dynamic one by tiling key."""

    kind: Literal["aic", "aiv"]
    name: str
    #: Bytes of code; ``None``: not known without the object.
    text_size: int | None
    #: Units of 2 KiB that are preloaded.
    preload: int | None
    tiling_key: str
    kernel_type: KernelType
    aic: str
    aiv: str


class PlannedOp(TypedDict):
    """One op of a plan."""

    index: int
    kernel_name: str
    op_type: str
    kernel_type: KernelType
    task_type: TaskType
    stream_id: int
    block_num: int
    param_offset: int
    notify_param_offset: int
    wait_param_offset: int
    send_event_list: list[int]
    recv_event_list: list[int]
    needs_feed_sync_all: bool
    functions: list[PlannedFunction]


class PlannedSlot(TypedDict):
    """One parameter of a planned super kernel."""

    slot: int
    name: str
    #: The op it belongs to; ``None``: the super kernel itself.
    op: int | None


class _Step(TypedDict):
    op: int | None
    cores: str
    action: str
    reason: str | None


class PlannedStep(_Step, total=False):
    """A step of the device program; further keys are fields of its action."""


class Planned(TypedDict):
    """What ``superkernel.plan`` returns."""

    kernel_name: str
    soc: str
    chip: str
    kernel_type: KernelType
    block_num: int
    split_mode: int
    two_streams: bool
    workspace_size: int
    debug_option: str
    debug_size: int
    inner_events: list[int]
    defines: list[str]
    slots: list[PlannedSlot]
    ops: list[PlannedOp]
    #: Order between the ops of several streams.
    edges: list[dict[str, Any]]
    #: What must have ended before what begins, op by op.
    order: list[dict[str, Any]]
    steps: list[PlannedStep]
    warnings: list[str]


class Estimate(TypedDict):
    """A predicted time with its range, in microseconds."""

    us: float
    low: float
    high: float


class Part(TypedDict):
    """A share of a predicted gain."""

    what: str
    us: float


class PredictedOp(TypedDict):
    """One op of a predicted super kernel."""

    name: str
    op_type: str
    source: str
    unfused: Estimate
    start: float
    end: float
    imbalance: float
    #: Whether the end of the kernel moves with it.
    decides: bool


class PredictedCore(TypedDict):
    """How one core spends its time."""

    core: str
    work: float
    overhead: float
    waiting: float


class PredictedKernel(TypedDict):
    """One predicted super kernel."""

    name: str
    options: str
    unfused: Estimate
    fused: Estimate
    gain: Estimate
    gain_percent: float
    reasons: list[Part]
    parts: list[tuple[str, float]]
    cube_vector_overlap: float
    imbalance: float
    waiting_percent: float
    ops: list[PredictedOp]
    cores: list[PredictedCore]
    notes: list[str]


class Skipped(TypedDict):
    """A super kernel that nothing is predicted of."""

    name: str
    why: str


class Predicted(TypedDict):
    """What ``superkernel.cost.predict`` returns."""

    predicted: bool
    prices: str
    kernels: list[PredictedKernel]
    #: Torch operator, node of the traced graph and line of Python by the name of the op, where a graph tells.
    origins: dict[str, dict[str, str]]
    skipped: list[Skipped]


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
