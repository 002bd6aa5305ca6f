"""`superkernel build`: the user's cache, true words about every kernel, jobs that do not multiply, live progress."""

from __future__ import annotations

import io
import json
import os
import pty
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import superkernel
from kernel_library import MIX_1_2, KernelLibrary
from superkernel import SuperKernelError
from superkernel.cli._progress import ModelProgress, clock
from superkernel.scope import Graph

COMMAND = str(Path(sys.executable).with_name("superkernel"))


@pytest.fixture
def scene(library: KernelLibrary, tmp_path: Path) -> Path:
    """A folder with `graph.json`: scopes s and t are one kernel, u is another."""
    graph = Graph("model")
    for scope, names in {"s": ("one", "mixed"), "t": ("one", "mixed"), "u": ("mixed", "one")}.items():
        for number, name in enumerate(names):
            op = library.op(name) if name == "one" else library.op(name, MIX_1_2)
            files = {"kernel_name": op.name, "bin_path": op.bin_path, "json_path": op.json_path}
            graph.op(f"{scope}{number}", "Op", stream=0, scope=scope, support=1, options="split-mode=1", **files)
    graph.write(tmp_path / "graph.json")
    return tmp_path


def environment(scene: Path, **more: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SUPERKERNEL_", "ASCEND"))}
    return {**clean, "XDG_CACHE_HOME": str(scene / "xdg"), "SUPERKERNEL_TOOLCHAIN": "host", **more}


def run(scene: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [COMMAND, "build", "graph.json", *arguments],
        cwd=scene, env=environment(scene, **more), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def states(scene: Path, *arguments: str) -> dict[str, str]:
    figures = json.loads(run(scene, "--json", "-q", *arguments).stdout)
    by_piece = {row["piece"]: row["state"] for row in figures["kernels"]}
    for state in ("compiled", "up to date", "from cache", "shared", "failed"):
        assert figures[state] == list(by_piece.values()).count(state)
    # Which of the two equal ones is built and which shares it is decided by who comes first.
    first, second = sorted((by_piece["s"], by_piece["t"]))
    return {"built": first, "other": second, "u": by_piece["u"]}


def test_every_kernel_is_told_as_it_is(scene: Path) -> None:
    first = run(scene)
    assert first.stdout.splitlines()[-1].startswith("3 super kernels: 2 compiled, 1 shared, 0 failed, ")
    assert sorted(line.split()[0] for line in first.stdout.splitlines()[:-1]) == ["[1/3]", "[2/3]", "[3/3]"]
    assert first.stderr == ""
    assert states(scene) == {"built": "shared", "other": "up to date", "u": "up to date"}
    # On the command line the user's cache is on, as it is for `compile`.
    assert states(scene, "--kernel-meta-parent-dir", "a") == {
        "built": "from cache",
        "other": "shared",
        "u": "from cache",
    }
    fresh = states(scene, "--kernel-meta-parent-dir", "b", "--no-cache")
    assert fresh == {"built": "compiled", "other": "shared", "u": "compiled"}
    again = states(scene, "--rebuild", "--keep")
    assert again == {"built": "compiled", "other": "shared", "u": "compiled"}
    assert list((scene / "kernel_meta").glob("*_kernel.cpp"))
    assert run(scene, "-q").stdout.startswith("3 super kernels: ")


def write_compiler(path: Path, script: str, **names: Path) -> None:
    """A stand-in that ends by calling the real one."""
    path.write_text(script.format(compiler=os.environ.get("CXX", "c++"), **names))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


#: A compiler that notes when it begins and ends, and takes its time.
NOTING = """#!/bin/sh
echo "+" >> {notes}
sleep 0.2
{compiler} "$@"
status=$?
echo "-" >> {notes}
exit $status
"""


@pytest.mark.parametrize("jobs", [1, 3])
def test_jobs_do_not_multiply(scene: Path, jobs: int) -> None:
    """Builds run side by side, each with several compilers: never more of them than jobs."""
    compiler, notes = scene / "noting-c++", scene / "notes"
    write_compiler(compiler, NOTING, notes=notes)
    run(scene, "--no-cache", "-q", "-j", str(jobs), CXX=str(compiler))
    running = most = 0
    for sign in notes.read_text().split():
        running += 1 if sign == "+" else -1
        most = max(most, running)
    assert running == 0 and 1 <= most <= jobs


@pytest.mark.parametrize("jobs", [0, -1, "two", True])
def test_jobs_from_one_up_in_python_too(scene: Path, jobs: int) -> None:
    with pytest.raises(SuperKernelError, match=r"`jobs` cannot be `.*`; expected a whole number from 1 up"):
        superkernel.compile_graph(scene / "graph.json", jobs=jobs)


#: A compiler that works when somebody has seen it.
SEEN = """#!/bin/sh
case "$*" in *-print-prog-name*) ;; *) until [ -e {seen} ]; do sleep 0.02; done ;; esac
exec {compiler} "$@"
"""


def test_a_terminal_sees_what_runs(scene: Path) -> None:
    compiler, seen = scene / "seen-c++", scene / "seen"
    write_compiler(compiler, SEEN, seen=seen)
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "build", "graph.json", "--no-cache", "-j", "1"],
        cwd=scene, env=environment(scene, CXX=str(compiler)), stdout=subprocess.PIPE, stderr=child,
    )  # fmt: skip
    os.close(child)
    shown = b""
    deadline = time.monotonic() + 60
    try:
        while piece := os.read(parent, 4096):
            shown += piece
            if b"(compile)" in shown or time.monotonic() > deadline:
                seen.touch()
    except OSError:
        pass
    finally:
        os.close(parent)
    assert process.wait() == 0
    lines = shown.decode().split("\r\x1b[K")
    assert lines[1].startswith(("[planning] 0:0", "[0/3] 0:0"))
    assert any(line.startswith("[0/3] ") and "(compile)" in line for line in lines)
    assert any(line.startswith(("[1/3] ", "[2/3] ")) and " left" in line for line in lines)
    assert lines[-1] == ""


def test_the_line_tells_what_is_done_what_runs_and_what_is_left() -> None:
    progress = ModelProgress(io.StringIO())
    assert progress.line(0.2) == "[planning] 0:00"
    progress.planned(SimpleNamespace(pieces=["a", "b", "c", "d"]))
    progress.stage("a", "load")
    progress.stage("b", "load")
    progress.stage("a", "link")
    assert progress.line(1) == "[0/4] 0:01  a (link), b (load)"
    progress(1, 4, SimpleNamespace(piece="a", state="compiled"))
    assert progress.line(20) == "[1/4] 0:20, about 1:00 left  b (load)"
    assert progress.line(20, width=30) == "[1/4] 0:20, about 1:00 lef..."
    progress(4, 4, SimpleNamespace(piece="b", state="compiled"))
    assert progress.line(80) == "[4/4] 1:20"
    assert clock(3725) == "1:02:05"
