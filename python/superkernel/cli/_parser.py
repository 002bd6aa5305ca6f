"""The command line's parser: what ``argparse`` does, with suggestions, the right usage, and ``-v`` everywhere.

Every sub-command is made of this class, so a new one has all of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from superkernel.cli import _examples

__all__ = ["SETTINGS", "Parser", "count", "did_you_mean", "text", "verbosity"]

WRONG_USAGE = 2

#: The title of the group of flags that are settings.
SETTINGS = "settings"

#: Where a parser counts its `-v`; one per level of commands, as each level's results replace those above it.
_VERBOSE = "verbose_at_"


class Parser(argparse.ArgumentParser):
    """A parser that says what was meant."""

    def __init__(self, **arguments: Any) -> None:
        # A shortened flag would become another one, or none, as soon as a second one begins like it.
        super().__init__(**{"allow_abbrev": False, **arguments})
        self.add_argument(
            "-v",
            "--verbose",
            action="count",
            default=0,
            dest=f"{_VERBOSE}{len(self.prog.split())}",
            help="log progress; twice: log details",
        )

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuses here what this level does not know: this is the one whose usage helps."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._about_unknown(unknown))
        return found, []

    def _about_unknown(self, unknown: Sequence[str]) -> str:
        flags = [word.split("=", 1)[0] for word in unknown if word.startswith("-") and len(word) > 1]
        if not flags:
            return f"{_quoted(unknown)} {'is one argument' if len(unknown) == 1 else 'are arguments'} too many"
        return "; ".join(f"there is no flag `{flag}`{did_you_mean(flag, self._flags(), '-')}" for flag in flags)

    def format_usage(self) -> str:
        formatter = self._get_formatter()
        self._add_usage(formatter)
        return formatter.format_help()

    def format_help(self) -> str:
        formatter = self._get_formatter()
        self._add_usage(formatter)
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help() + _examples.shown(self.prog)

    def _add_usage(self, formatter: argparse.HelpFormatter) -> None:
        """In which all settings are one word: they are the same everywhere, and stand at the end of the help."""
        settings = [group for group in self._action_groups if group.title == SETTINGS]
        hidden = {id(action) for group in settings for action in group._group_actions}
        actions = [action for action in self._actions if id(action) not in hidden]
        if hidden:
            # What looks like a flag without a value is shown as `[SETTINGS]`.
            actions.append(argparse.Action([SETTINGS.upper()], "settings", nargs=0))
        formatter.add_usage(self.usage, actions, self._mutually_exclusive_groups)

    def _flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        what = "action" if action.dest == "action" else "command" if action.dest == "command" else "value"
        if what == "value":
            problem = f"`{value}` is not one of {_quoted(known)}{did_you_mean(str(value), known)}"
            raise argparse.ArgumentError(action, problem)
        self.error(f"there is no {what} `{value}`{did_you_mean(str(value), known)}")

    def error(self, message: str) -> NoReturn:
        """The usage of the command that was meant, what is wrong, and where to read on."""
        self.print_usage(sys.stderr)
        self.exit(WRONG_USAGE, f"superkernel: error: {message}\n  hint: `{self.prog} --help` lists what there is\n")


def verbosity(options: argparse.Namespace) -> int:
    """How often ``-v`` was given, before the command or after it."""
    return sum(count for name, count in vars(options).items() if name.startswith(_VERBOSE))


def count(argument: str) -> int:
    """The type of an argument that is a number of things: from 1 up."""
    if not argument.isdecimal() or not argument.isascii() or len(argument) > 9 or int(argument) < 1:
        raise argparse.ArgumentTypeError(f"`{argument[:80]}` is no whole number from 1 up")
    return int(argument)


def text(argument: str) -> str:
    """The type of an argument that is text, a name say. An argument as such may hold any bytes, as paths do."""
    if not argument.isascii():
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise argparse.ArgumentTypeError(f"{ascii(argument)[:80]} is no text") from None
    return argument


def add_asserts(command: argparse.ArgumentParser) -> None:
    """What follows where AscendC's headers complain."""
    command.add_argument(
        "--asserts",
        choices=("warn", "strict"),
        help="checks of AscendC's headers that device builds do not have: a warning (default), or the end of the run",
    )


def did_you_mean(given: str, known: Iterable[str], strip: str = "") -> str:
    """A suggestion, or nothing."""
    from superkernel import _core

    names = {name.strip(strip): name for name in known}
    near = _core.nearest(given.strip(strip), list(names), 1)
    return f"; did you mean `{names[near[0]]}`?" if near else ""


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
