"""Graphs and plans through the public interface and the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import superkernel
from op_lists import OpList
from superkernel import SuperKernelError, scope
from superkernel.cli import main
from superkernel.scope import Graph, mark

CASES = Path(__file__).parents[2] / "cases" / "scope"
BASE = 1073741823


def example() -> Graph:
    """Four ops of a scope on two streams among four others."""
    graph = Graph("example")
    nodes = {}
    for name, stream in [("X", 2), ("W", 4), ("A", 1), ("Z", 3), ("B", 2), ("C", 1), ("D", 2), ("Y", 2)]:
        marked = {"scope": "S"} if name in "ABCD" else {}
        nodes[name] = graph.op(
            name, "Op", stream=stream, support=1, kernel_name=f"te_{name.lower()}__kernel0", **marked
        )
    for number, (producer, consumer) in {3: "AB", 4: "AZ", 5: "WC", 6: "BC"}.items():
        graph.event(nodes[producer], nodes[consumer], number)
    return graph


def test_the_worked_example_in_compat_mode() -> None:
    planned = scope.plan(example(), compat=True)
    (piece,) = planned.pieces
    assert piece.kernel_name == ("te_superkernel_ba5fecb4097efe0313ff9f2fa8eea3e0f4af9e856b4b01cf6260902369b42600")
    assert piece.main_stream == 1
    assert [
        (event["from"], event["to"], event["id"], event["kind"], event["send_stream"], event["recv_stream"])
        for event in planned.events
    ] == [
        ("A", "B", BASE, "mem", 1, 2),
        ("A", "Z", BASE + 1, "mem", 1, 3),
        ("B", "C", BASE + 2, "mem", 1, 1),
        ("X", piece.node_name, 3, "normal", 2, 1),
        ("W", "C", BASE + 4, "mem", 4, 1),
        (piece.node_name, "Y", 4, "normal", 1, 2),
    ]
    entries = piece.kernel_infos["op_list"]
    assert [entry.get("send_event_list") for entry in entries] == [[BASE, BASE + 1], [BASE + 2], None, None]
    assert [entry.get("recv_event_list") for entry in entries] == [None, [BASE], [BASE + 2, BASE + 4], None]
    assert [entry["stream_id"] for entry in entries] == [1, 2, 1, 2]
    assert piece.kernel_infos["kernel_name"] == piece.kernel_name
    assert "super_kernel_options" not in piece.kernel_infos


def two_ops(options: str = "", streams: tuple[int, int] = (1, 1)) -> Graph:
    graph = Graph()
    for name, stream in zip("ab", streams):
        graph.op(name, "Op", stream=stream, support=1, scope="s", options=options, kernel_name=name)
    return graph


def kernel_name(graph: Graph, **planning: object) -> str:
    return scope.plan(graph, **planning).pieces[0].kernel_name


def test_names_that_clash_in_the_reference_differ_in_ours() -> None:
    for other in (two_ops("stream-fusion=1"), two_ops(streams=(1, 2))):
        assert kernel_name(two_ops(), compat=True) == kernel_name(other, compat=True)
        assert kernel_name(two_ops()) != kernel_name(other)
    assert kernel_name(two_ops()) == kernel_name(two_ops("strict-scope-check=abort:early-start=1"))
    assert kernel_name(two_ops()) == kernel_name(two_ops(streams=(5, 5)))
    with superkernel.configure(soc="Ascend950"):
        other_soc = kernel_name(two_ops())
    with superkernel.configure(aic_num=20):
        fewer_cores = kernel_name(two_ops())
    assert len({kernel_name(two_ops()), other_soc, fewer_cores}) == 3


def test_reasons_are_told_to_people_and_programs() -> None:
    graph = Graph("reasons")
    with mark("s"):
        graph.op("a", "Op", support=1)
        graph.op("tbe", "Old", support=0)
        graph.op("b", "Op", support=1)
        graph.op("simt", "Op", support=1, local_memory_size=64)
        graph.op("c", "Op", support=1)
        graph.op("tiling", "Op", support=1, tiling_on_aicpu=True, reuse_binary=True)
        graph.op("d", "Op", support=1)
    graph.op("plain", "Op", support=1)
    with mark("s"):
        graph.op("e", "Op", support=1)
        with mark("t"):
            graph.op("f", "Op", support=1)
        graph.op("g", "Op", support=1)
    planned = scope.plan(graph)
    found = {cut["node"]: cut["reason"] for entry in planned.scopes for cut in entry["cuts"]}
    assert found == {
        "tbe": "no-support-flag",
        "simt": "simt",
        "tiling": "tiling-reuses-binary",
        "plain": "unmarked",
        "f": "other-scope",
    }
    for name, reason in found.items():
        line = next(line for line in str(planned).splitlines() if f" {name} " in line)
        assert reason in line
    assert all("super_kernel_scope" in record["text"] for record in planned.records)


def test_settings_of_a_plan() -> None:
    graph = Graph()
    graph.op("a", "Op", scope="s", support=1, reuse_binary=True)
    assert scope.plan(graph).pieces == []
    assert len(scope.plan(graph, fuse_single_ops=True).pieces) == 1
    assert scope.plan(graph, fuse_single_ops=True, tiling_on_aicpu=["Op"]).pieces == []
    assert scope.plan(graph, fuse_single_ops=True, exclude=["a"]).pieces == []
    assert scope.plan(graph, compat=True, fuse_single_ops=False).pieces == []
    with pytest.raises(ValueError, match="hazards"):
        scope.plan(graph, hazards="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cuts"):
        scope.plan(graph, cuts="nowhere")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        scope.plan(graph, exclude="a")


def test_independent_chains_stay_whole_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph()
    for number in range(8):
        interrupts = number == 2
        graph.op(f"n{number}", "Op", stream=number % 2, scope="s", support=0 if interrupts else 1)
    assert [piece.members for piece in scope.plan(graph).pieces] == [["n0", "n1"], ["n3", "n4", "n5", "n6", "n7"]]
    independent = [["n0", "n1", "n3", "n5", "n7"], ["n4", "n6"]]
    assert [piece.members for piece in scope.plan(graph, cuts="per-stream").pieces] == independent
    graph.write(tmp_path / "graph.json")
    main(["scope", str(tmp_path / "graph.json"), "--cuts", "per-stream", "--json"])
    pieces = json.loads(capsys.readouterr().out)["pieces"]
    assert [piece["members"] for piece in pieces] == independent


def test_core_limits_come_from_the_mark() -> None:
    graph = Graph()
    with mark("s"), scope.limit_core_num(4, 8):
        graph.op("a", "Op", support=1)
        graph.op("b", "Op", support=1)
    assert scope.plan(graph).pieces[0].core_limits == (4, 8)


def test_launch_arguments() -> None:
    layout = scope.launch_layout(
        [
            scope.LaunchEntry(4, ["i0", "o0", "ws0"], send=[10, 11]),
            scope.LaunchEntry(5, ["i0", "i1", "o0", "tiling"], send=[12], recv=[10], tiling_event=BASE + 2),
        ],
        workspace=True,
    )
    assert [tuple(entry) for entry in layout.entries] == [(1, None, 4, 6), (6, 10, 13, 14)]
    assert (layout.workspace, layout.slots * 8) == (15, 128)
    assert "{skn5event_addr1073741825*}" in layout.format


# -- files -----------------------------------------------------------------------------------------------------------


def dumps() -> list[Path]:
    return sorted(CASES.glob("*/graph.*"))


@pytest.mark.parametrize("path", dumps(), ids=lambda path: path.parent.name)
@pytest.mark.parametrize("mode", ["default", "compat"])
def test_reports(path: Path, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The report of every stored graph, as it is printed."""
    main(["scope", str(path), *(["--compat"] if mode == "compat" else [])])
    printed = capsys.readouterr()
    # Without what the log says: where that goes depends on who runs the test.
    text = printed.out + printed.err[max(printed.err.find("superkernel: error"), 0) :]
    golden = path.parent / f"report.{mode}.txt"
    if os.environ.get("SUPERKERNEL_BLESS"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_a_dump_and_its_json_form_plan_alike(tmp_path: Path) -> None:
    path = CASES / "dump" / "graph.pbtxt"
    graph = Graph.read(path)
    graph.write(tmp_path / "graph.json")
    assert scope.plan(tmp_path / "graph.json").to_dict() == scope.plan(path).to_dict()
    assert scope.plan(graph.to_dict()).to_dict() == scope.plan(path).to_dict()


def test_compile_results_fill_in_the_flags(tmp_path: Path) -> None:
    graph = Graph()
    for name, flags in {"a": {"supportSuperKernel": 1}, "b": {"supportSuperKernel": 1, "localMemorySize": 9}}.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(flags))
        graph.op(name, "Op", scope="s", json_path=str(path))
    completed = graph.take_compile_results()
    assert [node.get("support") for node in completed.nodes] == [1, 1]
    assert [node.get("local_memory_size") for node in completed.nodes] == [None, 9]
    graph.op("c", "Op", json_path=str(tmp_path / "missing.json"))
    with pytest.raises(SuperKernelError, match="missing"):
        graph.take_compile_results()


