"""The comparison sample: durations from the simulator, and the whole of it."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from superkernel.compare import COLUMNS, compare
from superkernel.sim.durations import WorkPrices, simulated_profile

SAMPLE = Path(__file__).parents[3] / "examples" / "compare"
PAGE = Path(__file__).parents[3] / "docs" / "cost-model.md"


def core(name: str, block: int, **counts: int) -> SimpleNamespace:
    return SimpleNamespace(core=name, kind=name[:3].lower(), block=block, counts=counts)


def test_durations_follow_from_what_cores_moved_and_computed() -> None:
    report = SimpleNamespace(
        cores=[
            core("AIC0", 0),
            core("AIV0", 0, moved_bytes=1024),
            core("AIV1", 0, moved_bytes=2048, vector_bytes=1024),
            core("AIC1", 1),
            core("AIV2", 1, moved_bytes=1024),
        ]
    )
    prices = WorkPrices(move=1.0, vector=2.0, macs=10.0)
    profile = simulated_profile([("mm", report)], macs={("mm", "AIC0"): 512}, prices=prices)  # type: ignore[list-item]
    assert profile["source"] == "simulator"
    (op,) = profile["ops"]
    found = {(entry["kind"], entry["number"]): entry["end"] for entry in op["cores"]}
    # The vector cores of a block work behind its cube core.
    expected = {("aic", 0): 5.0, ("aiv", 0): 6.0, ("aiv", 1): 9.0, ("aic", 1): 0.0, ("aiv", 2): 1.0}
    assert found == pytest.approx(expected)


def documented(printed: str) -> None:
    """The cost model's page has the figures that the sample prints; ``SUPERKERNEL_BLESS=1`` writes them anew."""
    before, shown, after = re.split(r"(?<=```\n)(benefit .*?)(?=\n```)", PAGE.read_text(), maxsplit=1, flags=re.DOTALL)
    wanted = printed[printed.index("benefit of super kernels") :].split("\n\n")[0]
    if os.environ.get("SUPERKERNEL_BLESS"):
        PAGE.write_text(before + wanted + after)
    else:
        assert shown == wanted, "`SUPERKERNEL_BLESS=1 pytest tests/python/cost/test_compare_sample.py` rewrites it"


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
    assert "7 super kernels: 5 compiled, 2 shared, 0 failed" in done.stdout
    assert "PREDICTED" in done.stdout
    documented(done.stdout)
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
    assert len(list((tmp_path / "build" / "compare").glob("profile.json"))) == 1
