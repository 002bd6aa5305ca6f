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


#: Files whose tests compile, run or compare a lot. `make quick` leaves them out.
SLOW = {
    "test_actions",
    "test_alias",
    "test_ascendc_headers",
    "test_cache",
    "test_campaign",
    "test_campaign_mistakes",
    "test_campaign_sensitivity",
    "test_cann",
    "test_cann_install",
    "test_cann_interrupt",
    "test_cann_log",
    "test_cann_results",
    "test_cann_soc",
    "test_cli",
    "test_cli_build",
    "test_compare_sample",
    "test_compile",
    "test_elf_archives",
    "test_elf_differential",
    "test_elf_run",
    "test_environment",
    "test_examples",
    "test_fuzz_inputs",
    "test_hardening_inputs",
    "test_isolation",
    "test_logging",
    "test_op_builder",
    "test_package",
    "test_scope_build",
    "test_scope_executor",
    "test_scope_random",
    "test_scope_reference",
    "test_sim_ascendc",
    "test_sim_documented",
    "test_sim_faults",
    "test_sim_feed",
    "test_sim_lifetime",
    "test_sim_order",
    "test_sim_program",
    "test_sim_sync",
    "test_special_files",
    "test_stress",
    "test_trace",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker(pytest.mark.slow)
