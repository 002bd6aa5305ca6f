"""``superkernel-rs deactivate``."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    from superkernel.cli.activate import add_toolkit

    command = subparsers.add_parser(
        "deactivate",
        help="take `activate` back",
        description="Undo `superkernel-rs activate`: for this Python, or with `--toolkit` in a toolkit.",
    )
    add_toolkit(command, "put the toolkit's original back")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Deactivates, and says what was changed."""
    from superkernel._install import activation
    from superkernel.cli.activate import toolkit_of

    if options.toolkit is None:
        removed = activation.deactivate_python()
        print("\n".join(f"removed {hook}" for hook in removed) or "it was not activated for this Python")
        return
    toolkit = toolkit_of(options)
    restored = activation.deactivate_toolkit(toolkit)
    print(f"it was not activated in {toolkit}" if restored is None else f"put back {restored}")
