"""Tools end with the process that started them, however that ends, and nothing is left behind after the next run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import superkernel
from cann_tools import Toolkit
from kernel_library import MIX_1_2, KernelLibrary
from superkernel import _build
from superkernel._scratch import ScratchFolder
from superkernel.scope import Graph

# A worker of the graph engine leaves at once when it is interrupted.
WORKER = """
import json, os, signal, sys, superkernel
signal.signal(signal.SIGINT, lambda *_: os._exit(3))
superkernel.compile(json.loads(sys.argv[1]), "interrupted")
"""
COMPILE = """
import json, sys, superkernel
superkernel.compile(json.loads(sys.argv[1]), "interrupted")
"""
FORKING = """
import json, os, sys, threading, time, superkernel
# A process that is forked while the tools run inherits whatever holds them, and lives on.
def fork():
    while not os.path.exists(os.environ["SK_STANDIN_PIDS"]):
        time.sleep(0.01)
    if os.fork() == 0:
        time.sleep(300)
        os._exit(0)
threading.Thread(target=fork, daemon=True).start()
superkernel.compile(json.loads(sys.argv[1]), "interrupted")
"""


class Scene:
    """A toolkit whose compilers hang, each with a child of its own."""

    def __init__(self, folder: Path) -> None:
        self.kit = Toolkit(folder / "cann", _build.INCLUDE_DIR)
        self.meta = folder / "kernel_meta"
        self.folder = folder
        self.pids_file = folder / "pids"
        self.environment = {
            **os.environ,
            "PATH": f"{self.kit.bin}:{os.environ['PATH']}",
            "ASCEND_HOME_PATH": str(self.kit.folder),
            "SK_STANDIN_BEHAVIOUR": "bisheng:hang-with-child",
            "SK_STANDIN_PIDS": str(self.pids_file),
        }

    def start(self, *command: str) -> subprocess.Popen[str]:
        """A program in a group of its own, as a shell starts it."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def pids(self) -> list[int]:
        """Of the compilers and their children."""
        lines = self.pids_file.read_text().splitlines() if self.pids_file.exists() else []
        return [pid for line in lines for pid in json.loads(line)["pids"]]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def eventually(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture(scope="module")
def library(device_library: KernelLibrary) -> KernelLibrary:
    """Objects for a device."""
    return device_library


def mixed(library: KernelLibrary) -> str:
    return json.dumps(library.infos(library.op("mixed", MIX_1_2), options="split-mode=1"))


@pytest.mark.parametrize(
    ("code", "number"),
    [
        (COMPILE, signal.SIGKILL),
        (COMPILE, signal.SIGTERM),
        (COMPILE, signal.SIGHUP),
        (COMPILE, signal.SIGINT),
        (WORKER, signal.SIGINT),
        (FORKING, signal.SIGKILL),
    ],
    ids=["killed", "terminated", "hung up", "interrupted", "leaving worker", "forked"],
)
def test_tools_end_with_their_process(library: KernelLibrary, scene: Scene, monkeypatch, code: str, number: int):
    process = scene.start(sys.executable, "-c", textwrap.dedent(code), mixed(library))
    eventually(lambda: len(scene.pids()) == 4, "both compilers run")
    if code is FORKING:
        # The forked process exists by now, or will in a moment.
        time.sleep(0.3)
    process.send_signal(number)
    eventually(lambda: process.poll() is not None, "the process ends")
    eventually(lambda: not any(map(is_alive, scene.pids())), f"no tool is left of {scene.pids()}")
    if code is FORKING:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    # What was begun is gone after the next run.
    monkeypatch.setenv("PATH", scene.environment["PATH"])
    monkeypatch.setenv("ASCEND_HOME_PATH", scene.environment["ASCEND_HOME_PATH"])
    with superkernel.configure(kernel_meta_parent_dir=scene.folder, cache_dir=""):
        superkernel.compile(json.loads(mixed(library)), "interrupted")
    assert [path.name for path in scene.meta.iterdir() if path.name.startswith(".")] == []


def test_one_ctrl_c_ends_the_build_of_a_model(library: KernelLibrary, scene: Scene):
    graph = Graph()
    for number, (name, seed) in enumerate((("one", "a"), ("two", "b"))):
        for half in "xy":
            op = library.op(f"{name}{half}")
            paths = {"kernel_name": op.name, "bin_path": op.bin_path, "json_path": op.json_path}
            graph.op(f"{seed}{half}", "Op", support=1, scope=seed, stream=number, options="split-mode=1", **paths)
    graph.write(scene.folder / "graph.json")
    process = scene.start(sys.executable, "-m", "superkernel", "build", "graph.json", "-j", "2")
    eventually(lambda: len(scene.pids()) == 4, "a compiler runs for each kernel")
    process.send_signal(signal.SIGINT)
    eventually(lambda: process.poll() is not None, "the command ends")
    assert process.returncode != 0
    assert not any(map(is_alive, scene.pids()))
    process.communicate()
    assert not list(scene.meta.glob(".superkernel*"))


def compiler(folder: Path, text: str) -> str:
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_question_for_the_linker_obeys_the_limit(library: KernelLibrary, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("CXX", compiler(tmp_path, "sleep 1000"))
    settings = {"toolchain": "host", "tool_timeout": 0.3, "kernel_meta_parent_dir": tmp_path, "cache_dir": ""}
    with superkernel.configure(**settings), pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(library.op("one")), "asked")
    assert caught.value.errorinfo["errId"] == "SK0704"


@pytest.mark.parametrize("command", ["compile", "doctor"])
def test_the_question_for_the_linker_obeys_ctrl_c(library: KernelLibrary, scene: Scene, command: str):
    scene.environment["CXX"] = compiler(
        scene.folder, f"echo '{{\"pids\": ['$$']}}' >> {scene.pids_file}; exec sleep 1000"
    )
    scene.environment["SUPERKERNEL_TOOLCHAIN"] = "host"
    (scene.folder / "infos.json").write_text(json.dumps(library.infos(library.op("one"))))
    arguments = {"compile": ["compile", "infos.json", "--name", "k"], "doctor": ["doctor"]}[command]
    process = scene.start(sys.executable, "-m", "superkernel", *arguments)
    eventually(lambda: len(scene.pids()) == 1, "the compiler is asked")
    process.send_signal(signal.SIGINT)
    eventually(lambda: process.poll() is not None, "the command ends")
    assert not any(map(is_alive, scene.pids()))
    process.communicate()


def test_folders_of_a_killed_process_are_removed_by_the_next(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    code = (
        "import os; from superkernel._scratch import ScratchFolder; f = ScratchFolder('x'); print(f.name, flush=True)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", f"{code}; os.kill(os.getpid(), 9)"], capture_output=True, text=True, check=False
    )
    left = Path(killed.stdout.strip())
    assert left.is_dir() and tmp_path in left.parents
    with ScratchFolder("y") as folder:
        assert not left.exists()
        # Another process that starts does not take away what is in use.
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        assert Path(folder).is_dir()
    assert not Path(folder).exists()


def test_a_forked_process_leaves_the_folder_of_its_parent_alone(tmp_path: Path):
    code = """
    import os, sys
    from superkernel._scratch import ScratchFolder
    folder = ScratchFolder("x")
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    print(os.path.isdir(folder.name))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
