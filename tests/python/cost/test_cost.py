"""Predictions: profiles in, tables out. What the numbers mean is tested in tests/program."""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
import superkernel
import trace_reader
from superkernel import cost, scope
from superkernel.cli import main
from superkernel.scope import Graph

NAME = "te_superkernel_recorded"
HEADER = "Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim\n"
TYPES = {
    "vec": ("KERNEL_TYPE_AIV_ONLY", "AI_VECTOR_CORE", 40),
    "cube": ("KERNEL_TYPE_AIC_ONLY", "AI_CORE", 20),
    "mix": ("KERNEL_TYPE_MIX_AIC_1_2", "MIX_AIC", 20),
}


@pytest.fixture(autouse=True)
def no_stored_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the user's own prices are."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def write_kernel(folder: Path, kind: str) -> Path:
    kernel_type, _, blocks = TYPES[kind]
    names: dict[str, Any] = {"AiCore": {"func_name": kind}}
    if "MIX" in kernel_type:
        names = {f"dav-c220-{arch}": {"func_name": f"{kind}_{arch}"} for arch in ("cube", "vec")}
    description = {
        "kernelName": kind,
        "blockDim": blocks,
        "sub_operator_kernel_type": kernel_type,
        "sub_operator_kernel_name": names,
        "sub_operator_params": ["x"],
        "sub_operator_early_start_set_flag": False,
        "sub_operator_early_start_wait_flag": False,
    }
    path = folder / f"{kind}.json"
    path.write_text(json.dumps(description))
    return path


def op_list(folder: Path, kinds: str) -> dict[str, Any]:
    """One op per word of ``kinds``; its name in the profile is ``op<number>``."""
    entries = []
    for number, kind in enumerate(kinds.split()):
        entries.append({"json_path": str(write_kernel(folder, kind)), "name": f"op{number}", "stream_id": 0})
    return {"op_list": entries}


def rows(kinds: str, us: float = 8.0, wait: float = 2.0, runs: int = 6) -> str:
    text = HEADER
    for _ in range(runs):
        for number, kind in enumerate(kinds.split()):
            _, task_type, blocks = TYPES[kind]
            text += f"op{number},{kind.title()},{task_type},{us + number},{wait},{blocks},{2 * blocks}\n"
    return text


def graph(kinds: str, **changes: dict[str, Any]) -> Graph:
    """A chain of ops; ``changes`` are fields of single nodes."""
    made = Graph("model")
    before = made.op("input", "Data", stream=0)
    for number, kind in enumerate(kinds.split()):
        fields: dict[str, Any] = {"stream": 0, "support": 1, **changes.get(f"op{number}", {})}
        before = made.op(f"op{number}", kind.title(), [before], **fields)
    return made


def test_predict_an_op_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = "vec vec cube mix vec"
    (tmp_path / "infos.json").write_text(json.dumps(op_list(tmp_path, kinds)))
    (tmp_path / "op_summary_1.csv").write_text(rows(kinds))
    found = cost.predict(op_list(tmp_path, kinds), tmp_path / "op_summary_1.csv")
    (kernel,) = found["kernels"]
    assert found["predicted"] is True
    assert kernel["unfused"]["us"] == pytest.approx(8 + 9 + 10 + 11 + 12 + 4 * 2.0)
    assert kernel["gain"]["us"] == pytest.approx(kernel["unfused"]["us"] - kernel["fused"]["us"])
    assert kernel["gain"]["low"] < kernel["gain"]["us"] < kernel["gain"]["high"]
    assert {op["source"] for op in kernel["ops"]} == {"measured"}
    assert len(kernel["cores"]) == 60
    assert main(["predict", str(tmp_path / "infos.json"), "--profile", str(tmp_path), "--ops"]) == 0
    out = capsys.readouterr().out
    assert "PREDICTED" in out and "not measured" in out and "gaps between tasks" in out
    assert main(["predict", str(tmp_path / "infos.json"), "--profile", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found


def test_prices_are_settable(tmp_path: Path) -> None:
    kinds = "vec vec"
    (tmp_path / "p.csv").write_text(rows(kinds))
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"prices": {"flag_all": 0, "code_miss": 0, "code_share": 0, "task_start": 0}}))
    infos = op_list(tmp_path, kinds)
    infos["super_kernel_options"] = "preload-code=none:split-mode=1"
    (kernel,) = cost.predict(infos, tmp_path / "p.csv", prices=prices)["kernels"]
    assert kernel["fused"]["us"] == pytest.approx(8 + 9), "only the work is left"
    store = cost.store_path("Ascend910_93")
    store.parent.mkdir(parents=True)
    store.write_text(prices.read_text())
    with superkernel.configure(soc="Ascend910_93"):
        (stored,) = cost.predict(infos, tmp_path / "p.csv")["kernels"]
        assert {price.name: price.us for price in cost.prices()}["flag_all"] == 0
    assert stored["fused"] == kernel["fused"]
    prices.write_text(json.dumps({"prices": {"flag_al": 0}}))
    with pytest.raises(superkernel.SuperKernelError, match=r"SK1101.*flag_all"):
        cost.predict(infos, tmp_path / "p.csv", prices=prices)


