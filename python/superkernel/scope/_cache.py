"""Kernels of this process: one build per kernel, however many ask for it (``src/build/model/once.rs``)."""

from __future__ import annotations

import os

from superkernel._core import KernelCache

__all__ = ["KernelCache", "kernels"]

#: The kernels of this process.
kernels = KernelCache()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=kernels._reset_after_fork)
