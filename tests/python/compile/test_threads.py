"""What docs/threads.md promises: threads, processes, forks and Ctrl-C at once, on the same kernels and the same cache.

``SUPERKERNEL_THREAD_ROUNDS`` says how long.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_library import AIC, KernelLibrary
from superkernel.sim import build_op

ROUNDS = int(os.environ.get("SUPERKERNEL_THREAD_ROUNDS", "3"))
PROCESSES = 3

# Each round: threads that build, forks that build too, and a main thread that builds until it is interrupted.
WORKER = """
import json, os, random, signal, sys, threading
import superkernel

signal.signal(signal.SIGINT, signal.default_int_handler)
request = json.load(open(sys.argv[1]))
seed, rounds, names = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
superkernel.configure(**request["settings"])
wrong, interrupted = [], 0

def build(chance, times):
    for _ in range(times):
        try:
            superkernel.compile(chance.choice(request["infos"]), chance.choice(names))
        except superkernel.SuperKernelError as error:
            wrong.append(str(error))

def forked(chance):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        del wrong[:]
        build(chance, 2)
        status = 2 if wrong else 0
    finally:
        os._exit(status)

for number in range(rounds):
    chance = random.Random(f"{seed} {number}")
    threads = [threading.Thread(target=build, args=(random.Random(f"{seed} {number} {i}"), 3)) for i in range(3)]
    for thread in threads:
        thread.start()
    children = [forked(random.Random(f"{seed} {number} child {i}")) for i in range(2)]
    alarm = threading.Timer(chance.uniform(0.001, 0.1), os.kill, (os.getpid(), signal.SIGINT))
    try:
        alarm.start()
        while True:
            build(chance, 1)
    except KeyboardInterrupt:
        interrupted += 1
    for thread in threads:
        thread.join()
    for child in children:
        status = os.waitpid(child, 0)[1]
        if status:
            wrong.append(f"a fork ended with {status}")