def test_the_graph_knows_types_that_compile_results_leave_out(tmp_path: Path) -> None:
    statistic = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Max Time(us)\nVec,AI_VECTOR_CORE,4,40,8,12\n"
    (tmp_path / "op_statistic.csv").write_text(statistic)
    files = {"json_path": str(write_kernel(tmp_path, "vec")), "bin_path": str(tmp_path / "vec.o"), "scope": "s"}
    (kernel,) = cost.predict(graph("vec vec", op0=files, op1=files), tmp_path)["kernels"]
    assert [op["source"] for op in kernel["ops"]] == ["same-type", "same-type"]


def test_what_is_not_measured_is_said(tmp_path: Path) -> None:
    kinds = "vec vec cube"
    statistic = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Max Time(us)\nVec,AI_VECTOR_CORE,4,40,8,12\n"
    (tmp_path / "op_statistic.csv").write_text(statistic)
    infos = op_list(tmp_path, kinds)
    for kind in ("vec", "cube"):
        path = tmp_path / f"{kind}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "sub_operator_op_type": kind.title()}))
    (kernel,) = cost.predict(infos, tmp_path)["kernels"]
    assert [op["source"] for op in kernel["ops"]] == ["same-type", "same-type", "same-cores"]
    assert any("`op0` 10.00 us +-20 %" in note for note in kernel["notes"]), kernel["notes"]
    assert any("it is not known how long" in note and "`op2`" in note for note in kernel["notes"]), kernel["notes"]
    (tmp_path / "op_statistic.csv").write_text("OP Type,Core Type,Count,Total Time(us)\nOther,AI_CPU,4,40\n")
    with pytest.raises(superkernel.SuperKernelError, match="SK1103"):
        cost.predict(infos, tmp_path)
    (tmp_path / "op_statistic.csv").write_text("a,b\n1,2\n")
    with pytest.raises(superkernel.SuperKernelError, match=r"SK1102.*its columns are a, b"):
        cost.predict(infos, tmp_path)


def test_a_decoded_profiling_buffer(tmp_path: Path) -> None:
    infos = op_list(tmp_path, "vec vec")
    ops = [
        {
            "position": position,
            "cores": [
                {"kind": "aiv", "number": core, "start": 1000, "end": 1500 if core else 2000} for core in range(40)
            ],
        }
        for position in range(2)
    ]
    profile = {
        "format": "superkernel-profile-1",
        "kernel": "sk",
        "source": "device",
        "unit": "cycles",
        "clock_mhz": 50,
        "ops": ops,
    }
    (tmp_path / "buffer.json").write_text(json.dumps(profile))
    (kernel,) = cost.predict(infos, tmp_path / "buffer.json", name="sk")["kernels"]
    assert [op["source"] for op in kernel["ops"]] == ["recorded", "recorded"]
    slowest, others = 20.0, 10.0
    imbalance = slowest - (slowest + 39 * others) / 40
    assert [op["imbalance"] for op in kernel["ops"]] == [pytest.approx(imbalance)] * 2
    work = dict(kernel["parts"])["work"]
    assert work == pytest.approx(2 * slowest)


