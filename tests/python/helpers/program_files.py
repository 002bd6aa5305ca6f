"""Programs for `superkernel sim`: written into folders, with and without AscendC's own headers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TREE = os.environ.get("SUPERKERNEL_ASCENDC", "")
needs_tree = pytest.mark.skipif(not TREE, reason="SUPERKERNEL_ASCENDC names no tree of AscendC headers")


def write(folder: Path, text: str, name: str = "add.asc") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def trees() -> list[object]:
    return [pytest.param("", id="built-in"), pytest.param(TREE, id="headers", marks=needs_tree)]
