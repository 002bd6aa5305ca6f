"""Timelines as pages: what they hold of a trace, the critical path, two runs side by side. Browsers: tests/extra."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import superkernel
import trace_reader
from op_lists import AIC, AIV, MIX_1_2, OpList
from superkernel import SuperKernelError, cost
from superkernel.cli import main
from superkernel.pictures import timeline
from traced_runs import Ran


def data_of(path: Path) -> Any:
    """The data of a page."""
    text = path.read_text()
    assert text.startswith("<!DOCTYPE html>") and "default-src 'none'" in text
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def slices_of(kernel: dict[str, Any]) -> list[trace_reader.Slice]:
    """The slices of a page's kernel as the reader of traces has them."""
    found = []
    for track in kernel["tracks"]:
        for at in range(0, len(track["slices"]), timeline.FIELDS):
            start, length, name, kind, words, _ = track["slices"][at : at + timeline.FIELDS]
            told = (kernel["names"][name], kernel["kinds"][kind], kernel["args"][words])
            found.append(trace_reader.Slice(track["name"], start, start + length, *told))
    return found


def in_order(slices: list[trace_reader.Slice]) -> list[tuple[Any, ...]]:
    return sorted((*slice[:5], str(slice.arguments)) for slice in slices)


def test_a_page_holds_what_the_json_holds(ran: Ran, tmp_path: Path) -> None:
    assert ran.report.save_trace(tmp_path / "t.html") == ran.report.save_trace(tmp_path / "t.json")
    data = data_of(tmp_path / "t.html")
    (kernel,), (process,) = data["kernels"], trace_reader.read((tmp_path / "t.json").read_bytes())
    assert (kernel["kernel"], kernel["unit"]) == ("te_superkernel_campaign", "steps")
    assert kernel["axis"] in process.name and kernel["notes"] == process.notes
    assert [track["name"] for track in kernel["tracks"]] == process.tracks
    drawn = [slice for slice in slices_of(kernel) if slice.kind not in ("released", "sets")]
    assert in_order(drawn) == in_order([slice for slice in process.slices if slice.kind not in ("released", "sets")])
    assert len(kernel["arrows"]) == 4 * len(process.arrows) > 0
    for label, start, end, busy, runs, _ in kernel["ops"]:
        own = [slice for slice in process.of_kind("op") if slice.name == label]
        assert (start, end) == (min(one.start for one in own), max(one.end for one in own))
        assert (busy, runs) == (sum(one.end - one.start for one in own), len(own))
    # Both forms are read again.
    again = timeline.parsed((tmp_path / "t.html").read_bytes(), "t.html")
    assert again == timeline.parsed((tmp_path / "t.json").read_bytes(), "t.json") == data["kernels"]


def test_records_of_a_device_have_no_critical_path(ran: Ran, tmp_path: Path) -> None:
    ran.profile.save_trace(tmp_path / "t.html")
    (kernel,) = data_of(tmp_path / "t.html")["kernels"]
    assert kernel["ops"] and (kernel["path"], kernel["along"], kernel["shares"]) == ([], [], [])


def predicted(folder: Path, name: str, last: str = AIC) -> Path:
    """Two streams that meet, then two ops: a prediction, written as JSON."""
    ops = OpList(folder)
    ops.op(AIC, 8, send_event_list=[1]).op(AIV, 16, stream_id=1).op(AIV, 16, stream_id=1, recv_event_list=[1])
    infos = ops.op(MIX_1_2, 8).op(last, 4).infos("stream-fusion=1")
    with superkernel.configure(soc="Ascend910_93"):
        traces, _ = cost.trace(infos, name="te_superkernel_t")
    (folder / name).write_bytes(traces.to_bytes())
    return folder / name


def test_the_critical_path_goes_from_set_to_wait(tmp_path: Path) -> None:
    (kernel,) = timeline.parsed(predicted(tmp_path, "t.json").read_bytes(), "t.json")
    parts = [tuple(kernel["path"][at : at + 3]) for at in range(0, len(kernel["path"]), 3)]
    arrows = {tuple(kernel["arrows"][at : at + 4]) for at in range(0, len(kernel["arrows"]), 4)}
    assert parts[0][2] == kernel["end"] and parts[-1][1] == 0 and len(parts) > 1
    for later, earlier in zip(parts, parts[1:]):
        assert (earlier[0], earlier[2], later[0], later[1]) in arrows
    # All of the time is on it, and every op here has to wait for the one before.
    assert sum(nanos for _, nanos in kernel["shares"]) == pytest.approx(kernel["end"], rel=0.01)
    assert {"2 k2", "3 k3", "4 k4"} <= {label for label, _ in kernel["shares"]}


def made_up() -> dict[str, Any]:
    """Two cores: the second waits for the first, then the first for nobody, as the set was there before."""

    def row(tid: int, ts: float, dur: float, name: str, cat: str, **words: Any) -> dict[str, Any]:
        return {"ph": "X", "pid": 1, "tid": tid, "ts": ts, "dur": dur, "name": name, "cat": cat, "args": words}

    def arrow(number: int, source: int, at: float, target: int, lands: float) -> list[dict[str, Any]]:
        ends = {"pid": 1, "id": number, "name": "set to wait", "cat": "sync"}
        return [{"ph": "s", "tid": source, "ts": at, **ends}, {"ph": "f", "tid": target, "ts": lands, **ends}]

    names = [
        {"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": f"AIV{tid - 1}"}} for tid in (1, 2)
    ]
    rows = [
        row(1, 0, 30, "0 a", "op", op=0),
        row(1, 30, 2, "set", "set"),
        row(2, 0, 10, "1 b", "op", op=1),
        row(2, 10, 22, "wait", "wait", of="2 c"),
        row(2, 31, 1, "released by AIV0", "released"),
        row(2, 32, 40, "2 c", "op", op=2),
        row(1, 32, 1, "wait", "wait"),
        row(1, 32, 1, "released by AIV1", "released"),
        row(1, 33, 49, "3 d", "op", op=3),
    ]
    # The second arrow comes from a set at 5, long before the wait at 32.
    return {"traceEvents": [*names, *rows, *arrow(1, 1, 31, 2, 31), *arrow(2, 2, 5, 1, 32)], "otherData": {}}


