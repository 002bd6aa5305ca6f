"""Many builds at once, killed at random, without space, without permission, in odd places.

Readers must always find the complete old pair, no description, or the complete new pair. Sizes come from
``SUPERKERNEL_STRESS_ROUNDS``.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import superkernel
from kernel_library import AIC, KernelLibrary

ROUNDS = int(os.environ.get("SUPERKERNEL_STRESS_ROUNDS", "120"))

# Builds over and over: the kernels named on the command line, each from one of several op lists. The cache makes a
# build a matter of milliseconds, so that most of the time is spent publishing.
WORKER = """
import json, random, sys
import superkernel
request = json.load(open(sys.argv[1]))
superkernel.configure(**request["settings"])
names, seed = sys.argv[3:], int(sys.argv[2])
random.seed(seed)
print("ready", flush=True)
while True:
    superkernel.compile(random.choice(request["infos"]), random.choice(names))
"""

# Builds once with the limits given, and says how it ended.
LIMITED = """
import ctypes, json, resource, sys
import superkernel
request = json.load(open(sys.argv[1]))
if request.get("file_size") is not None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"], request["file_size"]))
if request.get("powerless"):
    # Even for root the permissions of files count from here on.
    class Header(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]
    class Data(ctypes.Structure):
        _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(ctypes.byref(Header(0x20080522, 0)), (Data * 2)()) != 0:
        sys.exit("capset failed")
superkernel.configure(**request["settings"])
try:
    superkernel.compile(request["infos"], request["name"])
    print("built")
except superkernel.SuperKernelError as error:
    print(error.errorinfo["errId"])
    print(error, file=sys.stderr)
