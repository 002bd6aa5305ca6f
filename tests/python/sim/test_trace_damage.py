"""Profiling buffers that are damaged, or were left by cores that hang: what can be read is shown."""

from __future__ import annotations

import io
import json
import os
import random
import struct
from pathlib import Path
from types import SimpleNamespace

import pytest
import superkernel
import trace_reader
from op_lists import AIV
from superkernel import SuperKernelError, profiling
from superkernel.cli import main
from superkernel.sim import Device, ProfilingBuffer, build_op
from traced_runs import Ran


def area_of(dump: bytes, area: int) -> int:
    return 64 + area * struct.unpack_from("<I", dump, 12)[0]


def damaged(dump: bytes, *words: tuple[int, int]) -> bytes:
    changed = bytearray(dump)
    for at, word in words:
        struct.pack_into("<Q", changed, at, word)
    return bytes(changed)


def decoded(ran: Ran, dump: bytes, folder: Path) -> profiling.Profile:
    (folder / "damaged.bin").write_bytes(dump)
    profile = profiling.decode(folder / "damaged.bin", ran.json)
    trace_reader.read(profile.traces().to_bytes())
    return profile


def test_what_can_be_read_of_a_damaged_buffer_is_shown(ran: Ran, tmp_path: Path) -> None:
    dump = ran.dump
    size = struct.unpack_from("<I", dump, 12)[0]

    def cores(profile: profiling.Profile) -> int:
        return max(op["cores"] for launch in profile.launches for op in launch["ops"])

    whole = cores(ran.profile)
    cut = decoded(ran, dump[: area_of(dump, 3) + 64 + 5 * 16 + 7], tmp_path)
    assert any("the dump ends in its area" in problem for problem in cut.problems)
    assert any("ends before the areas of" in problem and "AIC0" in problem for problem in cut.problems)
    assert cores(cut) == 4
    magic = decoded(ran, damaged(dump, (area_of(dump, 1), 1)), tmp_path)
    assert any(problem.startswith("AIV1: the magic word") for problem in magic.problems) and cores(magic) == whole
    head = decoded(ran, damaged(dump, (area_of(dump, 1) + 8, 5)), tmp_path)
    assert any(problem.startswith("AIV1: the addresses") for problem in head.problems) and cores(head) == whole
    record = decoded(ran, damaged(dump, (area_of(dump, 2) + 64 + 3 * 16, 0xDEAD)), tmp_path)
    assert any("AIV2: record 3 (0x000000000000dead) makes no sense" in problem for problem in record.problems)
    first = decoded(ran, damaged(dump, (area_of(dump, 2) + 64, 0xDEAD)), tmp_path)
    assert any("AIV2: its first record is damaged" in problem for problem in first.problems)
    assert first.launches[0]["ops"] == ran.profile.launches[0]["ops"], "all else of AIV2 is there"
    # Full: the last record ends where the area ends.
    start = area_of(dump, 0)
    end = struct.unpack_from("<Q", dump, start + 16)[0]
    full = decoded(ran, damaged(dump, (start + 8, end)), tmp_path)
    assert any("AIV0: its area is full" in problem for problem in full.problems)
    # A core's counter never runs backwards, nor hours ahead: such times are taken from the records beside them.
    for time in (0, 1 << 60):
        wrong = decoded(ran, damaged(dump, (start + 64 + 4 * 16 + 8, time)), tmp_path)
        assert any("AIV0: 1 of its times do not fit the others" in problem for problem in wrong.problems)
        (launch,), (true,) = wrong.launches, ran.profile.launches
        assert launch["duration"] == true["duration"]
        assert [op["last_end"] for op in launch["ops"]] == [op["last_end"] for op in true["ops"]]
    blank = decoded(ran, damaged(dump, (start + 64 + 4 * 16, 0), (start + 64 + 4 * 16 + 8, 0)), tmp_path)
    assert any("AIV0: record 4 (0x0000000000000000) makes no sense" in problem for problem in blank.problems)
    empty = decoded(ran, dump[:64] + bytes(size * 3), tmp_path)
    assert empty.launches == [] and any(
        "no core has recorded" in problem or "ends before" in problem for problem in empty.problems
    )


