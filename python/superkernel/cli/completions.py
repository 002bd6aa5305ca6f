"""``superkernel completions``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superkernel.cli._tree import Command

PROGRAMS = ("superkernel", "superkernel-rs")

_USE = {
    "bash": 'eval "$(superkernel completions bash)" in ~/.bashrc',
    "zsh": 'eval "$(superkernel completions zsh)" in ~/.zshrc, after compinit',
    "fish": "superkernel completions fish > ~/.config/fish/completions/superkernel.fish",
}


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "completions",
        help="print what makes a shell complete commands and flags",
        description="Print the completions of a shell. To use them: " + "; ".join(_USE.values()) + ".",
    )
    command.add_argument("shell", choices=list(_USE), metavar="SHELL", help="bash, zsh or fish")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the script."""
    from superkernel.cli._tree import commands

    script = {"bash": bash, "zsh": zsh, "fish": fish}[options.shell]
    print("\n".join(script(commands())))


def _cases(found: list[Command], assign: str) -> Iterator[str]:
    """The branches of a ``case`` over the words of the command so far."""
    for command in found:
        flags = " ".join(name for flag in command.flags for name in flag.names)
        yield f'        "{" ".join(command.words)}") {assign.format(below=" ".join(command.below), flags=flags)} ;;'


def _values(found: list[Command]) -> dict[str, str]:
    """What can follow a flag, where that is a list."""
    flags = [flag for command in found for flag in command.flags if flag.choices]
    return {"|".join(flag.names): " ".join(flag.choices) for flag in flags}


def _shells(found: list[Command]) -> str:
    return " ".join(_USE)


def bash(found: list[Command]) -> Iterator[str]:
    """A function for bash's ``complete``; where nothing of ours fits, file names."""
    yield "# superkernel: completions for bash"
    yield "_superkernel() {"
    yield '    local word so_far="" below="" flags="" current="${COMP_WORDS[COMP_CWORD]}"'
    yield '    local previous="${COMP_WORDS[COMP_CWORD-1]}"'
    yield "    COMPREPLY=()"
    yield '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield '        case "$so_far${so_far:+ }$word" in'
    yield f"            {'|'.join(_quoted(command) for command in found if command.words)})"
    yield '                so_far="$so_far${so_far:+ }$word" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$previous" in'
    for names, values in _values(found).items():
        yield f'        {names}) COMPREPLY=($(compgen -W "{values}" -- "$current")); return ;;'
    yield "    esac"
    yield '    case "$so_far" in'
    yield from _cases(found, 'below="{below}" flags="{flags}"')
    yield "    esac"
    yield f'    [[ $so_far == completions ]] && below="{_shells(found)}"'
    yield '    if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))'
    yield '    elif [[ -n $below ]]; then COMPREPLY=($(compgen -W "$below" -- "$current")); fi'
    yield "}"
    yield f"complete -o default -F _superkernel {' '.join(PROGRAMS)}"


def zsh(found: list[Command]) -> Iterator[str]:
    """A function for zsh's ``compdef``."""
    yield f"#compdef {' '.join(PROGRAMS)}"
    yield "_superkernel() {"
    yield "    local word so_far='' below='' flags='' current=${words[CURRENT]} previous=${words[CURRENT-1]}"
    yield "    for word in ${words[2,CURRENT-1]}; do"
    yield '        case "$so_far${so_far:+ }$word" in'
    yield f"            ({'|'.join(_quoted(command) for command in found if command.words)})"
    yield '                so_far="$so_far${so_far:+ }$word" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$previous" in'
    for names, values in _values(found).items():
        yield f'        ({names}) compadd -- ${{=:-"{values}"}}; return ;;'
    yield "    esac"
    yield '    case "$so_far" in'
    yield from _cases(found, 'below="{below}" flags="{flags}"')
    yield "    esac"
    yield f'    [[ $so_far == completions ]] && below="{_shells(found)}"'
    yield "    if [[ $current == -* ]]; then compadd -- ${=flags}"
    yield "    elif [[ -n $below ]]; then compadd -- ${=below}"
    yield "    else _files; fi"
    yield "}"
    yield f"compdef _superkernel {' '.join(PROGRAMS)}"


def fish(found: list[Command]) -> Iterator[str]:
    """Lines for fish's ``complete``, with the help of each."""
    yield "# superkernel: completions for fish"
    for program in PROGRAMS:
        for command in found:
            condition = _fish_condition(command)
            for name, text in command.below.items():
                yield f"complete -c {program} -n {condition} -f -a {name} -d {_fish_text(text)}"
            for flag in command.flags:
                names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
                values = f" -x -a {_fish_text(' '.join(flag.choices))}" if flag.choices else " -r" * flag.takes_value
                yield f"complete -c {program} -n {condition} {names}{values} -d {_fish_text(flag.help)}"
        yield (f"complete -c {program} -n '__fish_seen_subcommand_from completions' -f -a {_fish_text(_shells(found))}")


def _fish_condition(command: Command) -> str:
    if not command.words:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
    without = f"; and not __fish_seen_subcommand_from {' '.join(command.below)}" if command.below else ""
    return f"'{seen}{without}'"


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _quoted(command: Command) -> str:
    words = " ".join(command.words)
    return f'"{words}"' if " " in words else words
