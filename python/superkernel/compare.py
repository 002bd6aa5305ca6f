"""Comparing two profiler results: the model with super kernels and the same model without.

The profiler writes a table ``op_statistic.csv`` per run. Both its own header and the three columns people copy out of
it are understood; columns are found by name.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

from superkernel import _core, _files
from superkernel._errors import make_error

__all__ = ["Change", "Comparison", "Row", "Statistic", "compare", "read_statistic"]

FILE = "op_statistic.csv"
FUSED = "sk_model"
UNFUSED = "no_sk_model"
SUPER_KERNEL = "SuperKernel"

#: Rows of the table op by op.
MOST_OPS = 40
#: The profiler's tables of single ops, the best first.
_SINGLE_OPS = ("op_summary*.csv", "kernel_details*.csv")

#: Microseconds no run takes (30 years), and finer ones than any clock tells: within them all sums are exact.
LONGEST = Decimal(10) ** 15
SHORTEST = Decimal("0.000001")

#: Times of the same ops differ from run to run, but not by this much: below this share of the time some must be gone.
NOISE = Decimal("0.8")

#: The header of the profiler itself.
COLUMNS = (
    "Device_id",
    "Model Name",
    "OP Type",
    "Core Type",
    "Count",
    "Total Time(us)",
    "Min Time(us)",
    "Avg Time(us)",
    "Max Time(us)",
    "Ratio(%)",
)


class Row(NamedTuple):
    """One op type on one core type."""

    op_type: str
    core_type: str
    total: Decimal
    launches: int | None


class Statistic(NamedTuple):
    """One table."""

    path: Path
    rows: list[Row]

    @property
    def total(self) -> Decimal:
        """Microseconds of all rows."""
        return sum((row.total for row in self.rows), Decimal(0))


class Fused(NamedTuple):
    """An op type that takes less time outside of super kernels than before."""

    op_type: str
    core_type: str
    before: Decimal
    after: Decimal
    count_before: int | None
    count_after: int | None


class Change(NamedTuple):
    """An op, or all ops of a type, in both runs; ``None`` where it is not there."""

    op: str
    op_type: str
    core_type: str
    #: Microseconds: of an op on average, of a type in all.
    before: Decimal | None
    after: Decimal | None

    @property
    def change(self) -> Decimal:
        """Below 0: less time than before."""
        return (self.after or Decimal(0)) - (self.before or Decimal(0))


class Comparison(NamedTuple):
    """Two tables side by side."""

    unfused: Statistic
    fused: Statistic
    #: Op by op, the largest change first; empty where the profiles have no table of single ops.
    ops: Sequence[Change] = ()

    @property
    def types(self) -> list[Change]:
        """Op types, the largest change first."""
        totals: list[dict[tuple[str, str], Decimal]] = [{}, {}]
        for found, statistic in zip(totals, (self.unfused, self.fused)):
            for row in statistic.rows:
                key = (row.op_type, row.core_type)
                found[key] = found.get(key, Decimal(0)) + row.total
        before, after = totals
        return _largest_first(Change("", *key, before.get(key), after.get(key)) for key in {**before, **after})

    @property
    def benefit(self) -> Decimal:
        """By how many percent the fused model is faster; negative: slower."""
        if self.unfused.total == 0:
            return Decimal(0)
        return (self.unfused.total - self.fused.total) / self.unfused.total * 100

    @property
    def went_in(self) -> list[Fused]:
        """Op types that went into super kernels, wholly or in part.

        A type that is gone went in wholly. Fewer launches show that some went in; where counts are not known, a much
        shorter time does.
        """
        after = {(row.op_type, row.core_type): row for row in self.fused.rows}
        found = []
        for row in self.unfused.rows:
            rest = after.get((row.op_type, row.core_type))
            if row.op_type != SUPER_KERNEL and (rest is None or _went_in_partly(row, rest)):
                found.append(
                    Fused(
                        row.op_type,
                        row.core_type,
                        row.total,
                        Decimal(0) if rest is None else rest.total,
                        row.launches,
                        0 if rest is None else rest.launches,
                    )
                )
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The report."""
        for name, statistic in ((UNFUSED, self.unfused), (FUSED, self.fused)):
            yield f"{name}: {statistic.path}"
            rows = [(row.op_type, row.core_type, number(row.total)) for row in statistic.rows]
            rows.append((name, "Total Time", number(statistic.total)))
            yield from _table(("OP_Type", "Core Type", "Total Time(us)"), rows)
            yield ""
        went_in = self.went_in
        if went_in:
            yield "went into super kernels:"
            yield from _table(
                ("OP_Type", "Core Type", "before(us)", "left(us)"),
                [(entry.op_type, entry.core_type, number(entry.before), number(entry.after)) for entry in went_in],
            )
            before = sum((entry.before - entry.after for entry in went_in), Decimal(0))
            kernels = sum((row.total for row in self.fused.rows if row.op_type == SUPER_KERNEL), Decimal(0))
            yield f"  {number(before)} us of single ops became {number(kernels)} us of super kernels"
            yield ""
        yield "by op type, the largest change first:"
        yield from _table(_CHANGES[1:], [row[1:] for row in _changes(self.types)])
        yield ""
        if self.ops:
            yield "op by op, on average, the largest change first:"
            yield from _table(_CHANGES, _changes(self.ops[:MOST_OPS]), left=3)
            if len(self.ops) > MOST_OPS:
                yield f"  and {len(self.ops) - MOST_OPS} more; --json has all"
            yield ""
        yield (
            f"benefit of super kernels: {percent(self.benefit)} % "
            f"({number(self.unfused.total)} us -> {number(self.fused.total)} us)"
        )


