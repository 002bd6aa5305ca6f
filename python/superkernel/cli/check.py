"""``superkernel check``."""

from __future__ import annotations

import argparse

from superkernel.cli._input import read_text

BROKEN = 1


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "check",
        help="check a device program in its text form",
        description="Check a device program as `superkernel plan --text` prints it: that every core does what the "
        "program's `requires` part asks for, and that order, events, locks and flags are right in every order of the "
        "cores. Prints what is wrong, one line each, and the exit status is 1 if something is.",
    )
    command.add_argument("file", metavar="PROGRAM.txt", help="the program; `-`: standard input")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the violations."""
    from superkernel import _core
    from superkernel._errors import make_error

    try:
        text = read_text(options.file)
    except UnicodeDecodeError as error:
        raise make_error(
            "SK0503", f"`{options.file}` is no UTF-8 text at byte {error.start}", "write the program as text"
        ) from None
    violations = _core.check_program(text)
    for violation in violations:
        print(violation)
    if not violations:
        print("no rule is broken")
    return BROKEN if violations else 0