def test_tune(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = "vec cube vec cube vec"
    (tmp_path / "infos.json").write_text(json.dumps(op_list(tmp_path, kinds)))
    (tmp_path / "p.csv").write_text(rows(kinds))
    arguments = ["tune", str(tmp_path / "infos.json"), "--profile", str(tmp_path / "p.csv")]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (scope,) = found["scopes"]
    assert len(scope["ranking"]) > 20
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found, "deterministic"
    best = scope["ranking"][0]
    infos = {**op_list(tmp_path, kinds), "super_kernel_options": best["options"]}
    (kernel,) = cost.predict(infos, tmp_path / "p.csv")["kernels"]
    assert kernel["fused"]["us"] == pytest.approx(best["us"]), "the option string gives what was promised"
    assert main([*arguments, "--top", "3", "--candidates", "5"]) == 0
    out = capsys.readouterr().out
    assert "PREDICTED" in out and "5 option strings tried" in out and 'best: "' in out
    assert main([*arguments, "--top", "99"]) == 0
    out = capsys.readouterr().out
    times = [float(us) for us in re.findall(r"^  \S+ +(\d+\.\d\d) +[+-]", out, re.MULTILINE)]
    assert times == sorted(set(times)) and len(times) > 5, "by the column's own order, equal rows once"
    refused = [int(count) for count in re.findall(r"^  refused (\d+): ", out, re.MULTILINE)]
    assert sum(refused) == len(scope["refused"]) > 0 and "-0.00" not in out


def test_suggest_an_unmarked_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = "vec vec cube vec mix vec vec"
    blocked = graph(kinds, op3={"support": 0})
    blocked.write(tmp_path / "graph.json")
    (tmp_path / "p.csv").write_text(rows(kinds))
    found = cost.suggest(blocked, tmp_path / "p.csv")
    assert [proposal["members"] for proposal in found["proposals"]] == [["op0", "op1", "op2"], ["op4", "op5", "op6"]]
    (blocker,) = found["blockers"]
    assert blocker["ops"][0][0] == "op3" and "no-support-flag" in blocker["ops"][0][1]
    assert blocker["costs"] > 0
    assert any('super_kernel("sk1")' in line for line in found["lines"])
    assert main(["suggest", str(tmp_path / "graph.json"), "--profile", str(tmp_path / "p.csv")]) == 0
    out = capsys.readouterr().out
    assert "between sk1 and sk2, costs" in out and "`op3`" in out
    # What is proposed is what the planner makes of it.
    marked = json.loads(blocked.to_json())
    for proposal in found["proposals"]:
        for node in marked["nodes"]:
            if node["name"] in proposal["members"]:
                node["scope"], node["options"] = proposal["scope"], proposal["options"]
    planned = superkernel.scope.plan(marked)
    assert [piece.members for piece in planned.pieces] == [proposal["members"] for proposal in found["proposals"]]


def test_suggest_keeps_core_limits_and_streams(tmp_path: Path) -> None:
    kinds = "vec vec vec vec"
    limits = {"aicore_num": 12, "vectorcore_num": 24}
    limited = graph(kinds, op2=limits, op3=limits)
    (tmp_path / "p.csv").write_text(rows(kinds))
    found = cost.suggest(limited, tmp_path / "p.csv")
    assert [proposal["core_limits"] for proposal in found["proposals"]] == [None, [12, 24]]
    assert any("limit_core_num(12, 24)" in line for line in found["lines"])


def test_suggest_passes_over_what_loses(tmp_path: Path) -> None:
    kinds = "vec vec"
    (tmp_path / "p.csv").write_text(rows(kinds, wait=0.0))
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"prices": {"flag_all": 50, "launch_gap": 0}}))
    found = cost.suggest(graph(kinds), tmp_path / "p.csv", prices=prices)
    assert found["proposals"] == []
    assert "lose" in found["passed"][0]["why"]


