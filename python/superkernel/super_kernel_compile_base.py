"""Names of symbols and alignment of code (docs/migration.md)."""

from __future__ import annotations

# table: names (written by `make tables`)
from superkernel._migration import moved

__all__: list[str] = []

__getattr__ = moved(__name__)
# end of table
