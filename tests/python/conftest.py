"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from kernel_library import KernelLibrary

# A shell starts background jobs with Ctrl-C ignored, and `nohup` ignores hanging up: programs started from here would
# inherit both.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    """Sub-kernels, each compiled once per run."""
    return KernelLibrary(tmp_path_factory.mktemp("kernel_library"))


@pytest.fixture
def tally(record_property, request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Counts of a campaign: what became of its inputs. Printed at the end of the run."""
    counts: Counter[str] = Counter()
    yield counts
    record_property("tally", f"{request.node.name}: {sum(counts.values())} inputs, {dict(sorted(counts.items()))}")


@pytest.fixture(autouse=True)
def issued(record_property) -> Iterator[None]:
    """What a test gave to cores in a long campaign: instructions by family, added up at the end of the run."""
    model = sys.modules.get("core_model") if "SUPERKERNEL_CORE_ROUNDS" in os.environ else None
    before = Counter(model.ISSUED) if model else Counter()
    yield
    if model:
        record_property("issued", dict(model.ISSUED - before))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    # What fixtures note when they end is in the reports of their ends, which have no outcome of their own.
    reports = [report for group in terminalreporter.stats.values() for report in group]
    noted = [pair for report in reports for pair in getattr(report, "user_properties", [])]
    told = [text for name, text in noted if name == "tally"]
    if told:
        terminalreporter.section("campaigns")
        for text in dict.fromkeys(told):
            terminalreporter.write_line(text)
    families: Counter[str] = Counter()
    for report in reports:
        # Once for every test: a note is in all reports behind it.
        if getattr(report, "when", "") == "teardown":
            for name, counts in report.user_properties:
                if name == "issued":
                    families.update(counts)
    if families:
        terminalreporter.section("instructions of the core")
        for name, count in sorted(families.items()):
            terminalreporter.write_line(f"{count:9,d} {name}")
        terminalreporter.write_line(f"{sum(families.values()):9,d} in all")


#: Files whose tests compile, run or compare a lot. `make quick` leaves them out.
SLOW = {
    "test_actions",
    "test_alias",
    "test_ascendc_headers",
    "test_build_key",
    "test_cache",
    "test_campaign",
    "test_campaign_files",
    "test_campaign_mistakes",
    "test_campaign_sensitivity",
    "test_campaign_sim",
    "test_cann",
    "test_cann_install",
    "test_cann_interrupt",
    "test_cann_log",
    "test_cann_results",
    "test_cann_soc",
    "test_cli",
    "test_cli_build",
    "test_cli_care",
    "test_cli_model",
    "test_cli_paths",
    "test_compare_sample",
    "test_compile",
    "test_documents",
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
    "test_sim_blocks",
    "test_sim_check",
    "test_sim_cube",
    "test_sim_documented",
    "test_sim_faults",
    "test_sim_feed",
    "test_sim_header",
    "test_sim_lifetime",
    "test_sim_order",
    "test_sim_pipes",
    "test_sim_program",
    "test_sim_strict",
    "test_sim_subset",
    "test_sim_sync",
    "test_special_files",
    "test_stress",
    "test_trace",
    "test_typing",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker(pytest.mark.slow)
