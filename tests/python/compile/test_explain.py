"""Super kernels explained: every kind of statement for a list made to have it, hints where they belong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kernel_library import KernelLibrary
from op_lists import AIC, AIV, MIX_1_2, OpList
from superkernel import cli, compile, configure, plan

SOC = ["--soc", "Ascend910_93"]


def explained(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[dict[str, Any], str]:
    """The explanation as data and as text."""
    assert cli.main(["explain", str(path), "--json", *SOC]) == 0
    data = json.loads(capsys.readouterr().out)
    assert cli.main(["explain", str(path), *SOC]) == 0
    return data, capsys.readouterr().out


def barriers(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in data["synchronisation"] if step["action"] == "barrier"]


def remedies(step: dict[str, Any]) -> list[str]:
    return [remedy["kind"] for remedy in step["remedies"]]


def hints(data: dict[str, Any]) -> dict[str, list[int]]:
    return {hint["kind"]: hint["ops"] for hint in data["lints"]}


def test_one_stream_with_barriers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = {"sub_op_with_sync_all": False}
    ops = OpList(tmp_path).op(AIV, 8, **quiet).op(AIV, 48, **quiet).op(AIC, 24, **quiet)
    data, text = explained(capsys, ops.write("early-start=0"))
    assert data["form"] == {
        "several_streams": False,
        "streams": [0],
        "because": "all ops are of one stream: they run one after another",
    }
    assert (data["shape"]["kernel_type"], data["shape"]["block_num"]) == ("KERNEL_TYPE_MIX_AIC_1_2", 24)
    assert data["shape"]["cores"] == {"aic": 24, "aiv": 48} and "op 1 takes most vector cores, 48" in text
    assert [op["cores"] for op in data["ops"]] == [{"aic": 0, "aiv": 8}, {"aic": 0, "aiv": 48}, {"aic": 24, "aiv": 0}]
    assert [op["idle"] for op in data["ops"]] == [{"aic": 24, "aiv": 40}, {"aic": 24, "aiv": 0}, {"aic": 0, "aiv": 48}]
    # Two vector ops share cores; a vector and a cube op do not.
    told = [(barrier["op"], barrier["place"], remedies(barrier)) for barrier in barriers(data)]
    both = ["early-start", "regions"]
    assert told == [(1, "before", both), (2, "before", [both[0], "streams", both[1]])]
    # In each block there and back, and all cube cores in between.
    assert [barrier["price_us"] for barrier in barriers(data)] == pytest.approx([0.5, 0.5])
    assert "before op 2, barrier all: list order; 0.50 us; without it: early-start=1: a hand-over takes its" in text
    assert "early start: off (early-start=0), 0 pairs" in text
    assert hints(data) == {"other-kind-idle": [1, 2]}


def test_early_start_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = OpList(tmp_path).op(AIV, 8, sub_operator_early_start_set_flag=True)
    ops.op(AIC, 8, sub_operator_early_start_wait_flag=True, recv_event_list=[7]).op(AIC, 8)
    data, text = explained(capsys, ops.write())
    pairs = data["early_start"]["pairs"]
    assert [(pair["from"], pair["to"]) for pair in pairs] == [(0, 1), (1, 2)]
    assert pairs[0] == {"from": 0, "to": 1, "sets_itself": True, "waits_itself": True, "twice": True}
    assert not (pairs[1]["sets_itself"] or pairs[1]["waits_itself"] or pairs[1]["twice"])
    assert "0 -> 1: the first op sets itself, the second waits itself; a second hand-over" in text
    # Code that takes part in early start cannot go to streams of its own. The second hand-over carries the event.
    assert not barriers(data) and not data["lints"]
    contract, _ = explained(capsys, ops.write("sync=contract"))
    assert [barrier["reason"] for barrier in barriers(contract)] == ["after outer wait"]
    assert remedies(barriers(contract)[0]) == ["sync", "inner-event"]


def test_many_alike_are_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = OpList(tmp_path)
    for _ in range(40):
        ops.op(AIV, 8)
    data, text = explained(capsys, ops.write("early-start=0"))
    assert len(barriers(data)) == 39
    (line,) = (line for line in text.splitlines() if line.startswith("  before ops"))
    assert line.startswith("  before ops 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 27 more (--json has all), ")
    data, text = explained(capsys, ops.write(""))
    assert len(data["early_start"]["pairs"]) == 39 and "  0 -> 1, 1 -> 2, " in text and " and 27 more" in text


def test_hints_come_first_and_equal_ops_share_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = OpList(tmp_path).op(AIC, 24, send_event_list=[5]).op(AIV, 48, stream_id=1, recv_event_list=[5, 9])
    ops.op(AIV, 48, stream_id=1).op(AIC, 24, send_event_list=[12]).op(AIV, 48, stream_id=1)
    path = ops.write("stream-fusion=1:early-start=1")
    document = json.loads(path.read_text())
    document["op_list"][4] = {**document["op_list"][2], "stream_id": 1}
    path.write_text(json.dumps(document))
    data, text = explained(capsys, path)
    assert text.index("\nhints: ") < text.index("\nops\n") < text.index("\nsynchronisation: ")
    told = [([*event.values()] for event in op["receives"]) for op in data["ops"]]
    assert [list(events) for events in told] == [[], [[5, 0], [9, None]], [], [], []]
    first, second, equal, last = text[text.index("\nops\n") :].splitlines()[2:6]
    assert first.startswith("  0 ") and first.endswith("; sends 5 to op 1")
    assert second.startswith("  1 ") and second.endswith("; receives 5 from op 0, 9 from outside")
    assert equal.startswith("  2, 4 ") and last.startswith("  3 ") and last.endswith("; sends 12 to outside")


def test_several_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = OpList(tmp_path).op(AIC, 24, send_event_list=[1]).op(AIV, 48, stream_id=1)
    ops.op(AIV, 48, stream_id=1, recv_event_list=[1])
    data, text = explained(capsys, ops.write("stream-fusion=1:early-start=1:split-mode=2"))
    assert data["form"]["several_streams"] and data["form"]["streams"] == [0, 1]
    assert "op 1 of stream 1 follows op 0 of stream 0 and no event links the two" in text
    told = {(barrier["op"], barrier["place"]): barrier for barrier in barriers(data)}
    assert told[0, "after"]["reason"] == "event 1" and told[0, "after"]["cores"] == "aic"
    assert told[1, "after"]["reason"] == "same stream 1" and remedies(told[1, "after"]) == ["streams"]
    assert data["ops"][0]["idle"] == {"aic": 0, "aiv": 0}, "the other side has work of its own"
    assert "split-mode=2: 2 copies of every function" in text and "preload-code=per-func (default)" in text
    # Several streams have no early start, whatever the option says; the other options do something.
    assert [hint["text"] for hint in data["lints"]] == [
        "early-start=1 changes nothing here: the program is the same without"
    ]


def test_feed_sync_all_and_options_that_do_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = OpList(tmp_path).op(AIV, 48, sub_operator_op_type="Absent").op(AIV, 32, sub_op_with_sync_all=True)
    # Static ops bring their flushes with them; the options speak of dynamic ones.
    ops.dynamic(AIV, sub_operator_op_type="Add")
    path = ops.write("feed-sync-all=1:dcci-after-kernel-end=Add:dcci-before-kernel-start=Absent:preload-code=per-func")
    data, text = explained(capsys, path)
    added = data["feed_sync_all"]
    assert added["followed"] == [1]
    # As many as the plan has more with the option than without.
    infos = json.loads(path.read_text())
    with configure(soc="Ascend910_93"):
        options = infos["super_kernel_options"]
        lengths = [
            len(plan({**infos, "super_kernel_options": options.replace("all=1", f"all={value}")}, "k")["steps"])
            for value in (1, 0)
        ]
    assert added["steps"] == lengths[0] - lengths[1] > 0
    assert added["workspace_bytes"] == data["sizes"]["workspace_bytes"] > 0
    assert "ops whose SyncAll idle cores follow: 1" in text and barriers(data)[0]["reason"] == "workspace cleared"
    assert [hint["text"].split()[0] for hint in data["lints"]] == ["dcci-before-kernel-start=Absent"]


def test_neighbours_that_leave_cores_idle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = OpList(tmp_path).op(AIV, 8).op(AIV, 25).op(AIV, 24).op(AIV, 4).op(MIX_1_2, 24)
    data, text = explained(capsys, ops.write())
    assert hints(data) == {"idle-neighbours": [2, 3]}
    assert "ops 2, 3 follow each other and each uses 24 of 48 vector cores at most" in text


def test_a_built_kernel(library: KernelLibrary, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    infos = library.infos(library.op("first"), library.op("second", block_dim=1), options="split-mode=2")
    with configure(soc="Ascend910_93", toolchain="host", kernel_meta_parent_dir=tmp_path):
        compile(infos, "k_built")
    path = tmp_path / "kernel_meta" / "k_built.json"
    data, text = explained(capsys, path)
    assert data["kernel_name"] == "k_built" and len(data["ops"]) == 2
    assert data["built"]["object_bytes"] == path.with_suffix(".o").stat().st_size
    assert 0 < data["built"]["code_bytes"] < data["built"]["object_bytes"]
    assert data["built"]["slots"] == data["sizes"]["slots"] > 0
    assert data["sizes"]["code_in_copies"] == 2 * data["sizes"]["code_once"] > 0
    assert f"object {data['built']['object_bytes']} bytes" in text
    sizes = [function["text_size"] for op in data["ops"] for function in op["functions"]]
    # Both are small, one leaves a core idle.
    assert max(sizes) <= 1024 and hints(data) == {"tiny-op": [0]}

    # Without its record only the description is left, and that is said.
    path.with_name("k_built.manifest.json").unlink()
    data, text = explained(capsys, path)
    assert [op["kernel_name"] for op in data["built"]["ops"]] and "ops" not in data
    assert "not known: form, synchronisation" in text and "the build record is not beside it" in text


def test_an_id_wins_and_other_words_are_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "[sk0306]"]) == 0
    assert capsys.readouterr().out.startswith("SK0306 (")
    (tmp_path / "broken.json").write_text("{")
    assert cli.main(["explain", str(tmp_path / "broken.json")]) == 1
    assert "SK0014" in capsys.readouterr().err
