"""``superkernel compare`` on profiler tables."""

from __future__ import annotations

import csv
import json
import os
from decimal import Decimal
from pathlib import Path

import pytest
from superkernel import SuperKernelError
from superkernel.cli import main
from superkernel.compare import COLUMNS, compare, read_statistic

SAMPLE = Path(__file__).parents[2] / "cases" / "scope" / "sample_profile"


def test_the_figures_of_the_sample(capsys: pytest.CaptureFixture[str]) -> None:
    comparison = compare(SAMPLE)
    assert comparison.unfused.total == Decimal("407.54")
    assert comparison.fused.total == Decimal("384.66")
    assert round(comparison.benefit, 2) == Decimal("5.61")
    assert [entry.op_type for entry in comparison.went_in] == ["GroupedMatmul", "MoeGatingTopK", "DequantSwigluQuant"]
    assert main(["compare", str(SAMPLE)]) == 0
    printed = capsys.readouterr().out
    assert "5.61 % (407.54 us -> 384.66 us)" in printed
    assert "218.76 us of single ops became 190.88 us of super kernels" in printed
    main(["compare", str(SAMPLE), "--json"])
    assert json.loads(capsys.readouterr().out)["benefit_percent"] == 5.61


def write(folder: Path, rows: list[tuple[object, ...]], header: tuple[str, ...] = COLUMNS) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "op_statistic.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([header, *rows])


def test_the_profilers_own_header_gives_the_same_figures(tmp_path: Path) -> None:
    for model in ("no_sk_model", "sk_model"):
        statistic = compare(SAMPLE).unfused if model == "no_sk_model" else compare(SAMPLE).fused
        rows = [("0", "m", row.op_type, row.core_type, 1, row.total, 0, 0, 0, 0) for row in statistic.rows]
        write(tmp_path / model / "x_ascend_pt" / "PROF_1" / "mindstudio_profiler_output", rows)
    comparison = compare(tmp_path)
    assert (comparison.unfused.total, comparison.fused.total) == (Decimal("407.54"), Decimal("384.66"))


def test_counts_tell_what_went_in_partly(tmp_path: Path) -> None:
    def row(op_type: str, count: int, total: str) -> tuple[object, ...]:
        return ("0", "m", op_type, "AI_VECTOR_CORE", count, total, 0, 0, 0, 0)

    write(tmp_path / "no_sk_model", [row("Cast", 4, "8"), row("Add", 1, "1")])
    write(tmp_path / "sk_model", [row("Cast", 1, "2"), row("Add", 1, "1"), row("SuperKernel", 1, "4.5")])
    comparison = compare(tmp_path)
    assert [(entry.op_type, entry.before, entry.after) for entry in comparison.went_in] == [("Cast", 8, 2)]
    assert "benefit of super kernels: 16.67 %" in str(comparison)


def tasks(folder: Path, rows: list[tuple[str, str, float]], name: str = "op_summary_1.csv") -> None:
    """A table of single ops."""
    with (folder / name).open("w", newline="") as file:
        header = ("Op Name", "OP Type", "Task Type", "Task Duration(us)", "Task Wait Time(us)", "Block Dim")
        csv.writer(file).writerows([header, *((op, kind, "AI_VECTOR_CORE", us, 1, 8) for op, kind, us in rows)])


