"""The manual page, written from the command line itself and the table of settings."""

from __future__ import annotations

from collections.abc import Iterator

from superkernel.cli._tree import Command, commands
from superkernel.cli._variables import variables

__all__ = ["page"]


def page() -> str:
    """``superkernel.1``."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    root, *others = commands()
    yield '.TH SUPERKERNEL 1 "" superkernel "User Commands"'
    yield from (".SH NAME", "superkernel \\- fuse compiled Ascend AI\\-core kernels into one super kernel")
    yield from (".SH SYNOPSIS", ".B superkernel", "[\\fB\\-v\\fR] \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]")
    yield ".SH DESCRIPTION"
    yield _text(
        "Fuses Ascend AI-core kernels that are already compiled into one kernel, so that one launch takes the place of "
        "dozens. Without an NPU and without CANN the same is built for this machine and runs in a simulator."
    )
    yield _text(
        "`superkernel COMMAND --help` prints everything about a command. `superkernel-rs` is another name for it."
    )
    yield ".SH COMMANDS"
    for command in others:
        yield from _command(command)
    yield ".SH OPTIONS"
    for flag in root.flags:
        yield from (".TP", ", ".join(f"\\fB{_text(name)}\\fR" for name in flag.names), _text(flag.help))
    yield ".SH EXIT STATUS"
    for status, meaning in (
        ("0", "done"),
        ("1", "it failed, or what was asked about is not as it should be"),
        ("2", "wrong usage"),
        ("130", "interrupted"),
        ("141", "the reader of standard output has gone"),
    ):
        yield from (".TP", f".B {status}", meaning)
    yield ".SH ENVIRONMENT"
    for variable in variables():
        yield from (".TP", f".B {variable.name}", _text(variable.meaning))
    yield ".SH FILES"
    yield from (".TP", ".I kernel_meta/NAME.o, NAME.json, NAME.manifest.json", "a kernel, its description, its record")
    yield from (".TP", ".I ~/.cache/superkernel", "the cache of built kernels")
    yield ".SH SEE ALSO"
    yield "The documents of the project, in the folder docs of the installed package superkernel."


def _command(command: Command) -> Iterator[str]:
    yield from (".TP", f".B {' '.join(command.words)}", _text(command.help))


def _text(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace("-", "\\-").replace("`", "")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