_CHANGES = ("Op Name", "OP_Type", "Core Type", "before(us)", "after(us)", "change(us)")


def _changes(found: Iterable[Change]) -> list[tuple[str, ...]]:
    """Rows of a table; nothing stands where an op is not there."""

    def time(value: Decimal | None) -> str:
        return "" if value is None else number(value)

    return [
        (
            row.op,
            row.op_type,
            row.core_type,
            time(row.before),
            time(row.after),
            f"{'+' if row.change > 0 else ''}{number(row.change)}",
        )
        for row in found
    ]


def _largest_first(found: Iterable[Change]) -> list[Change]:
    return sorted(found, key=lambda row: (-abs(row.change), row.op, row.op_type, row.core_type))


def _went_in_partly(before: Row, after: Row) -> bool:
    """Is part of an op type gone?"""
    if before.launches is not None and after.launches is not None:
        return after.launches < before.launches
    return after.total < before.total * NOISE


def number(value: Decimal) -> str:
    """Without zeros at the end, as the profiler writes it; thousandths of a microsecond at most."""
    text = f"{value.quantize(Decimal('0.001'), ROUND_HALF_UP):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(value: Decimal) -> str:
    """Two digits."""
    return f"{value.quantize(Decimal('0.01'), ROUND_HALF_UP):f}"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]], left: int = 2) -> Iterator[str]:
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ]
        yield "  " + "  ".join(cells).rstrip()


# -- reading ---------------------------------------------------------------------------------------------------------


def compare(folder: str | os.PathLike[str]) -> Comparison:
    """Compares the two runs below ``folder`` (usually ``prof_result``): ``no_sk_model`` and ``sk_model``."""
    root = Path(_files.checked_path(folder, "folder"))
    runs = [root / UNFUSED, root / FUSED]
    unfused, fused = (read_statistic(_find(run)) for run in runs)
    # A run may be given as its table alone.
    single = [_single_ops(one.path.parent) if run.is_dir() else {} for run, one in zip(runs, (unfused, fused))]
    return Comparison(unfused, fused, _op_by_op(*single))


def _single_ops(folder: Path) -> dict[tuple[str, str, str], Decimal]:
    """The average time of every op of a run: of the tables of single ops beside its statistic."""
    times: dict[tuple[str, str, str], list[float]] = {}
    for pattern in _SINGLE_OPS:
        tables = sorted(folder.glob(pattern))
        for table in tables:
            for op, op_type, core_type, us in _core.cost_tasks(str(table)):
                times.setdefault((op, op_type, core_type), []).append(us)
        if tables:
            break
    return {key: Decimal(repr(sum(own) / len(own))).quantize(SHORTEST) for key, own in times.items()}


def _op_by_op(
    before: Mapping[tuple[str, str, str], Decimal], after: Mapping[tuple[str, str, str], Decimal]
) -> list[Change]:
    if not before or not after:
        return []
    return _largest_first(Change(*key, before.get(key), after.get(key)) for key in {**before, **after})


def _find(folder: Path) -> Path:
    """The table of one run; of several the newest, as the profiler makes a folder per run."""
    if os.path.exists(folder) and not folder.is_dir():
        return folder
    found = _files.by_age(folder.rglob(FILE))
    if not found:
        raise _refuse(f"there is no `{FILE}` below `{folder}`")
    return found[-1]


def read_statistic(path: str | os.PathLike[str]) -> Statistic:
    """Reads one table; rows of totals, as people add them, are left out."""
    content = _files.read(path)
    path = Path(path)
    try:
        lines = csv.reader(content.decode("utf-8-sig").splitlines())
        table = [[cell.strip() for cell in line] for line in lines if any(map(str.strip, line))]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _refuse(f"cannot read `{path}`: {error}") from None
    if not table:
        raise _refuse(f"`{path}` is empty")
    columns = {_key(name): position for position, name in enumerate(table[0])}
    wanted = {name: columns.get(name) for name in ("optype", "coretype", "totaltime(us)")}
    missing = [name for name, position in wanted.items() if position is None]
    if missing:
        raise _refuse(f"`{path}` has no column for {', '.join(missing)}; its columns are {_short(table[0])}")
    rows = []
    for line_number, line in enumerate(table[1:], start=2):
        cell = {name: line[position] if position < len(line) else "" for name, position in columns.items()}
        if cell["coretype"] == "Total Time":
            continue
        try:
            count = int(cell["count"]) if cell.get("count") else None
            total = Decimal(cell["totaltime(us)"])
            if not 0 <= total < LONGEST:
                raise InvalidOperation
            total = total.quantize(SHORTEST)
        except (InvalidOperation, ValueError):
            raise _refuse(f"`{path}`, row {line_number}: `{_short(line)}` has no time in microseconds") from None
        rows.append(Row(cell["optype"], cell["coretype"], total, count))
    return Statistic(path, rows)


def _short(cells: list[str]) -> str:
    """A line of the table for a message."""
    text = ", ".join(cells)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _key(name: str) -> str:
    """``OP_Type``, ``OP Type`` and ``Op type`` are one column."""
    return name.strip().lower().replace(" ", "").replace("_", "")


def _refuse(problem: str) -> Exception:
    return make_error("SK1018", problem, f"give a folder with `{UNFUSED}` and `{FUSED}`, each with an `{FILE}`")
