"""The gate that people put into CI: what it looks for, what it says it did not look at, how it ends, all its forms."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import superkernel
from superkernel import SuperKernelError, cli
from superkernel.cli._verdicts import _far
from superkernel.scope import Graph
from superkernel.sim import Device, Tool, Variation, build_op
from superkernel.sim.variation import DEFAULT_TOOLS

SOC = "Ascend910_93"
COUNT = 256

#: Each core has whole lines of its own; what it stores is flushed.
MAP = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<int32_t> in, out;
    in.SetGlobalBuffer((__gm__ int32_t *)x, 256);
    out.SetGlobalBuffer((__gm__ int32_t *)y, 256);
    const int part = 256 / (int)AscendC::GetBlockNum(), first = part * (int)AscendC::GetBlockIdx();
    for (int i = first; i < first + part; ++i) { out.SetValue(i, VALUE); }
    dcci((__gm__ int32_t *)y, 1, 2);
    LATER
}
"""
#: A move that is used before it has arrived.
UNORDERED = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void unordered(GM_ADDR x, GM_ADDR y)
{
    GlobalTensor<int32_t> in, out;
    in.SetGlobalBuffer((__gm__ int32_t *)x, 256);
    out.SetGlobalBuffer((__gm__ int32_t *)y, 256);
    TPipe pipe;
    TBuf<TPosition::VECCALC> first, second;
    pipe.InitBuffer(first, 1024);
    pipe.InitBuffer(second, 1024);
    LocalTensor<int32_t> a = first.Get<int32_t>(), b = second.Get<int32_t>();
    DataCopy(a, in, 256);
    WAIT
    Adds(b, a, (int32_t)1, 256);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
    DataCopy(out, b, 256);
}
"""
WAIT = "SetFlag<HardEvent::MTE2_V>(EVENT_ID0); WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);"
#: Never ends on one of its cores.
#: It looks at nothing that another core could change: that would be a deadlock, found before any time is up.
ENDLESS = "if (AscendC::GetBlockIdx() == 1) { volatile int32_t never = 0; while (never == 0) { } }"


def _map(folder: Path, name: str, value: str, kind: str = "AIV", later: str = "", **more: Any) -> dict[str, Any]:
    source = MAP.replace("NAME", name).replace("VALUE", value).replace("LATER", later)
    kernel_type = f"KERNEL_TYPE_{kind}_ONLY"
    op = build_op(
        source, name, kernel_type=kernel_type, block_dim=2, soc=SOC, out_dir=folder / "ops", name=name, **more
    )
    return dict(op.entry())


@pytest.fixture(scope="module")
def ops(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        "plus": _map(folder, "plus", "in.GetValue(i) + 1", "AIC"),
        "twice": _map(folder, "twice", "in.GetValue(i) * 2"),
        "endless": _map(folder, "endless", "in.GetValue(i)", later=ENDLESS, compile_options=["-g"]),
    }


@pytest.fixture(scope="module")
def unordered(folder: Path) -> Path:
    source = folder / "unordered.cpp"
    source.write_text(UNORDERED.replace("WAIT", ""))
    return Path(build_op(source, "unordered", soc=SOC, out_dir=folder / "ops", name="unordered").json_path)


def _file(folder: Path, name: str, *entries: dict[str, Any]) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"op_list": list(entries), "super_kernel_options": "stream-fusion=1"}))
    return str(path)


def _on(entry: dict[str, Any], stream: int, sends: tuple[int, ...] = (), receives: tuple[int, ...] = ()) -> Any:
    return {**entry, "stream_id": stream, "send_event_list": list(sends), "recv_event_list": list(receives)}


USUAL = ["--soc", SOC, "--others", f"int32:{COUNT}"]
SHARED = ["--input", "x_1=@y_0"]


def gate(*words: str) -> int:
    return cli.main(["run", *words, *USUAL])


# -- what a seed does ------------------------------------------------------------------------------------------------


def test_the_usual_seeds_have_every_mode() -> None:
    modes = [Variation.of(seed) for seed in range(100)]
    assert {mode.pipes for mode in modes} == {"in-order", "checked", "reordered"}
    assert {mode.cache for mode in modes} == {"coherent", "strict"}
    assert all(mode.poisoned and mode.auto_sync for mode in modes)
    first = str(modes[0])
    assert "pipes checked" in first and "cache strict" in first and "poisoned memory" in first
    # What takes long is rare: ten times as long for a few, three times for some.
    longer = [9 * (mode.pipes == "checked") + 9 * (mode.cache == "strict") for mode in modes]
    assert sum(longer) + sum(2 * (mode.pipes == "reordered") for mode in modes) <= 100


@pytest.mark.parametrize("tool", list(Tool))
def test_a_tool_alone_has_its_mode_wherever_the_usual_seeds_have_it(tool: Tool) -> None:
    for seed in range(60):
        usual, alone = Variation.of(seed), Variation.of(seed, frozenset({tool}))
        assert (usual.schedule, usual.arrivals, usual.skewed_start) == (
            alone.schedule,
            alone.arrivals,
            alone.skewed_start,
        )
        if tool in (Tool.PIPE, Tool.AUTOSYNC):
            assert alone.pipes == (usual.pipes if usual.pipes != "in-order" else ("checked", "reordered")[seed % 2])
        if tool == Tool.CACHE:
            assert alone.cache == "strict"
        assert alone.auto_sync == (tool != Tool.AUTOSYNC) and alone.poisoned == (tool == Tool.INIT)


def test_tools_are_named_by_words_or_members(folder: Path, ops: dict[str, Any]) -> None:
    with Device(SOC) as device:
        kernel = device.load(ops["twice"]["json_path"])
        x, y = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)
        for tools in ("pipe,cache", ["pipe", Tool.CACHE], (Tool.PIPE, Tool.CACHE)):
            assert kernel.check([x, y], seeds=2, tools=tools).tools == {Tool.PIPE, Tool.CACHE}
        assert kernel.check([x, y], seeds=2).tools == DEFAULT_TOOLS
        for wrong in ("pips", [], 5, ["pipe", None]):
            with pytest.raises(SuperKernelError, match="SK0902"):
                kernel.check([x, y], seeds=2, tools=wrong)  # type: ignore[arg-type]


# -- what it finds, and what it did not look at ------------------------------------------------------------------------


def test_a_missing_flag_is_found_by_default_and_the_tool_repeats_it(
    unordered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(str(unordered), "--seeds", "10") == 1
    told = capsys.readouterr().out
    assert "[SK0928] pipe" in told and "MTE2_V" in told
    repeat = told.splitlines()[-1]
    assert repeat == f"repeat: superkernel run {unordered} --seed 0 --tool pipe --others int32:256 --soc {SOC}"
    assert cli.main(shlex.split(repeat)[2:]) == 1
    assert "[SK0928] pipe" in capsys.readouterr().out
    # Who looks for something else does not see it; results are right in the usual order.
    assert gate(str(unordered), "--seeds", "10", "--tool", "order,race,cache,init,bounds") == 0


def test_order_that_nobody_could_look_at_fails(
    folder: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The tutorial's operators on two streams without an event: nothing says that they share memory."""
    file = _file(folder, "apart", _on(ops["plus"], 0), _on(ops["twice"], 1))
    assert gate(file, "--seeds", "4") == 1
    told = capsys.readouterr().out
    assert "not checked: order: op 0 `plus`, op 1 `twice` share no memory" in told and "--input x_1=@y_0" in told
    assert gate(file, "--seeds", "4", "--allow-unchecked", "order") == 0
    assert gate(file, "--seeds", "4", "--tool", "pipe") == 0
    capsys.readouterr()
    assert gate(file, "--seeds", "4", *SHARED) == 1
    assert "[SK0919] hazard" in capsys.readouterr().out
    together = _file(folder, "joined", _on(ops["plus"], 0, sends=(3,)), _on(ops["twice"], 1, receives=(3,)))
    assert gate(together, "--seeds", "8", *SHARED) == 0
    assert gate(file, "--allow-unchecked", "ordr") == 2
    with Device(SOC) as device, superkernel.configure(toolchain="host", kernel_meta_parent_dir=folder, soc=SOC):
        superkernel.compile(json.loads(Path(file).read_text()), "te_superkernel_apart")
        kernel = device.load(folder / "kernel_meta" / "te_superkernel_apart.json")
        x = np.arange(COUNT, dtype=np.int32)
        verdict = kernel.check([x, x.copy(), x.copy(), x.copy()], seeds=2)
        assert verdict.ok and list(verdict.unchecked) == ["order"]
        with pytest.raises(SuperKernelError, match="SK0944"):
            verdict.raise_for_unchecked()
        verdict.raise_for_unchecked(frozenset({"order"}))


