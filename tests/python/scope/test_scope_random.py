"""Random models: whatever the planner builds, the compiler accepts; whatever it objects to, the compiler refuses."""

from __future__ import annotations

import os
import random
from pathlib import Path

import superkernel
from op_lists import AIC, AIV, MIX_1_2, OpList
from superkernel import SuperKernelError, scope
from superkernel.scope import Graph

MODELS = int(os.environ.get("SUPERKERNEL_SCOPE_MODELS", "200"))


def random_graph(chance: random.Random, kernels: list[dict[str, str]], options: str) -> Graph:
    graph = Graph()
    streams = chance.choice([1, 2, 2, 3])
    nodes: list[tuple[str, int]] = []
    for number in range(chance.randint(3, 24)):
        stream = chance.randrange(streams)
        where = chance.choice(["p", "p", "p", "q", ""])
        flavour = chance.random()
        fields = dict(chance.choice(kernels))
        fields.update(support=0 if flavour < 0.06 else 1, options=options if where else "", scope=where)
        if 0.06 < flavour < 0.12:
            fields.update(ai_core=False, support=0)
        graph.op(f"n{number}", "Op", stream=stream, **fields)
        nodes.append((f"n{number}", stream))
    for number in range(chance.randint(0, 10)):
        first, second = sorted(chance.sample(range(len(nodes)), 2))
        if nodes[first][1] != nodes[second][1]:
            kind = chance.choice(["normal", "normal", "mem", "notify"])
            graph.event(nodes[first][0], nodes[second][0], number, kind=kind)
    return graph


def test_op_lists_pass_the_compiler(tmp_path: Path) -> None:
    ops = OpList(tmp_path).op(AIV, 8).op(AIC, 4).op(MIX_1_2, 6).op(AIV, 3).ops
    kernels = [{"json_path": op["json_path"], "bin_path": op["bin_path"]} for op in ops]
    chance = random.Random(7)
    built = blocked = 0
    for _ in range(MODELS):
        options = chance.choice(["", "stream-fusion=1", "early-start=0:stream-fusion=1"])
        planned = scope.plan(random_graph(chance, kernels, options))
        for piece in planned.pieces:
            if piece.problems:
                assert [problem.id for problem in piece.problems] == ["SK0306"]
                try:
                    superkernel.plan(piece.kernel_infos, piece.kernel_name)
                except SuperKernelError as error:
                    assert error.errorinfo["errId"] == "SK0306", error
                    blocked += 1
                else:
                    raise AssertionError(f"the compiler takes {piece.kernel_infos}")
                continue
            plan = superkernel.plan(piece.kernel_infos, piece.kernel_name)
            assert plan == superkernel.plan({**piece.kernel_infos}, piece.kernel_name)
            normalized = superkernel.plan(piece.normalized_infos, piece.kernel_name)
            assert [op["param_offset"] for op in plan["ops"]] == [op["param_offset"] for op in normalized["ops"]]
            built += 1
    assert built > MODELS / 4 and blocked > MODELS / 20, (built, blocked)
