"""``superkernel explain``."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "explain",
        help="show the documentation of an error",
        description="Show what an error id means and what to do about it.",
    )
    command.add_argument("id", metavar="SKdddd", help="the id that an error's text begins with")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the documentation."""
    from superkernel import _core
    from superkernel._errors import make_error

    errors = {entry[0]: entry for entry in _core.error_documentation()}
    wanted = options.id.strip("[]").upper()
    if wanted not in errors:
        near = _core.nearest(wanted.encode(errors="replace").decode(), list(errors), 3)
        raise make_error(
            "SK0017",
            f"there is no error `{wanted[:80]}`",
            f"did you mean {', '.join(near)}?" if near else "ids look like SK0306; docs/errors.md lists all",
        )
    error_id, area, what, solution = errors[wanted]
    print(f"{error_id} ({area})\n  what: {what}\n  what to do: {solution}")
