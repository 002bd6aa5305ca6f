"""Fuses compiled Ascend AI-core kernels into one super kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from superkernel import _install_check, _logging
from superkernel._config import configure
from superkernel._core import __version__
from superkernel._environment import Configuration, current_config
from superkernel._errors import SuperKernelError
from superkernel._generate import generate
from superkernel._plan import plan

if TYPE_CHECKING:
    from superkernel import elf, scope, sim
    from superkernel.scope import compile_graph

__all__ = [
    "Configuration",
    "SuperKernelError",
    "__version__",
    "compile",
    "compile_graph",
    "configure",
    "current_config",
    "elf",
    "generate",
    "plan",
    "scope",
    "sim",
    "super_kernel",
    "super_kernel_constants",
    "super_kernel_feature_manager",
    "super_kernel_option_parse",
]

_install_check.warn_of_namesake()
_logging.install()

from superkernel import (  # noqa: E402
    super_kernel,
    super_kernel_constants,
    super_kernel_feature_manager,
    super_kernel_option_parse,
)
from superkernel.super_kernel import compile  # noqa: E402

# What a compile does not need is loaded when it is asked for: the graph engine and the command line start faster.
_ON_DEMAND = {
    "compile_graph": "superkernel.scope",
    "elf": "superkernel.elf",
    "scope": "superkernel.scope",
    "sim": "superkernel.sim",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(_ON_DEMAND[name])
    return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
