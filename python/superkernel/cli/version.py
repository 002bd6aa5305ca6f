"""``superkernel version``."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "version", help="print the version", description="Print the version, and the commit it was built from."
    )
    command.set_defaults(run=run)


def run(_options: argparse.Namespace) -> None:
    """Prints the version."""
    from superkernel import _core

    print(f"superkernel {_core.__version__} (commit {_core.__commit__})")
