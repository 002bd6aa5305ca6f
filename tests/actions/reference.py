"""The actions of every core, straight from the rules of the device program.

A second, deliberately plain derivation, for tests only: no intermediate form, no sharing with the compiler, quadratic
where that is simpler. It reads the plan's facts (shape, slots, ops) and returns what each core does, one text line an
action, in the words of ``recorder/kernel_operator.h``.
"""

from __future__ import annotations

from typing import Any

from shape import CLASS_OF, Core, Kernel, Op, order_edges
from synchronisation import (
    clears_late,
    events_of,
    has_fresh_round,
    leaving,
    notifying_kind,
    polls_early,
    releasing_kind,
    side_meets,
)

FIX, MTE3, ALL = 10, 5, 6
AIC_FLAG, AIV_FLAG, AIC_AIV_FLAG, AIV_ALL_FLAG = 11, 12, 13, 14
EARLY_CODE = {"aic": 0, "aiv": 1, "mix": 2}
AIV_TYPES = ("KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIV_1_0")


class Trace:
    """What one core does."""

    def __init__(self, kernel: Kernel, core: Core) -> None:
        self.kernel = kernel
        self.core = core
        self.lines: list[str] = []
        self.stored: int | None = None
        self.records: list[int] = []

    # -- primitives ----------------------------------------------------------------------------------------------

    def add(self, line: str) -> None:
        self.lines.append(line)

    def set(self, pipe: int, mode: int, flag: int) -> None:
        self.add(f"set {pipe} {mode} {flag}")

    def wait(self, flag: int) -> None:
        self.add(f"wait {flag} pipe 0" if self.kernel.plan["chip"] == "c310" else f"wait {flag}")

    def barrier_of(self, kind: str, pipe: int | None = None) -> None:
        """B_aic, B_aiv or B_all, on the cores it is for."""
        if kind == "mix":
            self.add("syncall 0")
        elif kind == self.core.kind:
            flag = AIC_FLAG if kind == "aic" else AIV_ALL_FLAG
            self.set(pipe if pipe is not None else (FIX if kind == "aic" else MTE3), 0, flag)
            self.wait(flag)

    def barrier(self) -> None:
        self.barrier_of(self.kernel.cls)

    def record(self, index: int, kind: int, end: int) -> None:
        if self.kernel.on("profiling"):
            self.add("cycle")
            self.records.append(index << 32 | end << 12 | kind << 8)

    def copy_of(self, function: str) -> str:
        copy = (self.core.number & 0xFF) % self.kernel.plan["split_mode"]
        return function if copy == 0 else f"{function}_split{copy}"

    # -- entry ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        kernel = self.kernel
        several = kernel.plan["two_streams"]
        if kernel.on("feed-sync-all"):
            self.add("feed_base = workspace+0")
            if kernel.cls == "mix":
                self.add("feed_enable = 0")
        if kernel.plan["debug_option"]:
            self.add(f"init_dump {int(kernel.cls == 'mix')} workspace+{kernel.plan['workspace_size']} 0")
        if kernel.on("profiling"):
            self.add("cycle")
            number = self.core.index if self.core.kind == "aiv" else self.core.block + 50
            self.records.append(77 << 32 | number << 8 | 0xFF)
        if kernel.plan["chip"] == "c220":
            self.add("ffts 4660")
        if several:
            self.record(0, 0, 0)
            self.clear_workspace()
            self.run_side()
        else:
            self.clear_workspace()
            if kernel.options.get("preload-code") == "max":
                self.add("preload_here 8")
            self.record(0, 0, 0)
            self.run_one_stream()
        for op in kernel.ops:
            for _, lock in kernel.receives(op):
                if self.core.kind == events_of(kernel, op).kind and self.core.index == 0:
                    self.clear(lock, publish=False)
        self.record(0, 0, 1)

    def clear(self, lock: str, publish: bool) -> None:
        """Writes 0; the proven form drops the line before and writes it back at once."""
        if self.kernel.proven and self.lines[-1:] != [f"spin {lock}"]:
            self.add(f"spin {lock}")
        self.add(f"write {lock} 0")
        if publish or self.kernel.proven:
            self.add(f"dcci {lock} 0 2")

    def store(self, code: int) -> None:
        """The early-start classes, when they change."""
        if self.stored != code:
            self.add(f"config = {code}")
        self.stored = code

    def clear_workspace(self) -> None:
        kernel = self.kernel
        if not kernel.on("feed-sync-all"):
            return
        kind = "aic" if kernel.cls == "aic" else "aiv"
        if self.core.kind == kind:
            share = kernel.plan["workspace_size"] // kernel.cores(kind)
            start = share * self.core.index
            if kind == "aic":
                self.add("create_cbuf_matrix 0 65552 0")
                self.add("set_flag 20 0")
                self.add("wait_flag 20 0")
            else:
                self.add("duplicate 0 0 128")
                self.add("set_flag 7 0")
                self.add("wait_flag 7 0")
            for piece in range(start, start + share, 512):
                if kind == "aic":
                    self.add(f"copy_cbuf_to_gm workspace+{piece} 0 0 1 16 1 1")
                elif kernel.plan["chip"] == "c310":
                    self.add(f"copy_ubuf_to_gm_align_v2 workspace+{piece} 0 0 1 512 0 512 512")
                else:
                    self.add(f"copy_ubuf_to_gm workspace+{piece} 0 0 1 16 1 1")
            self.add(f"pipe_barrier {ALL}")
            self.barrier_of(kind)
        if kernel.cls == "mix":
            if self.core.kind == "aiv":
                self.set(MTE3, 2, AIV_FLAG)
            else:
                self.wait(AIV_FLAG)

    # -- one stream ----------------------------------------------------------------------------------------------

    def run_one_stream(self) -> None:
        kernel = self.kernel
        ops = kernel.ops
        for number, op in enumerate(ops):
            previous = ops[number - 1] if number else None
            following = ops[number + 1] if number + 1 < len(ops) else None
            self.preloads(op, previous, following)
            if kernel.early:
                self.between_early(previous, op)
            else:
                self.between_plain(previous, op)
            if op.dynamic and not polls_early(kernel, op):
                self.switch(op)
                if not kernel.proven:
                    self.add(f"pipe_barrier {ALL}")
                    self.barrier()
                elif clears_late(kernel, op) is None:
                    self.barrier_of(op.cls)
            self.feed_config(op)
            self.record(op.position + 1, 8, 0)
            self.call(op, self.core.kind)
            if kernel.on("debug-dcci-all"):
                self.add(f"pipe_barrier {ALL}")
                self.add("flush 2")
            if kernel.on("debug-sync-all") and not op.sets:
                self.barrier()
            self.record(op.position + 1, 8, 1)
            if following is None and op.sets:
                code = EARLY_CODE[op.cls] << 2 | EARLY_CODE[op.cls]
                if op.runs_on(self.core.kind) and not self.core.runs(op):
                    self.add("set_next")
                self.store(code)
                self.add(f"wait_prev {code}")
                if kernel.on("debug-sync-all"):
                    self.barrier()

    def preloads(self, op: Op, previous: Op | None, following: Op | None) -> None:
        if self.kernel.options.get("preload-code", "per-func") != "per-func":
            return
        if previous is None:
            self.preload(op)
        if following is not None:
            self.preload(following)

    def preload(self, op: Op) -> None:
        if op.dynamic or not self.core.runs(op):
            return
        function = next(f for f in op.plan["functions"] if f["kind"] == self.core.kind)
        self.add(f"preload {self.copy_of(function['name'])} {function['preload']}")

    def between_plain(self, previous: Op | None, op: Op) -> None:
        waits = self.kernel.receives(op)
        if previous is None:
            return
        if polls_early(self.kernel, op):
            self.switch(op)
        notifies = self.kernel.sends(previous)
        if notifies or not waits:
            self.barrier()
        self.clear_late(previous)
        self.notify(previous, op)
        if waits:
            self.await_events(op)
            self.meet_after_events(op)

    def between_early(self, previous: Op | None, op: Op) -> None:
        kernel = self.kernel
        if previous is None:
            if op.waits:
                code = EARLY_CODE[op.cls] << 2 | EARLY_CODE[op.cls]
                self.store(code)
                if op.runs_on(self.core.kind):
                    self.add("set_next")
                self.wait_part(op, code)
            return
        code = EARLY_CODE[previous.cls] << 2 | EARLY_CODE[op.cls]
        late_barrier = kernel.on("debug-sync-all") and previous.sets
        everywhere = has_fresh_round(kernel, op)
        events = events_of(kernel, op)
        if events.early:
            self.await_events(op)
        if polls_early(kernel, op):
            self.switch(op)
        if previous.runs_on(self.core.kind) and not (previous.sets and self.core.runs(previous)):
            self.add("set_next")
        self.store(code)
        if everywhere:
            self.add(f"wait_prev {code}")
        else:
            self.wait_part(op, code)
        self.clear_late(previous)
        if late_barrier:
            self.barrier()
        self.notify(previous, op)
        if kernel.receives(op) and not events.early:
            self.await_events(op)
            self.meet_after_events(op)
        if everywhere:
            if previous.runs_on(self.core.kind):
                self.add("set_next")
            self.wait_part(op, code)

    def wait_part(self, op: Op, code: int) -> None:
        if not (op.waits and self.core.runs(op)):
            self.add(f"wait_prev {code}")

    # -- events --------------------------------------------------------------------------------------------------

    def meet_after_events(self, op: Op) -> None:
        meeting = events_of(self.kernel, op).meeting
        if meeting is not None:
            self.barrier_of(meeting)

    def clear_late(self, op: Op) -> None:
        if self.core.kind == clears_late(self.kernel, op) and self.core.index == 0:
            self.clear(f"__ac_wait_lock_{op.plan['index']}", publish=True)

    def notify(self, sender: Op, following: Op | None) -> None:
        if self.core.kind != notifying_kind(sender, following):
            return
        for event, lock in self.kernel.sends(sender):
            self.record(event, 4, 0)
            if self.core.index == 0:
                self.add(f"write {lock} 1")
                self.add(f"dcci {lock} 0 2")
            self.record(event, 4, 1)

    def await_events(self, op: Op) -> None:
        if self.core.kind != events_of(self.kernel, op).kind:
            return
        for event, lock in self.kernel.receives(op):
            self.record(event, 0xC, 0)
            if self.core.index == 0:
                self.add(f"spin {lock}")
            self.record(event, 0xC, 1)

    # -- calls ---------------------------------------------------------------------------------------------------

    def feed_config(self, op: Op) -> None:
        kernel = self.kernel
        if not kernel.on("feed-sync-all"):
            return
        if op.plan["needs_feed_sync_all"]:
            offset = 64 * op.position + (64 * len(kernel.ops) if self.core.kind == "aiv" else 0)
            self.add("feed_index = 0")
            self.add("feed_enable = 1")
            self.add(f"feed_addr = workspace+{offset}")
        else:
            self.add("feed_enable = 0")

    def switch(self, op: Op) -> None:
        if self.kernel.proven and not op.runs_on(self.core.kind):
            return
        index = op.plan["index"]
        self.add(f"spin __ac_wait_lock_{index}")
        if op.key not in [f["tiling_key"] for f in op.plan["functions"]]:
            self.add("trap")
        if self.kernel.cls == "aiv" and self.core.index < op.blocks:
            entry = self.entry(op)
            if entry and "aiv" in entry:
                self.add(f"preload {self.copy_of(entry['aiv'])} 8")

    def entry(self, op: Op) -> dict[str, Any] | None:
        return next((f for f in op.plan["functions"] if f["tiling_key"] == op.key), None)

    def call(self, op: Op, kind: str) -> None:
        if op.dynamic:
            self.call_dynamic(op)
            return
        needs = op.plan["needs_feed_sync_all"]
        if op.runs_on(kind):
            if op.before:
                self.add("flush 2")
            if self.core.runs(op):
                function = next(f for f in op.plan["functions"] if f["kind"] == kind)
                self.add(f"call {self.copy_of(function['name'])} {op.plan['param_offset']}")
                if needs:
                    self.add("feed_end")
            elif needs:
                self.add("feed_complement")
            if op.after:
                self.add("flush 2")
        if needs:
            self.add("feed_enable = 0")

    def call_dynamic(self, op: Op) -> None:
        kernel, core = self.kernel, self.core
        if op.before:
            self.add("flush 2")
        entry = self.entry(op)
        if op.runs_on(core.kind) or not kernel.proven:
            self.add(f"blocks = {op.run_blocks}")
        if entry is not None:
            key_class = CLASS_OF[entry["kernel_type"]]
            index = core.index if key_class == "aiv" else core.block
            count = kernel.cores("aiv") if key_class == "aiv" else kernel.plan["block_num"]
            if kernel.options.get("dynamic-cores") == "tiled" and not op.may_sync_all:
                count = op.run_blocks
            if core.kind in entry and index < count:
                self.add(f"call {self.copy_of(entry[core.kind])} {op.plan['param_offset']}")
        if op.after:
            self.add("flush 2")
        if clears_late(kernel, op) is None and core.kind == releasing_kind(op) and core.index == 0:
            self.clear(f"__ac_wait_lock_{op.plan['index']}", publish=True)

    # -- several streams -----------------------------------------------------------------------------------------

    def run_side(self) -> None:
        kernel, kind = self.kernel, self.core.kind
        if kernel.options.get("preload-code") == "max":
            self.add("preload_here 8")
        ops = [op for op in kernel.ops if op.runs_on(kind)]
        edges = kernel.plan["edges"]
        for number, op in enumerate(ops):
            previous = ops[number - 1] if number else None
            following = ops[number + 1] if number + 1 < len(ops) else None
            self.preloads(op, previous, following)
            if previous is not None:
                self.send_code(previous, ops, edges)
                self.side_notify(previous)
            self.receive_code(op, edges)
            if kernel.receives(op):
                self.await_events(op)
                self.meet_after_events(op)
            if op.dynamic:
                self.switch(op)
                if clears_late(kernel, op) is None:
                    self.barrier_of(op.cls)
            self.feed_config(op)
            self.record(op.position + 1, 8, 0)
            self.call(op, kind)
            if kernel.on("debug-dcci-all"):
                self.add(f"pipe_barrier {ALL}")
                self.add("flush 2")
            if kernel.on("debug-sync-all"):
                self.add(f"pipe_barrier {ALL}")
                self.barrier_of(kind, MTE3)
            self.record(op.position + 1, 8, 1)
        if ops:
            self.send_code(ops[-1], ops, edges)
            self.side_notify(ops[-1])

    def side_notify(self, sender: Op) -> None:
        ops = self.kernel.ops
        following = ops[sender.position + 1] if sender.position + 1 < len(ops) else None
        self.notify(sender, following)

    def send_code(self, op: Op, side: list[Op], edges: list[dict[str, Any]]) -> None:
        kernel, kind = self.kernel, self.core.kind
        if op is kernel.ops[-1]:
            return
        flag = AIC_AIV_FLAG if kind == "aic" else AIV_FLAG
        if op.cls == "mix" and kernel.sends(op):
            self.barrier_of("mix")
        elif side_meets(kernel, op, kind):
            self.barrier_of(kind)
        elif op is not side[-1]:
            self.add(f"pipe_barrier {ALL}")
        self.clear_late(op)
        for _ in leaving(kernel, op, kind):
            self.set(MTE3, 2, flag)

    def receive_code(self, op: Op, edges: list[dict[str, Any]]) -> None:
        direction, flag = ("vec_to_cube", AIV_FLAG) if self.core.kind == "aic" else ("cube_to_vec", AIC_AIV_FLAG)
        for edge in edges:
            if edge["to"] == op.plan["index"] and edge[direction]:
                self.wait(flag)


def cross_edges(kernel: Kernel) -> dict[str, list[tuple[int, int]]]:
    """Cross edges left in each direction, as positions; without flow control (fewer than 14 edges ahead)."""
    result = {}
    for direction, sender_kind, receiver_kind in (("cube_to_vec", "aic", "aiv"), ("vec_to_cube", "aiv", "aic")):
        edges = set()
        for sender, receiver in order_edges(kernel):
            if not (sender.runs_on(sender_kind) and receiver.runs_on(receiver_kind)):
                continue
            if receiver.cls == sender.cls and sender.cls != "mix":
                continue
            meeting = [op.position for op in kernel.ops if op.cls == "mix"]
            between = [m for m in meeting if sender.position < m < receiver.position]
            edges.add((sender.position, between[0] if between else receiver.position))
        uncrossed = {(s, r) for s, r in edges if not any(r2 < r and s2 > s for s2, r2 in edges)}
        first = {(s, r) for s, r in uncrossed if r == min(r2 for s2, r2 in uncrossed if s2 == s)}
        last = {(s, r) for s, r in first if s == max(s2 for s2, r2 in first if r2 == r)}
        result[direction] = sorted(last)
    return result
