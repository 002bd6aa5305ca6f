"""What is known of an op of a super kernel (docs/migration.md)."""

from __future__ import annotations

# table: names (written by `make tables`)
from superkernel.super_kernel_sub_op_infos import SubOperatorInfos

__all__ = ["SubOperatorInfos"]
# end of table
