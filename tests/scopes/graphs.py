"""Random marked graphs: several streams, scopes that interleave, events of all kinds, everything that cannot fuse."""

from __future__ import annotations

import random
from typing import Any

#: Flavours of a node and what makes them.
FLAVOURS: list[dict[str, Any]] = [
    {"support": 0},
    {"local_memory_size": 32},
    {"tiling_on_aicpu": True, "reuse_binary": True},
    {"tiling_on_aicpu": True, "reuse_binary": True, "tiling_sink": True, "task_type": "dynamic"},
    {"tiling_on_aicpu": True},
    {"hccl": True, "type": "HcomAllReduce", "support": 0},
    {"hccl": True, "type": "HcomAllGather"},
    {"ai_core": False},
    {"ai_core": False, "support": 0},
    {"no_task": True, "support": 0},
    {"type": "Data"},
]
STRICT = ["strict-scope-check=bypass", "strict-scope-check=abort", "stream-fusion=1:strict-scope-check=bypass"]


def random_graph(seed: int) -> dict[str, Any]:
    """The graph of a seed, in JSON form, event ends written out."""
    chance = random.Random(seed)
    streams = chance.choice([[1], [1, 2], [0, 1, 2], [-1, 3, 11], [2, 4, 5, 9]])
    scopes = chance.choice([["p"], ["p", "q"], ["p", "q", "r"], ["s", "s_split_0_2"]])
    odd = chance.choice([0.0, 0.05, 0.2])
    strict = chance.random() < 0.15
    marked = chance.choice([0.5, 0.8, 1.0])
    branches = ["", "gear_0", "gear_1"] if chance.random() < 0.15 else [""]
    count = chance.randint(2, 26)
    nodes: list[dict[str, Any]] = []
    number = chance.randint(-1, 3)
    for position in range(count):
        number += chance.choice([1, 1, 1, 2])
        name = f"{chance.choice('abmuz')}{position}" if chance.random() < 0.9 else f"{chance.choice('AZ')}/{position}"
        node = {
            "name": name,
            "type": "Op",
            "id": number,
            "stream": chance.choice(streams),
            "support": 1,
            "kernel_name": f"te_{chance.randint(0, 9)}__kernel0",
            "bin_path": f"{name}.o",
        }
        if chance.random() < 0.1:
            node["kernel_name"] = ""
        if chance.random() < marked:
            node["scope"] = chance.choice(scopes)
            node["options"] = chance.choice(["", "early-start=1"])
            if strict and chance.random() < 0.5:
                node["options"] = chance.choice(STRICT)
        if chance.random() < 0.2:
            node["aicore_num"], node["vectorcore_num"] = chance.randint(0, 24), chance.randint(0, 48)
        if chance.random() < odd:
            node.update(chance.choice(FLAVOURS))
        branch = branches[position * len(branches) // count]
        if branch:
            node["branch"] = branch
        nodes.append(node)
    data = []
    for to in range(1, count):
        for slot in range(chance.choice([0, 1, 1, 2])):
            source = nodes[chance.randrange(to)]
            data.append(
                {"from": source["name"], "output": chance.randint(0, 1), "to": nodes[to]["name"], "input": slot}
            )
    return with_events(chance, nodes, data)


def with_events(chance: random.Random, nodes: list[dict[str, Any]], data: list[dict[str, Any]]) -> dict[str, Any]:
    """Adds complete events, their ends beside those they connect or somewhere between."""
    ids = iter(chance.sample(range(100), 40))
    tiling_stream = 90
    listed = list(nodes)
    control = []
    plain = [node for node in nodes if node["type"] != "Data"]
    again: list[tuple[int, str]] = []
    for pair in range(chance.choice([0, 1, 2, 4, 8, 12])):
        if len(plain) < 2:
            break
        first, second = sorted(chance.sample(range(len(plain)), 2))
        producer, consumer = plain[first], plain[second]
        if producer.get("branch") != consumer.get("branch"):
            continue
        event_id = next(ids)
        # Now and then a number that is used already: by another kind, or in another graph.
        if again and chance.random() < 0.08:
            event_id = chance.choice(again)[0]
        kind = chance.choice(["", "", "", "Mem", "Notify"])
        again.append((event_id, kind))
        recv_stream = consumer["stream"]
        if chance.random() < 0.1:
            recv_stream = chance.choice([producer["stream"], tiling_stream])
            tiling_stream += 1
        send = {"name": f"send{pair}", "type": f"Send{kind}", "stream": producer["stream"]}
        recv = {"name": f"recv{pair}", "type": f"Recv{kind}", "stream": recv_stream}
        for end in (send, recv):
            end["id"], end["event_id"] = 0, event_id
            if "branch" in producer:
                end["branch"] = producer["branch"]
        begin, end_of = listed.index(producer) + 1, listed.index(consumer)
        near = chance.random() < 0.8
        listed.insert(end_of if near else chance.randint(begin, end_of), recv)
        end_of = listed.index(recv)
        listed.insert(begin if near else chance.randint(begin, end_of), send)
        control += [[producer["name"], send["name"]], [recv["name"], consumer["name"]]]
    if chance.random() < 0.3:
        chance.shuffle(control)
    return {"name": "random", "nodes": listed, "data": data, "control": control}
