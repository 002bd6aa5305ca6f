"""Timelines: runs of the simulator, plays of the cost model and decoded profiling buffers, read strictly."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import superkernel
import trace_reader
from kernel_library import KernelLibrary
from kernels.programs import chain
from kernels.runner import Fused, Workshop
from op_lists import AIC, AIV, MIX_1_2, OpList
from superkernel import SuperKernelError, cost, elf, profiling
from superkernel.cli import main
from superkernel.sim import build_op
from traced_runs import NAMES, Ran


def test_a_run_of_the_simulator(ran: Ran, tmp_path: Path) -> None:
    told = ran.report.save_trace(tmp_path / "t.json")
    assert told[0].startswith("te_superkernel_campaign: simulator steps")
    data = (tmp_path / "t.json").read_bytes()
    (process,) = trace_reader.read(data)
    assert "te_superkernel_campaign" in process.name and "simulator steps" in process.name
    assert set(process.ops()) == ran.runs()
    assert {slice.arguments["stream"] for slice in process.of_kind("op")} == {0}
    for kind in ("preload", "flush", "wait", "set", "hand-over"):
        assert process.of_kind(kind), kind
    assert process.arrows and all(to.kind == "wait" for _, to in process.arrows)
    assert max(counts["aiv"] for _, counts in process.busy) == 8


#: What the plan calls the steps that show themselves in a run, and what a trace calls them.
SHOWN = {
    "barrier": "barrier",
    "set-flag": "set",
    "wait-flag": "wait",
    "early-start-set": "hand-over",
    "early-start-wait": "hand-over",
    "complement-sync-all": "SyncAll",
    "flush": "flush",
    "call": "op",
    "call-picked": "op",
}


def takes(cores: str, track: str, vectors: int) -> bool:
    """Does the core take a step for these cores (``aiv[block<4]``)?"""
    kinds, _, part = cores.partition("[")
    kind, number = track[:3].lower(), int(track[3:])
    if kinds not in ("every", kind):
        return False
    index, sign, count = re.fullmatch(r"(block|core|first)(<|>=|)(\d*)\]", part).groups() if part else ("", "", "")
    if index == "block" and kind == "aiv":
        number //= vectors
    return not sign or ((number < int(count)) == (sign == "<")) if index != "first" else number == 0


def outermost(process: trace_reader.Process, track: str) -> list[trace_reader.Slice]:
    """The slices of a core that stand in no other one; by start."""
    found: list[trace_reader.Slice] = []
    for slice in process.slices:
        if slice.track == track and not (found and slice.end <= found[-1].end and slice.start < found[-1].end):
            found.append(slice)
    return found


@pytest.mark.parametrize("which", ["ran", "streams"])
def test_every_step_is_told_with_op_stream_and_reason(which: str, request: pytest.FixtureRequest) -> None:
    """Core by core what the plan says, in its order: no more, no less."""
    ran: Ran = request.getfixturevalue(which)
    plan, (process,) = ran.plan(), trace_reader.read(ran.report.traces().to_bytes())
    streams = {op["index"]: op["stream_id"] for op in plan["ops"]}
    vectors = 2 if "1_2" in plan["kernel_type"] else 1
    told = 0
    for track in process.tracks:
        if not track.startswith(("AIC", "AIV")):
            continue
        shown = [slice for slice in outermost(process, track) if slice.kind in set(SHOWN.values())]
        found = [(slice.kind, slice.arguments.get("op"), slice.arguments.get("reason")) for slice in shown]
        steps = [step for step in plan["steps"] if step["action"] in SHOWN and takes(step["cores"], track, vectors)]
        run = {op for kind, op, _ in found if kind == "op"}
        # What a dynamic op picked is not known before.
        steps = [step for step in steps if step["action"] != "call-picked" or step["op"] in run]
        assert found == [(SHOWN[step["action"]], step["op"], step["reason"]) for step in steps], track
        assert all(slice.arguments.get("stream") == streams.get(slice.arguments.get("op")) for slice in shown)
        told += sum(reason is not None for _, _, reason in found)
    assert told > 20
    # What a barrier or a hand-over is made of has its reason too; what happens inside an op is the op's own matter.
    outer: dict[str, trace_reader.Slice] = {}
    inner = 0
    for slice in process.slices:
        around = outer.get(slice.track)
        if around is None or slice.end > around.end or slice.start >= around.end:
            outer[slice.track] = slice
        elif slice.kind in ("set", "wait"):
            assert slice.arguments.get("reason") == around.arguments.get("reason"), slice
            inner += around.kind != "op"
    assert inner > 20


def test_a_kernel_that_tells_no_program_is_drawn_without_reasons(ran: Ran, workshop: Workshop, tmp_path: Path) -> None:
    """As older versions built them."""
    bare = tmp_path / ran.json.name
    document = json.loads(ran.json.read_text())
    data = elf.edit(ran.json.with_suffix(".o").read_bytes(), drop_sections=[".superkernel.program"])
    bare.with_suffix(".o").write_bytes(data)
    document["sha256"] = hashlib.sha256(data).hexdigest()
    bare.write_text(json.dumps(document))
    fused = Fused(workshop, ran.program, bare)
    report = fused.launch(5, events="sync", event_limit=200_000).report
    fused.close()
    (process,) = trace_reader.read(report.traces().to_bytes())
    assert set(process.ops()) == ran.runs() and process.of_kind("wait")
    assert not any("reason" in slice.arguments for slice in process.slices)
    (tmp_path / "dump.bin").write_bytes(ran.dump)
    traces = profiling.decode(tmp_path / "dump.bin", bare).traces()
    (process,) = trace_reader.read(traces.to_bytes())
    assert process.of_kind("between ops") and any("no reasons" in note for note in process.notes)


@pytest.mark.skipif("TRACE_PROCESSOR" not in os.environ, reason="TRACE_PROCESSOR names no trace_processor_shell")
def test_perfetto_reads_the_files(ran: Ran, streams: Ran, tmp_path: Path) -> None:
    """Perfetto's own reader finds the same slices and arguments, arrows that go the same way, and no errors."""
    on_threads = "join thread_track {0}_track on {0}_track.id = {0}.track_id join thread {0}_thread on "
    on_threads += "{0}_thread.utid = {0}_track.utid"
    arguments = ", ".join(
        f"ifnull(extract_arg(slice.arg_set_id, 'args.{key}'), '')" for key in ("op", "stream", "reason")
    )
    queries = {
        "slices": f"select slice_thread.name, slice.name, slice.ts, slice.dur, {arguments} from slice "
        + on_threads.format("slice"),
        "arrows": "select a_thread.name, a.name, a.ts, b_thread.name, b.name, b.ts from flow join slice a on a.id = "
        f"slice_out join slice b on b.id = slice_in {on_threads.format('a')} {on_threads.format('b')}",
        "errors": "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
        "processes": "select name from process where name is not null",
        "counts": "select counter.ts, process_counter_track.name, value from counter join process_counter_track on "
        "process_counter_track.id = track_id",
    }
    with superkernel.configure(soc="Ascend910_93"):
        predicted, _ = cost.trace(made_up(tmp_path).infos("stream-fusion=1"))
    for traces in (ran.report.traces(), streams.report.traces(), streams.profile.traces(), predicted):
        path = tmp_path / "t.json"
        path.write_bytes(traces.to_bytes())
        (process,) = trace_reader.read(path.read_bytes())
        found = {name: asked_of_perfetto(query, path, tmp_path) for name, query in queries.items()}
        assert found["errors"] == [] and found["processes"] == [[process.name]]
        own = [
            [one.track, one.name, str(one.start), str(one.end - one.start)]
            + [str(one.arguments.get(key, "")) for key in ("op", "stream", "reason")]
            for one in process.slices
        ]
        assert sorted(found["slices"]) == sorted(own)
        arrows = [
            [source.track, source.name, str(source.start), release.track, release.name, str(release.start)]
            for source, release in process.bound
        ]
        assert sorted(found["arrows"]) == sorted(arrows)
        assert len(found["counts"]) == sum(len(counts) for _, counts in process.busy)


