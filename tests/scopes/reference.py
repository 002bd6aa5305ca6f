"""What the graph engine makes of a marked graph, straight from its rules.

A second, deliberately plain derivation, for tests only: the list is a list, queues are looked up by walking it, nothing
is shared with the planner. It reads the JSON form with event ends written out as nodes and returns everything a plan in
compat mode must agree with, down to event ids and kernel names.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

BASE = 1073741823
SOURCES = ("Data", "Variable", "Const", "Constant", "ConstPlaceHolder")
SENDS = {"Send": "normal", "SendNotify": "notify", "SendMem": "mem"}
RECVS = {"Recv": "normal", "RecvNotify": "notify", "RecvMem": "mem"}


class Refused(Exception):
    """The engine fails; the argument is the error id a plan must fail with."""


@dataclass
class Event:
    """An event with the names of its two ends and of those it connects."""

    id: int
    kind: str
    producer: str
    consumer: str
    send_stream: int
    recv_stream: int
    send: str
    recv: str
    #: The graph both ends are in, and whether another event there has the same number.
    branch: str = ""
    ambiguous: bool = False

    def row(self) -> tuple[Any, ...]:
        """What is compared."""
        return (self.id, self.kind, self.producer, self.consumer, self.send_stream, self.recv_stream)


@dataclass
class Scope:
    """All operators of one graph that carry one scope name."""

    name: str
    branch: str
    kept: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[dict[str, Any]] = field(default_factory=list)
    strict: str | None = None


def is_event(node: dict[str, Any]) -> bool:
    return node["type"] in SENDS or node["type"] in RECVS


def is_ignored(node: dict[str, Any]) -> bool:
    return node["type"] in SOURCES or is_event(node)


def unfusable(node: dict[str, Any], with_tiling: bool) -> bool:
    """Section 3.2."""
    blocked = (
        node.get("tiling_on_aicpu", False) and not node.get("tiling_sink", False) and node.get("reuse_binary", False)
    )
    own = node.get("support", 0) != 1 or node.get("local_memory_size", 0) > 0 or (with_tiling and blocked)
    return not node.get("hccl", False) and bool(own)


def strict_value(node: dict[str, Any]) -> str | None:
    """Section 3.3, what the engine reads."""
    value = None
    for part in node.get("options", "").split(":"):
        words = part.split("=")
        if len(words) == 2 and words[0] == "strict-scope-check":
            value = words[1]
            if value not in ("bypass", "abort"):
                raise Refused("SK1008")
    return value


def find_scopes(nodes: list[dict[str, Any]]) -> list[Scope]:
    """Sections 2 and 3.4: who is marked, and who loses the mark."""
    scopes: dict[tuple[str, str], Scope] = {}
    for node in nodes:
        if is_ignored(node) or not node.get("scope"):
            continue
        key = (node.get("branch", ""), node["scope"])
        scope = scopes.setdefault(key, Scope(node["scope"], key[0]))
        own = strict_value(node)
        if own is not None:
            scope.strict = own
        if unfusable(node, with_tiling=True) and own is None:
            scope.dropped.append(node)
        else:
            scope.kept.append(node)
    return list(scopes.values())


def cut(nodes: list[dict[str, Any]], scope: Scope) -> list[tuple[str, list[dict[str, Any]]]]:
    """Section 4.1: named pieces of one scope."""
    if not scope.kept:
        return []
    kept_names = {node["name"] for node in scope.kept}
    from_drops, from_walk = [], []
    for stream in sorted({node["stream"] for node in scope.kept}):
        from_drops += [node["id"] for node in scope.dropped if node["stream"] == stream]
        queue = [node for node in nodes if node["stream"] == stream]
        places = [place for place, node in enumerate(queue) if node["name"] in kept_names]
        for node in queue[places[0] : places[-1] + 1]:
            if is_ignored(node):
                continue
            if node["name"] not in kept_names or unfusable(node, with_tiling=False):
                from_walk.append(node["id"])
    if from_walk and scope.strict == "abort":
        raise Refused("SK1010")
    if from_walk and scope.strict == "bypass":
        # The whole scope stays unfused, but a dropped id still splits it.
        if not from_drops:
            return []
        from_walk = []
    points = from_drops + from_walk
    if not points:
        return [(scope.name, scope.kept)]
    points = sorted([*points, scope.kept[0]["id"] - 1, scope.kept[-1]["id"] + 1])
    pieces = []
    for begin, end in zip(points, points[1:]):
        members = [node for node in scope.kept if begin < node["id"] < end]
        if members:
            pieces.append((f"{scope.name}_split_{begin}_{end}", members))
    return pieces


def read_events(graph: dict[str, Any]) -> list[Event]:
    """Section 1.3; ids are looked up in one graph each."""
    nodes = {node["name"]: node for node in graph["nodes"]}
    events = []
    numbers: dict[tuple[str, int], int] = defaultdict(int)
    receives: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for node in graph["nodes"]:
        if node["type"] in RECVS:
            receives[node.get("branch", ""), RECVS[node["type"]], node["event_id"]].append(node)
    for send in graph["nodes"]:
        branch = send.get("branch", "")
        if send["type"] not in SENDS:
            continue
        kind = SENDS[send["type"]]
        producers = [before for before, after in graph["control"] if after == send["name"]]
        recv = receives[branch, kind, send["event_id"]].pop(0)
        consumers = [after for before, after in graph["control"] if before == recv["name"]]
        assert len(producers) == len(consumers) == 1, "the generator makes complete events"
        assert producers[0] in nodes and consumers[0] in nodes
        events.append(
            Event(
                send["event_id"],
                kind,
                producers[0],
                consumers[0],
                send["stream"],
                recv["stream"],
                send["name"],
                recv["name"],
                branch,
            )
        )
        numbers[branch, send["event_id"]] += 1
    for event in events:
        event.ambiguous = numbers[event.branch, event.id] > 1
    return events


class Rewriting:
    """Section 5: the list while one piece after the other is built."""

    def __init__(self, graph: dict[str, Any], events: list[Event]) -> None:
        self.nodes = {node["name"]: dict(node) for node in graph["nodes"]}
        self.order = [node["name"] for node in graph["nodes"]]
        self.inner: dict[str, list[str]] = {}
        self.events = events
        self.start = BASE
        self.sends: dict[str, list[int]] = defaultdict(list)
        self.recvs: dict[str, list[int]] = defaultdict(list)
        #: Members of finished pieces.
        self.absorbed: set[str] = set()

    def place_of(self, name: str) -> tuple[int, int]:
        """Place in the list; what is inside a kernel is at the kernel's place."""
        if name in self.order:
            return (self.order.index(name), 0)
        for kernel, inner in self.inner.items():
            if name in inner:
                return (self.order.index(kernel), 1 + inner.index(name))
        raise AssertionError(f"{name} is nowhere")

    def insert(self, name: str, beside: str, offset: int) -> None:
        for listed in (self.order, *self.inner.values()):
            if beside in listed:
                listed.insert(listed.index(beside) + offset, name)
                return
        raise AssertionError(f"{beside} is nowhere")

    def remove(self, event: Event) -> None:
        for listed in (self.order, *self.inner.values()):
            for end in (event.send, event.recv):
                if end in listed:
                    listed.remove(end)
        self.events.remove(event)
        for lists, party in ((self.sends, event.producer), (self.recvs, event.consumer)):
            if event.id in lists[party]:
                lists[party].remove(event.id)

    def main_stream(self, members: list[dict[str, Any]]) -> int:
        """Section 5.2."""
        if members[0].get("hccl"):
            firsts: dict[int, dict[str, Any]] = {}
            for member in members:
                firsts.setdefault(member["stream"], member)
            others = sorted(stream for stream, first in firsts.items() if not first.get("hccl"))
            if others:
                return others[0]
        return int(members[0]["stream"])

    def build(self, piece: str, members: list[dict[str, Any]]) -> tuple[str, int]:
        """Name and main stream of the kernel."""
        names = [member["name"] for member in members]
        first, last = names[0], names[-1]
        kernel = f"sk_{piece}_start_{first}_end_{last}"
        main = self.main_stream(members)
        touched = [event for event in self.events if event.producer in names or event.consumer in names]
        if any(event.ambiguous for event in touched):
            raise Refused("SK1013")
        pool = sorted(event.id for event in touched if event.kind == "normal")
        sends = {name: [e for e in touched if e.producer == name] for name in names}
        recvs = {name: [e for e in touched if e.consumer == name] for name in names}
        for name in names:
            sends[name].sort(key=lambda event: self.place_of(event.send))
            recvs[name].sort(key=lambda event: self.place_of(event.recv))
        leaders = []
        for stream in {member["stream"] for member in members} - {main}:
            there = [member["name"] for member in members if member["stream"] == stream]
            leaders.append(there[0])
            branch = members[0].get("branch", "")
            queue = [
                name
                for name in self.order
                if self.nodes[name]["stream"] == stream
                and not is_event(self.nodes[name])
                and self.nodes[name].get("branch", "") == branch
            ]
            above, below = queue[: queue.index(there[0])], queue[queue.index(there[-1]) + 1 :]
            if above:
                recvs[there[0]].append(Event(-1, "", above[-1], there[0], stream, main, "", ""))
            if below:
                sends[there[-1]].append(Event(-1, "", there[-1], below[0], main, stream, "", ""))
        for event in touched:
            self.remove(event)
        # The kernel takes the place of its first member; the members go inside.
        self.nodes[kernel] = {"type": "SuperKernel", "stream": main, "branch": members[0].get("branch", "")}
        self.order[self.order.index(first)] = kernel
        self.order = [name for name in self.order if name not in names]
        self.inner[kernel] = list(names)
        self.absorbed.update(names)
        self.count, self.pool, self.made = 0, pool, set()
        for name in sorted(names):
            for event in sends[name]:
                producer = kernel if name == last else name
                runtime = name == last and event.consumer not in self.absorbed
                self.create(producer, event.consumer, runtime, main, event.recv_stream)
            for event in recvs[name]:
                inside = event.producer in names
                own = self.nodes[name]
                tiling = event.recv_stream != own["stream"] and own.get("tiling_on_aicpu", False)
                leads = name in leaders and not inside and event.recv_stream in (main, own["stream"])
                hoisted = name == first or leads or tiling
                runtime = hoisted and event.producer not in self.absorbed
                consumer = kernel if hoisted else name
                self.create(event.producer, consumer, runtime, event.send_stream, event.recv_stream if tiling else main)
        self.start += self.count
        return kernel, main

    def create(self, producer: str, consumer: str, runtime: bool, send_stream: int, recv_stream: int) -> None:
        if (producer, consumer) in self.made:
            return
        self.made.add((producer, consumer))
        kind, number = ("normal", self.pool.pop(0)) if runtime and self.pool else ("mem", self.start + self.count)
        self.count += 1
        suffix = "" if kind == "normal" else "Mem"
        event = Event(
            number, kind, producer, consumer, send_stream, recv_stream, f"sk_send_{number}", f"sk_rcv_{number}"
        )
        # Names of ends repeat when an id is given out again in another graph.
        event.send, event.recv = self.free(event.send), self.free(event.recv)
        self.nodes[event.send] = {"type": "Send" + suffix, "stream": send_stream, "shown": f"sk_send_{number}"}
        self.nodes[event.recv] = {"type": "Recv" + suffix, "stream": recv_stream, "shown": f"sk_rcv_{number}"}
        self.insert(event.send, producer, 1)
        self.insert(event.recv, consumer, 0)
        self.events.append(event)
        if producer not in self.inner:
            self.sends[producer].append(number)
        if consumer not in self.inner:
            self.recvs[consumer].append(number)

    def free(self, name: str) -> str:
        while name in self.nodes:
            name += "'"
        return name


