"""What is known of a super kernel (docs/migration.md)."""

from __future__ import annotations

# table: names (written by `make tables`)
from superkernel.super_kernel_op_infos import SuperOperatorInfos

__all__ = ["SuperOperatorInfos"]
# end of table
