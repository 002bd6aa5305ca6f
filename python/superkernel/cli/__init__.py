"""The ``superkernel`` command: one module per sub-command, each with ``register(subparsers)``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

# Grown with the package; a name here is a module of this folder.
COMMANDS: tuple[str, ...] = ("version",)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(prog="superkernel", description="Fuse compiled Ascend AI-core kernels.")
    subparsers = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        importlib.import_module(f"superkernel.cli.{name}").register(subparsers)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one sub-command; errors of the package become one message and exit status 1."""
    from superkernel import SuperKernelError

    options = parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except SuperKernelError as error:
        print(f"superkernel: error [{error.errorinfo['errId']}]: {error}", file=sys.stderr)
        print(f"  hint: {error.errorinfo['errSolution']}", file=sys.stderr)
        return 1
