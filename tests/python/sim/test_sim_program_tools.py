"""Programs of `superkernel sim` with tools that look into their kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from program_files import write
from superkernel.cli import main

_TOOLS = """
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;

__global__ __aicore__ void work(GM_ADDR x, int mistake) {
    auto *data = (__gm__ int32_t *)x;
    const int core = (int)GetBlockIdx();
    data[16 * core] = core;
    dcci((__gm__ int32_t *)data + 16 * core, 0, 2);
    if (mistake == 1) {
        data[64] = core;
    }
    if (mistake == 2 && core == 1) {
        while (core == 1) { asm volatile(""); }
    }
    if (core == 0) {
        TPipe pipe;
        TBuf<TPosition::VECCALC> first, second;
        pipe.InitBuffer(first, 64);
        pipe.InitBuffer(second, 64);
        LocalTensor<int32_t> a = first.Get<int32_t>(), b = second.Get<int32_t>();
        GlobalTensor<int32_t> out;
        out.SetGlobalBuffer(data + 128, 16);
        if (mistake != 3) { Duplicate(a, (int32_t)1, 16); }
        if (mistake != 4) { PipeBarrier<PIPE_V>(); }
        Adds(b, a, (int32_t)1, 16);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(out, b, 16);
    }
}

int main(int argc, char **argv) {
    void *x = nullptr;
    aclrtMalloc(&x, 1024, ACL_MEM_MALLOC_HUGE_FIRST);
    work<<<2, nullptr, nullptr>>>((GM_ADDR)x, argv[1][0] - '0');
    return 0;
}
"""


def test_tools_look_into_the_kernels_of_a_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path, _TOOLS)
    sim = ["sim", "--ascendc", ""]
    usual = "race,pipe,cache,init,bounds"
    assert main([*sim, "--tool", f"{usual},autosync", str(source), "0"]) == 0, capfd.readouterr().err
    for mistake, tool, told in (
        ("1", "race", "two cores of op 0 `work` use `memory0`+256 (4 bytes, write after write)"),
        ("3", "init", "which nothing has written"),
        ("4", "autosync", "PipeBarrier<PIPE_V> between them is missing"),
    ):
        assert main([*sim, str(source), mistake]) == 0
        assert main([*sim, "--tool", tool, str(source), mistake]) == 1, mistake
        assert told in capfd.readouterr().err
        others = ",".join(name for name in usual.split(",") if name != tool)
        assert main([*sim, "--tool", others, str(source), mistake]) == 0, capfd.readouterr().err
    assert main([*sim, "--option=-g", "--timeout", "1", str(source), "2"]) == 1
    line = next(number for number, text in enumerate(_TOOLS.splitlines(), 1) if "asm volatile" in text)
    told = capfd.readouterr().err
    assert "AIV1: the kernel did not come back within 1 seconds" in told and f":{line}" in told
    assert main([*sim, "--tool", "rase", str(source), "0"]) == 1
    assert "rase" in capfd.readouterr().err


_NOTHING = """
#include "acl/acl.h"
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void idle(GM_ADDR x) { (void)x; }
int main(int, char **argv)
{
    if (argv[1][0] == '1') { idle<<<2, nullptr, nullptr>>>(nullptr); }
    return 0;
}
"""


def test_nothing_looked_at_is_not_fine(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`order` has nothing to look at, nor has any tool where nothing is launched or done."""
    source = write(tmp_path, _NOTHING)
    sim = ["sim", "--ascendc", ""]
    for tools in ("order", "race,order", "order,pipe"):
        assert main([*sim, "--tool", tools, str(source), "0"]) == 1
        told = capfd.readouterr().err
        assert "SK0902" in told and "one after another" in told
    assert main([*sim, "--allow-unchecked", "pipe", str(source), "0"]) == 1
    assert "without --tool" in capfd.readouterr().err
    for what, told in (("0", "launched no kernel"), ("1", "idle`, of which no core issued an instruction")):
        assert main([*sim, str(source), what]) == 0
        for tool in ("race", "pipe", "cache", "init", "bounds", "autosync"):
            assert main([*sim, "--tool", tool, str(source), what]) == 1, tool
            message = capfd.readouterr().err
            assert "SK0944" in message and told in message, message
        allowed = ["--tool", "pipe,race", "--allow-unchecked", "race"]
        assert main([*sim, *allowed, str(source), what]) == 1, "pipe is not allowed"
        assert main([*sim, *allowed, "--allow-unchecked", "pipe", str(source), what]) == 0


_FRESH = """
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void next(GM_ADDR x, GM_ADDR y, int scalar)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 512);
    LocalTensor<float> tile = buffer.Get<float>();
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float *)x, 128);
    out.SetGlobalBuffer((__gm__ float *)y, 128);
    DataCopy(tile, in, 128);
    PipeBarrier<PIPE_ALL>();
    Adds(tile, tile, 1.0f, 128);
    PipeBarrier<PIPE_ALL>();
    DataCopy(out, tile, scalar == 2 ? 64 : 128);
    if (scalar == 1) { out.SetValue(0, in.GetValue(100)); }
}
int main(int, char **argv)
{
    const int what = argv[1][0] - '0';
    void *x, *y;
    float host[128] = {};
    aclrtMalloc(&x, 512, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&y, 512, ACL_MEM_MALLOC_HUGE_FIRST);
    if (what != 0) { aclrtMemcpy(x, 512, host, 400, ACL_MEMCPY_HOST_TO_DEVICE); }
    next<<<1, nullptr, nullptr>>>((GM_ADDR)x, (GM_ADDR)y, what);
    aclrtMemcpy(host, 512, y, 512, ACL_MEMCPY_DEVICE_TO_HOST);
    if (what == 3) { next<<<1, nullptr, nullptr>>>((GM_ADDR)y, (GM_ADDR)x, what); }
    return 0;
}
"""


def test_device_memory_that_nobody_wrote(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A tile may be larger than its data, and a result smaller than its memory; what nobody wrote at all is found."""
    source = write(tmp_path, _FRESH)
    for what in ("0", "1"):
        assert main(["sim", "--ascendc", "", str(source), what]) == 0
        assert main(["sim", "--ascendc", "", "--tool", "init", str(source), what]) == 1, what
        told = capfd.readouterr().err
        assert "GM at `memory0`" in told and "nothing has written since it was allocated" in told, told
    for what in ("2", "3"):
        assert main(["sim", "--ascendc", "", "--tool", "init", "--seed", "5", str(source), what]) == 0, what