def test_a_buffer_of_another_kernel_is_refused(ran: Ran, tmp_path: Path) -> None:
    """Whether that has fewer ops than the records tell of, or more, or records nothing."""
    described = json.loads(ran.json.read_text())
    (key, listed), *_ = described["SuperkernelInfo"]["kernelList"].items()
    for name, ops in (("shorter", listed[:-1]), ("longer", [*listed, listed[-1]])):
        described["SuperkernelInfo"]["kernelList"] = {key: ops}
        (tmp_path / f"{name}.json").write_text(json.dumps(described))
    options = ran.infos["super_kernel_options"].replace("profiling=1", "profiling=0")
    assert "profiling=0" in options
    with superkernel.configure(kernel_meta_parent_dir=tmp_path):
        superkernel.compile({**ran.infos, "super_kernel_options": options}, "plain")
    for name, problem in (
        ("shorter", r"recorded op 3, and it has 3 ops"),
        ("longer", r"none recorded op 4 of its 5 ops"),
        ("kernel_meta/plain", r"without profiling=1"),
    ):
        with pytest.raises(SuperKernelError, match=problem) as refusal:
            profiling.decode(ran.dump, tmp_path / f"{name}.json")
        assert refusal.value.errorinfo["errId"] == "SK0949"


def test_a_buffer_of_a_kernel_for_other_cores_is_refused(ran: Ran, streams: Ran) -> None:
    for dump, json_of in ((ran.dump, streams.json), (streams.dump, ran.json)):
        with pytest.raises(SuperKernelError) as refusal:
            profiling.decode(dump, json_of)
        assert refusal.value.errorinfo["errId"] == "SK0949"


def test_the_report_has_a_line_per_event_and_the_longest_gaps(
    streams: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = tmp_path / "dump.bin"
    dump.write_bytes(streams.dump)
    monkeypatch.setattr("superkernel.cli.profile.MOST_ROWS", 2)
    assert main(["profile", str(dump), "--kernel", str(streams.json), "--clock-mhz", "50"]) == 0
    shown = capsys.readouterr().out.splitlines()
    (launch,) = streams.profile.with_clock(50).launches
    assert shown[0].endswith(f"{launch['duration']:.2f} us (recorded by the simulator: steps, not times)")
    told = [line.strip() for line in shown if line.startswith("    ") and (" on " in line)]
    found = {(event["kind"], event["event"]) for event in launch["events"]}
    assert len(found) >= 2 and {tuple(line.split()[:2]) for line in told} <= {(kind, str(id)) for kind, id in found}
    assert any("cores: from" in line and ", longest " in line for line in told)
    longest = sorted(gap["end"] - gap["start"] for gap in launch["gaps"])[-2:]
    gaps = [float(line.split()[0]) for line in shown if "between op" in line]
    assert sorted(gaps) == pytest.approx(longest, abs=0.006) and f"and {len(launch['gaps']) - 2} more" in "\n".join(
        shown
    )
    # The same from a stream.
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(streams.dump)))
    assert main(["profile", "-", "--kernel", str(streams.json), "--clock-mhz", "50"]) == 0
    assert capsys.readouterr().out.splitlines() == shown


def test_after_a_hang_the_buffer_tells_where_cores_are(ran: Ran, tmp_path: Path) -> None:
    """Records up to the start of the last op: what a kernel that hangs there leaves."""
    start = area_of(ran.dump, 0)
    own = [record for record in ran.records if record.core == "AIV0"]
    kept = 1 + next(at for at, record in enumerate(own) if (record.kind, record.index) == ("op", 3))
    base = struct.unpack_from("<Q", ran.dump, start + 16)[0] - struct.unpack_from("<I", ran.dump, 12)[0]
    hung = decoded(ran, damaged(ran.dump, (start + 8, base + 64 + 16 * kept)), tmp_path)
    assert "task 77: op 3 `vec8` was started and not ended on AIV0" in hung.problems
    assert hung.launches[0]["ops"][3]["unfinished"] == 1


