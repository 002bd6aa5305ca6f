"""Ops, cores and kernels as the rules see them: the plan's facts, and what the plan does not say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

CLASS_OF = {
    "KERNEL_TYPE_AIV_ONLY": "aiv",
    "KERNEL_TYPE_MIX_AIV_1_0": "aiv",
    "KERNEL_TYPE_AIC_ONLY": "aic",
    "KERNEL_TYPE_MIX_AIC_1_0": "aic",
    "KERNEL_TYPE_MIX_AIC_1_1": "mix",
    "KERNEL_TYPE_MIX_AIC_1_2": "mix",
}


@dataclass
class Op:
    """One op as the rules see it."""

    position: int
    plan: dict[str, Any]
    sets: bool
    waits: bool
    before: bool
    after: bool
    key: int | None = None
    run_blocks: int = 0
    #: Its JSON says that it calls SyncAll, or does not say.
    may_sync_all: bool = True

    @property
    def cls(self) -> str:
        return CLASS_OF[self.plan["kernel_type"]]

    @property
    def blocks(self) -> int:
        return int(self.plan["block_num"])

    @property
    def dynamic(self) -> bool:
        return bool(self.plan["task_type"] == "dynamic")

    def runs_on(self, kind: str) -> bool:
        return self.cls in (kind, "mix")


@dataclass
class Core:
    """One core of the launch."""

    kind: str
    block: int
    sub: int
    subs: int
    number: int

    @property
    def index(self) -> int:
        """``AscendC::GetBlockIdx()``."""
        return self.block if self.kind == "aic" else self.block * self.subs + self.sub

    def op_index(self, op: Op) -> int:
        return self.index if op.cls == "aiv" else self.block

    def runs(self, op: Op) -> bool:
        return op.runs_on(self.kind) and self.op_index(op) < op.blocks


@dataclass
class Kernel:
    """A super kernel, by its plan, and what the plan does not say."""

    plan: dict[str, Any]
    options: dict[str, Any]
    ops: list[Op]
    outer: set[int] = field(default_factory=set)

    @property
    def cls(self) -> str:
        return CLASS_OF[self.plan["kernel_type"]]

    @property
    def subs(self) -> int:
        return 2 if self.plan["kernel_type"].endswith("1_2") else 1

    def cores(self, kind: str) -> int:
        if self.cls not in (kind, "mix"):
            return 0
        return int(self.plan["block_num"]) * (self.subs if kind == "aiv" else 1)

    def slot(self, name: str) -> int | None:
        for slot in self.plan["slots"]:
            if slot["name"] == name:
                return int(slot["slot"])
        return None

    def on(self, option: str) -> bool:
        return bool(self.options.get(option, 0) == 1)

    @property
    def early(self) -> bool:
        return self.options.get("early-start", 1) != 0 and not self.plan["two_streams"]

    @property
    def proven(self) -> bool:
        return self.options.get("sync", "proven") == "proven"

    def before(self, op: Op) -> Op | None:
        return self.ops[op.position - 1] if op.position else None

    def behind(self, op: Op) -> Op | None:
        return self.ops[op.position + 1] if op.position + 1 < len(self.ops) else None

    def sends(self, op: Op) -> list[tuple[int, str]]:
        """Outer sends: event and lock name."""
        return self._events(op, "send_event_list", "__ac_notify_lock")

    def receives(self, op: Op) -> list[tuple[int, str]]:
        """Outer receives: event and lock name."""
        return self._events(op, "recv_event_list", "__ac_wait_lock")

    def _events(self, op: Op, key: str, lock: str) -> list[tuple[int, str]]:
        inner = set(self.plan["inner_events"])
        events = enumerate(op.plan[key])
        return [(event, f"{lock}_{op.plan['index']}_{number}") for number, event in events if event not in inner]


def order_edges(kernel: Kernel) -> list[tuple[Op, Op]]:
    """Stream neighbours and inner events."""
    last: dict[int, Op] = {}
    edges = []
    for op in kernel.ops:
        stream = op.plan["stream_id"]
        if stream in last:
            edges.append((last[stream], op))
        last[stream] = op
    senders = {event: op for op in kernel.ops for event in op.plan["send_event_list"]}
    for op in kernel.ops:
        for event in op.plan["recv_event_list"]:
            if event in senders:
                edges.append((senders[event], op))
    return edges


def all_cores(kernel: Kernel) -> Iterator[Core]:
    """Every core of a launch."""
    blocks = kernel.plan["block_num"]
    for block in range(blocks):
        if kernel.cores("aic"):
            yield Core("aic", block, 0, 1, block)
        if kernel.cores("aiv"):
            for sub in range(kernel.subs):
                yield Core("aiv", block, sub, kernel.subs, max(25, blocks) + block * kernel.subs + sub)