#: Nothing sees what its scalar unit does.
BLIND = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void blind(GM_ADDR x, GM_ADDR y)
{
#if IDLE
    return;
#endif
    for (int i = 0; i < 16; ++i) { ((__gm__ int32_t *)y)[i] = ((__gm__ int32_t *)x)[i]; }
}
"""


@pytest.mark.parametrize("tool", list(Tool))
def test_no_tool_is_fine_with_what_it_could_not_look_at(
    folder: Path, tool: Tool, capsys: pytest.CaptureFixture[str], superkernel_gate: Any
) -> None:
    for name, is_blind in (("idle", False), ("blind", True)):
        more: dict[str, Any] = {"compile_options": [f"-DIDLE={int(not is_blind)}"], "watch_accesses": not is_blind}
        op = build_op(BLIND, "blind", soc=SOC, out_dir=folder / name, name=name, **more)
        given = [str(op.json_path), "--seeds", "2", "--tool", tool.value]
        # Ops are compared as a whole where their accesses are not seen.
        status = int(not (is_blind and tool == Tool.ORDER))
        capsys.readouterr()
        assert gate(*given) == status
        told = capsys.readouterr().out
        assert ("not checked: " + tool.value in told) == bool(status), told
        assert gate(*given, "--allow-unchecked", tool.value) == 0
        with Device(SOC) as device:
            arguments = [np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)]
            kernel = device.load(op.json_path)
            assert (tool.value in kernel.check(arguments, seeds=2, tools=[tool]).unchecked) == bool(status)
            superkernel_gate(kernel, arguments, seeds=2, tools=[tool], allow_unchecked=[tool.value])
            if status:
                with pytest.raises(pytest.fail.Exception, match="not checked"):
                    superkernel_gate(kernel, arguments, seeds=2, tools=[tool])


def test_one_seed_says_what_it_looked_for(
    folder: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    twice = ops["twice"]["json_path"]
    assert gate(twice, "--seed", "5") == 0
    told = capsys.readouterr().out
    assert "checks: order, race (" in told and "pipe" in told.partition("(")[2] and "in other seeds)" in told, told
    assert gate(twice, "--seed", "0") == 0
    assert "in other seeds" not in capsys.readouterr().out
    # Several seeds in which a mode rests do not pass for the whole.
    assert gate(twice, "--first-seed", "2", "--seeds", "3") == 1
    told = capsys.readouterr().out
    assert "not checked: pipe, cache, init, bounds: it rests in seeds 2 to 4" in told, told


def test_an_endless_loop_names_core_and_line(
    folder: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(ops["endless"]["json_path"], "--seeds", "2", "--timeout", "2") == 1
    told = capsys.readouterr().out
    assert "[SK0921] timeout" in told and "AIV1" in told and "endless" in told
    line = next(number for number, text in enumerate(MAP.splitlines(), 1) if "LATER" in text)
    assert "endless_" in told and f".cpp:{line}" in told, told


STUCK = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void stuck(GM_ADDR x, GM_ADDR y)
{
    if ASCEND_IS_AIV {
        AscendC::CrossCoreWaitFlag(3); // line 6
        if (AscendC::GetSubBlockIdx() == 0) { *(__gm__ int32_t *)y = 1; }
    }
}
"""


