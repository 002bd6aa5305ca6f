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
        "every core, events, gaps. Of a damaged or cut dump what can be read is shown and the rest is told. With "
        "--json it is a profile that `superkernel calibrate` and `superkernel predict` read.",
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
    for launch in profile.launches:
        yield f"{profile.kernel}, task {launch['task']}: {_number(launch['duration'])} {unit}"
        yield from table(
            ("op", "name", "cores", f"starts ({unit})", "ends", "min", "avg", "max", "imbalance", "waits %"),
            [_row(op) for op in launch["ops"]],
            left=2,
        )
        yield from _listed("gaps, in which no core is in an op", [_gap(gap) for gap in launch["gaps"]])
        yield from _listed("events", [_event(event) for event in launch["events"]])
        yield ""
    for problem in profile.problems:
        yield f"problem: {problem}"


def _row(op: dict[str, Any]) -> tuple[str, ...]:
    times = (op[name] for name in ("first_start", "last_end", "min", "avg", "max", "imbalance"))
    cores = str(op["cores"]) if not op["unfinished"] else f"{op['cores']} ({op['unfinished']} did not end)"
    return (str(op["position"]), op["name"], cores, *map(_number, times), f"{100 * op['wait_share']:.0f}")


def _gap(gap: dict[str, Any]) -> str:
    length = _number(gap["end"] - gap["start"])
    return f"{length} at {_number(gap['start'])}, between op {gap['after']} and op {gap['before']}"


def _event(event: dict[str, Any]) -> str:
    end = "never ended" if event["end"] is None else f"to {_number(event['end'])}"
    return f"{event['kind']} {event['event']} on {event['core']}: {_number(event['start'])} {end}"


def _listed(title: str, rows: list[str]) -> Iterable[str]:
    if rows:
        yield f"  {title}:"
        yield from (f"    {row}" for row in rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        yield f"    and {len(rows) - MOST_ROWS} more; --json has all"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
