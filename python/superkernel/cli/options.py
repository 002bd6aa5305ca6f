"""``superkernel options``."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "options",
        help="list the options of a super kernel, or check an option string",
        description="Without an argument: every option, its values, its default and what it does. "
        "With one: the options that string gives.",
    )
    what = command.add_mutually_exclusive_group()
    what.add_argument("string", nargs="?", metavar="STRING", help="such as `split-mode=2:profiling=1`")
    command.add_argument("--underscores", action="store_true", help="names in STRING may be written with `_`")
    what.add_argument(
        "--aclgraph",
        action="store_true",
        help="list the options of captured graphs (npugraph_ex) with their counterparts here",
    )
    what.add_argument("--env", action="store_true", help="list the environment variables, and what they are now")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the table, or what a string says."""
    if options.aclgraph:
        _print_aclgraph(options.json)
    elif options.env:
        _print_variables(options.json)
    elif options.string is None:
        _print_table(options.json)
    else:
        _print_given(options.string, options.underscores, options.json)


def _print_table(as_json: bool) -> None:
    from superkernel import _core

    table = _core.option_table()
    if as_json:
        import json

        keys = ("name", "accepts", "default", "effect")
        print(json.dumps([{key: row[key] for key in keys} for row in table], indent=2))
        return
    for row in table:
        print(f"{row['name']}={row['default']}" if row["default"] else row["name"])
        print(f"    {row['effect']}")
        print(f"    accepts {row['accepts']}")


def _print_variables(as_json: bool) -> None:
    from superkernel.cli._variables import variables

    found = list(variables())
    if as_json:
        import json

        print(json.dumps([{**variable._asdict(), "value": variable.value} for variable in found], indent=2))
        return
    for variable in found:
        print(variable.name if variable.value is None else f"{variable.name}={variable.value}")
        print(f"    {variable.meaning}")
        print(f"    without it: {variable.default}")


def _print_aclgraph(as_json: bool) -> None:
    import json

    from superkernel import _core
    from superkernel.cli._aclgraph import COUNTERPARTS, only_here

    rest = only_here([row["name"] for row in _core.option_table()])
    if as_json:
        print(json.dumps({"options": [entry._asdict() for entry in COUNTERPARTS], "only_here": rest}, indent=2))
        return
    width = max(len(entry.name) for entry in COUNTERPARTS)
    for entry in COUNTERPARTS:
        note = "" if entry.here and entry.note == "the same" else f"  {entry.note}"
        print(f"{entry.name:{width}}  {', '.join(entry.here) or '-'}{note}")
    print(f"\nwithout a counterpart there: {', '.join(rest)}")
    print("options of captured graphs are passed to their own library, which this package does not replace")


def _print_given(string: str, underscores: bool, as_json: bool) -> None:
    from superkernel.super_kernel_option_parse import parse_super_kernel_options

    given = parse_super_kernel_options(string, underscores)
    values = {name: getattr(value, "name", value) for name, value in given.items()}
    if as_json:
        import json

        print(json.dumps(values, indent=2))
        return
    for name, value in values.items():
        print(f"{name} = {value}")
    if not values:
        print("no options")
