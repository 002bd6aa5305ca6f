"""What `make quick` runs is chosen by the recorded cost of a test, or by what a new test uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import durations
import pytest
from kernel_library import KernelLibrary

TESTS = Path(__file__).parents[1]


def chosen(*paths: Path) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *paths], cwd=TESTS.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {line.partition("[")[0].rpartition("/")[2] for line in done.stdout.splitlines() if "::" in line}


def test_a_new_test_that_compiles_is_slow(request: pytest.FixtureRequest, library: KernelLibrary):
    assert durations.is_slow(request.node, {})


def test_another_new_test_is_not(request: pytest.FixtureRequest):
    assert not durations.is_slow(request.node, {})


@pytest.mark.quick
def test_a_mark_wins(request: pytest.FixtureRequest, library: KernelLibrary):
    assert not durations.is_slow(request.node, {durations.name_of(request.node): 100.0})


def test_it_has_a_compile_a_launch_and_a_command():
    paths = [TESTS / "compile/test_compile.py", TESTS / "sim/test_sim_launch.py", TESTS / "cli/test_cli_build.py"]
    assert chosen(*paths) >= {
        "test_compile.py::test_the_description",
        "test_sim_launch.py::test_a_published_super_kernel_needs_no_more_than_its_path",
        "test_cli_build.py::test_a_build_can_be_replayed_elsewhere",
    }


def test_a_recorded_cost_decides(request: pytest.FixtureRequest):
    name = durations.name_of(request.node)
    for seconds, expected in ((durations.LIMIT, True), (durations.LIMIT / 2, False)):
        assert durations.is_slow(request.node, {name: seconds}) is expected
