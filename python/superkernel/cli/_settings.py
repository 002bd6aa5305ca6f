"""Settings of ``superkernel.configure`` as arguments of sub-commands."""

from __future__ import annotations

import argparse
from typing import Any

from superkernel._config import SETTINGS


def add_settings(command: argparse.ArgumentParser, *names: str) -> None:
    """Gives a sub-command an argument per setting; without names one for every setting.

    The values are checked by ``configure``, so that a message is the same everywhere.
    """
    group = command.add_argument_group("settings")
    for name in names or SETTINGS:
        setting = SETTINGS[name]
        flag, target, text = f"--{name.replace('_', '-')}", f"setting_{name}", setting["help"]
        if setting["placeholder"] is None:
            group.add_argument(flag, dest=target, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            group.add_argument(flag, dest=target, metavar=setting["placeholder"], help=text)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings the command line gave, for ``with superkernel.configure(**given_settings(options))``."""
    pairs = {name: getattr(options, f"setting_{name}", None) for name in SETTINGS}
    return {name: value for name, value in pairs.items() if value is not None}
