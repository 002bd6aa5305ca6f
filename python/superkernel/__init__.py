"""Fuses compiled Ascend AI-core kernels into one super kernel."""

from superkernel import _install_check, _logging
from superkernel._config import configure
from superkernel._core import __version__
from superkernel._environment import Configuration, current_config
from superkernel._errors import SuperKernelError
from superkernel._generate import generate
from superkernel._plan import plan

__all__ = [
    "Configuration",
    "SuperKernelError",
    "__version__",
    "compile",
    "compile_graph",
    "configure",
    "current_config",
    "generate",
    "plan",
    "scope",
    "super_kernel",
    "super_kernel_constants",
    "super_kernel_feature_manager",
    "super_kernel_option_parse",
]

_install_check.warn_of_namesake()
_logging.install()

from superkernel import (  # noqa: E402
    scope,
    super_kernel,
    super_kernel_constants,
    super_kernel_feature_manager,
    super_kernel_option_parse,
)
from superkernel.scope import compile_graph  # noqa: E402
from superkernel.super_kernel import compile  # noqa: E402
