"""The actions of every core, straight from the rules of the device program.

A second, deliberately plain derivation, for tests only: no intermediate form, no sharing with the compiler, quadratic
where that is simpler. It reads the plan's facts (shape, slots, ops) and returns what each core does, one text line an
action, in the words of ``recorder/kernel_operator.h``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

FIX, MTE3, ALL = 10, 5, 6
AIC_FLAG, AIV_FLAG, AIC_AIV_FLAG, AIV_ALL_FLAG = 11, 12, 13, 14
CLASS_OF = {
    "KERNEL_TYPE_AIV_ONLY": "aiv",
    "KERNEL_TYPE_MIX_AIV_1_0": "aiv",
    "KERNEL_TYPE_AIC_ONLY": "aic",
    "KERNEL_TYPE_MIX_AIC_1_0": "aic",
    "KERNEL_TYPE_MIX_AIC_1_1": "mix",
    "KERNEL_TYPE_MIX_AIC_1_2": "mix",
}
EARLY_CODE = {"aic": 0, "aiv": 1, "mix": 2}
AIV_TYPES = ("KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIV_1_0")


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


def waiting_kind(op: Op) -> str:
    """The kind that waits for outer events, as a rule."""
    return "aic" if op.cls == "aic" else "aiv"


def releasing_kind(op: Op) -> str:
    """The kind that clears a dynamic op's lock right after the call."""
    return "aiv" if op.cls == "aiv" else "aic"


def notifying_kind(sender: Op, following: Op | None) -> str:
    """The kind that tells outer events."""
    return "aic" if sender.cls == "aic" or (sender.cls == "mix" and following and following.cls == "aic") else "aiv"


KINDS = {"aic": ("aic",), "aiv": ("aiv",), "mix": ("aic", "aiv")}


def polls_early(kernel: Kernel, op: Op) -> bool:
    """[D25] (a): the switch stands before the synchronisation with the op before."""
    previous = kernel.before(op)
    if not (op.dynamic and kernel.proven) or kernel.plan["two_streams"] or previous is None or kernel.sends(previous):
        return False
    return not kernel.early or (not previous.sets and all(previous.runs_on(kind) for kind in KINDS[op.cls]))


def clears_late(kernel: Kernel, op: Op) -> str | None:
    """[D25] (b): the kind that clears the lock behind the synchronisation after the op."""
    following = kernel.behind(op)
    if not (op.dynamic and kernel.proven) or following is None or polls_early(kernel, op):
        return None
    teller = notifying_kind(op, following) if kernel.sends(op) else None
    if kernel.plan["two_streams"]:
        kind = teller if op.cls == "mix" else op.cls if side_meets(kernel, op, op.cls) else None
        # Two vector cores of a block: the flag of one may be counted for the other.
        return None if kind == "aiv" and kernel.subs == 2 and leaving(kernel, op, kind) else kind
    if polls_early(kernel, following):
        return None
    busy = None
    if kernel.early:
        if following.waits and not has_fresh_round(kernel, following):
            return None
        events = events_of(kernel, following)
        busy = events.kind if kernel.receives(following) and events.early else None
    elif kernel.receives(following) and teller is None:
        return None
    usual = releasing_kind(op)
    for kind in (usual, "aic" if usual == "aiv" else "aiv"):
        if following.runs_on(kind) and kind != busy and teller in (None, kind):
            return kind
    return None


@dataclass
class Events:
    """How an op's outer events are waited for."""

    kind: str
    early: bool
    meeting: str | None


def events_of(kernel: Kernel, op: Op) -> Events:
    """One poller; who meets behind it."""
    usual, previous = waiting_kind(op), kernel.before(op)
    several = kernel.plan["two_streams"]
    if not kernel.proven:
        return Events(usual, False, op.cls if several else kernel.cls)
    meets = op.dynamic and not polls_early(kernel, op) and clears_late(kernel, op) is None
    behind_switch = Events(usual, False, None if meets else op.cls)
    if several or previous is None:
        return behind_switch
    set_by = usual if previous.runs_on(usual) else KINDS[previous.cls][0]
    if kernel.early:
        if hand_over_carries_events(kernel, op):
            return Events(set_by, True, None)
        if has_fresh_round(kernel, op):
            return Events(set_by, False, None)
    elif not kernel.sends(previous):
        return Events(usual, False, kernel.cls)
    return behind_switch


def hand_over_carries_events(kernel: Kernel, op: Op) -> bool:
    """With early start: nothing has to be told before, and the poller sets after it has polled."""
    previous = kernel.before(op)
    return bool(kernel.proven and kernel.early and previous and not kernel.sends(previous) and not previous.sets)


def has_fresh_round(kernel: Kernel, op: Op) -> bool:
    """Its own wait gets a round of its own, because something is done behind the hand-over."""
    previous = kernel.before(op)
    if previous is None or not op.waits:
        return False
    waits = kernel.receives(op) and not hand_over_carries_events(kernel, op)
    return bool(kernel.sends(previous) or waits or (kernel.on("debug-sync-all") and previous.sets))


def leaving(kernel: Kernel, op: Op, kind: str) -> list[dict[str, Any]]:
    """Cross edges that a side sends after an op."""
    direction = "cube_to_vec" if kind == "aic" else "vec_to_cube"
    return [edge for edge in kernel.plan["edges"] if edge["from"] == op.plan["index"] and edge[direction]]


def side_meets(kernel: Kernel, op: Op, kind: str) -> bool:
    """Does the side's barrier stand in the send code of an op?"""
    own = any(receiver.runs_on(kind) for sender, receiver in order_edges(kernel) if sender is op)
    tells = kernel.sends(op) and notifying_kind(op, kernel.behind(op)) == kind
    return bool(leaving(kernel, op, kind) or own or tells)


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


def all_cores(kernel: Kernel) -> Iterator[Core]:
    """Every core of a launch."""
    blocks = kernel.plan["block_num"]
    for block in range(blocks):
        if kernel.cores("aic"):
            yield Core("aic", block, 0, 1, block)
        if kernel.cores("aiv"):
            for sub in range(kernel.subs):
                yield Core("aiv", block, sub, kernel.subs, max(25, blocks) + block * kernel.subs + sub)
