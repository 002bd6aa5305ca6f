"""Ctrl-C ends a launch in this process at once, wherever its kernel code is; the process goes on as before."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from superkernel.sim import build_op

SOURCE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void endless(GM_ADDR x)
{
    volatile int32_t *word = (volatile int32_t *)x;
    while (word[0] != 0) { LOOP; }
    word[16] = 5;
}
"""
CHILD = """
import signal, sys, time
import numpy as np
from superkernel.sim import Device

heard = []
signal.signal(signal.SIGALRM, lambda *_: heard.append("alarm"))
with Device("Ascend910_93", isolation="in-process") as device:
    kernel = device.load(sys.argv[1])
    x = device.buffer(np.ones(32, np.int32), "x")
    print("running", flush=True)
    try:
        kernel.launch([x], step_limit=2**60, poll_limit=2**60)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    x.write(bytes(128))
    kernel.launch([x]).raise_for_status()
    assert x.numpy(np.int32)[16] == 5
signal.setitimer(signal.ITIMER_REAL, 0.01)
while not heard:
    time.sleep(0.01)
print(*heard)
"""


@pytest.mark.parametrize("loop", ["", "AscendC::GetSystemCycle()", "AscendC::PipeBarrier<PIPE_ALL>()", "dcci(x, 0, 2)"])
def test_ctrl_c_ends_a_launch_in_this_process(tmp_path: Path, loop: str) -> None:
    op = build_op(SOURCE.replace("LOOP", loop), "endless", block_dim=2, out_dir=tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(op.json_path)], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    # It may come before the kernel's code runs, or while it does.
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.3)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "stopped\nalarm\n"
    assert child.returncode == 0
