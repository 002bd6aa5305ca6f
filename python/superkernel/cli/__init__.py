"""The ``superkernel`` command: one module per sub-command, each with ``register(subparsers)``.

A sub-command imports what it needs inside ``run``, so that ``--help`` and ``version`` stay fast.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable, Sequence

from superkernel.cli import _output
from superkernel.cli._parser import Parser, verbosity

# Grown with the package; a name here is a module of this folder.
COMMANDS: tuple[str, ...] = (
    "activate",
    "build",
    "cache",
    "calibrate",
    "check",
    "compare",
    "compile",
    "completions",
    "deactivate",
    "doctor",
    "elf",
    "explain",
    "generate",
    "locate",
    "op",
    "options",
    "plan",
    "predict",
    "profile",
    "replay",
    "run",
    "scope",
    "sim",
    "suggest",
    "torchair",
    "trace",
    "tune",
    "version",
    "why",
)

FAILED = 1
INTERRUPTED = 130
BROKEN_PIPE = 141


def parser(commands: Iterable[str] = COMMANDS) -> Parser:
    """The command line, with these sub-commands."""
    root = Parser(
        prog="superkernel",
        description="Fuse compiled Ascend AI-core kernels into one super kernel.",
        epilog="`superkernel COMMAND --help` prints more about a command. Errors are listed in docs/errors.md.",
    )
    root.add_argument("--version", action="store_true", help="print the version")
    subparsers = root.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name in commands:
        importlib.import_module(f"superkernel.cli.{name}").register(subparsers)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one sub-command. Whatever goes wrong becomes one message, a hint and exit status 1."""
    with _output.standard_streams() as output:
        try:
            status = _main(list(sys.argv[1:] if arguments is None else arguments), output)
        except SystemExit as end:
            # Help was printed, or a wrong usage was reported.
            status = end.code if isinstance(end.code, int) else FAILED
        failure = output.finish()
        if isinstance(failure, BrokenPipeError):
            # The reader (`head`, a pager) has seen enough.
            return BROKEN_PIPE
        if failure is not None:
            problem = f"cannot write to standard output: {failure.strerror or failure}"
            say("SK0001", problem, "look where it goes to")
            return FAILED
        return status


def _main(given: list[str], output: _output.Output) -> int:
    # One command is asked for: the others need not be loaded. Anything else needs all of them, for help and hints.
    first = next((word for word in given if word not in ("-v", "-vv", "--verbose")), None)
    if first == "--version":
        first = "version"
    root = parser([first] if first in COMMANDS else COMMANDS)
    options = root.parse_args(given)
    if options.version:
        options = root.parse_args(["version"])
    elif options.command is None:
        root.print_help()
        return FAILED
    return _run(options, output)


def _run(options: argparse.Namespace, output: _output.Output) -> int:
    from superkernel import SuperKernelError
    from superkernel._config import settings_are_flags
    from superkernel._logging import logger, print_to_stderr
    from superkernel.cli._settings import given_settings

    print_to_stderr(verbosity(options))
    # A command whose answer may be "no" has another status for having none.
    failed: int = getattr(options, "failed", FAILED)
    try:
        with settings_are_flags():
            # At once, before files are read.
            given_settings(options)
            return int(options.run(options) or 0)
    except SuperKernelError as error:
        report(error)
    except KeyboardInterrupt:
        print("superkernel: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if output.failure is not None:
            # Told by the caller, who sees also what is noticed at the end only.
            return failed
        place = f" `{error.filename}`" if error.filename is not None else ""
        say("SK0001", f"cannot use{place}: {error.strerror or error}", "check the path and this user's permissions")
    except UnicodeEncodeError as error:
        problem = f"an argument holds bytes that are no text: {ascii(error.object)[:80]}"
        say("SK0016", problem, "only paths may hold such bytes; write names as text")
    except (MemoryError, RecursionError) as error:
        say("SK0002", f"out of memory: {type(error).__name__}", "give it less at a time, or more memory")
    except Exception as error:
        logger.debug("where it happened:", exc_info=True)
        say(
            "SK0002",
            f"{type(error).__name__}: {error}",
            "this is a mistake of superkernel: please report it, with the output of the same command and `-vv`",
        )
    return failed


def report(error: Exception) -> None:
    """Prints an error of the package as the command line does."""
    info: dict[str, str] = getattr(error, "errorinfo", {})
    say(info["errId"], info["message"], info["errSolution"])


def say(error_id: str, message: str, solution: str) -> None:
    """Prints an error."""
    from superkernel._config import in_flags

    print(f"superkernel: error [{error_id}]: {in_flags(message)}", file=sys.stderr)
    if solution:
        print(f"  hint: {in_flags(solution)}", file=sys.stderr)
