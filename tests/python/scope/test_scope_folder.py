"""Folders of TorchAir's dumps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from superkernel.cli import main
from superkernel.scope._dumps import graphs_in

GRAPHS = Path(__file__).parents[2] / "graphs" / "torchair"


def dump(folder: Path, graph: int, rank: int, time: int, source: str) -> Path:
    form = source.rpartition(".")[2]
    path = folder / f"dynamo_optimized_graph_{graph}_rank_{rank}_pid_{time}_ts_{time}.{form}"
    shutil.copy(GRAPHS / source, path)
    return path


def test_the_newest_per_graph_and_rank_is_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump(tmp_path, 1, 0, 100, "mistakes.pbtxt")
    newest = dump(tmp_path, 1, 0, 2000, "quant_swiglu.txt")
    other = dump(tmp_path, 1, 1, 150, "quant_swiglu.py")
    second = dump(tmp_path, 2, 0, 160, "decoder.pbtxt")
    (tmp_path / "dynamo_original_graph_1_rank_0_pid_1_ts_9999.txt").write_text("not read")
    assert [dump.path for dump in graphs_in(tmp_path)] == [newest, other, second]
    assert main(["scope", str(tmp_path), "--html", str(tmp_path / "out.html")]) == 0
    out = capsys.readouterr().out
    assert "graph_1, rank 0" in out and "4 super kernels" in out
    assert (tmp_path / "out_3.html").exists()
    assert main(["scope", str(tmp_path), "--json"]) == 0
    assert [len(plan["pieces"]) for plan in json.loads(capsys.readouterr().out)["graphs"]] == [1, 1, 4]


def test_one_graph_that_cannot_be_read_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = dump(tmp_path, 1, 0, 100, "quant_swiglu.txt")
    broken.write_text("op {{")
    dump(tmp_path, 1, 1, 100, "quant_swiglu.txt")
    assert main(["scope", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "SK1002" in told.err and "scope sp1: 1 super kernel" in told.out
    assert main(["scope", str(tmp_path), "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["graphs"]
    assert (first["path"], first["error"]["errId"]) == (str(broken), "SK1002")
    assert second["title"] == "graph_1, rank 1" and len(second["pieces"]) == 1


def test_a_node_to_leave_out_is_in_one_graph_of_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump(tmp_path, 1, 0, 100, "quant_swiglu.txt")
    dump(tmp_path, 2, 0, 100, "decoder.pbtxt")
    assert main(["scope", str(tmp_path), "--exclude", "DequantSwigluQuant", "--json"]) == 0
    assert [len(plan["pieces"]) for plan in json.loads(capsys.readouterr().out)["graphs"]] == [0, 4]
    assert main(["scope", str(tmp_path), "--exclude", "Nowhere"]) == 1
    assert "SK1022" in capsys.readouterr().err


def test_the_newest_of_several_debug_runs(tmp_path: Path) -> None:
    wanted = []
    for run in ("run_2026_11_19_06_57_59_314433-pid_20540", "run_2026_11_19_07_01_02_000001-pid_9"):
        for model in ("model__0", "model__1"):
            inside = tmp_path / "torch_compile_debug" / run / "torchair" / model / "forward"
            inside.mkdir(parents=True)
            shutil.copy(GRAPHS / "decoder.pbtxt", inside / "006_aot_forward_original_ge_graph.pbtxt")
            wanted.append(shutil.copy(GRAPHS / "decoder.pbtxt", inside / "016_aot_forward_optimized_ge_graph.pbtxt"))
    assert [dump.path for dump in graphs_in(tmp_path)] == wanted[2:]


def test_the_folder_of_a_debug_run(tmp_path: Path) -> None:
    inside = tmp_path / "run_1" / "torchair" / "model__0" / "forward"
    inside.mkdir(parents=True)
    shutil.copy(GRAPHS / "nested.txt", inside / "012_aot_optimized_ge_graph.txt")
    assert len(graphs_in(tmp_path)) == 1


def test_a_folder_without_graphs_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scope", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "SK1055" in told and "views" not in told
    (tmp_path / "ge_readable_00001_graph_1_Build.txt").write_text("a view")
    assert main(["scope", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "SK1055" in told and "only views for people (ge_onnx_*, ge_readable_*)" in told


def test_commands_that_take_one_graph_take_a_folder_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = dump(tmp_path, 1, 0, 100, "quant_swiglu.txt")
    profile = tmp_path / "op_summary_1.csv"
    profile.write_text(
        "Op Name,OP Type,Task Type,Block Dim,Task Duration(us)\n"
        "QuantBatchMatmulV3,QuantBatchMatmulV3,AI_CORE,24,40\nDequantSwigluQuant,DequantSwigluQuant,AI_VECTOR_CORE,48,20\n"
    )
    for command in ("predict", "suggest", "tune"):
        assert main([command, str(first), "--profile", str(profile)]) == 0
        of_file = capsys.readouterr().out
        assert main([command, str(tmp_path), "--profile", str(profile)]) == 0
        assert capsys.readouterr().out == of_file
    second = dump(tmp_path, 1, 1, 100, "quant_swiglu.txt")
    for command in ("predict", "suggest", "tune"):
        assert main([command, str(tmp_path), "--profile", str(profile)]) == 1
        told = capsys.readouterr().err
        assert "[SK1057]" in told and str(first) in told and str(second) in told
