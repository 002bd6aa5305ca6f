"""Marks: frames, nesting, threads, and handing over to TorchAir."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from superkernel import scope
from superkernel.scope import Graph, mark, merge_frames, super_kernel
from superkernel.scope import _marking as marking


def frame(name: str | None, options: str = "") -> dict[str, str]:
    return {"_super_kernel_scope": name or "", "_super_kernel_options": options}


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([("sp1", "x=1")], ("sp1", "x=1")),
        ([("sp1", "x=1"), (None, "")], (None, None)),
        ([(None, ""), ("sp1", "")], ("sp1", "")),
        ([("sp1", "x=1"), ("sp2", "")], ("sp2", "")),
        ([("sp1", "x=1"), (None, ""), ("sp1", "y=2")], ("sp1", "y=2")),
        ([("sp1", "x=1"), (None, "y=2")], (None, None)),
        ([], (None, None)),
    ],
)
def test_frames(frames: list[tuple[str | None, str]], expected: tuple[str | None, str | None]) -> None:
    attributes = merge_frames(frame(*entry) for entry in frames)
    assert (attributes.get("_super_kernel_scope"), attributes.get("_super_kernel_options")) == expected
    # The same through the context managers.
    graph = Graph()
    managers = [super_kernel(*entry) for entry in frames]
    for manager in managers:
        manager.__enter__()
    graph.op("a", "Add")
    for manager in reversed(managers):
        manager.__exit__(None, None, None)
    node = graph.nodes[0].get("attrs", {})
    assert (node.get("_super_kernel_scope"), node.get("_super_kernel_options")) == expected
    assert marking.depth() == 0


def test_none_options_are_empty() -> None:
    with super_kernel("sp1", None):
        assert scope.current_attributes() == {"_super_kernel_scope": "sp1", "_super_kernel_options": ""}


def test_helpers_share_the_stack_and_their_attributes_accumulate() -> None:
    graph = Graph()
    with super_kernel("a", "o=1"), scope.npu_stream_switch("s"), scope.limit_core_num(4, 8):
        attributes = scope.current_attributes()
        assert attributes["_super_kernel_scope"] == "a"
        assert attributes["_super_kernel_options"] == "o=1"
        assert attributes["_user_stream_label"] == "s"
        graph.op("x", "Add", support=1)
    graph.op("y", "Add")
    planned = Graph.parse(graph.to_json()).nodes
    assert [node["stream"] for node in planned] == [1, 0]
    assert (planned[0]["aicore_num"], planned[0]["vectorcore_num"]) == (4, 8)


def test_an_exception_leaves_the_block() -> None:
    with pytest.raises(KeyError), mark("sp1"):
        raise KeyError
    assert marking.depth() == 0


def test_stacks_are_per_thread() -> None:
    seen = []
    with mark("outer"):
        thread = threading.Thread(target=lambda: seen.append(scope.current_attributes()))
        thread.start()
        thread.join()
    assert seen == [{}]


def test_unpaired_frames_are_noticed_and_a_surplus_pop_is_harmless() -> None:
    marking.pop_frame()
    with pytest.raises(RuntimeError, match="not paired"), Graph("g"):
        marking.push_frame(frame("sp1"))
    marking.pop_frame()
    with Graph("g"), mark("sp1"):
        pass
    with pytest.raises(ZeroDivisionError), Graph("g"):
        marking.push_frame(frame("sp1"))
        raise ZeroDivisionError
    marking.pop_frame()
    assert marking.depth() == 0


def marks(graph: Graph) -> list[tuple[str, str, str]]:
    nodes = Graph.parse(graph.to_json()).nodes
    return [(node["name"], node.get("scope", ""), node.get("options", "")) for node in nodes]


def test_streams_may_be_parallel_inside() -> None:
    with scope.npu_stream_switch("s", 1, True):
        assert scope.current_attributes() == {
            "_user_stream_label": "s",
            "_user_stream_priority": "1",
            "_enable_inner_parallel": True,
        }
        with scope.npu_stream_switch("t", enable_inner_parallel=False):
            assert scope.current_attributes()["_enable_inner_parallel"] is False
    with scope.npu_stream_switch("s"):
        assert scope.current_attributes()["_enable_inner_parallel"] is True, "as TorchAir writes it"
    graph = Graph()
    with scope.npu_stream_switch("s", 0, enable_inner_parallel=True):
        graph.op("a", "Add")
    assert graph.nodes[0]["attrs"]["_enable_inner_parallel"] is True
    assert scope.plan(graph).pieces == []


def test_one_name_twice_is_one_scope() -> None:
    graph = Graph()
    for name in ("a", "b"):
        with super_kernel("sp1"):
            graph.op(name, "Add", support=1)
    planned = scope.plan(graph)
    assert [entry["name"] for entry in planned.scopes] == ["sp1"]
    assert [piece.members for piece in planned.pieces] == [["a", "b"]]


def test_the_other_helpers_set_their_attributes() -> None:
    with scope.deterministic(2), scope.op_never_timeout(), scope.data_dump():
        assert scope.current_attributes() == {
            "_deterministic": "1",
            "_deterministic_level": "2",
            "_op_exec_never_timeout": True,
            "torchair_enable_data_dump": "True",
        }
    with scope.deterministic(0), scope.op_never_timeout(False):
        attributes = scope.current_attributes()
    assert attributes["_deterministic"] == "0" and attributes["_op_exec_never_timeout"] is False


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: super_kernel(1), TypeError),
        (lambda: super_kernel("s", 1), TypeError),
        (lambda: scope.npu_stream_switch(None), TypeError),
        (lambda: scope.npu_stream_switch("s", "1"), TypeError),
        (lambda: scope.npu_stream_switch("s", 1, "yes"), TypeError),
        (lambda: scope.limit_core_num(True, 1), TypeError),
        (lambda: scope.limit_core_num(1, -1), ValueError),
        (lambda: scope.deterministic(4), ValueError),
        (lambda: scope.deterministic("1"), TypeError),
        (lambda: scope.op_never_timeout(1), TypeError),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
    assert marking.depth() == 0


STANDIN = """
from contextlib import contextmanager
calls = []

