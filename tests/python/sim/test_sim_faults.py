"""Kernels that crash, trap or never come back: a report with the operator's name, and the caller lives on."""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sim_kernels
from superkernel import SuperKernelError
from superkernel.sim import Device, Report, _child

# One kernel with every fault; the word of argument 1 chooses.
FAULTS = """
#include <stdlib.h>
static int deep(int n) { volatile int a[1000]; a[n % 1000] = n; return n ? deep(n + 1) + a[3] : 0; }
// Up to the end of the page, with the way back to the simulator in it.
__attribute__((noinline)) static void destroy_stack() {
    volatile char here = 0;
    auto *end = (volatile char *)(((uintptr_t)&here | 4095) + 1);
    for (auto *at = &here; at < end; ++at) { *at = 0x41; }
    __builtin_trap();
}
static void broken(uint64_t fault) {
    SK_OP_BEGIN(1);
    volatile int zero = 0;
    switch (fault) {
    case 1: *(volatile int *)8 = 3; break;
    case 2: zero = 3 / zero; break;
    case 3: abort(); break;
    case 4: deep(1); break;
    case 5: ((void (*)(uint64_t))slot(2))(0); break;
    case 6: trap(); break;
    case 7: for (;;) { zero = zero + 1; } break;
    case 8: ((volatile char *)slot(0))[4096 + 100] = 1; break;
    case 9: ((volatile char *)slot(0))[70] = 1; break;
    case 10: __builtin_trap(); break;
    case 11: _exit(3); break;
    case 12: raise(SIGTRAP); break;
    case 13: destroy_stack(); break;
    default: break;
    }
    SK_OP_END(1);
}
static void body() {
    SK_OP_BEGIN(0);
    SK_OP_END(0);
    if (AscendC::GetBlockIdx() == 1 && sk_host_core_type() == AscendC::AIV) { broken(*slot(1)); }
}
"""
FAULTS = FAULTS.replace("#include <stdlib.h>", "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>")

EXPECTED = {
    1: ("crash", "SIGSEGV at address 0x8, in no buffer"),
    2: ("crash", "SIGFPE"),
    3: ("crash", "SIGABRT"),
    4: ("crash", "stack overflow"),
    5: ("null-call", "a null function pointer was called"),
    6: ("trap", "kernel.cpp:"),
    8: ("crash", "past the end of `data`"),
    10: ("crash", "SIGILL"),
    12: ("crash", "SIGTRAP"),
    13: ("crash", "SIGILL"),
}
if platform.machine() == "aarch64":
    # Division by zero is zero there, and the compiler's trap is a breakpoint.
    del EXPECTED[2]
    EXPECTED[10] = EXPECTED[13] = ("crash", "SIGTRAP")


@pytest.fixture(scope="module", params=["process", "in-process"])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with Device("Ascend910_93", isolation=request.param) as device:
        yield device


