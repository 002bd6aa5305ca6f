"""``superkernel profile``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from superkernel.cli._pictures import add_timeline, show_timeline

if TYPE_CHECKING:
    from superkernel.profiling import Profile

#: Gaps and events beyond these are counted, not listed.
MOST_ROWS = 20


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "profile",
        help="decode the profiling buffer of a device",
        description="Read a dump of the buffer that a super kernel built with profiling=1 writes: when every op ran on "
        "every core, events, gaps. A damaged or incomplete dump is shown as far as it can be read, and the rest "
        "is reported. With --json it is a profile that `superkernel calibrate` and `superkernel predict` read.",
    )
    command.add_argument("dump", metavar="DUMP.bin", help="the buffer, from its first byte; - for standard input")
    command.add_argument("--kernel", required=True, metavar="NAME.json", help="the JSON beside the kernel's object")
    command.add_argument(
        "--clock-mhz", type=float, metavar="MHZ", help="cycles per microsecond; without it times are cycles"
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print the table of the ops as CSV")
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    add_timeline(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the tables."""
    from superkernel import profiling
    from superkernel.cli import _streams

    is_stream = options.dump == "-" or _streams.stream_number(options.dump) is not None
    dump = _streams.read(options.dump) if is_stream else options.dump
    profile = profiling.decode(dump, options.kernel, clock_mhz=options.clock_mhz)
    if options.json:
        import json

        print(json.dumps(profile.to_dict(), indent=2))
    elif options.csv:
        print(profile.to_csv(), end="")
    else:
        print("\n".join(lines(profile)))
    show_timeline(options, profile.traces())


def lines(profile: Profile) -> Iterable[str]:
    """The report."""
    from superkernel.cli._forecast import table

    unit = profile.unit
    by = " (recorded by the simulator: steps, not times)" if profile.to_dict()["source"] == "simulator" else ""
    for launch in profile.launches:
        yield f"{profile.kernel}, task {launch['task']}: {_time(launch['duration'], unit)} {unit}{by}"
        yield from table(
            ("op", "name", "cores", f"starts ({unit})", "ends", "min", "avg", "max", "imbalance", "waits %"),
            [_row(op, unit) for op in launch["ops"]],
            left=2,
        )
        yield from _gaps(launch, unit)
        yield from _listed("events:", list(_events(launch["events"], unit)))
        yield ""
    for problem in profile.problems:
        yield f"problem: {problem}"


def _row(op: dict[str, Any], unit: str) -> tuple[str, ...]:
    times = (_time(op[name], unit) for name in ("first_start", "last_end", "min", "avg", "max", "imbalance"))
    cores = str(op["cores"]) if not op["unfinished"] else f"{op['cores']} ({op['unfinished']} did not end)"
    return (str(op["position"]), op["name"], cores, *times, f"{100 * op['wait_share']:.0f}")


def _gaps(launch: dict[str, Any], unit: str) -> Iterable[str]:
    """The longest ones, in order."""
    gaps = launch["gaps"]
    lengths = [gap["end"] - gap["start"] for gap in gaps]
    total = sum(lengths)
    share = 100 * total / launch["duration"] if launch["duration"] else 0.0
    shown = sorted(sorted(range(len(gaps)), key=lambda number: -lengths[number])[:MOST_ROWS])
    rows = []
    for number in shown:
        gap = gaps[number]
        place = f"at {_time(gap['start'], unit)}, between op {gap['after']} and op {gap['before']}"
        rows.append(f"{_time(lengths[number], unit)} {place}")
    if gaps:
        title = f"{len(gaps)} gaps in which no core is in an op, {_time(total, unit)} {unit} in all ({share:.0f} %)"
        yield from _listed(f"{title}:" if len(shown) == len(gaps) else f"{title}; the longest:", rows, len(gaps))


def _events(events: list[dict[str, Any]], unit: str) -> Iterable[str]:
    """A line per notify or wait, over all cores that take part."""
    grouped: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for event in events:
        grouped.setdefault((event["kind"], event["event"]), []).append(event)
    for (kind, number), own in sorted(grouped.items(), key=lambda item: min(one["start"] for one in item[1])):
        ended = [one for one in own if one["end"] is not None]
        cores = own[0]["core"] if len(own) == 1 else f"{len(own)} cores"
        text = f"{kind} {number} on {cores}: from {_time(min(one['start'] for one in own), unit)}"
        if ended:
            longest = max(ended, key=lambda one: float(one["end"] - one["start"]))
            text += f" to {_time(max(one['end'] for one in ended), unit)}"
            text += f", longest {_time(longest['end'] - longest['start'], unit)} on {longest['core']}"
        if len(ended) < len(own):
            text += f"; {len(own) - len(ended)} did not end ({next(one['core'] for one in own if one['end'] is None)})"
        yield text


def _listed(title: str, rows: list[str], total: int | None = None) -> Iterable[str]:
    if rows:
        yield f"  {title}"
        yield from (f"    {row}" for row in rows[:MOST_ROWS])
    more = (len(rows) if total is None else total) - MOST_ROWS
    if more > 0:
        yield f"    and {more} more; --json has all"


def _time(value: float, unit: str) -> str:
    """Microseconds with two digits; cycles are whole, averages of them not."""
    return f"{value:.2f}" if unit == "us" else f"{value:.1f}".removesuffix(".0")
