"""``superkernel locate``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import superkernel


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "locate",
        help="find the op a device was in, from program counters",
        description="Look up program counters in the object of a super kernel: core kind, copy, op, function, offset, "
        "and the source line if there is debug information.",
    )
    command.add_argument("kernel", metavar="KERNEL.o", help="the object that ran, or the NAME.json beside it")
    command.add_argument("pc", nargs="*", metavar="PC", type=_address, help="program counters, such as 0x1240800240f8")
    command.add_argument(
        "--start",
        type=_address,
        default=0,
        metavar="ADDR",
        help="where the code was loaded (default: PCs are offsets); for a log only where the log does not say it",
    )
    command.add_argument(
        "--function", metavar="NAME", help="--start, or `pc start` of a log, is the address of this function"
    )
    command.add_argument(
        "--log",
        metavar="FILE",
        help="look up the program counters of a device's log (- for standard input): `pc start: 0x..., current: "
        "0x...`, `start_pc=0x... current_pc=0x...`, lists of PCs",
    )
    command.add_argument("--json", action="store_true", help="print the answers as JSON")
    command.set_defaults(run=run)


def _address(text: str) -> int:
    try:
        # What has letters can only be meant as hexadecimal, as logs print it.
        return int(text, 16 if text.isalnum() and not text.isdecimal() else 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is no address") from None


def run(options: argparse.Namespace) -> None:
    """Prints a line per program counter."""
    import superkernel
    from superkernel._errors import make_error

    if not options.pc and options.log is None:
        raise make_error("SK0960", "no program counter is given", "give some, or a log with --log")
    found = superkernel.locate(options.kernel, options.pc, start=options.start, function=options.function)
    logged = []
    if options.log is not None:
        from superkernel._scratch import ScratchFolder
        from superkernel.cli import _streams

        with ScratchFolder("log") as folder:
            log = _streams.as_file(options.log, folder)
            logged = superkernel.locate_log(options.kernel, log, start=options.start, function=options.function)
    if options.json:
        import json

        rows = [{**dict.fromkeys(_OF_LOGS), **_fields(location)} for location in found]
        rows += [
            {
                **{name: getattr(core, name) for name in _OF_LOGS},
                **_fields(core.location),
                "pc": core.pc,
                "problem": core.problem,
            }
            for core in logged
        ]
        print(json.dumps(rows, indent=2))
        return
    for line in (*found, *logged):
        print(line)


_OF_PLACES = (
    "kernel",
    "pc",
    "offset",
    "core",
    "copy",
    "ops",
    "certain",
    "function",
    "symbol",
    "file",
    "line",
    "problem",
)
_OF_LOGS = ("log_line", "log_core", "log_core_ids", "start_function")


def _fields(location: superkernel.Location | None) -> dict[str, object]:
    return {name: getattr(location, name, None) for name in _OF_PLACES}