def test_calibrate_and_use_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, kinds in enumerate(("vec vec vec", "vec cube vec mix", "vec " * 12, "mix cube " * 5)):
        run = tmp_path / f"run{number}"
        for part in ("no_sk_model", "sk_model"):
            (run / part / "PROF_1").mkdir(parents=True)
        infos = op_list(tmp_path, kinds)
        (run / "kernel_infos.json").write_text(json.dumps(infos))
        (run / "no_sk_model" / "PROF_1" / "op_summary_1.csv").write_text(rows(kinds, wait=3.0))
        hidden = tmp_path / "hidden.json"
        hidden.write_text(json.dumps({"prices": {"launch_gap": 3.0, "flag_all": 0.9}}))
        (kernel,) = cost.predict(infos, run / "no_sk_model", prices=hidden)["kernels"]
        fused = "".join(f"some_sk,SuperKernel,MIX_AIC,{kernel['fused']['us']},3.0,20,40\n" for _ in range(6))
        (run / "sk_model" / "PROF_1" / "op_summary_1.csv").write_text(HEADER + fused)
    runs = [str(tmp_path / f"run{number}") for number in range(4)]
    assert main(["calibrate", *runs, "--soc", "Ascend910_93"]) == 0
    out = capsys.readouterr().out
    assert "fitted to 4 super kernels" in out and "cache_flush" in out and "does not occur" in out
    stored = cost.store_path("Ascend910_93")
    assert str(stored) in out
    with superkernel.configure(soc="Ascend910_93"):
        fitted = {price.name: price for price in cost.prices()}
        assert fitted["launch_gap"].us == pytest.approx(3.0, rel=0.01)
        for number in range(4):
            infos = json.loads((tmp_path / f"run{number}" / "kernel_infos.json").read_text())
            profile = tmp_path / f"run{number}" / "no_sk_model"
            (before,) = cost.predict(infos, profile, prices=tmp_path / "hidden.json")["kernels"]
            (after,) = cost.predict(infos, profile)["kernels"]
            assert after["fused"]["us"] == pytest.approx(before["fused"]["us"], rel=0.02)
    with pytest.raises(superkernel.SuperKernelError, match="SK1104"):
        cost.calibrate([tmp_path])


def recorded(infos: dict[str, Any], durations: Path, prices: Path, folder: Path) -> None:
    """Writes what a device with these prices would record: the buffer as bytes, and the kernel's JSON."""
    plan = superkernel.plan(infos, NAME)
    traces, _ = cost.trace(infos, durations, name=NAME, prices=prices)
    (process,) = trace_reader.read(traces.to_bytes())
    size, first = 4096, 0x1000
    dump = bytearray(64 + 72 * size)
    struct.pack_into("<I", dump, 12, size)
    for track in process.tracks:
        own = [slice for slice in process.slices if slice.track == track]
        (start,) = (slice.end for slice in own if slice.kind == "task start")
        area = int(track[3:]) + (50 if track.startswith("AIC") else 0)
        records = [((77 << 32) | (area << 8) | 0xFF, start), (0, start)]
        for slice in (slice for slice in own if slice.kind == "op"):
            header = (slice.arguments["op"] + 1) << 32 | 0x800
            records += [(header, slice.start), (header | 0x1000, slice.end)]
        records.append((0x1000, max(slice.end for slice in own)))
        begin = 64 + area * size
        struct.pack_into("<3Q", dump, begin, 0xBDCA8756, first + begin + 64 + 16 * len(records), first + begin + size)
        for number, (header, nanos) in enumerate(records):
            struct.pack_into("<2Q", dump, begin + 64 + 16 * number, header, nanos)
    (folder / "dump.bin").write_bytes(dump)
    ops = [
        {
            "func_name": op["kernel_name"],
            "sub_operator_kernel_type": op["kernel_type"],
            "blockNum": op["block_num"],
            "arg_list": {"param_offset": 1},
        }
        for op in plan["ops"]
    ]
    ratio = {"KERNEL_TYPE_MIX_AIV_1_0": "0:1", "KERNEL_TYPE_MIX_AIC_1_0": "1:0"}.get(plan["kernel_type"], "1:2")
    told = {"kernelName": NAME, "blockDim": plan["block_num"], "taskRation": ratio}
    (folder / f"{NAME}.json").write_text(json.dumps({**told, "SuperkernelInfo": {"kernelList": {"aicore": ops}}}))