def _fault(device: Device, folder: Path, number: int, **options: object) -> Report:
    kernel = sim_kernels.kernel(device, folder, FAULTS, "1:2", ("-Wno-infinite-recursion",))
    arguments = [device.buffer(64, "data"), device.buffer(number.to_bytes(8, "little")), 0]
    return kernel.launch(arguments, block_dim=2, op_names=["fine", "faulty"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", EXPECTED)
def test_faults_name_core_and_operator(device: Device, folder: Path, number: int) -> None:
    report = _fault(device, folder, number)
    status, text = EXPECTED[number]
    assert report.status == status and text in report.message
    assert report.failure is not None
    assert (report.failure["core"], report.failure["op"]) == ("AIV1", "op 1 `faulty`")
    assert report.core("AIV1").state == "failed"
    # The next launch is not affected.
    assert _fault(device, folder, 0).ok


def test_writes_behind_the_end_are_found(device: Device, folder: Path) -> None:
    report = _fault(device, folder, 9)
    assert report.status == "overrun" and "6 bytes past the end of buffer `data`" in report.message
    assert _fault(device, folder, 0).ok


def test_a_loop_without_device_calls_times_out(folder: Path) -> None:
    with Device("Ascend910_93") as device:
        # The process is there before the time begins: to start it can take longer, under emulation.
        assert _fault(device, folder, 0).ok
        report = _fault(device, folder, 7, timeout=2.0)
        assert report.status == "timeout"
        assert report.message.startswith("AIV1 in op 1 `faulty`: the kernel did not come back within 2 seconds")
        assert _fault(device, folder, 0).ok


def test_a_loop_with_hooks_in_it_meets_the_step_limit(folder: Path) -> None:
    source = "static void body() { volatile int n = 0; for (;;) { n = n + 1; } }"
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, source, "0:1", ("-fsanitize-coverage=trace-pc",))
        assert kernel.launch([], block_dim=2, step_limit=200).status == "step-limit"


def test_a_process_that_ends_is_reported(folder: Path) -> None:
    with Device("Ascend910_93") as device:
        report = _fault(device, folder, 11)
        assert report.status == "crash" and "ended with status 3" in report.message
        assert _fault(device, folder, 0).ok


def test_raise_for_status_carries_id_and_solution(folder: Path) -> None:
    with Device("Ascend910_93") as device:
        with pytest.raises(SuperKernelError, match="faulty") as caught:
            _fault(device, folder, 1).raise_for_status()
        assert caught.value.errorinfo["errId"] == "SK0917" and caught.value.errorinfo["errSolution"]


def test_loading_takes_the_compiler_that_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = sim_kernels.compile_object(folder, '#include "kernel_operator.h"\nextern "C" void f(uint64_t) {}\n')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def load() -> str:
        with Device("Ascend910_93") as device, pytest.raises(SuperKernelError) as caught:
            device.load(fine, functions={"aiv": "f"}, kernel_type="KERNEL_TYPE_AIV_ONLY")
        return str(caught.value.errorinfo["errId"])

    monkeypatch.setenv("CXX", "/nowhere/c++")
    assert load() == "SK0701"
    slow = tmp_path / "slow-c++"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setenv("CXX", str(slow))
    monkeypatch.setenv("SUPERKERNEL_TOOL_TIMEOUT", "0.3")
    assert load() == "SK0704"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path != slow]


def test_what_cannot_be_loaded(folder: Path, tmp_path: Path) -> None:
    with Device("Ascend910_93") as device:
        undefined = sim_kernels.compile_object(
            folder, '#include "kernel_operator.h"\nextern "C" void other();\nextern "C" void f(uint64_t) { other(); }\n'
        )
        with pytest.raises(SuperKernelError, match="other") as caught:
            device.load(undefined, functions={"aiv": "f"}, kernel_type="KERNEL_TYPE_AIV_ONLY")
        assert caught.value.errorinfo["errId"] == "SK0904"
        fine = sim_kernels.compile_object(folder, '#include "kernel_operator.h"\nextern "C" void f(uint64_t) {}\n')
        kernel = device.load(fine, functions={"aiv": "g"}, kernel_type="KERNEL_TYPE_AIV_ONLY")
        with pytest.raises(SuperKernelError, match="no function `g`") as caught:
            kernel.launch([], block_dim=1)
        assert caught.value.errorinfo["errId"] == "SK0906"
        with pytest.raises(SuperKernelError, match="no meta section"):
            device.load(fine)
        garbage = tmp_path / "garbage.o"
        garbage.write_bytes(b"not an object")
        with pytest.raises(SuperKernelError):
            device.load(garbage)
        with pytest.raises(SuperKernelError, match=r"missing\.json"):
            device.load(tmp_path / "missing.json")
        with pytest.raises(SuperKernelError):
            device.load(tmp_path / "missing.o")


def test_a_kernel_that_writes_into_the_answer_is_found_out(folder: Path) -> None:
    chatter = """
#include <unistd.h>
static void body() {
    for (int file = 3; *(uint64_t *)slot(0) != 0 && file < 64; ++file) { (void)!write(file, "hello\\n", 6); }
}
"""
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, chatter, "0:1", ("-Wno-unused-result",))
        loud, quiet = (device.buffer(bytes([value] * 8)) for value in (1, 0))
        with pytest.raises(SuperKernelError) as caught:
            kernel.launch([loud], block_dim=1)
        assert caught.value.errorinfo["errId"] == "SK0923"
        assert kernel.launch([quiet], block_dim=1).ok


