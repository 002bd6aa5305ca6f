"""``superkernel version``."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser("version", help="print the version")
    command.set_defaults(run=run)


def run(_options: argparse.Namespace) -> int:
    """Prints the version."""
    from superkernel import __version__

    print(f"superkernel {__version__}")
    return 0