def test_calibrate_with_decoded_buffers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A device's own records alone: the times of the ops and of the whole are in there."""
    hidden = tmp_path / "hidden.json"
    hidden.write_text(json.dumps({"prices": {"flag_all": 1.7, "flag_block": 0.8}}))
    runs = []
    for number, kinds in enumerate(("vec vec vec", "vec cube vec mix", "vec " * 12, "mix cube " * 5)):
        run = tmp_path / f"run{number}"
        (run / "sk_model").mkdir(parents=True)
        infos = {**op_list(tmp_path, kinds), "super_kernel_options": "profiling=1:early-start=0"}
        (run / "kernel_infos.json").write_text(json.dumps(infos))
        (tmp_path / "alone.csv").write_text(rows(kinds))
        with superkernel.configure(soc="Ascend910_93"):
            recorded(infos, tmp_path / "alone.csv", hidden, tmp_path)
        dump, json_path = str(tmp_path / "dump.bin"), str(tmp_path / f"{NAME}.json")
        assert main(["profile", dump, "--kernel", json_path, "--clock-mhz", "1000", "--json"]) == 0
        (run / "sk_model" / "buffer.json").write_text(capsys.readouterr().out)
        runs.append(run)
    names = [str(run) for run in runs]
    assert main(["calibrate", *names, "--name", NAME, "--soc", "Ascend910_93"]) == 0
    assert "fitted to 4 super kernels" in capsys.readouterr().out
    with superkernel.configure(soc="Ascend910_93"):
        fitted = {price.name: price.us for price in cost.prices()}
        default = tmp_path / "default.json"
        default.write_text(json.dumps({"prices": {}}))
        for run in runs:
            infos = json.loads((run / "kernel_infos.json").read_text())

            def fused(prices: Path | None, infos: dict[str, Any] = infos, run: Path = run) -> float:
                (kernel,) = cost.predict(infos, run / "sk_model", name=NAME, prices=prices)["kernels"]
                return float(kernel["fused"]["us"])

            # What one record tells of an op is trusted to 5 %, so that the fit cannot be exact.
            assert abs(fused(None) - fused(hidden)) < 0.4 * abs(fused(default) - fused(hidden))
    assert fitted["flag_all"] > 1.0
    # What a simulator counts are no times.
    document = json.loads((runs[0] / "sk_model" / "buffer.json").read_text())
    (runs[0] / "sk_model" / "buffer.json").write_text(json.dumps({**document, "source": "simulator"}))
    with pytest.raises(superkernel.SuperKernelError, match="records of a device"):
        cost.calibrate(runs[:1], name=NAME)


def test_suggest_fuses_streams_and_keeps_their_switches(tmp_path: Path) -> None:
    kinds = "vec cube vec cube"
    second = {"stream": 1}
    two = graph(kinds, op1=second, op3=second)
    for number in range(3):
        two.event(f"op{number}", f"op{number + 1}")
    (tmp_path / "p.csv").write_text(rows(kinds))
    found = cost.suggest(two, tmp_path / "p.csv")
    (proposal,) = found["proposals"]
    assert proposal["streams"] == [0, 1] and proposal["options"] == "stream-fusion=1"
    assert any("stream switch of stream 1" in line for line in found["lines"])
    assert any('super_kernel("sk1", "stream-fusion=1")' in line for line in found["lines"])


