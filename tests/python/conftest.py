"""Fixtures shared by all tests."""

from __future__ import annotations

import signal

import pytest
from kernel_library import KernelLibrary

# A shell starts background jobs with Ctrl-C ignored, and programs started from here would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    """Sub-kernels, each compiled once per run."""
    return KernelLibrary(tmp_path_factory.mktemp("kernel_library"))