print(json.dumps({"wrong": wrong, "interrupted": interrupted}))
"""


@pytest.fixture
def request_file(library: KernelLibrary, tmp_path: Path) -> Path:
    """What the programs below build: infos and settings."""
    one, two, cube = library.op("one"), library.op("two"), library.op("cube", AIC)
    infos = [library.infos(*ops, options="split-mode=1") for ops in ([one], [one, two], [two, cube])]
    settings = {
        "toolchain": "host",
        "kernel_meta_parent_dir": str(tmp_path / "out"),
        "cache_dir": str(tmp_path / "cache"),
    }
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"settings": settings, "infos": infos}))
    return path


def started(program: str, *arguments: object, **more: Any) -> subprocess.Popen[str]:
    words = [str(argument) for argument in arguments]
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-X", "faulthandler", "-c", textwrap.dedent(program), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # As for an interrupt from the keyboard of one of them.
        start_new_session=True,
        **more,
    )


def whereabouts(process: int) -> str:
    """What the system knows about the threads of a process and about the processes it has started."""

    def line(folder: Path) -> str:
        try:
            known = [folder.name, *((folder / name).read_text().strip() for name in ("comm", "wchan", "syscall"))]
            status = (folder / "status").read_text().splitlines()
        except OSError:
            return f"{folder.name} has ended"
        return " ".join([*known, *(" ".join(line.split()) for line in status if line.startswith(("Sig", "Shd")))])

    tasks = sorted(Path(f"/proc/{process}/task").iterdir())
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return "\n".join([*map(line, tasks), "children:", *(line(Path("/proc", child)) for child in children)])


def told(process: subprocess.Popen[str], limit: float) -> Any:
    """What it prints, after a good end; a process that hangs is ended, with its forks, and says where they were."""
    try:
        printed, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        threads = whereabouts(process.pid)
        os.killpg(process.pid, signal.SIGABRT)
        printed, errors = process.communicate()
        raise AssertionError(f"not at its end after {limit} s: {printed}\n{errors}\n{threads}") from None
    assert process.returncode == 0, errors
    return json.loads(printed)


@pytest.fixture
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """With CANN's Python, or without."""
    found = dict(os.environ)
    if request.param:
        package = tmp_path / "site" / "asc_op_compile_base" / "common"
        (package / "platform").mkdir(parents=True)
        for folder in (package.parent, package, package / "platform"):
            (folder / "__init__.py").touch()
        (package / "platform" / "platform_info.py").write_text("def get_soc_spec(key):\n    return 'Ascend910_93'\n")
        found["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "site"), found.get("PYTHONPATH", "")])
        found["SUPERKERNEL_SOC"] = "Ascend910_93"
    yield found


@pytest.mark.timeout(120 + 20 * ROUNDS)
@pytest.mark.parametrize("environment", [False, True], ids=["alone", "with CANN"], indirect=True)
def test_threads_forks_processes_and_interrupts_at_once(
    request_file: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    names = ["shared", "other"]
    workers = [started(WORKER, request_file, seed, ROUNDS, *names, env=environment) for seed in range(PROCESSES)]
    answers = [told(worker, 60 + 20 * ROUNDS) for worker in workers]
    assert answers == [{"wrong": [], "interrupted": ROUNDS}] * PROCESSES
    folder = tmp_path / "out" / "kernel_meta"
    for name in names:
        described = json.loads((folder / f"{name}.json").read_text())
        assert hashlib.sha256((folder / f"{name}.o").read_bytes()).hexdigest() == described["sha256"]
    # Nothing half done is left: no work folder, no temporary file.
    left = {re.sub(r"(_\d+)?\.(o|json|manifest\.json|log)$", "", path.name) for path in folder.iterdir()}
    assert left == set(names)


# A thread imports, or holds one of our locks, when another one forks.
IN_THE_MIDDLE = """
    import os, sys, threading, time
    import superkernel
    from superkernel import _fork

    inside, go_on = threading.Event(), threading.Event()
    lock = _fork.new_lock()

    def other():
        with {guard}:
            inside.set()
            go_on.wait()
            sys.modules["made_meanwhile"] = sys

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    threading.Timer(0.3, go_on.set).start()
    child = os.fork()
    if child == 0:
        lock.acquire()
        with _fork.undivided():
            os._exit(10 + ("made_meanwhile" in sys.modules))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    thread.join()
    # And neither is locked for the parent.
    lock.acquire()
    with _fork.undivided():
        print(status)
"""


def test_a_fork_waits_for_who_must_not_be_divided() -> None:
    assert told(started(IN_THE_MIDDLE.format(guard="_fork.undivided()")), 60) == 11


def test_a_fork_does_not_wait_for_a_lock_and_its_child_finds_it_free() -> None:
    assert told(started(IN_THE_MIDDLE.format(guard="lock")), 60) == 10


def test_a_fork_inside_goes_ahead() -> None:
    program = """
        import os
        from superkernel import _fork

        lock = _fork.new_lock()
        with _fork.undivided(), lock:
            child = os.fork()
        if child == 0:
            with lock, _fork.undivided():
                os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert told(started(program), 60) == 7


def test_a_fork_does_not_wait_for_ever(tmp_path: Path) -> None:
    """Another thread's import waits for the thread that forks."""
    program = """
        import os, threading
        from superkernel import _fork

        _fork._PATIENCE = 0.2
        inside, over = threading.Event(), threading.Event()

        def other():
            with _fork.undivided():
                inside.set()
                over.wait()

        thread = threading.Thread(target=other)
        thread.start()
        inside.wait()
        child = os.fork()
        if child == 0:
            with _fork.undivided():
                os._exit(7)
        over.set()
        thread.join()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert told(started(program), 60) == 7


def test_builds_in_handlers_tasks_and_pools(request_file: Path, tmp_path: Path) -> None:
    program = """
        import asyncio, atexit, concurrent.futures, json, multiprocessing, os, signal, sys, threading
        import superkernel

        request = json.load(open(sys.argv[1]))
        superkernel.configure(**request["settings"])
        folder = request["settings"]["kernel_meta_parent_dir"]
        told = []

        def build(name, number=0):
            superkernel.compile(request["infos"][number], name)
            return os.path.exists(f"{folder}/kernel_meta/{name}.o")

        def at_exit():
            told.append(build("at_exit"))
            print(json.dumps(told), flush=True)

        atexit.register(at_exit)
        handled = []

        def at_alarm(*_):
            signal.setitimer(signal.ITIMER_REAL, 0)
            handled.append(build("same"))

        signal.signal(signal.SIGALRM, at_alarm)
        # Until it meets a build, however short builds are.
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        while not handled:
            build("same", 1)
        told.append(handled[0])

        async def tasks():
            with superkernel.configure(jobs=1):
                return await asyncio.gather(*(asyncio.get_running_loop().run_in_executor(None, build, f"task{number}")
                                              for number in range(3)))

        told.append(asyncio.run(tasks()))
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            told.append(list(pool.map(build, ["pool1", "pool2"])))
        threading.Thread(target=build, args=("late", 1)).start()
    """
    assert told(started(program, request_file), 60) == [True, [True] * 3, [True] * 2, True]


# Says that it runs, then waits for a word from outside.
WAITING = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void waiting(GM_ADDR x, GM_ADDR y)
{
    volatile int64_t *told = (volatile int64_t *)x;
    told[0] = 1;
    while (told[1] == 0) {
    }
}
"""


def test_what_a_process_that_is_forked_in_the_middle_of_a_launch_can_do(library: KernelLibrary, tmp_path: Path) -> None:
    op = build_op(WAITING, "waiting", None, "KERNEL_TYPE_AIV_ONLY", 1, out_dir=tmp_path)
    program = """
        import ctypes, os, sys, threading, time
        import superkernel
        from superkernel import sim

        waiting, other = sys.argv[1:]

        def refusal(use, *arguments, **named):
            try:
                use(*arguments, **named)
            except superkernel.SuperKernelError as error:
                return str(error).partition("\\n")[0].replace(str(os.getppid()), "PARENT")

        def in_child():
            own = sim.Device()
            answers = [
                refusal(kernel.launch, [data, data]),
                refusal(kernel.check, [data, data], seeds=1),
                refusal(device.buffer, 16),
                refusal(data.free),
                own.load(other).launch([own.buffer(256), own.buffer(256)]).status,
            ]
            with sim.Device(isolation="in-process") as own:
                answers.append(refusal(own.load(other).launch, [own.buffer(256), own.buffer(256)]))
            return answers

        device = sim.Device(isolation="in-process")
        kernel, data = device.load(waiting), device.buffer(bytes(16))
        words = (ctypes.c_int64 * 2).from_address(data.address)
        thread = threading.Thread(target=kernel.launch, args=([data, data],))
        thread.start()
        while words[0] == 0:
            time.sleep(0.001)
        if os.fork() == 0:
            try:
                print(__import__("json").dumps(in_child()), flush=True)
            finally:
                os._exit(0)
        os.wait()
        words[1] = 1
        thread.join()
    """
    one = library.op("one")
    foreign = "[SK0902] the device belongs to process PARENT"
    name = Path(one.json_path).stem
    refused = f"[SK0956] launch of `{name}`: this process was forked while another thread ran a kernel in it"
    answers = told(started(program, op.json_path, one.json_path), 60)
    assert answers == [foreign, foreign, foreign, None, "ok", refused]