def test_differences_op_by_op(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def row(op_type: str, total: str) -> tuple[object, ...]:
        return ("0", "m", op_type, "AI_VECTOR_CORE", 2, total, 0, 0, 0, 0)

    write(tmp_path / "no_sk_model", [row("Cast", "10"), row("Add", "4")])
    write(tmp_path / "sk_model", [row("SuperKernel", "6"), row("Add", "5")])
    # Two steps each: averages. An op that is in one run only counts whole.
    tasks(
        tmp_path / "no_sk_model", [("cast_1", "Cast", 3), ("cast_1", "Cast", 7), ("add", "Add", 2), ("add", "Add", 2)]
    )
    tasks(tmp_path / "sk_model", [("sk", "SuperKernel", 3), ("add", "Add", 2.25), ("add", "Add", 2.75)])
    comparison = compare(tmp_path)
    assert [(row.op_type, row.change) for row in comparison.types] == [("Cast", -10), ("SuperKernel", 6), ("Add", 1)]
    found = [(row.op, row.before, row.after, row.change) for row in comparison.ops]
    assert found == [("cast_1", 5, None, -5), ("sk", None, 3, 3), ("add", 2, Decimal("2.5"), Decimal("0.5"))]
    lines = str(comparison).splitlines()
    at = lines.index("op by op, on average, the largest change first:")
    assert [line.split() for line in lines[at + 2 : at + 5]] == [
        ["cast_1", "Cast", "AI_VECTOR_CORE", "5", "-5"],
        ["sk", "SuperKernel", "AI_VECTOR_CORE", "3", "+3"],
        ["add", "Add", "AI_VECTOR_CORE", "2", "2.5", "+0.5"],
    ]
    assert main(["compare", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ops"][0] == {
        "op": "cast_1",
        "op_type": "Cast",
        "core_type": "AI_VECTOR_CORE",
        "before_us": 5.0,
        "after_us": None,
        "change_us": -5.0,
    }
    assert [row["change_us"] for row in told["op_types"]] == [-10.0, 6.0, 1.0]
    # Without such a table of both runs there is nothing to compare op by op.
    (tmp_path / "sk_model" / "op_summary_1.csv").unlink()
    assert compare(tmp_path).ops == [] and "op by op" not in str(compare(tmp_path))
    tasks(tmp_path / "sk_model", [(f"op{at}", "Add", at) for at in range(60)], "kernel_details.csv")
    assert "  and 22 more; --json has all" in str(compare(tmp_path))


def test_copied_totals_are_not_counted_and_the_newest_run_wins(tmp_path: Path) -> None:
    header = ("OP_Type", "Core Type", "Total Time(us)")
    for age, total in ((100, "5"), (0, "7")):
        folder = tmp_path / "sk_model" / f"PROF_{age}"
        write(folder, [("Add", "AIV", total), ("sk_model", "Total Time", total)], header)
        stamp = (folder / "op_statistic.csv").stat().st_mtime - age
        os.utime(folder / "op_statistic.csv", (stamp, stamp))
    write(tmp_path / "no_sk_model", [("Add", "AIV", "10")], header)
    comparison = compare(tmp_path)
    assert (comparison.fused.total, comparison.benefit) == (Decimal(7), Decimal(30))


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "is empty"),
        ("Type,Core Type,Total Time(us)\n", "no column for optype"),
        ("OP Type,Core Type,Total Time(us)\nAdd,AIV,soon\n", "row 2"),
        ("OP Type,Core Type,Total Time(us)\nAdd,AIV\n", "row 2"),
        ("OP Type,Core Type,Total Time(us)\nAdd,AIV,nan\n", "row 2"),
        ("OP Type,Core Type,Total Time(us)\nAdd,AIV,-1\n", "row 2"),
        ("OP Type,Core Type,Total Time(us)\nAdd,AIV,1e26\n", "row 2"),
        ("OP Type,Core Type,Total Time(us)\nAdd,AIV,1e99999999999\n", "row 2"),
        ("OP Type,Core Type,Total Time(us)\nAdd,AIV,sNaN\n", "row 2"),
        (f"OP Type,Core Type,Total Time(us)\n{'A' * 200_000},AIV,1\n", "field larger"),
        (f"OP Type,Core Type,Total Time(us)\n{'A' * 100_000},AIV,soon\n", "row 2"),
        (f"OP Type,Core Type,Total Time(us),Count\nAdd,AIV,1,{'9' * 5000}\n", "row 2"),
        (f"{'A' * 100_000},Core Type,Total Time(us)\n", "no column for optype"),
        ("OP Type,Core Type,Total Time(us)\nA\0dd,AIV,soon\n", "op_statistic"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, content: str, part: str) -> None:
    path = tmp_path / "op_statistic.csv"
    path.write_text(content)
    with pytest.raises(SuperKernelError, match=part) as caught:
        read_statistic(path)
    assert caught.value.errorinfo["errId"] == "SK1018"
    assert len(str(caught.value)) < 1000


def test_figures_far_apart_are_compared(tmp_path: Path) -> None:
    header = ("OP Type", "Core Type", "Total Time(us)")
    for unfused, fused in (("1e-30", "9e14"), ("1e-6", "9e14"), ("9e14", "1e-999999"), ("0." + "1" * 5000, "1")):
        write(tmp_path / "no_sk_model", [("Add", "AIV", unfused)], header)
        write(tmp_path / "sk_model", [("Add", "AIV", fused)], header)
        assert "benefit of super kernels" in str(compare(tmp_path))


def test_a_link_that_leads_nowhere_is_no_newest_table(tmp_path: Path) -> None:
    write(tmp_path / "no_sk_model", [])
    write(tmp_path / "sk_model", [])
    (tmp_path / "sk_model" / "a").mkdir()
    (tmp_path / "sk_model" / "a" / "op_statistic.csv").symlink_to("nowhere")
    assert compare(tmp_path).benefit == 0


@pytest.mark.parametrize("folder", [None, 5, b"x", "a\0b", "\ud800"])
def test_what_is_no_folder(folder: object) -> None:
    with pytest.raises(SuperKernelError):
        compare(folder)  # type: ignore[arg-type]


def test_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(tmp_path)]) == 1
    assert "no_sk_model" in capsys.readouterr().err
    write(tmp_path / "no_sk_model", [])
    write(tmp_path / "sk_model", [])
    assert compare(tmp_path).benefit == 0