def test_an_answer_without_end_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = """
#include <unistd.h>
static char block[1 << 16];
static void body() { for (;;) { for (int file = 3; file < 64; ++file) { (void)!write(file, block, sizeof(block)); } } }
"""
    monkeypatch.setattr(_child, "_LARGEST_ANSWER", 1 << 20)
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, endless, "0:1", ("-Wno-unused-result",))
        with pytest.raises(SuperKernelError, match="more than") as caught:
            kernel.launch([], block_dim=1)
        assert caught.value.errorinfo["errId"] == "SK0923" and device._child is None


def test_what_a_worker_says_unasked_is_no_answer(folder: Path) -> None:
    """It comes behind the answer, where the next one is expected."""
    late = """
#include <unistd.h>
static void body() {
    if (fork() == 0) {
        usleep(300000);
        for (int f = 3; f < 64; ++f) { (void)!write(f, "hello\\n", 6); }
        _exit(0);
    }
}
"""
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, late, "0:1", ("-Wno-unused-result",))
        assert kernel.launch([], block_dim=1).ok
        worker = device._child
        assert worker is not None
        deadline = time.monotonic() + 30
        while worker.is_silent() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not worker.is_silent()
        assert kernel.launch([], block_dim=1).ok and device._child is not worker


def test_a_kernel_cannot_take_the_memory_away(folder: Path) -> None:
    """Cut short, the next access of the parent would end it."""
    cut = """
#include <unistd.h>
static void body() { for (int file = 3; file < 64; ++file) { (void)!ftruncate(file, 0); } slot(0)[0] = 7; }
"""
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, cut, "0:1", ("-Wno-unused-result",))
        x = device.buffer(8)
        assert kernel.launch([x], block_dim=1).ok
        assert x.word() == 7


def test_what_the_worker_refuses_does_not_cost_it(folder: Path) -> None:
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, "static void body() {}", "0:1")
        assert kernel.launch([], block_dim=1).ok
        worker = device._child
        with pytest.raises(SuperKernelError, match="5000 blocks"):
            kernel.launch([], block_dim=5000)
        assert kernel.launch([], block_dim=1).ok and device._child is worker is not None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"block_dim": 0}, "block_dim=0"),
        ({"block_dim": 2, "delays": {"AIV9": 3}}, "AIV9"),
        ({"block_dim": 2, "schedule": "fair"}, "fair"),
        ({"block_dim": 2, "arrivals": "some"}, "some"),
        ({}, "how many blocks"),
    ],
)
def test_arguments_that_make_no_sense(folder: Path, options: dict[str, object], text: str) -> None:
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, "static void body() {}", "0:1")
        with pytest.raises(SuperKernelError, match=text) as caught:
            kernel.launch([], **options)  # type: ignore[arg-type]
        assert caught.value.errorinfo["errId"] in ("SK0901", "SK0902")


@pytest.mark.parametrize("timeout", ["0.5", "math.inf"])
def test_a_worker_ends_by_itself_when_nobody_is_left(folder: Path, timeout: str) -> None:
    """The parent is killed in the middle of a launch that never comes back."""
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, folder, FAULTS, "1:2", ("-Wno-infinite-recursion",))
        path = kernel.description.object
    program = f"""
import math, os, threading, time
from superkernel.sim import Device
device = Device("Ascend910_93")
kernel = device.load({str(path)!r})
arguments = [device.buffer(64), device.buffer((7).to_bytes(8, "little")), 0]
threading.Thread(target=lambda: kernel.launch(arguments, block_dim=2, timeout={timeout}), daemon=True).start()
while device._child is None:
    time.sleep(0.01)
print(device._child._process.pid, flush=True)
time.sleep(0.4)
os._exit(1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    pid = int(done.stdout)
    deadline = time.monotonic() + 40
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not _is_alive(pid)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