"""


@pytest.fixture
def requests(library: KernelLibrary) -> list[dict[str, Any]]:
    """Three op lists whose kernels differ."""
    one, two, cube = library.op("one"), library.op("two"), library.op("cube", AIC)
    return [library.infos(*ops, options="split-mode=1") for ops in ([one], [one, two], [two, cube])]


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return {"toolchain": "host", "kernel_meta_parent_dir": str(tmp_path / "out"), "cache_dir": str(tmp_path / "cache")}


def warm(requests: list[dict[str, Any]], settings: dict[str, Any], names: list[str]) -> None:
    """Puts every kernel into the cache."""
    with superkernel.configure(**settings):
        for name in names:
            for infos in requests:
                superkernel.compile(infos, name)


def check_pair(folder: Path, name: str) -> bool:
    """Whether there is a pair; it must fit. The same description before and after the look means that it belonged."""
    try:
        before = (folder / f"{name}.json").read_bytes()
    except FileNotFoundError:
        return False
    try:
        content = (folder / f"{name}.o").read_bytes()
    except FileNotFoundError:
        content = b""
    try:
        if (folder / f"{name}.json").read_bytes() != before:
            return False
    except FileNotFoundError:
        return False
    assert hashlib.sha256(content).hexdigest() == json.loads(before)["sha256"], f"mixed pair of {name}"
    return True


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_killed_at_random(requests, settings, tmp_path: Path):
    names = ["shared", "other"]
    warm(requests, settings, names)
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"settings": settings, "infos": requests}))
    folder = tmp_path / "out" / "kernel_meta"
    chance = random.Random(4)
    # Starting an interpreter is slow: several are killed in turn, and the others go on meanwhile.
    workers = [start(WORKER, request, seed, *names) for seed in range(3)]
    pairs = 0
    try:
        for kill in range(max(ROUNDS // 10, 8)):
            until = time.monotonic() + chance.uniform(0.01, 0.15)
            while time.monotonic() < until:
                pairs += sum(check_pair(folder, name) for name in names)
            victim = chance.randrange(len(workers))
            workers[victim].send_signal(signal.SIGKILL)
            workers[victim].wait()
            for name in names:
                check_pair(folder, name)
            workers[victim] = start(WORKER, request, 100 + kill, *names)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert pairs > 0
    # No stale lock; the next build sweeps up.
    with superkernel.configure(**settings):
        for name in names:
            for infos in requests:
                superkernel.compile(infos, name)
            assert check_pair(folder, name)
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_threads_on_one_directory(requests, settings, tmp_path: Path):
    names = ["shared", "mine_0", "mine_1", "mine_2"]
    warm(requests, settings, names)
    folder = tmp_path / "out" / "kernel_meta"
    failures: list[BaseException] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        try:
            for _ in range(max(ROUNDS // 3, 10)):
                name = chance.choice(["shared", f"mine_{number}"])
                superkernel.compile(chance.choice(requests), name)
                check_pair(folder, name)
        except BaseException as error:
            failures.append(error)

    superkernel.configure(**settings)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        superkernel.configure(toolchain=None, kernel_meta_parent_dir=None, cache_dir=None)
    assert not failures, failures[0]
    for name in names:
        assert check_pair(folder, name)
    assert not list(folder.glob(".superkernel*"))


def limited(tmp_path: Path, **request: Any) -> tuple[str, str]:
    path = tmp_path / "limited.json"
    path.write_text(json.dumps(request))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_no_space(requests, settings, tmp_path: Path):
    """A limit on the size of files, at every size where something is written."""
    settings["cache_dir"] = ""
    folder = tmp_path / "out" / "kernel_meta"
    with superkernel.configure(**settings):
        superkernel.compile(requests[0], "tight")
    before = {name: (folder / name).read_bytes() for name in ("tight.o", "tight.json")}
    outcomes = []
    for size in (0, 100, 1000, 4000, len(before["tight.o"]), 1 << 30):
        outcome, _ = limited(tmp_path, settings=settings, infos=requests[1], name="tight", file_size=size)
        outcomes.append(outcome)
        assert check_pair(folder, "tight")
        if outcome != "built":
            assert {name: (folder / name).read_bytes() for name in before} == before
        assert not list(folder.glob(".superkernel*"))
    assert outcomes[-1] == "built"
    assert outcomes[0] == "SK0801" and "built" not in outcomes[:3], outcomes


def test_no_space_while_publishing(requests, settings, tmp_path: Path):
    """Compiled earlier: only the writing of the result can fail."""
    warm(requests, settings, ["tight"])
    folder = tmp_path / "out" / "kernel_meta"
    before = {name: (folder / name).read_bytes() for name in ("tight.o", "tight.json")}
    for size in (0, 10, 500, 2000):
        outcome, _ = limited(tmp_path, settings=settings, infos=requests[0], name="tight", file_size=size)
        assert outcome == "SK0801"
        assert {name: (folder / name).read_bytes() for name in before} == before
        assert not list(folder.glob(".superkernel*"))


def test_a_read_only_directory(requests, settings, tmp_path: Path):
    settings["cache_dir"] = ""
    folder = tmp_path / "out" / "kernel_meta"
    with superkernel.configure(**settings):
        superkernel.compile(requests[0], "fixed")
    folder.chmod(0o550)
    try:
        outcome, message = limited(tmp_path, settings=settings, infos=requests[1], name="fixed", powerless=True)
        assert outcome == "SK0801"
        assert str(folder) in message and "kernel_meta_parent_dir" in message
        # What is up to date needs no writing.
        assert limited(tmp_path, settings=settings, infos=requests[0], name="fixed", powerless=True)[0] == "built"
    finally:
        folder.chmod(0o750)
    assert check_pair(folder, "fixed")


def test_inputs_that_may_not_be_read(requests, settings, tmp_path: Path):
    secret = tmp_path / "secret.o"
    secret.write_bytes(Path(requests[0]["op_list"][0]["bin_path"]).read_bytes())
    secret.chmod(0)
    infos = {**requests[0], "op_list": [{**requests[0]["op_list"][0], "bin_path": str(secret)}]}
    outcome, message = limited(tmp_path, settings=settings, infos=infos, name="secret", powerless=True)
    assert outcome == "SK0222" and str(secret) in message


def test_symlinked_places(requests, settings, tmp_path: Path):
    settings["cache_dir"] = ""
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kernel_meta").symlink_to(real)
    precious = tmp_path / "precious"
    precious.write_text("not ours")
    (real / "linked.o").symlink_to(precious)
    with superkernel.configure(**settings):
        superkernel.compile(requests[0], "linked")
    assert check_pair(real, "linked")
    assert precious.read_text() == "not ours" and not (real / "linked.o").is_symlink()


def test_names_that_are_no_text(library: KernelLibrary, tmp_path: Path):
    """Directories and files whose names are bytes that no encoding explains."""
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/od\xffd \xe9 'quoted' $HOME")
    os.mkdir(odd)
    op = library.op("one").entry()
    for key in ("json_path", "bin_path"):
        target = os.path.join(odd, os.fsdecode(b"\xfe_" + key.encode()))
        Path(target).write_bytes(Path(op[key]).read_bytes())
        op[key] = target
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=odd, cache_dir=""):
        superkernel.compile({"op_list": [op]}, "odd")
        superkernel.compile({"op_list": [op]}, "odd")
    assert check_pair(Path(odd) / "kernel_meta", "odd")
