"""Fuses compiled Ascend AI-core kernels into one super kernel."""

from __future__ import annotations

import sys

# First of all, and in syntax that older Pythons read: a toolkit's folder may be shared by several Pythons.
if sys.version_info < (3, 9):  # noqa: UP036
    raise ImportError(
        f"superkernel-rs needs Python 3.9 or newer; this is Python {sys.version_info[0]}.{sys.version_info[1]} "
        f"({sys.executable}). Start the graph engine with a newer Python, or, if `superkernel-rs activate` chose this "
        "package, take it back with `superkernel-rs deactivate`"
    )

from typing import TYPE_CHECKING, Any

from superkernel._config import configure
from superkernel._core import __version__
from superkernel._environment import Configuration, current_config
from superkernel._errors import SuperKernelError
from superkernel._fork import imported
from superkernel._generate import generate
from superkernel._install.strangers import warn_of_stranger
from superkernel._logging import follow_the_environment
from superkernel._plan import plan

if TYPE_CHECKING:
    from superkernel import (
        cost,
        elf,
        profiling,
        scope,
        sim,
        super_kernel_constants,
        super_kernel_feature_manager,
        super_kernel_option_parse,
        types,
    )
    from superkernel._compile import compile_kernel
    from superkernel._locate import Location, StoppedCores, locate, locate_log
    from superkernel.scope import compile_graph

__all__ = [
    "Configuration",
    "Location",
    "StoppedCores",
    "SuperKernelError",
    "__version__",
    "compile",
    "compile_graph",
    "compile_kernel",
    "configure",
    "cost",
    "current_config",
    "elf",
    "generate",
    "locate",
    "locate_log",
    "plan",
    "profiling",
    "scope",
    "sim",
    "super_kernel",
    "super_kernel_constants",
    "super_kernel_feature_manager",
    "super_kernel_option_parse",
    "types",
]

follow_the_environment()
warn_of_stranger()

from superkernel import super_kernel  # noqa: E402
from superkernel.super_kernel import compile  # noqa: E402

# What a compile does not need is loaded when it is asked for: the graph engine and the command line start faster.
_ON_DEMAND = {
    "Location": "superkernel._locate",
    "StoppedCores": "superkernel._locate",
    "locate": "superkernel._locate",
    "locate_log": "superkernel._locate",
    "compile_graph": "superkernel.scope",
    "compile_kernel": "superkernel._compile",
    "cost": "superkernel.cost",
    "elf": "superkernel.elf",
    "profiling": "superkernel.profiling",
    "scope": "superkernel.scope",
    "sim": "superkernel.sim",
    "super_kernel_constants": "superkernel.super_kernel_constants",
    "super_kernel_feature_manager": "superkernel.super_kernel_feature_manager",
    "super_kernel_option_parse": "superkernel.super_kernel_option_parse",
    "types": "superkernel.types",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = imported(_ON_DEMAND[name])
    return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
