"""What several test files share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kernels.runner import Workshop

# Tests make many objects and few circles: looking for those all the time is a measurable part of the run.
gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def workshop() -> Iterator[Workshop]:
    """The library of small operators and devices to run them on. Built operators are kept between test runs."""
    from kernels.runner import Workshop

    made = Workshop(Path(__file__).resolve().parents[1] / "target" / "campaign-kernels")
    yield made
    made.close()
