"""What a machine with CANN has told when its toolkit's script was sourced."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def told_soc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SoC, without which nothing is built for a device; ``run_python`` starts processes that do not know it."""
    monkeypatch.setenv("SUPERKERNEL_SOC", "Ascend910_93")
