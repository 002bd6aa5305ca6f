"""Fuses compiled Ascend AI-core kernels into one super kernel."""

from superkernel._core import __version__
from superkernel._errors import SuperKernelError

__all__ = ["SuperKernelError", "__version__"]
