"""The ``superkernel`` command: one module per sub-command, each with ``register(subparsers)``.

A sub-command imports what it needs inside ``run``, so that ``--help`` and ``version`` stay fast.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterable, Sequence

# Grown with the package; a name here is a module of this folder.
COMMANDS: tuple[str, ...] = (
    "activate",
    "build",
    "cache",
    "calibrate",
    "check",
    "compare",
    "compile",
    "deactivate",
    "doctor",
    "elf",
    "generate",
    "options",
    "plan",
    "predict",
    "profile",
    "replay",
    "run",
    "scope",
    "sim",
    "suggest",
    "tune",
    "version",
    "why",
)

FAILED = 1
INTERRUPTED = 130
BROKEN_PIPE = 141


def parser(commands: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The command line, with these sub-commands."""
    root = argparse.ArgumentParser(
        prog="superkernel",
        description="Fuse compiled Ascend AI-core kernels into one super kernel.",
        epilog="`superkernel COMMAND --help` tells more about a command. Errors are listed in docs/errors.md.",
    )
    root.add_argument("--version", action="store_true", help="print the version")
    root.add_argument("-v", "--verbose", action="count", default=0, help="log progress; twice: log details")
    subparsers = root.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in commands:
        importlib.import_module(f"superkernel.cli.{name}").register(subparsers)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one sub-command. Errors of the package become one message, a hint and exit status 1."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # One command is asked for: the others need not be loaded. Anything else needs all of them, for help and hints.
    root = parser([given[0]] if given and given[0] in COMMANDS else COMMANDS)
    options = root.parse_args(given)
    if options.version:
        options = root.parse_args(["version"])
    elif options.command is None:
        root.print_help()
        return FAILED
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from superkernel import SuperKernelError
    from superkernel._logging import print_to_stderr

    print_to_stderr(options.verbose)
    try:
        status = int(options.run(options) or 0)
        # Here, not at interpreter exit, where a closed pipe could not be handled any more.
        sys.stdout.flush()
        return status
    except SuperKernelError as error:
        report(error)
        return FAILED
    except KeyboardInterrupt:
        print("superkernel: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. What is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def report(error: Exception) -> None:
    """Prints an error of the package as the command line does."""
    info: dict[str, str] = getattr(error, "errorinfo", {})
    print(f"superkernel: error [{info['errId']}]: {info['message']}", file=sys.stderr)
    if info["errSolution"]:
        print(f"  hint: {info['errSolution']}", file=sys.stderr)
