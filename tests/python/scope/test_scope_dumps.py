"""Graph dumps in protobuf binary form, written by the protobuf package from a schema of our own."""

from __future__ import annotations

import json
import logging
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from scopes.dump_schema import ModelDef, dump
from scopes.graphs import random_graph
from superkernel import SuperKernelError, scope
from superkernel.cli import main
from superkernel.scope import Graph

EXAMPLES = int(os.environ.get("SUPERKERNEL_FUZZ_EXAMPLES", "300"))


def example() -> Any:
    """Two ops of a scope with an event between them, and one nested graph."""
    model = ModelDef(name="ge_model")
    root = model.graph.add(name="g")
    root.op.add(name="x", type="Data", id=0)
    first = root.op.add(name="Mul_1", type="Mul", id=1, stream_id=0, input=["x:0"])
    root.op.add(name="s", type="Send", id=2, input=["Mul_1:-1"]).attr["event_id"].i = 3
    root.op.add(name="r", type="Recv", id=3, stream_id=1).attr["event_id"].i = 3
    second = root.op.add(name="Add_2", type="Add", id=4, stream_id=1, input=["Mul_1:0", "", "x:0", "r:-1"])
    for op in (first, second):
        op.attr["_super_kernel_scope"].s = b"sp1"
        op.attr["supportSuperKernel"].i = 1
    root.op.add(name="case", type="Case", id=5, stream_id=-1, subgraph_name=["inner"])
    model.graph.add(name="inner").op.add(name="y", type="Cast", id=6, stream_id=2)
    return model


def test_a_binary_dump_is_read_and_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ge_proto.pb"
    path.write_bytes(example().SerializeToString())
    graph = Graph.read(path).to_dict()
    assert [(node["name"], node["stream"]) for node in graph["nodes"]] == [
        ("x", 0),
        ("Mul_1", 0),
        ("s", 0),
        ("r", 1),
        ("Add_2", 1),
        ("case", -1),
        ("y", 2),
    ]
    assert [(edge["from"], edge["to"], edge["input"]) for edge in graph["data"]] == [
        ("x", "Mul_1", 0),
        ("Mul_1", "Add_2", 0),
        ("x", "Add_2", 2),
    ]
    assert graph["branches"] == [{"name": "inner", "parent": ""}]
    assert graph["nodes"][6]["branch"] == "inner"
    (piece,) = scope.plan(path).pieces
    assert piece.members == ["Mul_1", "Add_2"]
    main(["scope", str(path)])
    assert "scope sp1: 1 super kernel" in capsys.readouterr().out


def test_a_graph_alone_and_unknown_shapes() -> None:
    model = example()
    alone = model.graph[0]
    assert len(Graph.parse(alone.SerializeToString())) == 6
    alone.attr["_graph_unknown_flag"].b = True
    assert scope.plan(Graph.parse(model.SerializeToString())).to_dict()["status"] == "unknown-shape"


def test_binary_text_and_json_mean_the_same(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="superkernel")
    for seed in range(max(EXAMPLES // 3, 50)):
        graph = random_graph(seed)
        for node in graph["nodes"]:
            # These two are not in a dump.
            node.pop("ai_core", None)
            node.pop("tiling_on_aicpu", None)
        # A dump lists inputs without gaps.
        for position, edge in enumerate(graph["data"]):
            edge["input"] = sum(other["to"] == edge["to"] for other in graph["data"][:position])
        model = dump(graph)
        binary = Graph.parse(model.SerializeToString())
        text = Graph.parse(text_format.MessageToString(model))
        assert binary.to_dict() == text.to_dict(), f"seed {seed}"
        outcomes = []
        for form in (Graph.parse(json.dumps(graph)), binary):
            try:
                planned = scope.plan(form, compat=True).to_dict()
                outcomes.append({key: planned[key] for key in ("pieces", "events", "scopes")})
            except SuperKernelError as error:
                outcomes.append(error.errorinfo["errId"])
        assert outcomes[0] == outcomes[1], f"seed {seed}"


def offset_of(error: SuperKernelError) -> int:
    found = re.search(r"graph dump, offset (\d+)", str(error))
    assert error.errorinfo["errId"] == "SK1002" and found, error
    return int(found.group(1))


def test_a_file_that_was_cut_is_refused_with_the_offset() -> None:
    whole = example().SerializeToString()
    # Between two fields of the whole model a cut cannot be seen.
    ends = {whole.index(graph.SerializeToString()) + graph.ByteSize() for graph in example().graph}
    refused = 0
    for length in range(1, len(whole)):
        try:
            Graph.parse(whole[:length])
        except SuperKernelError as error:
            refused += 1
            # The first bytes alone may look like a text.
            if length > 20:
                assert offset_of(error) <= length
        else:
            assert length in ends, f"{length} of {len(whole)} bytes were taken for a dump"
    assert refused >= len(whole) - 1 - len(ends)


@pytest.mark.parametrize(
    ("damage", "part"),
    [
        (lambda whole: whole + b"\x0f", "there is no kind 7"),
        (lambda whole: whole + b"\x00\x01", "there is no field number 0"),
        (lambda whole: whole + b"\x10" + b"\xff" * 11, "more than 64 bits"),
        (lambda whole: whole + b"\x3a\x7f\x01", "has 127 bytes, but only 1 follow"),
        (lambda whole: whole.replace(b"\x12\x03Mul", b"\x12\x03M\xffl"), "`type` is not UTF-8 text"),
        (lambda whole: whole.replace(b"\x12\x03Mul", b"\x92\x08\x02ul"), "op `Mul_1` has no `type`"),
        (lambda whole: b"IMOD\x00\x00" + whole, "offline model (.om)"),
        (lambda whole: b"\x0a\x01\x01", "there is no `op`"),
    ],
)
def test_damage_is_named(damage: Any, part: str) -> None:
    with pytest.raises(SuperKernelError, match=re.escape(part)) as caught:
        Graph.parse(damage(example().SerializeToString()))
    offset_of(caught.value)


def test_random_damage_ends_in_a_graph_or_an_error() -> None:
    whole = example().SerializeToString()
    chance = random.Random(5)
    for _ in range(EXAMPLES):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            action = chance.randrange(3)
            if action == 0:
                data[at] = chance.randrange(256)
            elif action == 1:
                del data[at : at + chance.randint(1, 3)]
            else:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 3)))
        try:
            scope.plan(Graph.parse(bytes(data)))
        except SuperKernelError as error:
            assert error.errorinfo["errId"].startswith("SK10")


def test_ids_that_begin_again_in_each_graph() -> None:
    model = example()
    model.graph[1].op[0].id = 0
    names = [(node["name"], node["id"]) for node in Graph.parse(model.SerializeToString()).nodes]
    assert names[-2:] == [("case", 5), ("y", 6)]