def test_cores_that_hang_between_ops(tmp_path: Path) -> None:
    """A `SyncAll` that idle cores do not follow: some cores wait for a hand-over for ever; the records tell where."""
    source = """#include "kernel_operator.h"
    extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y) {
        BODY ((__gm__ int *)y)[16 * AscendC::GetBlockIdx()] = 1;
    }"""
    entries = [
        build_op(
            source.replace("NAME", name).replace("BODY", body), name, None, AIV, blocks, out_dir=tmp_path, name=name
        )
        for name, body, blocks in (("good", "", 8), ("hangs", "AscendC::SyncAll();", 4))
    ]
    infos = {"op_list": [entry.entry() for entry in (*entries, entries[0])], "super_kernel_options": "profiling=1"}
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=tmp_path):
        superkernel.compile(infos, "te_hang")
    path = tmp_path / "kernel_meta" / "te_hang.json"
    with Device() as device:
        kernel = device.load(path)
        memory, records = device.buffer(8 * 64, "memory"), ProfilingBuffer(device, records=100)
        arguments = {slot.name: memory for slot in kernel.parameters if slot.role == "parameter"}
        report = kernel.launch({**arguments, "profiling": records.buffer}, events="sync")
        assert report.status == "deadlock"
        profile = records.decode(path)
    assert profile.problems == [
        "task 0: super kernel `te_hang` was started and not ended on AIV0, AIV1, AIV2, AIV3",
        "task 0: after op 1 `hangs`, where early-start-wait of op 2 `good` (list order) can hold a core up: AIV0, "
        "AIV1, AIV2, AIV3",
    ]
    (process,) = trace_reader.read(profile.traces().to_bytes())
    stuck = [slice for slice in process.slices if "not ended" in slice.arguments.get("reason", "")]
    assert {(slice.track, slice.kind, slice.arguments["op"]) for slice in stuck} == {
        (f"AIV{core}", "hand-over", 2) for core in range(4)
    }
    (process,) = trace_reader.read(report.traces().to_bytes())
    assert {slice.track for slice in process.slices if "not ended" in slice.arguments.get("reason", "")} == {
        f"AIV{core}" for core in range(4)
    }


@pytest.mark.parametrize("data", [b"", bytes(63), bytes(200), b"\xff" * 200])
def test_what_is_no_buffer_is_refused(ran: Ran, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(data)
    with pytest.raises(SuperKernelError, match="SK0940"):
        profiling.decode(tmp_path / "x.bin", ran.json)


@pytest.mark.parametrize("clock", [0.0, -1.0, float("nan"), float("inf")])
def test_a_clock_is_a_number_above_0(ran: Ran, clock: float) -> None:
    with pytest.raises(SuperKernelError, match="SK0941"):
        ran.profile.with_clock(clock)


def random_damage(rng: random.Random, dump: bytes) -> bytes:
    """Bytes, bits or stretches changed, records shifted, another size of the areas; perhaps cut."""
    changed = bytearray(dump)
    place = rng.randrange(len(changed))
    kind = rng.choice(["bytes", "bits", "blank", "size", "shift"])
    if kind == "bytes":
        for _ in range(rng.randint(1, 400)):
            changed[rng.randrange(len(changed))] = rng.choice([0, 1, 0xFF, rng.randrange(256)])
    elif kind == "bits":
        for _ in range(rng.randint(1, 20)):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    elif kind == "blank":
        length = min(rng.randrange(1, 5000), len(changed) - place)
        changed[place : place + length] = bytes(length)
    elif kind == "size":
        struct.pack_into(
            "<I", changed, 12, rng.choice([40, 48, 64, 80, 1024, rng.randrange(1 << 29) * 8, (1 << 32) - 8])
        )
    else:
        del changed[place : place + rng.randrange(1, 64)]
    return bytes(changed[: rng.choice([len(changed), rng.randrange(len(changed))])])


@pytest.mark.parametrize("which", ["ran", "streams"])
def test_random_damage_never_breaks_the_decoder(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    ran: Ran = request.getfixturevalue(which)
    rng = random.Random(3)
    for _ in range(int(os.environ.get("SUPERKERNEL_PROFILE_DAMAGE", "60"))):
        try:
            decoded(ran, random_damage(rng, ran.dump), tmp_path)
        except SuperKernelError as error:
            assert "SK0940" in str(error)
