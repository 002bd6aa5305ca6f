"""The command line as data: every command with its flags, for completions and the manual."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from superkernel.cli import parser

__all__ = ["Command", "Flag", "commands"]


class Flag(NamedTuple):
    """A flag of a command."""

    names: list[str]
    help: str
    #: Whether a value follows.
    takes_value: bool
    #: What it can be, where that is a list.
    choices: list[str]


class Command(NamedTuple):
    """A command, and what can follow it."""

    #: `("cache", "stats")`; empty for the program itself.
    words: tuple[str, ...]
    help: str
    flags: list[Flag]
    #: Names and help of the commands below it.
    below: dict[str, str]


def commands() -> list[Command]:
    """The program itself, then every command, in the order of the help."""
    return list(_walk(parser(), (), ""))


def _walk(found: argparse.ArgumentParser, words: tuple[str, ...], text: str) -> Iterator[Command]:
    flags: list[Flag] = []
    below: dict[str, str] = {}
    nested: list[argparse._SubParsersAction[argparse.ArgumentParser]] = []
    for action in found._actions:
        if isinstance(action, argparse._SubParsersAction):
            nested.append(action)
            below.update((choice.dest, choice.help or "") for choice in action._choices_actions)
        elif action.option_strings and action.help != argparse.SUPPRESS:
            choices = [str(choice) for choice in action.choices or ()]
            told = (action.help or "").replace("%(default)s", str(action.default))
            flags.append(Flag(list(action.option_strings), told, action.nargs != 0, choices))
    yield Command(words, text, flags, below)
    for group in nested:
        for name, inner in group.choices.items():
            yield from _walk(inner, (*words, name), below[name])