def connections(graph: dict[str, Any], names: list[str]) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Section 5.5: inputs and outputs of the kernel."""
    inputs, outputs = [], []
    for name in sorted(names):
        fed = sorted((e for e in graph["data"] if e["to"] == name), key=lambda e: e["input"])
        inputs += [(e["from"], e["output"]) for e in fed if e["from"] not in names]
        used = {e["output"] for e in graph["data"] if e["from"] == name and e["to"] not in names}
        outputs += [(name, output) for output in sorted(used)]
    return inputs, outputs


def kernel_name(written: list[dict[str, Any]], sends: dict[str, list[int]], recvs: dict[str, list[int]]) -> str:
    """Section 6.1."""
    numbers: dict[int, int] = {}
    entries = []
    for node in written:
        entry: dict[str, Any] = {
            "sub_kernel_hash": node.get("kernel_name") or node.get("bin_path", ""),
            "task_type": node.get("task_type", "normal"),
        }
        for key, ids in (("recv_event_list", recvs[node["name"]]), ("send_event_list", sends[node["name"]])):
            if ids:
                entry[key] = [numbers.setdefault(number, len(numbers)) for number in ids]
        entries.append(entry)
    text = json.dumps(entries, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return "te_superkernel_" + hashlib.sha256(text.encode()).hexdigest()


def core_limits(written: list[dict[str, Any]]) -> tuple[int, int] | None:
    """Section 5.7."""
    own = [node for node in written if not node.get("hccl")]
    cube = max((node.get("aicore_num", 0) for node in own), default=0)
    vector = max((node.get("vectorcore_num", 0) for node in own), default=0)
    return (cube, vector) if cube > 0 and vector > 0 else None


def plan(graph: dict[str, Any]) -> dict[str, Any]:
    """Everything a plan in compat mode must agree with."""
    pieces = []
    for scope in find_scopes(graph["nodes"]):
        pieces += [(name, scope, members) for name, members in cut(graph["nodes"], scope)]
    if not pieces:
        return {"pieces": [], "events": [], "nodes": []}
    pieces.sort(key=lambda piece: piece[0])
    rewriting = Rewriting(graph, read_events(graph))
    kernels = [rewriting.build(name, members) for name, _, members in pieces]
    described = []
    counts = {}
    for (name, scope, members), (kernel, main) in zip(pieces, kernels):
        written = [
            node for node in members if node.get("ai_core", True) or node.get("hccl") or node["type"].startswith("Hcom")
        ]
        inputs, outputs = connections(graph, [node["name"] for node in members])
        counts[kernel] = (len(inputs), len(outputs))
        described.append(
            {
                "name": name,
                "scope": scope.name,
                "node_name": kernel,
                "main_stream": main,
                "members": [node["name"] for node in members],
                "ops": [
                    (node["name"], node["stream"], rewriting.recvs[node["name"]], rewriting.sends[node["name"]])
                    for node in written
                ],
                "options": written[0].get("options", "") if written else "",
                "core_limits": core_limits(written),
                "inputs": inputs,
                "outputs": outputs,
                "kernel_name": kernel_name(written, rewriting.sends, rewriting.recvs),
            }
        )
    listed: list[tuple[str, str, int, str | None]] = []
    for name in rewriting.order:
        node = rewriting.nodes[name]
        listed.append((node.get("shown", name), node["type"], node["stream"], None))
        for inner in rewriting.inner.get(name, []):
            node = rewriting.nodes[inner]
            listed.append((node.get("shown", inner), node["type"], node["stream"], name))
        data, _ = counts.get(name, (0, 0))
        main = rewriting.nodes[name]["stream"]
        listed += [(f"{name}_data_{number}", "Data", main, name) for number in range(data)]
        if name in counts:
            listed.append((f"{name}_output", "NetOutput", main, name))
    return {"pieces": described, "events": sorted(event.row() for event in rewriting.events), "nodes": listed}
