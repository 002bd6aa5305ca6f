"""The wheels of `make wheels`: one per machine, alike but for the native part."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

DIST = Path(__file__).parents[2] / "dist"
MACHINES = {"x86_64": 62, "aarch64": 183}  # and their ELF numbers


def wheel_for(machine: str) -> Path:
    found = list(DIST.glob(f"superkernel_rs-*-cp39-abi3-*manylinux_2_17_{machine}.whl"))
    assert len(found) == 1, f"run `make wheels` first: {found}"
    return found[0]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_native_part_is_for_its_machine(machine):
    library = zipfile.ZipFile(wheel_for(machine)).read("superkernel/_core.abi3.so")
    assert library[:4] == b"\x7fELF"
    assert int.from_bytes(library[18:20], "little") == MACHINES[machine]


def test_all_else_is_the_same():
    def content(machine: str) -> dict[str, bytes]:
        archive = zipfile.ZipFile(wheel_for(machine))
        names = [name for name in archive.namelist() if not name.endswith((".so", "/RECORD", "/WHEEL"))]
        # A list of dependencies that names the machine.
        return {name: archive.read(name) for name in names if "/sboms/" not in name}

    assert content("x86_64") == content("aarch64")


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_says_where_it_was_built(machine):
    """Neither the library nor the list of dependencies has a path of the builder; licences of others are there."""
    archive = zipfile.ZipFile(wheel_for(machine))
    places = [str(DIST.parent).encode(), str(Path.home() / ".cargo").encode()]
    for name in archive.namelist():
        content = archive.read(name)
        assert not [place for place in places if place in content], name
    metadata = next(archive.read(name) for name in archive.namelist() if name.endswith("/METADATA")).decode()
    assert not re.search(r"\]\((?!https?:)", metadata), "links that a package index does not have"
    (licences,) = [name for name in archive.namelist() if name.endswith("THIRD-PARTY-LICENSES.txt")]
    assert b"\npyo3 " in archive.read(licences)


def test_the_version_names_the_commit(tmp_path):
    machine = platform.machine()
    zipfile.ZipFile(wheel_for(machine)).extractall(tmp_path)
    command = [sys.executable, "-m", "superkernel", "version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert re.fullmatch(r"superkernel [0-9.]+ \(commit [0-9a-f]{12}\)\n", done.stdout), done.stdout


def test_the_workflows_have_the_form_of_workflows():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    workflows = sorted(map(str, (DIST.parent / ".github" / "workflows").glob("*.yml")))
    assert len(workflows) == 2
    subprocess.run([*command, *workflows], check=True, timeout=60)


def test_it_installs_and_runs_here(tmp_path):
    machine = platform.machine()
    venv.create(tmp_path / "environment", with_pip=False)
    python = tmp_path / "environment" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*command, str(wheel_for(machine))], check=True, timeout=300)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SUPERKERNEL_"))}
    done = subprocess.run(
        [python.with_name("superkernel"), "version"], env=clean, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