def test_a_deadlock_names_the_line_and_who_should_have_set_the_flag(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mixed = "KERNEL_TYPE_MIX_AIC_1_2"
    op = build_op(STUCK, "stuck", None, mixed, compile_options=["-g"], soc=SOC, out_dir=folder / "ops", name="stuck")
    file = _file(folder, "stuck", dict(op.entry()))
    assert gate(file, "--seeds", "1", "--tool", "pipe") == 1
    told = capsys.readouterr().out
    assert "[SK0910] deadlock" in told, told
    assert "waits for flag 3, which no core sets; in mode 2 AIC0 (" in told and ".cpp:6)" in told, told


LAST = """
#include "kernel_operator.h"
static __attribute__((noinline)) void last(int flag)
{
    AscendC::CrossCoreWaitFlag(flag); // line 5
}
extern "C" __global__ __aicore__ void tail(GM_ADDR x, GM_ADDR y)
{
    last(3); // line 9
}
"""


def test_a_wait_at_the_end_of_a_function_has_its_own_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed = "KERNEL_TYPE_MIX_AIC_1_2"
    op = build_op(
        LAST, "tail", None, mixed, compile_options=["-g", "-O2"], soc=SOC, out_dir=folder / "ops", name="tail"
    )
    assert gate(_file(folder, "tail", dict(op.entry())), "--seeds", "1", "--tool", "pipe") == 1
    told = capsys.readouterr().out
    assert "[SK0910] deadlock" in told and ".cpp:5)" in told and ".cpp:9)" not in told, told


def test_a_graph_says_what_is_shared(folder: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph("model")
    marks: dict[str, Any] = {"support": 1, "scope": "both", "options": "stream-fusion=1"}

    def paths(name: str) -> dict[str, Any]:
        return {"kernel_name": name, **{key: ops[name][key] for key in ("json_path", "bin_path")}}

    graph.op("source", "Data", stream=0)
    first = graph.op("a", "Plus", ["source"], stream=0, **paths("plus"), **marks)
    second = graph.op("b", "Twice", [first], stream=1, **paths("twice"), **marks)
    graph.event(first, second)
    graph.write(folder / "graph.json")
    file = str(folder / "graph.json")
    assert gate(file, "--seeds", "6") == 0
    told = capsys.readouterr().out
    assert "ok, 6 seeds" in told and "not checked" not in told
    (name,) = {line.partition(":")[0] for line in told.splitlines()}
    assert gate(file, "--seeds", "2", "--piece", name, "--input", f"x_1=int32:{COUNT}") == 1
    assert "not checked: order" in capsys.readouterr().out
    assert gate(file, "--piece", "nobody") == 2
    assert name in capsys.readouterr().err


# -- forms -----------------------------------------------------------------------------------------------------------


def test_verdicts_as_json_and_for_ci(
    folder: Path, unordered: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    report = folder / "report.xml"
    assert gate(str(unordered), "--seeds", "4", "--json", "--junit", str(report)) == 1
    (told,) = json.loads(capsys.readouterr().out)
    (finding,) = told["findings"]
    assert (finding["id"], finding["tool"], finding["seed"], finding["core"]) == ("SK0928", "pipe", 0, "AIV0")
    assert finding["repeat"].endswith(f"--soc {SOC}") and not told["passed"]
    assert finding["file"].endswith("unordered.cpp") and finding["line"] > 0
    suite = ElementTree.parse(report).getroot()[0]
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert cases == {"order": [], "race": [], "pipe": ["failure"], "cache": [], "init": [], "bounds": []}
    assert (suite.get("tests"), suite.get("failures")) == ("6", "1")
    file = _file(folder, "forms", _on(ops["plus"], 0), _on(ops["twice"], 1))
    assert gate(file, "--seeds", "2", "--junit", str(report)) == 1
    cases = {case.get("name"): [child.tag for child in case] for case in ElementTree.parse(report).getroot()[0]}
    assert cases["order"] == ["failure"]
    assert gate(file, "--seeds", "2", "--junit", str(report), "--allow-unchecked", "order") == 0
    cases = {case.get("name"): [child.tag for child in case] for case in ElementTree.parse(report).getroot()[0]}
    assert cases["order"] == ["skipped"]


def test_results_that_are_expected(folder: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    x, right, wrong = folder / "x.npy", folder / "right.npy", folder / "wrong.npy"
    values = np.arange(COUNT, dtype=np.int32)
    np.save(x, values)
    np.save(right, 2 * values)
    np.save(wrong, 2 * values + (values == 7))
    given = [ops["twice"]["json_path"], "--seeds", "2", "--input", f"x={x}"]
    assert gate(*given, "--expect", f"y={right}") == 0
    capsys.readouterr()
    assert gate(*given, "--expect", f"y={wrong}") == 1
    told = capsys.readouterr().out
    assert (
        "[SK0943] unexpected" in told and "`y` is not as expected in 1 of 256 elements (int32); element 7 is 14" in told
    )
    for words in (["--expect", "y"], ["--expect", f"q={right}"], ["--expect", "y=5"]):
        assert gate(*given, *words) == 2


def test_workers_of_other_processes(folder: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    file = _file(folder, "workers", _on(ops["plus"], 0, sends=(3,)), _on(ops["twice"], 1, receives=(3,)))
    assert gate(file, "--seeds", "16", "-j", "2", *SHARED) == 0
    assert "ok, 16 seeds" in capsys.readouterr().out
    assert gate(file, "--seeds", "2", "--executor", "nobody://1", *SHARED) == 2


def test_time_instead_of_seeds(folder: Path, ops: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    file = _file(folder, "timed", _on(ops["plus"], 0, sends=(3,)), _on(ops["twice"], 1, receives=(3,)))
    # A seed has run whatever the time, and seeds are the limit where there is enough of it.
    assert gate(file, "--time", "0.000001", *SHARED) == 0
    assert "ok, 1 seeds" in capsys.readouterr().out
    assert gate(file, "--time", "600", "--seeds", "5", *SHARED) == 0
    assert "ok, 5 seeds" in capsys.readouterr().out
    assert gate(file, "--time", "0.000001", "-j", "2", *SHARED) == 0
    assert "ok, 1 seeds" in capsys.readouterr().out
    for wrong in ("0", "-1", "nan"):
        assert gate(file, "--time", wrong, *SHARED) == 2
    with Device(SOC) as device:
        kernel = device.load(ops["twice"]["json_path"])
        x, y = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)
        calls: list[tuple[int, int]] = []
        verdict = kernel.check([x, y], time=0.5, progress=lambda done, total: calls.append((done, total)))
        assert verdict.ok and len(verdict.seeds) == len(calls) and calls[-1][0] == len(calls)


def test_progress_says_how_fast_and_how_long() -> None:
    assert _far(10, 100, 5.0, None) == "10 of 100 seeds, 2.0 per second, 45 s left"
    assert _far(10, 2**32, 5.0, 60.0) == "10 seeds, 2.0 per second, 55 s left"
    assert _far(10, 12, 5.0, 60.0) == "10 seeds, 2.0 per second, 1 s left"


# -- the fixture -----------------------------------------------------------------------------------------------------

PLUGIN_TESTS = """
import json, numpy as np, pytest

def arguments():
    x, middle, y = np.arange(256, dtype=np.int32), np.zeros(256, np.int32), np.zeros(256, np.int32)
    return {"x_0": x, "y_0": middle, "x_1": middle, "y_1": y}

def test_right(superkernel_gate):
    verdict = superkernel_gate(json.load(open(FOLDER + "/joined.json")), arguments(), seeds=4)
    assert len(verdict.seeds) == 4

def test_wrong(superkernel_gate):
    superkernel_gate(json.load(open(FOLDER + "/apart.json")), arguments(), seeds=4)

def test_lone(superkernel_gate):
    x, y = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
    superkernel_gate(FOLDER + "/ops/unordered.json", [x, y], seeds=4)

def test_unchecked(superkernel_gate):
    values = {name: np.arange(256, dtype=np.int32) for name in arguments()}
    infos = json.load(open(FOLDER + "/joined.json"))
    superkernel_gate(infos, values, seeds=2, allow_unchecked=["order"])
    superkernel_gate(infos, values, seeds=2)
"""


def test_the_fixture_is_found_by_pytest(
    pytester: pytest.Pytester, folder: Path, ops: dict[str, Any], unordered: Path
) -> None:
    _file(folder, "apart", _on(ops["plus"], 0), _on(ops["twice"], 1))
    _file(folder, "joined", _on(ops["plus"], 0, sends=(3,)), _on(ops["twice"], 1, receives=(3,)))
    pytester.makepyfile(PLUGIN_TESTS.replace("FOLDER", repr(str(folder))))
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=3)
    text = done.stdout.str()
    assert "[SK0919] hazard" in text and "`superkernel explain SK0919`" in text
    assert "[SK0928] pipe" in text and 'repeat: seeds=1, first_seed=0, tools="pipe"' in text
    assert "allow_unchecked=['order'] accepts" in text
    seeds = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-k", "right", "--superkernel-seeds", "2")
    seeds.assert_outcomes(failed=1)


pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
