"""``superkernel trace``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Rows of a table on a terminal.
MOST_ROWS = 40


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "trace",
        help="show timelines that were written before, one run or two side by side",
        description="Read files that `--trace` of plan, predict, run and profile wrote (.json or .html). Of one: its "
        "kernels and what their critical path spends its time in. Of two: what differs, op by op, the largest first. "
        "`--html` writes them as one page, two runs side by side, that needs no network.",
    )
    command.add_argument("files", nargs="+", metavar="TRACE", help="one or two files; `-`: standard input")
    form = command.add_mutually_exclusive_group()
    form.add_argument(
        "--html",
        nargs="?",
        const="timeline.html",
        metavar="OUT.html",
        help="write a page with the timelines (default name: %(const)s)",
    )
    form.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the figures, or writes the page."""
    import json
    import os
    import sys

    from superkernel import _files, pictures
    from superkernel._errors import make_error
    from superkernel.cli import _streams
    from superkernel.pictures import timeline

    if len(options.files) > 2:
        problem = f"{len(options.files)} traces are given"
        raise make_error("SK0970", problem, "give one, or two that are to be shown side by side")
    if options.html is not None and _streams.stream_number(options.html) is None and not _files.is_page(options.html):
        # `--html a.json b.json` would write over the first trace.
        problem = f"`--html {options.html}`: not the name of a page"
        raise make_error("SK0970", problem, "name it OUT.html, or write `--html` after the traces")
    runs = [(path, timeline.parsed(_streams.read(path), path)) for path in options.files]
    if options.html is not None:
        title = " and ".join(os.path.basename(path) for path in options.files)
        _streams.write(options.html, pictures.page("timeline", title, timeline.of_runs(runs)).encode())
        print(f"written: {options.html}", file=sys.stderr)
    elif options.json:
        print(json.dumps(_figures(runs), indent=2))
    else:
        print("\n".join(_lines(runs)))


_Runs = Sequence[tuple[str, Sequence[Mapping[str, Any]]]]


def _figures(runs: _Runs) -> dict[str, Any]:
    from superkernel.pictures import timeline

    def kernel(one: Mapping[str, Any]) -> dict[str, Any]:
        times = [{"op": op[0], "start": op[1] / 1000, "end": op[2] / 1000, "runs": op[4]} for op in one["ops"]]
        path = [{"spent_in": label, "time": nanos / 1000} for label, nanos in one["shares"]]
        told = {key: one[key] for key in ("kernel", "axis", "unit", "notes")}
        return {**told, "end": one["end"] / 1000, "ops": times, "critical_path": path}

    figures: dict[str, Any] = {"runs": [{"file": path, "kernels": [*map(kernel, found)]} for path, found in runs]}
    if len(runs) == 2:
        figures["differences"] = [
            {"kernel": one["kernel"], "ops": [{**row._asdict(), "change": row.change} for row in rows]}
            for one, _, rows in timeline.compared(runs[0][1], runs[1][1])
        ]
    return figures


def _lines(runs: _Runs) -> Iterable[str]:
    from superkernel.cli._forecast import table
    from superkernel.pictures import timeline

    for path, kernels in runs:
        for one in kernels:
            yield f"{path}: {one['kernel']}: {one['axis'] or one['unit']}"
            yield f"  {len(one['ops'])} ops on {len(one['tracks'])} tracks, {_time(one['end'] / 1000)} {one['unit']}"
            if one["shares"] and len(runs) == 1:
                yield from table(
                    ("critical path", one["unit"], "share"),
                    [
                        (label, _time(nanos / 1000), f"{100 * nanos / max(1, one['end']):.1f} %")
                        for label, nanos in one["shares"][:MOST_ROWS]
                    ],
                )
            for note in one["notes"]:
                yield f"  note: {note}"
    if len(runs) == 2:
        yield ""
        yield from _differences(timeline.compared(runs[0][1], runs[1][1]))


def _differences(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any], Sequence[Any]]]) -> Iterable[str]:
    from superkernel.cli._forecast import table

    if not pairs:
        yield "no kernel is in both"
    for one, other, rows in pairs:
        is_same = one["unit"] == other["unit"]
        yield f"{one['kernel']}, op by op:"
        told = [
            (
                row.op,
                "" if row.before is None else _time(row.before),
                "" if row.after is None else _time(row.after),
                f"{row.change:+.2f}" if is_same else "",
            )
            for row in rows[:MOST_ROWS]
        ]
        yield from table(("op", f"first {one['unit']}", f"second {other['unit']}", "change"), told)
        if len(rows) > MOST_ROWS:
            yield f"  and {len(rows) - MOST_ROWS} more; --json has all"
        if not is_same:
            yield f"  {one['unit']} and {other['unit']} cannot be subtracted"


def _time(value: float) -> str:
    return f"{value:.2f}"
