"""The wheel for aarch64, run under emulation: fibers, signal handling and the loader differ from machine to machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_wheels import wheel_for

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "target" / "aarch64-python"

#: Tests of the suite that run kernels: what they build is built for aarch64 and runs in an emulated process.
SUITE = ["test_sim_faults.py", "test_sim_launch.py", "test_sim_sync.py", "test_sim_order.py", "test_sim_feed.py"]


@pytest.fixture(scope="module")
def python() -> Path:
    """The emulated interpreter, with the wheel in it."""
    command = [PROJECT / "scripts" / "aarch64-python", FOLDER, wheel_for("aarch64")]
    subprocess.run(
        command, check=True, timeout=900, env={**os.environ, "PIP": str(Path(sys.executable).with_name("pip"))}
    )
    return FOLDER / "python"


def run(python: Path, *arguments: object, folder: Path, timeout: int = 1800) -> str:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SUPERKERNEL_", "CXX"))
    }
    # Emulation is slow; what was meant as a generous limit on the machine itself is none here.
    clean["PATH"] = f"{FOLDER / 'bin'}:{clean['PATH']}"
    done = subprocess.run(
        [python, *map(str, arguments)],
        cwd=folder,
        env=clean,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-20000:]}\n{done.stderr[-5000:]}"
    return done.stdout


def test_it_is_what_it_claims_to_be(python, tmp_path):
    code = "import platform, superkernel; print(platform.machine(), superkernel.__file__)"
    machine, file = run(python, "-c", code, folder=tmp_path).split()
    assert machine == "aarch64"
    assert Path(file).is_relative_to(FOLDER / "site")


@pytest.mark.parametrize("file", SUITE)
def test_the_suite(python, file):
    out = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/python/sim/{file}", folder=PROJECT)
    assert " passed" in out and " skipped" not in out


def test_the_minimal_example(python, tmp_path):
    """Two operators compiled, fused and run, as `make demo` does here."""
    shutil.copytree(PROJECT / "examples" / "minimal", tmp_path / "minimal")
    out = run(python, "superkernel_runtime_ascendc_basic.py", folder=tmp_path / "minimal")
    assert "execute sample success" in out
