"""Expected texts in files. ``SUPERKERNEL_BLESS=1`` writes them anew; look at the difference before committing it."""

from __future__ import annotations

import os
from pathlib import Path

CASES = Path(__file__).parents[2] / "cases"


def check(name: str, text: str) -> None:
    """Compares ``text`` with the file ``name`` of ``tests/cases``."""
    path = CASES / name
    if os.environ.get("SUPERKERNEL_BLESS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return
    assert path.exists(), f"{path} is not there; SUPERKERNEL_BLESS=1 writes it"
    assert text == path.read_text(), f"{path} differs; SUPERKERNEL_BLESS=1 rewrites it"
