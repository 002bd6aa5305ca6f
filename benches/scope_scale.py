"""How the time of scope planning grows with the number of nodes.

    python benches/scope_scale.py

Prints the best of several runs for each size and mode, per node, and the ratio of 20,000 nodes to 10,000.
"""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from superkernel import scope

SIZES = (1000, 10000, 20000)
RUNS = 5
LAYER = 20


def model(nodes: int) -> dict[str, Any]:
    """Layers on two streams; each is a scope of its own, cut by one op that cannot be fused, with events across."""
    listed: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    for number in range(nodes):
        layer, place = divmod(number, LAYER)
        node = {
            "name": f"n{number}",
            "type": "MatMulV2",
            "stream": place % 2,
            "support": 1,
            "kernel_name": f"k{number}",
        }
        if place < LAYER - 2:
            node["scope"] = f"layer{layer}"
            node["options"] = "stream-fusion=1"
        if place == LAYER // 2:
            node["support"] = 0
        listed.append(node)
        if place % 5 == 4:
            events.append({"id": number, "from": f"n{number - 3}", "to": f"n{number}"})
    return {"name": "scale", "nodes": listed, "events": events}


def best(graph: scope.Graph, compat: bool) -> float:
    """Milliseconds of the fastest run."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        planned = scope.plan(graph, compat=compat)
        times.append(1000 * (time.perf_counter() - started))
        assert planned.pieces
    return min(times)


def main() -> None:
    logging.getLogger("superkernel").setLevel(logging.ERROR)
    graphs = {size: scope.Graph.parse(json.dumps(model(size))) for size in SIZES}
    for compat in (False, True):
        took = {size: best(graphs[size], compat) for size in SIZES}
        for size, milliseconds in took.items():
            mode = "compat" if compat else "default"
            print(f"{mode:8} {size:6} nodes {milliseconds:9.1f} ms {1000 * milliseconds / size:7.2f} us per node")
        print(f"20,000 nodes take {took[20000] / took[10000]:.2f} times as long as 10,000")


if __name__ == "__main__":
    main()
