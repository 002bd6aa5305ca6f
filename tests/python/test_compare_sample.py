"""The comparison sample: its cost model, and the whole of it on the simulator."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from superkernel.compare import COLUMNS, compare

SAMPLE = Path(__file__).parents[2] / "examples" / "compare"
sys.path.insert(0, str(SAMPLE))

from cost_model import Operator, Prices, Work, task_time  # noqa: E402

FREE = Prices(task_start=1.0, code_miss=0.0, preloaded=0.0, flag_set=0.0, flag_wait=0.0, move=1.0, vector=1.0, macs=1.0)


def core(name: str, block: int = 0, preloads: int = 0) -> SimpleNamespace:
    return SimpleNamespace(core=name, kind=name[:3].lower(), block=block, counts={"preloads": preloads})


def report(cores: list[SimpleNamespace], *events: str) -> SimpleNamespace:
    rows = []
    for event in events:
        name, what, *rest = event.split(maxsplit=2)
        text = rest[0] if rest else ""
        named = what.startswith("op-")
        rows.append(SimpleNamespace(core=name, what=what, op=text if named else None, detail=None if named else text))
    return SimpleNamespace(cores=cores, events=rows)


def test_the_slowest_core_decides() -> None:
    ops = {"op": Operator(0, {"AIV0": Work(1024), "AIV1": Work(2048, 1024)})}
    run = report(
        [core("AIV0"), core("AIV1")], "AIV0 op-begin op", "AIV1 op-begin op", "AIV0 op-end op", "AIV1 op-end op"
    )
    assert task_time(run, ops, FREE) == pytest.approx(1 + 3)


def test_a_barrier_waits_for_the_last() -> None:
    ops = {"a": Operator(0, {"AIV0": Work(4096), "AIV1": Work(1024)}), "b": Operator(0, {"AIV1": Work(1024)})}
    cores = [core("AIV0"), core("AIV1")]
    first = ["AIV0 op-begin a", "AIV0 op-end a", "AIV1 op-begin a", "AIV1 op-end a"]
    meeting = ["AIV1 set mode 0 flag 12", "AIV0 set mode 0 flag 12", "AIV0 waited flag 12", "AIV1 waited flag 12"]
    second = ["AIV1 op-begin b", "AIV1 op-end b"]
    assert task_time(report(cores, *first, *second), ops, FREE) == pytest.approx(1 + 4)
    assert task_time(report(cores, *first, *meeting, *second), ops, FREE) == pytest.approx(1 + 4 + 1)
    priced = Prices(**{**vars(FREE), "flag_set": 0.5, "flag_wait": 0.25})
    assert task_time(report(cores, *first, *meeting, *second), ops, priced) == pytest.approx(1 + 4 + 0.75 + 1)


def test_a_cube_core_tells_both_its_vector_cores_only() -> None:
    ops = {"mm": Operator(0, {"AIC0": Work(macs=8192), "AIV0": Work(1024), "AIV2": Work(1024)})}
    cores = [core("AIC0", 0), core("AIV0", 0), core("AIV1", 0), core("AIC1", 1), core("AIV2", 1), core("AIV3", 1)]
    told = [
        "AIC0 op-begin mm",
        "AIC0 set mode 2 flag 3",
        "AIC1 set mode 2 flag 3",
        "AIV0 op-begin mm",
        "AIV0 waited flag 3",
        "AIV0 op-end mm",
        "AIV2 op-begin mm",
        "AIV2 waited flag 3",
        "AIV2 op-end mm",
    ]
    assert task_time(report(cores, *told), ops, FREE) == pytest.approx(1 + 8 + 1)
    others = [event for event in told if not event.startswith("AIV0")]
    assert task_time(report(cores, *others), ops, FREE) == pytest.approx(1 + 8), "the other block does not wait"


def test_preloading_hides_code_but_not_that_of_the_first_op() -> None:
    prices = Prices(**{**vars(FREE), "code_miss": 2.0, "preloaded": 0.1})
    ops = {"a": Operator(4096), "b": Operator(2049)}
    events = ["AIV0 op-begin a", "AIV0 op-end a", "AIV0 op-begin b", "AIV0 op-end b"]
    assert task_time(report([core("AIV0")], *events), ops, prices) == pytest.approx(1 + 4 + 4)
    assert task_time(report([core("AIV0", preloads=1)], *events), ops, prices) == pytest.approx(1 + 4 + 0.4)


def test_the_whole_sample(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SAMPLE / "superkernel_compare.py"), "-j", "2"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert done.stdout.rstrip().endswith("execute sample success")
    assert "bit-equal with and without super kernels" in done.stdout
    assert "7 super kernel(s): 5 compiled, 2 reused, 0 failed" in done.stdout
    assert "SIMULATED" in done.stdout
    tables = sorted((tmp_path / "prof_result").rglob("op_statistic.csv"))
    assert [table.relative_to(tmp_path / "prof_result").parts[0] for table in tables] == ["no_sk_model", "sk_model"]
    for table in tables:
        with table.open(newline="") as file:
            assert tuple(next(csv.reader(file))) == COLUMNS
    comparison = compare(tmp_path / "prof_result")
    assert {entry.op_type for entry in comparison.went_in} == {
        "GroupedMatmul",
        "MoeGatingTopK",
        "DequantSwigluQuant",
        "Cast",
    }
    assert 0 < comparison.benefit < 100
    (kernels,) = (row for row in comparison.fused.rows if row.op_type == "SuperKernel")
    assert kernels.launches == 7
