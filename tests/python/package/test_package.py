"""The wheel: built, looked into, installed into a fresh environment and used from there."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
import superkernel
from op_lists import OpList

PROJECT = Path(__file__).parents[3]
PACKAGE = PROJECT / "python" / "superkernel"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built with the development profile: `make develop` has compiled it already."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "maturin",
        "build",
        "--quiet",
        # As `maturin develop` does it: what is compiled already serves.
        "--strip",
        "--out",
        str(folder),
        "--interpreter",
        sys.executable,
    ]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The ``bin`` folder of an environment that has nothing but the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
    done = subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def run(program: Path, *arguments: str, folder: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SUPERKERNEL_"))}
    done = subprocess.run([program, *arguments], cwd=folder, env=clean, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_wheel_for_every_python(wheel):
    assert wheel.name.startswith(f"superkernel_rs-{superkernel.__version__}-cp39-abi3-")


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        f"superkernel/{path.relative_to(PACKAGE)}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and not {"__pycache__", "docs"} & {*path.parts} and path.suffix != ".so"
    }
    assert sources - names == set()
    assert {"superkernel/py.typed", "superkernel/_core.pyi", "superkernel/_core.abi3.so"} <= names
    assert any(name.startswith("superkernel/include/") and name.endswith(".h") for name in names)
    information = {name for name in names if ".dist-info/" in name}
    assert names - sources - information == {
        "superkernel/_core.abi3.so",
        "superkernel_rs/__init__.py",
        "superkernel_rs/__main__.py",
        "superkernel_rs/command.py",
        "tbe/superkernel.py",
        *(name for name in names if name.startswith("superkernel/docs/")),
        f"superkernel_rs-{superkernel.__version__}.data/data/share/man/man1/superkernel.1",
    }
    for licence in ("LICENSE", "THIRD-PARTY-LICENSES.txt"):
        assert any(name.endswith(f"licenses/{licence}") for name in information)


def test_the_metadata(wheel):
    archive = zipfile.ZipFile(wheel)
    (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    lines = archive.read(path).decode().splitlines()
    assert "Name: superkernel-rs" in lines
    assert "Requires-Python: >=3.9" in lines
    assert sorted(line for line in lines if line.startswith("Requires-Dist")) == [
        "Requires-Dist: numpy>=1.22 ; extra == 'sim'",
        "Requires-Dist: numpy>=1.22 ; extra == 'torch'",
        "Requires-Dist: packaging ; extra == 'torch'",
        "Requires-Dist: protobuf>=3.13 ; extra == 'torch'",
        "Requires-Dist: torch>=2.7 ; extra == 'torch'",
    ]
    for field in ("Summary", "Author", "Keywords", "License-File", "Description-Content-Type", "Classifier"):
        assert any(line.startswith(f"{field}: ") for line in lines), field
    assert "Classifier: Typing :: Typed" in lines


def test_the_documents_are_in_the_wheel(installed, tmp_path):
    code = """
from importlib.resources import files
docs = files("superkernel") / "docs"
assert "| SK0101 | unknown option name |" in (docs / "errors.md").read_text()
print(*sorted(entry.name for entry in docs.iterdir() if entry.name.endswith(".md")))
"""
    names = run(installed / "python", "-c", code, folder=tmp_path).split()
    assert names == sorted(path.name for path in (PROJECT / "docs").glob("*.md"))


def test_errors_and_pictures_from_the_wheel(installed, tmp_path):
    """Explained and drawn where nothing but the wheel is."""
    assert run(installed / "superkernel", "explain", "SK0306", folder=tmp_path).startswith("SK0306 (")
    infos = OpList(tmp_path).op().op().write()
    told = run(installed / "superkernel", "explain", str(infos), "--soc", "Ascend910_93", folder=tmp_path)
    assert "2 ops fused for Ascend910_93" in told
    command = ["plan", str(infos), "--soc", "Ascend910_93", "--html", "out.html", "--trace", "t.json", "--gantt"]
    assert "0 k0" in run(installed / "superkernel", *command, folder=tmp_path)
    assert "<canvas" in (tmp_path / "out.html").read_text() and "traceEvents" in (tmp_path / "t.json").read_text()


def test_arrays_without_numpy_are_refused_with_a_hint(installed, tmp_path):
    code = """
from superkernel import SuperKernelError, sim
with sim.Device() as device:
    buffer = device.buffer(b"12345678", "x")
    assert buffer.read() == b"12345678"
    try:
        buffer.numpy()
    except SuperKernelError as error:
        print(error.errorinfo["message"], error.errorinfo["errSolution"], sep="\\n")
"""
    told = run(installed / "python", "-c", code, folder=tmp_path).splitlines()
    assert told == [
        "numpy is not installed, and arrays are numpy's",
        'run `pip install "superkernel-rs[sim]"`, or take the bytes with `Buffer.read()`',
    ]


def test_it_works_where_nothing_else_is_installed(installed, tmp_path):
    for command in ("superkernel", "superkernel-rs"):
        told = run(installed / command, "version", folder=tmp_path)
        assert told.startswith(f"superkernel {superkernel.__version__} (commit ")
    code = """
import superkernel, tbe.superkernel
assert tbe.superkernel is superkernel
assert "site-packages" in superkernel.__file__, superkernel.__file__
print(superkernel.super_kernel_option_parse.parse_super_kernel_options("split-mode=2"))
"""
    assert run(installed / "python", "-W", "error", "-c", code, folder=tmp_path) == "{'split-mode': 2}\n"


def test_every_public_name_is_there():
    for name in superkernel.__all__:
        assert hasattr(superkernel, name), name
    assert superkernel.compile is superkernel.super_kernel.compile