@pytest.mark.parametrize(
    ("content", "error_id"),
    [
        ("{", "SK1001"),
        ("{}", "SK1001"),
        ("graph { op { name: 'a' ", "SK1002"),
        ("graph { op { name: 'a' } }", "SK1002"),
        ('{"nodes": [{"name": "a", "type": "A"}, {"name": "a", "type": "A"}]}', "SK1003"),
        ('{"nodes": [{"name": "a", "type": "A", "id": 3}, {"name": "b", "type": "A", "id": 3}]}', "SK1004"),
        ('{"nodes": [{"name": "a", "type": "A"}], "control": [["a", "b"]]}', "SK1005"),
        ('{"nodes": [{"name": "a", "type": "A", "attrs": {"_hccl": "yes"}}]}', "SK1006"),
    ],
)
def test_unreadable_graphs(tmp_path: Path, content: str, error_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph"
    path.write_text(content)
    with pytest.raises(SuperKernelError) as caught:
        scope.plan(path)
    assert caught.value.errorinfo["errId"] == error_id
    assert main(["scope", str(path)]) == 1
    assert error_id in capsys.readouterr().err


def marked(options: list[str], **fields: object) -> Graph:
    graph = Graph()
    for number, text in enumerate(options):
        graph.op(f"n{number}", "Op", stream=1, scope="s", support=1, options=text, **fields)
    return graph


def backward() -> Graph:
    graph = two_ops(streams=(1, 2))
    graph.event("b", "a")
    return graph


def reads_what_comes_later() -> Graph:
    content = two_ops().to_dict()
    content["data"] = [{"from": "b", "output": 0, "to": "a", "input": 0}]
    return Graph.parse(json.dumps(content))


def lonely_send() -> Graph:
    graph = two_ops()
    graph.op("send", "Send", event_id=3)
    graph.control("a", "send")
    return graph


def reads_without_waiting() -> Graph:
    graph = two_ops()
    graph.op("c", "Op", ["a"], stream=2)
    return graph


def waits_for_itself() -> Graph:
    graph = Graph()
    for name, stream, where in [("a", 1, "s"), ("b", 1, "s"), ("x", 2, ""), ("c", 2, "s"), ("d", 2, "s")]:
        graph.op(name, "Op", stream=stream, scope=where, support=1)
    graph.event("b", "x")
    return graph


@pytest.mark.parametrize(
    ("graph", "error_id"),
    [
        (marked(["strict-scope-check=abort"] * 2, local_memory_size=1), "SK1010"),
        (lonely_send(), "SK1013"),
        (backward(), "SK1014"),
        (reads_what_comes_later(), "SK1014"),
        (reads_without_waiting(), "SK1031"),
    ],
)
def test_plans_that_fail(graph: Graph, error_id: str) -> None:
    with pytest.raises(SuperKernelError) as caught:
        scope.plan(graph)
    assert caught.value.errorinfo["errId"] == error_id
    assert caught.value.errorinfo["errSolution"]


@pytest.mark.parametrize(
    ("graph", "error_id"),
    [
        (marked(["strict-scope-check=maybe"]), "SK1008"),
        (marked(["strict-scope-check"]), "SK1008"),
        (marked(["strict-scope-check=abort", "strict-scope-check=bypass"]), "SK1009"),
        (marked(["no-such-option=1"] * 2), "SK1011"),
    ],
)
def test_mistakes_in_options_leave_their_scope_out(graph: Graph, error_id: str, tmp_path: Path) -> None:
    graph.op("x", "Op", stream=1, scope="sound", support=1)
    graph.op("y", "Op", stream=1, scope="sound", support=1)
    planned = scope.plan(graph)
    assert [piece.name for piece in planned.pieces] == ["sound"]
    (mistake,) = planned.mistakes
    assert (mistake["id"], mistake["scope"]) == (error_id, "s") and mistake["solution"]
    graph.write(tmp_path / "graph.json")
    assert main(["scope", str(tmp_path / "graph.json")]) == 1
    with pytest.raises(SuperKernelError, match="scope `s`") as caught:
        scope.compile_graph(graph)
    assert caught.value.errorinfo["errId"] == "SK1032"


def test_options_that_differ_are_a_problem_of_their_piece() -> None:
    (piece,) = scope.plan(marked(["profiling=1", ""])).pieces
    assert "SK1012" in [problem.id for problem in piece.problems]


def test_hazards_are_cut_or_refused() -> None:
    planned = scope.plan(waits_for_itself())
    assert [piece.members for piece in planned.pieces] == [["a", "b"], ["c", "d"]]
    assert [cut["through"] for cut in planned.scopes[0]["cuts"]] == ["b -> x -> c"]
    with pytest.raises(SuperKernelError) as caught:
        scope.plan(waits_for_itself(), hazards="refuse")
    assert caught.value.errorinfo["errId"] == "SK1015"


def test_the_command_tells_by_its_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.json"
    example().write(path)
    assert main(["scope", str(path), "--json"]) == 1, "no paths, and two streams without stream-fusion"
    plan = json.loads(capsys.readouterr().out)
    assert {problem["id"] for problem in plan["pieces"][0]["problems"]} == {"SK1020", "SK0306"}
    assert main(["scope", str(path), "--graph"]) == 0
    assert len(json.loads(capsys.readouterr().out)["nodes"]) == 16
    marked([""]).write(path)
    assert main(["scope", str(path)]) == 0
    assert "single-op" in capsys.readouterr().out
    assert main(["scope", str(tmp_path / "nothing")]) == 1


def test_a_sync_all_that_would_hang_is_told_with_the_plan(tmp_path: Path) -> None:
    """The sub-kernels' JSONs say it: no need to wait for the build, let alone for the device."""

    def warnings(blocks: int) -> list[str]:
        infos = OpList(tmp_path).op(blocks=blocks, sub_op_with_sync_all=True).op(blocks=8).infos()
        graph = Graph()
        for number, entry in enumerate(infos["op_list"]):
            paths = {key: entry[key] for key in ("bin_path", "json_path")}
            graph.op(f"n{number}", "Op", support=1, scope="s", stream=1, kernel_name=f"k{number}", **paths)
        (piece,) = scope.plan(graph).pieces
        return piece.warnings

    (warning,) = warnings(3)
    assert "SyncAll on 3 of 8 blocks" in warning and "feed-sync-all=1" in warning
    assert warnings(8) == []


def test_planning_needs_no_soc_that_kernels_are_built_for() -> None:
    graph = Graph()
    for name in "ab":
        graph.op(name, "Op", support=1, scope="s")
    with superkernel.configure(soc="Ascend310B"):
        assert [piece.members for piece in scope.plan(graph).pieces] == [["a", "b"]]
        with pytest.raises(superkernel.SuperKernelError) as caught:
            superkernel.cost.predict(graph, [])
    assert caught.value.errorinfo["errId"] == "SK0402"


def test_notebooks_show_a_table() -> None:
    graph = superkernel.scope.Graph("m")
    for number in range(4):
        graph.op(f"n<{number}>", "Add", scope="s", support=int(number != 3), stream=0)
    shown = superkernel.scope.plan(graph)._repr_html_()
    assert shown.count("<tr") == 3 and "n&lt;0&gt;, n&lt;1&gt;, n&lt;2&gt;" in shown and "n<" not in shown
    assert '<tr style="color: #c0392b"><td style="text-align: left">refused' in shown and "SK1020" in shown
    assert "it was not compiled as a sub-kernel" in shown