def test_predict_a_marked_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = "vec vec cube vec vec"
    marked = graph(kinds, **{f"op{number}": {"scope": "a" if number < 2 else "b"} for number in range(5)})
    marked.write(tmp_path / "graph.json")
    (tmp_path / "p.csv").write_text(rows(kinds))
    assert main(["predict", str(tmp_path / "graph.json"), "--profile", str(tmp_path / "p.csv")]) == 0
    out = capsys.readouterr().out
    assert "all:" in out and [line.split()[0] for line in out.splitlines()[4:6]] == ["a", "b"]
    found = cost.tune(tmp_path / "graph.json", tmp_path / "p.csv")
    assert [scope["name"] for scope in found["scopes"]] == ["a", "b"]


def test_the_document_lists_every_price() -> None:
    text = (Path(__file__).parents[3] / "docs" / "cost-model.md").read_text()
    listed = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| `") and line.count("|") == 4]
    found = {name.strip().strip("`"): cell.strip() for name, cell in listed}
    expected = {price.name: price.us for price in cost.prices()}
    assert {name: float(found[name]) for name in expected} == expected
    assert len([name for name, cell in found.items() if cell.replace(".", "").isdigit()]) == len(expected)


@pytest.mark.parametrize("call", ["predict", "tune", "suggest", "plan"])
def test_ctrl_c_reaches_whoever_waits(tmp_path: Path, call: str) -> None:
    """It is raised once the core has stopped, and the next call works."""
    graph = Graph()
    for number in range(400):
        graph.op(
            f"op{number}", "vec", scope=f"s{number // 200}", support=1, json_path=str(write_kernel(tmp_path, "vec"))
        )
    profile = tmp_path / "op_summary.csv"
    profile.write_text(rows("vec " * 400, runs=1))

    def work() -> object:
        if call == "plan":
            return scope.plan(graph)
        return getattr(cost, call)(graph, profile)

    with superkernel.configure(soc="Ascend910_93"):
        assert work()
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                work()
        assert work()


def test_ops_of_a_dump_are_told_in_the_words_of_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = str(Path(__file__).parents[2] / "graphs" / "torchair" / "quant_swiglu.py")
    profile = tmp_path / "op_summary.csv"
    rows = ("QuantBatchMatmulV3,QuantBatchMatmulV3,AI_CORE", "DequantSwigluQuant,DequantSwigluQuant,AI_VECTOR_CORE")
    profile.write_text(HEADER + "".join(f"{row},30,1,20,0\n" for row in rows))
    origin = "npu.npu_quant_matmul.default, npu_quant_matmul, model.py:7"
    assert main(["predict", "--ops", graph, "--profile", str(profile)]) == 0
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  QuantBatchMatmulV3"))
    assert row.endswith(origin)
    assert main(["suggest", graph, "--profile", str(profile)]) == 0
    told = capsys.readouterr().out
    assert f"  from `QuantBatchMatmulV3`: {origin}\n" in told
    assert f"    ...  # `QuantBatchMatmulV3` ({origin}) to `DequantSwigluQuant` (npu.npu_dequant_swiglu_quant" in told


def test_names_stay_on_their_lines_and_nothing_is_minus_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "p.csv"
    ops = (("MatMul_2", "MatMul", "AI_CORE", 30, 20), ("Exp_1", "Exp", "AI_VECTOR_CORE", 9, 40))
    profile.write_text(HEADER + "".join(f"{name},{kind},{core},{us},1,{n},0\n" for name, kind, core, us, n in ops))
    graph = str(Path(__file__).parents[2] / "graphs" / "torchair" / "mistakes.pbtxt")
    main(["predict", graph, "--ops", "--profile", str(profile)])
    out = capsys.readouterr().out
    assert out.count("  q\"uo'te\\n ") == 1 and "\nq\"uo'te\\n: " in out and "Exp_1" in out
    assert "-0.00" not in out
    main(["scope", graph])
    assert "\nscope q\"uo'te\\n: 1 super kernel\n" in capsys.readouterr().out