def asked_of_perfetto(query: str, trace: Path, folder: Path) -> list[list[str]]:
    """The rows that a query finds."""
    (folder / "query.sql").write_text(f"{query};\n")
    command = [os.environ["TRACE_PROCESSOR"], "-q", str(folder / "query.sql"), str(trace)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return [row for row in csv.reader(done.stdout.splitlines()[1:]) if row]


def test_arrows_go_from_the_set_that_ended_a_wait(ran: Ran) -> None:
    (process,) = trace_reader.read(ran.report.traces().to_bytes())
    waits = [slice for slice in process.of_kind("wait") if slice.end - slice.start > 1000]
    hit = {id(to) for _, to in process.arrows}
    told = [(to.track, to.start) for _, to in process.arrows]
    assert len(hit) == len(told)
    # Whoever really had to wait was released by somebody.
    assert {(wait.track, wait.start) for wait in waits} <= set(told)


def test_in_block_flags_have_arrows_too(workshop: Workshop, tmp_path: Path) -> None:
    """On Ascend950 the halves of a block meet over flags of their own, numbered anew on each core."""
    ran = Ran(workshop, tmp_path, chain("c310", ["mix4", "vec8", "mix2"], profiling="1", early_start="0"))
    (process,) = trace_reader.read(ran.report.traces().to_bytes())
    assert set(process.ops()) == ran.runs()
    waits = [(to.arguments["detail"], source.track, to.track) for source, to in process.arrows]
    in_block = [wait for wait in waits if wait[0].startswith("in-block")]
    assert in_block, "the barriers of a 1:2 kernel"
    block = {"AIC": lambda core: core, "AIV": lambda core: core // 2}
    for detail, source, to in in_block:
        blocks = {block[name[:3]](int(name[3:])) for name in (source, to)}
        assert len(blocks) == 1 and source[:3] != to[:3], (detail, source, to)


def test_superkernel_run_draws_one_run(
    library: KernelLibrary, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    infos = library.infos(library.op("one"), library.op("cube", AIC, 3), options="early-start=0")
    (tmp_path / "infos.json").write_text(json.dumps(infos))
    out = tmp_path / "t.json"
    given = ["--seeds", "1", "--allow-unchecked", "order", "--trace", str(out)]
    assert main(["run", str(tmp_path / "infos.json"), *given, "--gantt"]) == 0
    shown = capsys.readouterr().out
    assert "vector busy" in shown and "cube busy" in shown
    (process,) = trace_reader.read(out.read_bytes())
    assert set(process.ops()) == {(0, "AIV0"), (0, "AIV1"), (1, "AIC0"), (1, "AIC1"), (1, "AIC2")}
    assert process.arrows


def test_a_run_that_records_and_one_that_is_not_made(
    library: KernelLibrary, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Slots of the super kernel itself are not its last op's; and a verdict is told also where there is no timeline."""
    infos = library.infos(library.op("one"), library.op("two"), options="profiling=1:feed-sync-all=1")
    (tmp_path / "infos.json").write_text(json.dumps(infos))
    out = tmp_path / "t.json"
    given = ["--seeds", "1", "--allow-unchecked", "order", "--trace", str(out)]
    assert main(["run", str(tmp_path / "infos.json"), *given]) == 0
    assert "1 seeds" in capsys.readouterr().out and trace_reader.read(out.read_bytes())
    source = """#include "kernel_operator.h"
    extern "C" __global__ __aicore__ void faulty(GM_ADDR x, GM_ADDR y) { *(__gm__ int *)y = AscendC::GetBlockIdx(); }"""
    faulty = build_op(source, "faulty", None, AIV, 2, out_dir=tmp_path / "ops").entry()
    (tmp_path / "infos.json").write_text(json.dumps({"op_list": [faulty], "super_kernel_options": ""}))
    out.unlink()
    assert main(["run", str(tmp_path / "infos.json"), *given]) == 1
    shown = capsys.readouterr()
    assert "not run, its ops alone are at fault" in shown.out and "two cores of op 0" in shown.out
    assert "no timeline" in shown.err and not out.exists()


def test_a_run_with_a_dynamic_op(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it picked is drawn: one of two functions, on as many blocks as its tiling says."""
    source = """#include "kernel_operator.h"
    extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
        if (AscendC::GetBlockIdx() >= AscendC::GetBlockNum()) { return; }
        ((__gm__ int *)y)[16 * AscendC::GetBlockIdx()] = ((__gm__ int *)x)[0] + KEY;
    }"""
    plain, dynamic = (
        source.replace("NAME", name).replace("KEY", key) for name, key in (("s", "1"), ("d", "TILING_KEY_VAR"))
    )
    folder = tmp_path / "ops"
    first = build_op(plain, "s", None, AIC, 4, out_dir=folder).entry()
    second = build_op(dynamic, "d", None, AIV, 4, out_dir=folder, tiling_keys=[7, 9]).entry()
    infos, out = tmp_path / "infos.json", tmp_path / "t.json"
    options = "profiling=1:sync=contract"
    infos.write_text(json.dumps({"op_list": [first, second, first], "super_kernel_options": options}))
    command = ["run", str(infos), "--seeds", "2", "--others", "int32:2048", "--trace", str(out)]
    command += ["--allow-unchecked", "order"]
    assert main([*command, "--tiling-key", "1=9:3"]) == 0
    assert "results equal those of the ops alone" in capsys.readouterr().out
    (process,) = trace_reader.read(out.read_bytes())
    ran = process.ops()
    assert {(op, track[:3]) for op, track in ran} == {(0, "AIC"), (1, "AIV"), (2, "AIC")}
    assert process.of_kind("barrier"), "after the switch"
    # Without a key nobody knows what to run, and the hint says how to tell.
    assert main(command) == 2
    assert "--tiling-key 1=KEY[:BLOCKS]" in capsys.readouterr().err


def test_only_ops_without_the_other_events(ran: Ran, workshop: Workshop) -> None:
    fused = Fused(workshop, ran.program, ran.json)
    report = fused.launch(1).report
    fused.close()
    (process,) = trace_reader.read(report.traces().to_bytes())
    assert {slice.kind for slice in process.slices} == {"op"}
    assert set(process.ops()) == ran.runs()
    assert any("events='sync'" in note for note in process.notes)
    assert "3 vec8" in report.gantt(80)


def test_a_run_that_did_not_come_back_has_no_trace() -> None:
    with pytest.raises(SuperKernelError, match="left no events"):
        superkernel.sim.Report(status="timeout", message="").traces()


# -- predicted ---------------------------------------------------------------------------------------------------------


def made_up(folder: Path) -> OpList:
    ops = OpList(folder)
    ops.op(AIC, 8, send_event_list=[1]).op(AIV, 16, stream_id=1).op(AIV, 16, stream_id=1, recv_event_list=[1])
    return ops.op(MIX_1_2, 8).op(AIC, 4)


def test_a_plan_is_drawn_with_made_up_durations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    infos = made_up(tmp_path).write("stream-fusion=1")
    out = tmp_path / "t.json"
    soc = ["--soc", "Ascend910_93"]
    assert main(["plan", str(infos), "--trace", str(out), "--gantt", *soc]) == 0
    shown = capsys.readouterr()
    assert "not to scale" in shown.err and "4 k4" in shown.out
    # Planned for two pictures, warned of once.
    assert main(["plan", str(infos), "--trace", str(out), "--html", str(tmp_path / "t.html"), *soc]) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert warnings and len(set(warnings)) == len(warnings)
    (process,) = trace_reader.read(out.read_bytes())
    assert "not to scale: every op is taken to last 5 us" in process.name
    expected = {(0, f"AIC{core}") for core in range(8)} | {(4, f"AIC{core}") for core in range(4)}
    expected |= {(op, f"AIV{core}") for op in (1, 2) for core in range(16)}
    expected |= {(3, f"AIC{core}") for core in range(8)} | {(3, f"AIV{core}") for core in range(16)}
    assert set(process.ops()) == expected
    barriers = process.of_kind("barrier")
    assert barriers and all(slice.arguments["reason"] for slice in barriers)
    waits = process.of_kind("wait")
    assert {slice.arguments["reason"] for slice in waits} == {"event 1", "same stream 0"}
    # Op 2 waits for op 0 over the flag of the event: the arrow comes from a cube core of the same block.
    (arrow, *_) = [pair for pair in process.arrows if pair[1].arguments.get("reason") == "event 1"]
    assert arrow[0].track.startswith("AIC") and arrow[1].track.startswith("AIV")


def test_a_prediction_is_drawn_with_the_durations_of_the_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = OpList(tmp_path).op(AIV, 4).op(AIV, 8)
    for number, entry in enumerate(ops.ops):
        entry["name"] = f"op{number}"
    infos = ops.write()
    table = "Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim\n"
    table += "".join(f"op{number},K,AI_VECTOR_CORE,{20 + number},1,8\n" for number in range(2) for _ in range(3))
    (tmp_path / "op_summary_1.csv").write_text(table)
    arguments = ["predict", str(infos), "--profile", str(tmp_path), "--soc", "Ascend910_93"]
    assert main([*arguments, "--trace", str(tmp_path / "t.json")]) == 0
    capsys.readouterr()
    (process,) = trace_reader.read((tmp_path / "t.json").read_bytes())
    assert "predicted us" in process.name
    assert {name for _, name in process.ops()} == {f"AIV{core}" for core in range(8)}
    (kernel,) = cost.predict(json.loads(infos.read_text()), tmp_path)["kernels"]
    for position, op in enumerate(kernel["ops"]):
        own = [slice for (index, _), slices in process.ops().items() if index == position for slice in slices]
        assert min(slice.start for slice in own) / 1000 == pytest.approx(op["start"], abs=0.01)
        assert max(slice.end for slice in own) / 1000 == pytest.approx(op["end"], abs=0.01)
    assert max(slice.end for slice in process.slices) / 1000 == pytest.approx(kernel["fused"]["us"], abs=0.01)


# -- decoded buffers ---------------------------------------------------------------------------------------------------


def test_a_buffer_of_the_simulator(ran: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dump.bin").write_bytes(ran.dump)
    profile = profiling.decode(tmp_path / "dump.bin", ran.json)
    assert profile.to_dict() == ran.profile.to_dict() and profile.problems == []
    (launch,) = profile.launches
    assert launch["task"] == 77 and len(launch["ops"]) == len(NAMES)
    starts = {(record.index, record.core, record.is_end): record.cycle for record in ran.records if record.kind == "op"}
    first = min(record.cycle for record in ran.records)
    cores_of = {op: [core for number, core in ran.runs() if number == op] for op in range(len(NAMES))}
    for op in launch["ops"]:
        cores = cores_of[op["position"]]
        lengths = [starts[op["position"], core, True] - starts[op["position"], core, False] for core in cores]
        assert op["cores"] == len(cores) and op["unfinished"] == 0
        assert op["first_start"] == min(starts[op["position"], core, False] for core in cores) - first
        assert op["last_end"] == max(starts[op["position"], core, True] for core in cores) - first
        assert (op["min"], op["max"]) == (min(lengths), max(lengths))
        assert op["avg"] == pytest.approx(sum(lengths) / len(lengths))
        assert 0 <= op["wait_share"] < 1
    arguments = ["profile", str(tmp_path / "dump.bin"), "--kernel", str(ran.json)]
    assert main([*arguments, "--trace", str(tmp_path / "t.json"), "--gantt", "--clock-mhz", "50"]) == 0
    shown = capsys.readouterr().out
    assert "task 77" in shown and "vec8" in shown and "us (device cycles at 50 MHz)" in shown
    (process,) = trace_reader.read((tmp_path / "t.json").read_bytes())
    assert set(process.ops()) == ran.runs()
    assert main([*arguments, "--csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("task,position,name") and len(rows) == 1 + len(NAMES)


def test_a_decoded_buffer_is_told_with_reasons(streams: Ran) -> None:
    """What stands between two records of a core is what its program has between them."""
    plan, (process,) = streams.plan(), trace_reader.read(streams.profile.traces().to_bytes())
    synchronising = {"barrier", "wait-flag", "set-flag", "pipe-barrier", "switch", "wait-event", "notify"}
    reasons = {step["reason"] for step in plan["steps"] if step["action"] in synchronising}
    vectors = 2 if "1_2" in plan["kernel_type"] else 1
    stream_of = {op["index"]: op["stream_id"] for op in plan["ops"]}
    named = 0
    for slice in process.slices:
        told = slice.arguments
        if slice.kind == "op":
            continue
        assert set(told.get("reason", "").split("; ")) - {""} <= reasons, slice
        assert told.get("stream") == stream_of.get(told.get("op")), slice
        if slice.kind in ("barrier", "wait"):
            # The one thing that can have held the core up, where the plan has it.
            action, _, fields = told["detail"].split("; ")[-1].partition(" ")
            named += 1
            assert any(
                step["op"] == told["op"]
                and step["reason"] in told["reason"]
                and takes(step["cores"], slice.track, vectors)
                for step in plan["steps"]
                if step["action"] in ("barrier", "wait-flag")
            ), (slice, action, fields)
    assert named > 10
    events = process.of_kind("event")
    outer = {f"outer event {event}" for event in (*streams.program.waits, *streams.program.notifies)}
    assert {slice.arguments.get("reason") for slice in events} & outer
    by_event = {**streams.program.waits, **streams.program.notifies}
    for slice in events:
        if slice.arguments["detail"].startswith(("notify", "wait for")):
            assert slice.arguments.get("op") in (by_event[int(slice.arguments["detail"].split()[-1])], None), slice


def test_a_decoded_buffer_is_a_profile_of_the_cost_model(
    ran: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dump.bin").write_bytes(ran.dump)
    assert main(["profile", str(tmp_path / "dump.bin"), "--kernel", str(ran.json), "--json", "--clock-mhz", "50"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["source"]) == ("superkernel-profile-1", "simulator")
    (tmp_path / "profile.json").write_text(json.dumps(document))
    ops = OpList(tmp_path).op(AIV, 3).op(MIX_1_2, 2).op(AIC, 2).op(AIV, 8)
    with superkernel.configure(soc="Ascend910_93"):
        (kernel,) = cost.predict(ops.infos(), tmp_path / "profile.json", name="te_superkernel_campaign")["kernels"]
    assert [op["source"] for op in kernel["ops"]] == ["simulated"] * 4
