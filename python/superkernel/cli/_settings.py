"""Settings of ``superkernel.configure`` as arguments of sub-commands."""

from __future__ import annotations

import argparse
from typing import Any

from superkernel._config import SETTINGS, BadValue, check, flag
from superkernel.cli import _parser

#: Settings with a short flag.
_SHORT = {"jobs": "-j"}


def add_settings(command: argparse.ArgumentParser, *names: str) -> None:
    """Gives a sub-command an argument per setting; without names one for every setting."""
    group = command.add_argument_group(_parser.SETTINGS)
    for name in names or SETTINGS:
        setting = SETTINGS[name]
        flags = _flags(name)
        target, text = f"setting_{name}", setting["help"]
        if setting["placeholder"] is None:
            group.add_argument(*flags, dest=target, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            group.add_argument(*flags, dest=target, metavar=setting["placeholder"], help=text)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings the command line gave, for ``with superkernel.configure(**given_settings(options))``."""
    pairs = {name: getattr(options, f"setting_{name}", None) for name in SETTINGS}
    return {name: _checked(name, value) for name, value in pairs.items() if value is not None}


def _flags(name: str) -> list[str]:
    return [_SHORT[name], flag(name)] if name in _SHORT else [flag(name)]


def _checked(name: str, value: Any) -> Any:
    from superkernel._errors import make_error

    try:
        return check(name, value)
    except BadValue as refusal:
        raise make_error(
            "SK0011", f"`{'/'.join(_flags(name))}` cannot be `{str(value)[:80]}`; expected {refusal}", f"give {refusal}"
        ) from None
