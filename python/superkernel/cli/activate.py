"""``superkernel-rs activate``."""

from __future__ import annotations

import argparse
from pathlib import Path


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "activate",
        help="make `import superkernel` give this package on a CANN machine",
        description="CANN's environment script puts the toolkit's own `superkernel` in front of all installed "
        "packages. This command puts this package first: without arguments for the Python that runs this "
        "command, with `--toolkit` for every Python that uses the toolkit. No foreign file is deleted; "
        "`superkernel-rs deactivate` undoes it.",
    )
    command.add_argument("--user", action="store_true", help="for this user only, even if all users could be served")
    add_toolkit(command, "put a replacement into the toolkit's package instead")
    command.set_defaults(run=run)


def add_toolkit(command: argparse.ArgumentParser, text: str) -> None:
    """The argument for a toolkit, with or without its folder."""
    command.add_argument(
        "--toolkit",
        nargs="?",
        const="",
        metavar="DIR",
        help=f"{text} (default: ASCEND_HOME_PATH, else where CANN is installed)",
    )


def run(options: argparse.Namespace) -> int:
    """Activates, and shows what is imported then; 1 if it is still another package."""
    import sys

    from superkernel._install import activation
    from superkernel._install.packages import Kind, probe
    from superkernel._install.world import graph_engine

    if options.toolkit is None:
        print(f"wrote {activation.activate_python(user=options.user)}")
        found = probe(sys.executable)
        who = f"`{sys.executable}`"
    else:
        toolkit = toolkit_of(options)
        start, saved = activation.activate_toolkit(toolkit)
        print(f"wrote {start}, the original is beside it: {saved}")
        importer = graph_engine(toolkit)
        found, who = probe(importer.python, importer.environment), importer.name
    print(f"{who} imports {found}")
    return 0 if found.kind is Kind.OURS else 1


def toolkit_of(options: argparse.Namespace) -> Path:
    """The toolkit that was named or is found."""
    from superkernel import _core

    return Path(options.toolkit).absolute() if options.toolkit else _core.toolkit_dir()
