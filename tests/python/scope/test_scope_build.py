"""Building whole models with the host toolchain."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import superkernel
from superkernel import SuperKernelError
from superkernel.cli import main
from superkernel.pictures.report import write as write_report
from superkernel.scope import Graph, KernelResult, LaunchEntry, compile_graph, kernels, launch_layout, plan
from superkernel.sim import BuiltOp, Device, build_op

SOURCE = """
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR y)
{{
    AscendC::GlobalTensor<int32_t> input;
    AscendC::GlobalTensor<int32_t> output;
    input.SetGlobalBuffer((__gm__ int32_t *)x, 8);
    output.SetGlobalBuffer((__gm__ int32_t *)y, 8);
    if (AscendC::GetBlockIdx() == 0) {{
        output.SetValue(0, input.GetValue(0) {change});
    }}
}}
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BuiltOp]:
    folder = tmp_path_factory.mktemp("ops")
    changes = {"plus": "+ 1", "times": "* 3"}
    return {
        name: build_op(SOURCE.format(name=name, change=change), name, None, "KERNEL_TYPE_AIV_ONLY", 2, out_dir=folder)
        for name, change in changes.items()
    }


@pytest.fixture(autouse=True)
def output(tmp_path: Path) -> Iterator[Path]:
    """An output folder and an empty cache of its own for every test."""
    kernels.clear()
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host", cache_dir=""):
        yield tmp_path / "kernel_meta"


def add(graph: Graph, op: BuiltOp, name: str, where: str, **fields: Any) -> None:
    paths = {"kernel_name": op.name, "bin_path": op.bin_path, "json_path": op.json_path}
    graph.op(name, "Op", support=1, scope=where, **{**paths, **fields})


@pytest.mark.parametrize("compat", [False, True])
def test_what_changed_since_is_built_again(ops: dict[str, BuiltOp], tmp_path: Path, compat: bool) -> None:
    """In one process: another object under the same path, another SoC."""
    binary = tmp_path / "op.o"
    binary.write_bytes(Path(ops["plus"].bin_path).read_bytes())
    graph = Graph()
    add(graph, ops["plus"], "a", "s", stream=1, bin_path=str(binary))
    add(graph, ops["times"], "b", "s", stream=1)

    def states() -> list[str]:
        return [result.state for result in compile_graph(graph, compat=compat).results]

    assert (states(), states()) == (["compiled"], ["up to date"])
    binary.write_bytes(binary.read_bytes() + b"\0")
    assert (states(), states()) == (["compiled"], ["up to date"])
    with superkernel.configure(soc="Ascend910B"):
        assert (states(), states()) == (["compiled"], ["up to date"])
    # Without `compat` the name tells the SoC, so the first kernel is still there.
    assert states() == ["compiled" if compat else "up to date"]