def recorder(name):
    @contextmanager
    def recorded(*arguments, **more):
        calls.append((name, arguments, more))
        yield "torchair"
    return recorded

super_kernel, npu_stream_switch, limit_core_num, op_never_timeout = map(
    recorder, ("super_kernel", "npu_stream_switch", "limit_core_num", "op_never_timeout")
)
"""


@pytest.fixture
def torchair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "torchair"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "scope.py").write_text(STANDIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == "torchair"]:
        del sys.modules[name]


def test_torchair_gets_the_calls_where_it_is_importable(torchair: Path) -> None:
    with super_kernel("sp1", None) as entered, scope.npu_stream_switch("s", 2), scope.limit_core_num(4, 8):
        assert entered == "torchair"
        assert scope.current_attributes() == {}, "the marks are TorchAir's"
    with scope.npu_stream_switch("s", enable_inner_parallel=False), scope.op_never_timeout():
        pass
    from torchair.scope import calls

    assert calls == [
        ("super_kernel", ("sp1", ""), {}),
        ("npu_stream_switch", ("s", 2), {}),
        ("limit_core_num", (4, 8), {}),
        ("npu_stream_switch", ("s", 0), {"enable_inner_parallel": False}),
        ("op_never_timeout", (True,), {}),
    ]
    with mark("sp2"):
        assert scope.current_attributes()["_super_kernel_scope"] == "sp2", "`mark` is always ours"
    with pytest.raises(RuntimeError, match=r"no scope\.deterministic"):
        scope.deterministic(1)
    assert marking.depth() == 0


def test_a_torchair_that_cannot_be_imported_is_no_torchair(torchair: Path) -> None:
    (torchair / "__init__.py").write_text("import torch_npu_that_is_not_there")
    with super_kernel("sp1"):
        assert scope.current_attributes()["_super_kernel_scope"] == "sp1"
