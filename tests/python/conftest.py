"""Fixtures shared by all tests."""

from __future__ import annotations

import pytest
from kernel_library import KernelLibrary


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    """Sub-kernels, each compiled once per run."""
    return KernelLibrary(tmp_path_factory.mktemp("kernel_library"))
