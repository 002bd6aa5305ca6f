"""``superkernel explain``."""

from __future__ import annotations

import argparse

from superkernel.cli._parser import text
from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "explain",
        help="explain a super kernel, or an error",
        description="Explain what a super kernel becomes and why: form, cores, barriers, early start, preload, sizes, "
        "and hints. Or show what an error id means and what to do about it.",
    )
    command.add_argument(
        "subject",
        metavar="KERNEL",
        help="`kernel_infos` as for `superkernel plan`, the NAME.json of a built kernel, or the id SKdddd that an "
        "error's text begins with",
    )
    command.add_argument(
        "--name",
        type=text,
        default="ascendc_super_kernel_plus",
        help="kernel name of an op list (default: %(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print the explanation of a kernel as JSON")
    add_settings(command, "soc", "aic_num", "aiv_num")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the explanation."""
    import re

    if re.fullmatch(r"\[?sk\d+\]?", options.subject, re.IGNORECASE):
        explain_error(options.subject)
        return
    from superkernel.cli import _explanation

    explanation = _explanation.of(options.subject, options.name, given_settings(options))
    if options.json:
        import json

        print(json.dumps(explanation, indent=2))
    else:
        print("\n".join(_explanation.lines(explanation)))


def explain_error(subject: str) -> None:
    """Prints the documentation of an error."""
    from superkernel import _core
    from superkernel._errors import make_error

    errors = {entry[0]: entry for entry in _core.error_documentation()}
    wanted = f"SK{subject.strip('[]')[2:].zfill(4)}"
    if wanted not in errors:
        near = _core.nearest(wanted, list(errors), 3)
        raise make_error(
            "SK0017",
            f"there is no error `{wanted[:80]}`",
            f"did you mean {', '.join(near)}?" if near else "ids look like SK0306; docs/errors.md lists all",
        )
    error_id, area, what, solution, example = errors[wanted]
    print(f"{error_id} ({area})\n  what: {what}\n  what to do: {solution}")
    if example is not None:
        wrong, right = example
        print(f"  wrong: {wrong}\n  right: {right}")
