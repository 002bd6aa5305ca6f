"""Dumps of what the engine built. No real one is known: these are written as the engine's sources say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from superkernel.cli import main
from superkernel.scope import Graph, plan
from superkernel.scope._built import UNVERIFIED

GRAPHS = Path(__file__).parents[2] / "graphs" / "torchair"


def op(name: str, op_type: str, *, parent: str = "", sends: tuple[int, ...] = (), stream: int = 0, id: int = 0) -> str:
    """An op of a dump in text form."""
    attributes = f'attr {{ key: "sk_parent_node_name" value {{ s: "{parent}" }} }}' if parent else ""
    if sends:
        numbers = " ".join(f"i: {number}" for number in sends)
        attributes += f' attr {{ key: "_sk_send_event_ids" value {{ list {{ val_type: 2 {numbers} }} }} }}'
        attributes += ' attr { key: "_sk_rcv_event_ids" value { list { val_type: 2 } } }'
    return f'op {{ name: "{name}" type: "{op_type}" id: {id} stream_id: {stream} {attributes} }}'


def dump(folder: Path, number: int, stage: str, *ops: str) -> Path:
    path = folder / f"ge_proto_{number:08}_graph_1_{stage}.txt"
    path.write_text('name: "g" ' + " ".join(ops))
    return path


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """The engine has left `outer`'s last op out, cut `inner` away, and made a kernel of its own."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    pieces = {piece.scope: piece for piece in plan(GRAPHS / "nested.txt").pieces}
    first, last = (entry["name"] for entry in pieces["inner"].ops)
    own, same = "sk_other_start_A_end_B", pieces["inner"].node_name
    assert same == f"sk_inner_start_{first}_end_{last}"
    nodes = [op("data", "Data"), op(own, "SuperKernel", id=1), op(same, "SuperKernel", stream=2, id=2)]
    dump(folder, 7, "AfterSkGraph", *nodes)
    # The older one of two dumps of a kernel is of another run.
    dump(folder, 3, "a_super_kernel_sub_graph0", op("old", "Exp", parent=same))
    inside = [op(first, "X", parent=same, sends=(5, 6)), op(last, "Y", parent=same, id=1), op("out", "NetOutput", id=2)]
    dump(folder, 8, "a_super_kernel_sub_graph0", *inside)
    half = [op(pieces["outer"].ops[0]["name"], "Z", parent="te_half"), op("strange", "Q", parent="te_half", id=1)]
    dump(folder, 9, "b_super_kernel_sub_graph0", *half)
    return folder


def test_what_the_engine_built_is_shown_member_by_member(engine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (engine, engine / "ge_proto_00000007_graph_1_AfterSkGraph.txt"):
        assert main(["scope", str(path)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == UNVERIFIED
        assert "  sk_other_start_A_end_B, stream 0: its graph (…_super_kernel_sub_graph0) is not here" in lines
        (head,) = (
            number for number, line in enumerate(lines) if "sk_inner_start" in line and "stream 2: 2 ops" in line
        )
        assert lines[head + 1].endswith("X  stream 0, sends [5, 6]") and lines[head + 2].endswith("Y  stream 0")
    assert "old" not in "".join(lines)
    assert main(["scope", str(engine), "--json"]) == 0
    built = json.loads(capsys.readouterr().out)["built"]
    assert [len(kernel["members"]) for kernel in built] == [0, 2, 2]


def test_it_is_compared_with_the_plan(engine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = str(GRAPHS / "nested.txt")
    assert main(["scope", graph, "--built", str(engine)]) == 0
    out = capsys.readouterr().out
    compared = out[out.index("compared with the plan") :]
    assert "  inner: the same\n" in compared
    assert (
        "  outer_split_5_8: built as te_half\n    only planned: Sub\n" in compared
        and "    only built: strange\n" in compared
    )
    assert "  sk_other_start_A_end_B: built, not planned\n" in compared
    # In one folder they belong together.
    shutil.copy(graph, engine / "dynamo_optimized_graph_1_rank_0_pid_1_ts_1.txt")
    assert main(["scope", str(engine), "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["graphs"]
    same = {entry["planned"]: entry["same"] for entry in document["compared"]}
    assert same == {"inner": True, "outer_split_5_8": False, None: False} and document["unverified"] == UNVERIFIED


def test_a_piece_that_was_not_built(engine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scope", str(GRAPHS / "decoder.pbtxt"), "--built", str(engine)]) == 0
    assert "  attn0: planned, not built\n" in capsys.readouterr().out


def test_a_folder_is_planned_whatever_the_engine_has_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(GRAPHS / "decoder.pbtxt", tmp_path / "dynamo_optimized_graph_1_rank_0_pid_1_ts_1.pbtxt")
    left = dump(tmp_path, 1, "AfterSkGraph", op("a", "Exp"))
    assert main(["scope", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("planned, not built") == 4
    left.write_text("op {")
    assert main(["scope", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "4 super kernels" in told.out and "compared" not in told.out and "are left out" in told.err


def test_dumps_without_super_kernels_say_how_to_get_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = dump(tmp_path, 1, "AfterSkGraph", op("a", "Exp"))
    assert main(["scope", str(GRAPHS / "nested.txt"), "--built", str(empty)]) == 1
    told = capsys.readouterr().err
    assert "[SK1056]" in told and "DUMP_GRAPH_LEVEL" in told
    # A folder with nothing but such dumps.
    assert main(["scope", str(tmp_path)]) == 1
    assert "[SK1056]" in capsys.readouterr().err


def test_views_for_people_are_refused_with_what_to_give(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    view = tmp_path / "ge_readable_00000001_graph_1_Build.txt"
    view.write_text("graph {}")
    assert main(["scope", str(view)]) == 1
    told = capsys.readouterr().err
    assert "[SK1002]" in told and "ge_readable_*" in told and "dynamo_optimized_*" in told


def test_ids_of_events_survive_the_json_form(engine: Path) -> None:
    graph = Graph.read(engine / "ge_proto_00000008_graph_1_a_super_kernel_sub_graph0.txt")
    node = graph.to_dict()["nodes"][0]
    assert node["part_of"]["sends"] == [5, 6] and node["part_of"]["receives"] == []
    assert Graph.parse(json.dumps(graph.to_dict())).to_dict() == graph.to_dict()


@pytest.mark.parametrize("newest", ["txt", "py"])
def test_lines_come_from_the_python_form_of_the_same_graph(newest: str, tmp_path: Path) -> None:
    from superkernel.scope._dumps import graphs_in, read

    for form, source in (("txt", "several_streams.txt"), ("py", "several_streams.py")):
        time = 200 if form == newest else 100
        shutil.copy(GRAPHS / source, tmp_path / f"dynamo_optimized_graph_1_rank_0_pid_1_ts_{time}.{form}")
    (dump,) = graphs_in(tmp_path)
    nodes = {node["name"]: node for node in read(dump).to_dict()["nodes"]}
    assert nodes["MatMul"]["origin"]["line"].startswith("model.py:")
    # Of the form that has everything else: only that knows streams' limits and constants' names.
    assert "Const" in nodes and nodes["Tanh"]["stream_label"] == "side"
    # Another model's lines are not taken.
    other = tmp_path / f"dynamo_optimized_graph_1_rank_0_pid_1_ts_{200 if newest == 'py' else 100}.py"
    shutil.copy(GRAPHS / "quant_swiglu.py", other)
    (dump,) = graphs_in(tmp_path)
    lines = {node.get("origin", {}).get("line", "") for node in read(dump).to_dict()["nodes"]}
    assert ("model.py:7" in lines) == (newest == "py")