def test_identical_pieces_are_built_once(ops: dict[str, BuiltOp], output: Path) -> None:
    """Equal up to the numbers of their streams and events; one more with other options."""
    graph = Graph()
    for number in range(3):
        where, streams = f"s{number}", (2 * number, 2 * number + 1)
        add(graph, ops["plus"], f"a{number}", where, stream=streams[0])
        add(graph, ops["times"], f"b{number}", where, stream=streams[1])
        graph.event(f"a{number}", f"b{number}")
    add(graph, ops["plus"], "a3", "s3", stream=9, options="early-start=0")
    add(graph, ops["times"], "b3", "s3", stream=9, options="early-start=0")
    seen: list[tuple[int, int, str]] = []
    build = compile_graph(graph, jobs=3, progress=lambda done, total, result: seen.append((done, total, result.piece)))
    # As they end, so in any order.
    assert [(done, total) for done, total, _ in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert sorted(piece for _, _, piece in seen) == ["s0", "s1", "s2", "s3"]
    assert [result.piece for result in build.results] == ["s0", "s1", "s2", "s3"]
    ids = [piece.kernel_infos["op_list"][0]["send_event_list"] for piece in build.plan.pieces[:3]]
    assert len({str(entry) for entry in ids}) == 3
    assert build.counts() == {"compiled": 2, "up to date": 0, "from cache": 0, "shared": 2, "failed": 0}
    assert len({result.kernel_name for result in build.results}) == 2
    assert {path.stem for path in output.glob("te_superkernel_*.o")} == {result.kernel_name for result in build.results}
    assert str(build).startswith("4 super kernels: 2 compiled, 2 shared, 0 failed, ")
    # Again in this process: nothing to do. After the result is gone: built again.
    assert str(compile_graph(graph)).startswith("4 super kernels: 2 up to date, 2 shared, 0 failed, ")
    (output / f"{build.results[3].kernel_name}.json").unlink()
    assert [result.piece for result in compile_graph(graph).of_state("compiled")] == ["s3"]


def test_a_planned_kernel_runs_with_the_planned_arguments(ops: dict[str, BuiltOp], output: Path) -> None:
    """Two streams, an event inside and one to the outside: (x + 1) * 3, and the word outside is set."""
    graph = Graph()
    add(graph, ops["plus"], "a", "s", stream=1)
    graph.op("outside", "Op", stream=3)
    add(graph, ops["times"], "b", "s", stream=2)
    graph.event("a", "b")
    graph.event("a", "outside")
    build = compile_graph(graph)
    (piece,) = build.plan.pieces
    assert [len(op["send_event_list"]) for op in piece.ops] == [2, 0]
    ids = {node["name"]: node["id"] for node in build.plan.nodes}
    layout = launch_layout(
        [LaunchEntry(ids[op["name"]], ["i0", "o0"], op["send_event_list"], op["recv_event_list"]) for op in piece.ops]
    )
    described = json.loads((output / f"{piece.kernel_name}.json").read_text())["SuperkernelInfo"]["kernelList"][
        "aicore"
    ]
    assert [entry["arg_list"]["param_offset"] for entry in described] == [slots.param for slots in layout.entries]
    assert described[0]["arg_list"]["notify_param_offset"] == layout.entries[0].notify
    assert described[1]["arg_list"]["wait_param_offset"] == layout.entries[1].wait
    with Device() as device:
        memory = {name: device.buffer(numpy.full(8, 5, numpy.int32), name) for name in "xty"}
        words = {event["id"]: device.buffer(8, f"event{event['id']}") for event in build.plan.events}
        arguments: list[Any] = []
        for op, (source, target) in zip(piece.ops, ("xt", "ty")):
            locks = [words[number] for number in (*op["send_event_list"], *op["recv_event_list"])]
            arguments += [memory[source], memory[target], *locks]
        # The scheduler's address, which the layout counts, is put in front by the launch.
        assert len(arguments) + 1 == layout.slots
        device.load(output / f"{piece.kernel_name}.json").launch(arguments).raise_for_status()
        assert memory["y"].numpy(numpy.int32)[0] == (5 + 1) * 3
        (leaving,) = (event["id"] for event in build.plan.events if event["to"] == "outside")
        assert words[leaving].word() == 1


def test_many_threads_build_one_model(ops: dict[str, BuiltOp]) -> None:
    graph = Graph()
    add(graph, ops["plus"], "a", "s")
    add(graph, ops["times"], "b", "s")
    settings = superkernel.current_config()
    states: list[str] = []

    def build() -> None:
        with superkernel.configure(kernel_meta_parent_dir=settings["kernel_meta_parent_dir"], toolchain="host"):
            states.extend(result.state for result in compile_graph(graph).results)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Those that came while it was built share it; those that came later found it.
    assert sorted(states)[0] == "compiled" and set(states[1:] + states[:1]) <= {"compiled", "shared", "up to date"}
    assert states.count("compiled") == 1


def broken(ops: dict[str, BuiltOp], folder: Path) -> Graph:
    """Five ops; the object of the third is no object."""
    damaged = folder / "damaged.o"
    damaged.write_bytes(b"no object at all")
    graph = Graph()
    for number, op in enumerate(["plus", "times", "plus", "times", "plus"]):
        extra = {"bin_path": str(damaged), "kernel_name": "damaged"} if number == 2 else {}
        add(graph, ops[op], f"n{number}", "s", stream=0, **extra)
    add(graph, ops["plus"], "m0", "t", stream=1)
    add(graph, ops["times"], "m1", "t", stream=1)
    return graph


def test_a_failure_is_reported_after_the_rest_was_built(ops: dict[str, BuiltOp], tmp_path: Path, output: Path) -> None:
    graph = broken(ops, tmp_path)
    with pytest.raises(SuperKernelError, match="1 of 2 super kernels failed") as caught:
        compile_graph(graph)
    assert caught.value.errorinfo["errId"] == "SK1017"
    assert len(list(output.glob("te_superkernel_*.o"))) == 1
    build = compile_graph(graph, check=False)
    states = {result.piece: result.state for result in build.results}
    assert states == {"s": "failed", "t": "up to date"}, "failures do not stick, results do"
    assert "damaged.o" in str(build.of_state("failed")[0].error)


def test_fallback_leaves_the_failing_member_out(
    ops: dict[str, BuiltOp], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build = compile_graph(broken(ops, tmp_path), fallback=True)
    assert build.excluded == ["n2"]
    assert [piece.members for piece in build.plan.pieces] == [["n0", "n1"], ["n3", "n4"], ["m0", "m1"]]
    assert not build.of_state("failed")
    assert "super_kernel_scope: `n2`" in caplog.text
    assert str(build).endswith("; run alone: n2")


def test_pieces_the_compiler_would_refuse_are_not_tried(ops: dict[str, BuiltOp]) -> None:
    graph = Graph()
    add(graph, ops["plus"], "a", "s", stream=0)
    add(graph, ops["times"], "b", "s", stream=1)
    (result,) = compile_graph(graph, check=False).results
    assert result.state == "failed" and result.error is not None
    assert result.error.errorinfo["errId"] == "SK1016"
    message, solution = (result.error.errorinfo[key] for key in ("message", "errSolution"))
    assert "(`a`) on stream 0 and its successor op 1 (`b`) on stream 1 are not linked by an event [SK0306]" in message
    assert "stream-fusion=1" in solution


def test_two_kernels_of_one_name_are_noticed(ops: dict[str, BuiltOp]) -> None:
    """The reference's names leave the options out, and then takes one kernel for the other."""
    graph = Graph()
    for where, options in {"s": "", "t": "early-start=0"}.items():
        add(graph, ops["plus"], f"{where}0", where, options=options)
        add(graph, ops["times"], f"{where}1", where, options=options)
    assert len({piece.kernel_name for piece in plan(graph, compat=True).pieces}) == 1
    build = compile_graph(graph, compat=True, jobs=1, check=False)
    assert [result.state for result in build.results] == ["compiled", "failed"]
    assert build.results[1].error is not None
    assert build.results[1].error.errorinfo["errId"] == "SK1019"
    assert len(compile_graph(graph).of_state("compiled")) == 2


def test_core_limits_hold_for_their_piece_only(ops: dict[str, BuiltOp], output: Path) -> None:
    graph = Graph()
    # One block on two vector cores cannot be limited to fewer cores than it has; the limit shows in the name.
    for where, limits in {"s": {}, "t": {"aicore_num": 4, "vectorcore_num": 8}}.items():
        add(graph, ops["plus"], f"{where}0", where, **limits)
        add(graph, ops["times"], f"{where}1", where, **limits)
    before = superkernel.current_config()["aiv_num"]
    build = compile_graph(graph, jobs=2)
    assert len({result.kernel_name for result in build.results}) == 2
    assert superkernel.current_config()["aiv_num"] == before
    assert plan(graph).pieces[1].core_limits == (4, 8)


def test_the_command(ops: dict[str, BuiltOp], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.json"
    graph = Graph("model")
    add(graph, ops["plus"], "a", "s")
    add(graph, ops["times"], "b", "s")
    graph.write(path)
    arguments = ["build", str(path), "-j", "2", "--kernel-meta-parent-dir", str(tmp_path), "--toolchain", "host"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[1/1] compiled") and lines[-1].startswith("1 super kernel: 1 compiled, 0 failed, ")
    assert main([*arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["compiled"], figures["up to date"], figures["kernels"][0]["piece"]) == (0, 1, "s")
    assert figures["kernels"][0]["state"] == "up to date"
    broken(ops, tmp_path).write(path)
    assert main(arguments) == 1
    assert "failed" in capsys.readouterr().out
    assert main([*arguments, "--fallback"]) == 0
    assert "run alone: n2" in capsys.readouterr().out


def test_a_result_prints_its_error() -> None:
    result = KernelResult("p", "k", "compiled", 1.25)
    assert str(result) == "compiled         1.2 ms  p  k"


def test_the_report_of_a_build(ops: dict[str, BuiltOp], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two equal scopes, one that is cut, one op without files: all of it on one page, with pictures beside."""
    graph = Graph("model <b>")
    for where in ("s", "same"):
        add(graph, ops["plus"], f"{where}1", where)
        add(graph, ops["times"], f"{where}2", where)
    add(graph, ops["plus"], "c1", "cut")
    graph.op("c2", "Op", support=0, scope="cut")
    add(graph, ops["times"], "c3", "cut")
    add(graph, ops["plus"], "c4", "cut")
    add(graph, ops["plus"], "b1", "broken", bin_path="")
    add(graph, ops["plus"], "b2", "broken")
    graph.write(tmp_path / "graph.json")
    status = main(["build", str(tmp_path / "graph.json"), "--no-cache", "--report", str(tmp_path / "out.html")])
    capsys.readouterr()
    assert status == 1, "one of them cannot be built"
    text = (tmp_path / "out.html").read_text()
    (embedded,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    data = json.loads(embedded)
    kernels_told = {kernel["piece"]: kernel for kernel in data["kernels"]}
    assert sorted(kernel["origin"] for kernel in data["kernels"]) == ["compiled", "compiled", "failed", "shared"]
    built = kernels_told["s"] if kernels_told["s"]["origin"] == "compiled" else kernels_told["same"]
    assert built["size"] > 1000 and built["ops"] == 2 and built["stages"]["compile"] > 0 and built["error"] is None
    assert kernels_told["broken"]["error"]["errId"] == "SK1016" and kernels_told["broken"]["picture"] is None
    (cut,) = (scope for scope in data["scopes"] if scope["name"] == "cut")
    assert next(one["node"] for one in cut["left_out"]) == "c2" and cut["cuts"]
    assert cut["fused"] == 2, "c1 is alone and left out"
    # Every link leads to a picture, and the picture of the scopes leads on to the programs.
    for kernel in (built, kernels_told["same"], kernels_told["s"]):
        assert (tmp_path / kernel["picture"]).is_file() and kernel["kernel_name"] in kernel["picture"]
    scopes = (tmp_path / data["scope_picture"]).read_text()
    assert f"{built['kernel_name']}.html" in scopes
    with pytest.raises(SuperKernelError, match="SK0001"):
        write_report(tmp_path / "graph.json" / "out.html", graph, compile_graph(graph, check=False), [])
    # Built again nothing changes, and the page says so.
    assert main(["build", str(tmp_path / "graph.json"), "--no-cache", "--report", str(tmp_path / "out.html")]) == 1
    (embedded,) = re.findall(r'id="data">(.*?)</script>', (tmp_path / "out.html").read_text())
    origins = [kernel["origin"] for kernel in json.loads(embedded)["kernels"]]
    assert sorted(origins) == ["failed", "shared", "up to date", "up to date"]


def test_a_report_has_what_is_predicted(
    ops: dict[str, BuiltOp], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = Graph("model")
    for name in ("one", "two"):
        add(graph, ops["plus"], name, "s")
    graph.write(tmp_path / "graph.json")
    table = "Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim\n"
    (tmp_path / "op_summary_1.csv").write_text(table + "one,Op,AI_VECTOR_CORE,20,1,8\ntwo,Op,AI_VECTOR_CORE,30,1,8\n")
    command = ["build", str(tmp_path / "graph.json"), "--no-cache", "--profile", str(tmp_path)]
    assert main([*command, "--report", str(tmp_path / "out.html")]) == 0
    assert re.search(r"^predicted, not measured: \d+\.\d\d us -> \d+\.\d\d us", capsys.readouterr().out, re.MULTILINE)

    def data_of(path: Path) -> Any:
        (embedded,) = re.findall(r'id="data">(.*?)</script>', path.read_text())
        return json.loads(embedded)

    data = data_of(tmp_path / "out.html")
    expected = superkernel.cost.predict(graph, tmp_path)
    assert data["predicted"]["s"]["gain"] == expected["kernels"][0]["gain"] and data["prices"] == expected["prices"]
    # The program's own picture has it too.
    assert data_of(tmp_path / data["kernels"][0]["picture"])["predicted"] == data["predicted"]["s"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicted"]["kernels"][0]["gain"] == data["predicted"]["s"]["gain"]


def test_waiting_is_no_build_time() -> None:
    """Of two equal kernels one is built, and the other waits for it."""
    from superkernel.pictures import report

    piece: Any = type("Piece", (), {"members": ["a", "b"], "warnings": []})()
    built = KernelResult("p", "k", "compiled", 1000.0)
    told = report._kernel(built, piece, {"timings_ms": {"load": 100.0, "compile": 300.0, "total": 400.0}})
    assert (told["milliseconds"], told["waited"]) == (400.0, 600.0)
    told = report._kernel(KernelResult("q", "k", "shared", 900.0), piece, {})
    assert (told["milliseconds"], told["waited"]) == (0.0, 900.0)
    error = SuperKernelError({"errId": "SK1", "message": "m", "errSolution": "s"})
    told = report._kernel(KernelResult("r", "l", "failed", 50.0, error), piece, {})
    assert (told["milliseconds"], told["waited"]) == (50.0, 0.0)


def test_links_of_a_report_lead_to_its_pages(ops: dict[str, BuiltOp], tmp_path: Path) -> None:
    """Whatever the file is called: `#`, `?` and `%` mean something in a link."""
    from urllib.parse import unquote

    graph = Graph("model")
    for name in ("one", "two"):
        add(graph, ops["plus"], name, "s")
    target = tmp_path / "50% of #1? \u00e9.html"
    write_report(target, graph, compile_graph(graph, check=False), [])
    (embedded,) = re.findall(r'id="data">(.*?)</script>', target.read_text())
    data = json.loads(embedded)
    links = [*(kernel["picture"] for kernel in data["kernels"]), data["scope_picture"]]
    assert len(links) == 2
    for link in links:
        assert not set(link) & set("#? \u00e9"), link
        assert (tmp_path / unquote(link)).is_file(), link
