"""The option string of a super kernel (docs/migration.md)."""

from __future__ import annotations

# table: names (written by `make tables`)
from superkernel._migration import moved
from superkernel.super_kernel_option_parse import parse_super_kernel_options

__all__ = ["parse_super_kernel_options"]

__getattr__ = moved(__name__)
# end of table