def test_a_set_that_was_there_before_holds_nobody_up() -> None:
    (kernel,) = timeline.parsed(json.dumps(made_up()).encode(), "t.json")
    assert kernel["path"] == [0, 0, 82_000]
    assert kernel["shares"] == [["3 d", 49_000], ["0 a", 30_000], ["set", 2_000], ["wait", 1_000]]
    # Without op 3 the end is that of op 2, which waited for op 0.
    shorter = made_up()
    shorter["traceEvents"] = [event for event in shorter["traceEvents"] if event["name"] != "3 d"]
    (kernel,) = timeline.parsed(json.dumps(shorter).encode(), "t.json")
    assert kernel["path"] == [1, 31_000, 72_000, 0, 0, 31_000]
    assert kernel["shares"][:2] == [["2 c", 40_000], ["0 a", 30_000]]
    # Where the set is noticed later than it was made, the time between is part of the path.
    for event in shorter["traceEvents"]:
        if (
            event.get("tid") == 2
            and event["name"] in ("2 c", "released by AIV0", "set to wait")
            and event["ph"] in "Xf"
        ):
            event["ts"] += 5
    (kernel,) = timeline.parsed(json.dumps(shorter).encode(), "t.json")
    assert kernel["shares"][-1] == ["nothing recorded", 5_000]
    assert sum(nanos for _, nanos in kernel["shares"]) == kernel["end"] == 77_000


def test_two_runs_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = predicted(tmp_path, "before.json")
    longer = json.loads(before.read_text())
    for event in longer["traceEvents"]:
        if event["ph"] == "X" and event["name"] == "4 k4":
            event["dur"] += 7
    after = tmp_path / "after.json"
    after.write_text(json.dumps(longer))
    assert main(["trace", str(before), str(after)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (changed,) = [line.split() for line in lines if line.strip().startswith("4 k4")]
    assert changed == ["4", "k4", "5.00", "12.00", "+7.00"] and lines[-5].split() == changed
    assert main(["trace", str(before), str(after), "--html", str(tmp_path / "two.html")]) == 0
    data = data_of(tmp_path / "two.html")
    assert data["runs"] == [str(before), str(after)] and [kernel["run"] for kernel in data["kernels"]] == [0, 1]
    (pair,) = data["pairs"]
    assert pair["rows"][0] == ["4 k4", 5.0, 12.0, 7.0] and [row[3] for row in pair["rows"][1:]] == [0, 0, 0, 0]
    capsys.readouterr()
    assert main(["trace", str(before), str(after), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["differences"][0]["ops"][0] == {"op": "4 k4", "before": 5.0, "after": 12.0, "change": 7.0}
    assert figures["runs"][0]["kernels"][0]["critical_path"]


def test_one_run_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", str(predicted(tmp_path, "t.json"))]) == 0
    text = capsys.readouterr().out
    assert "te_superkernel_t: not to scale" in text and "5 ops on 24 tracks" in text
    assert re.search(r"^  critical path +us +share\n  \d k\d +5\.00 +\d+\.\d %$", text, re.MULTILINE)


def test_every_command_with_trace_writes_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    infos = OpList(tmp_path).op(AIC, 8).op(AIV, 16).write()
    for name in ("t.html", "t.HTM"):
        assert main(["plan", str(infos), "--trace", str(tmp_path / name), "--soc", "Ascend910_93"]) == 0
        assert [op[0] for op in data_of(tmp_path / name)["kernels"][0]["ops"]] == ["0 k0", "1 k1"]
    assert "not to scale" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is not JSON"),
        (b"{}", "it has no list `traceEvents`"),
        (b'{"traceEvents": 3}', "it has no list `traceEvents`"),
        (b'{"traceEvents": [3]}', "an event is not as it should be"),
        (b'{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "name": "x", "ts": "1"}]}', "an event is not"),
        (b'{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "name": "x", "ts": 1e300}]}', "an event is not"),
        (b'{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "name": "x", "ts": NaN}]}', "an event is not"),
        (b"<!DOCTYPE html><p>", "it is a page, but no timeline"),
    ],
)
def test_what_is_no_trace_is_refused(content: bytes, problem: str, tmp_path: Path) -> None:
    with pytest.raises(SuperKernelError, match=re.escape(f"[SK0970] `t` is no trace: {problem}")):
        timeline.parsed(content, "t")


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = predicted(tmp_path, "a.json"), predicted(tmp_path, "b.json")
    content = first.read_bytes()
    assert main(["trace", "--html", str(first), str(second)]) == 1
    assert "[SK0970]" in capsys.readouterr().err and first.read_bytes() == content
    assert main(["trace", str(first), str(first), str(first)]) == 1
    assert "3 traces are given" in capsys.readouterr().err


def test_an_empty_trace_is_an_empty_page() -> None:
    assert timeline.of_runs([("t", timeline.parsed(b'{"traceEvents": []}', "t"))])["kernels"] == []
