"""The kinds and modes of super kernels and their ops (docs/migration.md)."""

from __future__ import annotations

# table: names (written by `make tables`)
from superkernel._migration import moved
from superkernel.super_kernel_constants import (
    STR_TO_SUPER_TASK_TYPE,
    SubOperatorType,
    SuperKernelDataCacheMode,
    SuperKernelDebugDcciAllMode,
    SuperKernelDebugSyncAllMode,
    SuperKernelEarlyStartMode,
    SuperKernelFeedSyncAllMode,
    SuperKernelLinkMode,
    SuperKernelPreLoadMode,
    SuperKernelProfilingMode,
    SuperKernelStreamFusionMode,
)

__all__ = [
    "STR_TO_SUPER_TASK_TYPE",
    "SubOperatorType",
    "SuperKernelDataCacheMode",
    "SuperKernelDebugDcciAllMode",
    "SuperKernelDebugSyncAllMode",
    "SuperKernelEarlyStartMode",
    "SuperKernelFeedSyncAllMode",
    "SuperKernelLinkMode",
    "SuperKernelPreLoadMode",
    "SuperKernelProfilingMode",
    "SuperKernelStreamFusionMode",
]

__getattr__ = moved(__name__)
# end of table
