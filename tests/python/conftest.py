"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import durations
import pytest
from kernel_library import KernelLibrary
from superkernel.sim import Device

# A shell starts background jobs with Ctrl-C ignored, and `nohup` ignores hanging up: programs started from here would
# inherit both.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def host_library(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    """Sub-kernels, each compiled once per run."""
    return KernelLibrary(tmp_path_factory.mktemp("kernel_library"))


@pytest.fixture(scope="session")
def library(host_library: KernelLibrary) -> KernelLibrary:
    """Those of a test, unless its file says otherwise."""
    return host_library


@pytest.fixture(scope="session")
def device_library(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    """The same, in the shape of objects for a device."""
    return KernelLibrary(tmp_path_factory.mktemp("device_library"), for_device=True)


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For what the tests of a file share."""
    return tmp_path_factory.mktemp(Path(str(request.node.name)).stem.removeprefix("test_"))


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    """The device of a file's tests, unless the file says otherwise."""
    with Device("Ascend910_93") as device:
        yield device


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
    groups = terminalreporter.stats.values()
    reports = [report for group in groups for report in group if isinstance(report, pytest.TestReport)]
    if "SUPERKERNEL_RECORD_DURATIONS" in os.environ:
        durations.write(reports)
    noted = [pair for report in reports for pair in report.user_properties]
    told = [text for name, text in noted if name == "tally"]
    if told:
        terminalreporter.section("campaigns")
        for text in dict.fromkeys(told):
            terminalreporter.write_line(text)
    families: Counter[str] = Counter()
    for report in reports:
        # Once for every test: a note is in all reports behind it.
        if report.when == "teardown":
            for name, counts in report.user_properties:
                if name == "issued":
                    families.update(counts)
    if families:
        terminalreporter.section("instructions of the core")
        for name, count in sorted(families.items()):
            terminalreporter.write_line(f"{count:9,d} {name}")
        terminalreporter.write_line(f"{sum(families.values()):9,d} in all")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    record = durations.recorded()
    for item in items:
        if durations.is_slow(item, record):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    durations.begin(item)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    result = yield
    durations.end(item)
    return result
