"""Programs whose host and kernel code share their files: built into one library, run in a process of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from superkernel import _core
from superkernel._build import cache_limit
from superkernel._children import python_command, python_environment
from superkernel._environment import current_config
from superkernel._errors import SuperKernelError
from superkernel.sim import _arguments as check
from superkernel.sim.op_builder import INCLUDE_DIR

__all__ = ["build_program", "header_folder", "main", "run_program"]

#: Deep enough for kernels that keep their objects on the stack.
_STACK = 8 << 20
#: Global memory of a program.
_MEMORY = 64 << 30


def header_folder() -> str | None:
    """The folder of the AscendC headers a program is built with; ``None``: the built-in subset.

    It is that of the setting ``ascendc``, or that of ``ASCEND_HOME_PATH`` if it is not set.
    """
    config = current_config()
    folder: str | None = config["ascendc"]
    toolkit = os.environ.get("ASCEND_HOME_PATH")
    if folder is None and toolkit and config.origins["ascendc"] == "default":
        try:
            _core.header_tree(toolkit)
        except SuperKernelError:
            return None
        return toolkit
    return folder


def build_program(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    library: str | os.PathLike[str],
    *,
    options: Sequence[str] = (),
    libraries: Sequence[str | os.PathLike[str]] = (),
    watch_accesses: bool = False,
) -> None:
    """Compiles a program with the host's C++ compiler into the shared ``library``.

    The first source has ``main``; ``options`` go to the compiler; ``libraries`` are linked (archives, shared objects).
    ``watch_accesses`` has every load and store tell the simulator, for launches with ``pipes`` or ``cache``.
    """
    from superkernel.sim.device import cache_directory

    files = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    config = current_config()
    _core.sim_build_program(
        [os.path.abspath(file) for file in files],
        list(options),
        [os.path.abspath(file) for file in libraries],
        header_folder(),
        str(INCLUDE_DIR),
        os.path.abspath(library),
        str(cache_directory()),
        cache_limit(),
        watch_accesses,
        config["tool_timeout"],
    )


def run_program(
    library: str | os.PathLike[str],
    arguments: Sequence[str] = (),
    *,
    name: str | None = None,
    soc: str | None = None,
    aic_num: int | None = None,
    aiv_num: int | None = None,
    seed: int | None = None,
    launch: Mapping[str, Any] | None = None,
    accepted: Sequence[str] | None = None,
    timeout: float | None = None,
    **streams: Any,
) -> subprocess.CompletedProcess[Any]:
    """Runs a built program in a process of its own; ``streams`` say where its output goes, as for ``subprocess``.

    ``soc``, ``aic_num`` and ``aiv_num`` are what host code gets to know about the chip. ``seed`` makes cores go on in a
    random order; ``launch`` has further fields of every launch. ``accepted`` names tools that need not be able to look;
    ``None``: none were asked for.
    """
    fields: dict[str, Any] = {"stack_bytes": _STACK, **(launch or {})}
    if seed is not None:
        fields["schedule"] = {"policy": "random", "seed": check.integer("seed", seed, 0, 2**64 - 1)}
    settings: dict[str, Any] = {"soc": soc or "Ascend910B", "aic_num": aic_num, "aiv_num": aiv_num, "launch": fields}
    settings.update(memory=_MEMORY, accepted=None if accepted is None else list(accepted))
    words = [os.path.abspath(library), json.dumps(settings), name or Path(library).stem]
    command = python_command(__name__, [*words, *arguments])
    return subprocess.run(command, env=python_environment(), timeout=timeout, check=False, **streams)


def main(arguments: list[str]) -> int:
    """The process of a program: it ends with it, with its status. What is returned means that it cannot run."""
    from superkernel.cli import report

    library, settings, *words = arguments
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        _core.sim_run_program(library, words, settings)
    except SuperKernelError as error:
        report(error)
    return 1
