"""``superkernel locate``."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "locate",
        help="tell which op a device was in, from program counters",
        description="Look program counters up in the object of a super kernel: core kind, copy, op, function, offset, "
        "and the source line if there is debug information.",
    )
    command.add_argument("kernel", metavar="KERNEL.o", help="the object that ran")
    command.add_argument("pc", nargs="*", metavar="PC", type=_address, help="program counters, such as 0x1240800240f8")
    command.add_argument(
        "--start", type=_address, default=0, metavar="ADDR", help="where the code was loaded (default: PCs are offsets)"
    )
    command.add_argument(
        "--function", metavar="NAME", help="--start, or `pc start` of a log, is the address of this function"
    )
    command.add_argument("--log", metavar="FILE", help="look up every `pc start: 0x..., current: 0x...` of this log")
    command.add_argument("--json", action="store_true", help="print the answers as JSON")
    command.set_defaults(run=run)


def _address(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is no address") from None


def run(options: argparse.Namespace) -> None:
    """Prints a line per program counter."""
    import superkernel
    from superkernel._errors import make_error
    from superkernel._locate import locate_log

    if not options.pc and options.log is None:
        raise make_error("SK0960", "no program counter is given", "give some, or a log with --log")
    found: list[tuple[int | None, superkernel.Location]] = [
        (None, location)
        for location in superkernel.locate(options.kernel, options.pc, start=options.start, function=options.function)
    ]
    if options.log is not None:
        found += locate_log(options.kernel, options.log, function=options.function)
    if options.json:
        import json

        fields = ("kernel", "pc", "offset", "core", "copy", "ops", "certain", "function", "symbol", "file", "line")
        rows = [{"log_line": line, **{field: getattr(location, field) for field in fields}} for line, location in found]
        print(json.dumps(rows, indent=2))
        return
    for line, location in found:
        print(location if line is None else f"line {line}: {location}")
