"""What several test files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kernels.runner import Workshop


@pytest.fixture(scope="session")
def workshop() -> Iterator[Workshop]:
    """The library of small operators and devices to run them on. Built operators are kept between test runs."""
    from kernels.runner import Workshop

    made = Workshop(Path(__file__).resolve().parents[1] / "target" / "campaign-kernels")
    yield made
    made.close()
