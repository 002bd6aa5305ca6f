"""Reading ``kernel_infos`` from a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from superkernel.cli._parser import text
from superkernel.cli._settings import given_settings

if TYPE_CHECKING:
    from superkernel._core import BuildRecord


def add_kernel_infos(command: argparse.ArgumentParser) -> None:
    """The arguments of a sub-command that works on ``kernel_infos``: the file, the kernel's name, its options."""
    command.add_argument(
        "file",
        metavar="FILE.json",
        help="`kernel_infos`: an object with `op_list` and `super_kernel_options`; relative paths in it are looked for "
        "beside the file, then in the current folder; `-`: standard input; or NAME.json of a built kernel, with its "
        "build record beside it: what it was built from, and with which settings",
    )
    add_kernel_name(command)
    command.add_argument(
        "--options", type=text, metavar="STRING", help="use these options instead of those of the file"
    )
    command.add_argument(
        "--sync",
        choices=("contract", "proven"),
        help="set this option alone: `contract` has every step of the replaced software, `proven` leaves out what the "
        "checker proves to be unnecessary",
    )


#: What a kernel without a name is called.
DEFAULT_NAME = "ascendc_super_kernel_plus"


def add_kernel_name(command: argparse.ArgumentParser) -> None:
    """``--name`` of the kernel of an op list."""
    command.add_argument(
        "--name", type=text, help=f"kernel name (default: that of a built kernel, else {DEFAULT_NAME})"
    )


class OpList(NamedTuple):
    """An op list, and what it is to be built as."""

    kernel_infos: Any
    name: str
    #: Those of a recorded build, under those of the command line.
    settings: dict[str, Any]


def read_op_list(options: argparse.Namespace) -> OpList:
    """What the file of ``add_kernel_infos`` holds, with the options of the command line in place of its own."""
    read = recorded_build(options.file, options)
    if read is None:
        read = OpList(read_infos(options.file), options.name or DEFAULT_NAME, given_settings(options))
    return with_options(read, options)


def with_options(read: OpList, options: argparse.Namespace) -> OpList:
    """With the options of the command line in place of its own."""
    from superkernel import _core

    infos = read.kernel_infos
    if isinstance(infos, dict):
        if options.options is not None:
            infos["super_kernel_options"] = options.options
        if options.sync is not None and isinstance(given := infos.get("super_kernel_options") or "", str):
            infos["super_kernel_options"] = _core.options_with_sync(given, options.sync)
    return read


def recorded_build(path: str, options: argparse.Namespace) -> OpList | None:
    """The op list of a built kernel, given by its description; ``None`` if the file is something else."""
    from superkernel._config import repeatable

    built = _built(path)
    if built is None:
        return None
    name, record = built
    return OpList(record.kernel_infos, options.name or name, {**repeatable(record.settings), **given_settings(options)})


def read_infos(path: str) -> Any:
    """``kernel_infos`` of a file: relative paths in it are looked for beside it, then in the current folder."""
    built = _built(path)
    if built is not None:
        return built[1].kernel_infos
    kernel_infos = read_written(path)
    if isinstance(kernel_infos, dict) and _DESCRIPTION in kernel_infos and "op_list" not in kernel_infos:
        raise _no_record(path)
    return kernel_infos


def read_written(path: str) -> Any:
    """The JSON of a file, whatever it is, with the paths of an op list."""
    import os

    from superkernel import _core

    kernel_infos = read_json(path)
    folder = "" if _is_stream(path) else os.path.dirname(path)
    return _core.beside_file(kernel_infos, folder) if folder else kernel_infos


def _built(path: str) -> tuple[str, BuildRecord] | None:
    """The name and the build record of a kernel that the file describes; ``None`` if it describes none."""
    from superkernel import _core, _files

    # Most files are something else, and large ones take their time to be read as JSON.
    if _is_stream(path) or _DESCRIPTION.encode() not in _files.read(path):
        return None
    found = _core.built_kernel(path)
    if found is None:
        return None
    kernel, record = found
    if record is None:
        raise _no_record(path)
    return kernel["kernel_name"], record


#: A key of the description of a built super kernel.
_DESCRIPTION = "SuperkernelInfo"


def _no_record(path: str) -> Exception:
    from superkernel._errors import make_error

    return make_error(
        "SK0805",
        f"`{path}` describes a built kernel, but the record of its build, `NAME.manifest.json`, is not beside it or "
        "belongs to another build",
        "keep the two together, or give the op list",
    )


def _is_stream(path: str) -> bool:
    from superkernel.cli import _streams

    return path == "-" or _streams.stream_number(path) is not None


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
