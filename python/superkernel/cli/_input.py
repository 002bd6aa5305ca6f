"""Reading ``kernel_infos`` from a file."""

from __future__ import annotations

import argparse
from typing import Any

from superkernel.cli._parser import text


def add_kernel_infos(command: argparse.ArgumentParser) -> None:
    """The arguments of a sub-command that works on ``kernel_infos``: the file, the kernel's name, its options."""
    command.add_argument(
        "file",
        metavar="FILE.json",
        help="`kernel_infos`: an object with `op_list` and `super_kernel_options`; relative paths in it are looked for "
        "beside the file, then in the current folder; `-`: standard input",
    )
    command.add_argument(
        "--name", type=text, default="ascendc_super_kernel_plus", help="kernel name (default: %(default)s)"
    )
    command.add_argument(
        "--options", type=text, metavar="STRING", help="use these options instead of those of the file"
    )


def read_kernel_infos(options: argparse.Namespace) -> Any:
    """What the file of ``add_kernel_infos`` holds, with the options of the command line in place of its own."""
    kernel_infos = read_infos(options.file)
    if options.options is not None and isinstance(kernel_infos, dict):
        kernel_infos["super_kernel_options"] = options.options
    return kernel_infos


def read_infos(path: str) -> Any:
    """``kernel_infos`` of a file: relative paths in it are looked for beside it, then in the current folder."""
    import os

    from superkernel import _core
    from superkernel.cli import _streams

    kernel_infos = read_json(path)
    folder = "" if path == "-" or _streams.stream_number(path) is not None else os.path.dirname(path)
    return _core.beside_file(kernel_infos, folder) if folder else kernel_infos


def read_json(path: str) -> Any:
    """The content of a JSON file; ``-`` is standard input."""
    import json

    from superkernel._errors import make_error

    def refuse(problem: str) -> Exception:
        return make_error("SK0014", f"`{path}` is not JSON: {problem}", "correct the file")

    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise refuse(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except UnicodeDecodeError as error:
        raise refuse(f"no UTF-8 text at byte {error.start}") from None
    except RecursionError:
        raise refuse("nested too deeply") from None
    except ValueError as error:
        # Python limits how long a number may be.
        raise refuse(str(error)) from None


def read_text(path: str) -> str:
    """The content of a text file or stream; ``-`` is standard input."""
    from superkernel.cli import _streams

    return _streams.read(path).decode()
