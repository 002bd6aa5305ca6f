"""The planner in compat mode against a second, plain reading of the graph engine's rules, over random graphs."""

from __future__ import annotations

import logging
import os
from collections import Counter
from typing import Any

import pytest
from scopes.graphs import random_graph
from scopes.reference import Refused
from scopes.reference import plan as expected_plan
from superkernel import SuperKernelError, scope

CASES = int(os.environ.get("SUPERKERNEL_SCOPE_CASES", "1500"))
BATCHES = 10


def planned(graph: dict[str, Any]) -> dict[str, Any]:
    """The planner's answer in the words of the reference."""
    plan = scope.plan(graph, compat=True)
    keys = ("name", "scope", "node_name", "main_stream", "members", "options", "kernel_name")
    pieces = [
        {
            **{key: piece[key] for key in keys},
            "ops": [(op["name"], op["stream"], op["recv_event_list"], op["send_event_list"]) for op in piece["ops"]],
            "core_limits": None if piece["core_limits"] is None else tuple(piece["core_limits"]),
            "inputs": [tuple(item) for item in piece["inputs"]],
            "outputs": [tuple(item) for item in piece["outputs"]],
        }
        for piece in plan.to_dict()["pieces"]
    ]
    assert [piece["kernel_name"] for piece in pieces] == [piece.kernel_name for piece in plan.pieces]
    events = sorted(
        (event["id"], event["kind"], event["from"], event["to"], event["send_stream"], event["recv_stream"])
        for event in plan.events
    )
    nodes = [(node["name"], node["type"], node["stream"], node["parent"]) for node in plan.nodes]
    assert [node["id"] for node in plan.nodes] == list(range(len(nodes)))
    return {"pieces": pieces, "events": events, "nodes": nodes}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_graphs_are_planned_as_the_engine_plans_them(batch: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="superkernel")
    seen: Counter[str] = Counter()
    size = max(CASES // BATCHES, 50)
    for seed in range(batch * size, (batch + 1) * size):
        graph = random_graph(seed)
        try:
            expected = expected_plan(graph)
        except Refused as refused:
            with pytest.raises(SuperKernelError) as error:
                scope.plan(graph, compat=True)
            assert error.value.errorinfo["errId"] == str(refused), f"seed {seed}: {error.value}"
            seen[str(refused)] += 1
            continue
        got = planned(graph)
        for part in ("pieces", "events", "nodes"):
            assert got[part] == expected[part], f"seed {seed}: {part} differ; graph: {graph}"
        seen["planned"] += bool(got["pieces"])
        seen["several pieces"] += len(got["pieces"]) > 1
        seen["events made"] += any(number >= 1073741823 for number, *_ in got["events"])
    # Every batch must have what it is for.
    assert seen["planned"] > size / 2 and seen["several pieces"] > size / 4 and seen["events made"] > size / 4, seen
