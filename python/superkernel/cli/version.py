"""``superkernel version``."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser("version", help="print the version", description="Print the version.")
    command.set_defaults(run=run)


def run(_options: argparse.Namespace) -> None:
    """Prints the version."""
    from superkernel import __version__

    print(f"superkernel {__version__}")
