"""Plain pointers and instructions that leave their buffer of a `TPipe` for the next one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Report

#: Two buffers of 64 floats, one behind the other. `WHAT` says what the scalar unit does with pointers.
SOURCE = """
using namespace AscendC;
static __attribute__((noinline)) void fill(__ubuf__ float *to, int from, int count) {
    for (int i = from; i < count; ++i) { to[i] = (float)i; } // FILL
}
static void body() {
    SK_OP_BEGIN(0);
    {
        TPipe pipe;
        TBuf<TPosition::VECCALC> left, right;
        pipe.InitBuffer(left, 256);
        pipe.InitBuffer(right, 256);
        LocalTensor<float> a = left.Get<float>(), b = right.Get<float>();
        [[maybe_unused]] __ubuf__ float *p = (__ubuf__ float *)a.GetPhyAddr();
        Duplicate(a, 0.0f, 64);
        Duplicate(b, 0.0f, 64);
        WHAT;
        pipe_barrier(PIPE_ALL);
        DataCopy(*out(), b, 64);
    }
    SK_OP_END(0);
}
"""
OUT = """
static AscendC::GlobalTensor<float> *out() {
    static AscendC::GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer((float *)slot(0), 64);
    return &tensor;
}
"""
TAKE = "__ubuf__ float *q = (__ubuf__ float *)b.GetPhyAddr()"


def launch(device: Device, folder: Path, what: str) -> Report:
    source = OUT + "#line 1\n" + SOURCE.replace("WHAT", what)
    kernel = sim_kernels.kernel(device, folder, source, "0:1", (*sim_kernels.hooks(), "-g"))
    return kernel.launch([np.zeros(64, np.float32)], block_dim=1, pipes="checked", op_names=["fill"])


def line(mark: str) -> int:
    return 1 + SOURCE.split(mark)[0].count("\n")


@pytest.mark.parametrize(
    ("what", "story", "place"),
    [
        ("fill(p, 0, 65)", "no address of that buffer was taken", "// FILL"),
        ("fill(p, 70, 71)", "no address of that buffer was taken", "// FILL"),
        (f"{TAKE}; fill(q, 0, 64); fill(p, 0, 66)", "goes on through a plain pointer past the end", "// FILL"),
        ("vector_dup(p, 1.0f, 2, 1, 1, 8, 0)", "writes past the end of", "WHAT"),
        ("Duplicate(a, 0.0f, 64); p[64] += 1", "no address of that buffer was taken", "WHAT"),
    ],
)
def test_a_pointer_that_leaves_its_buffer_is_found(
    device: Device, folder: Path, what: str, story: str, place: str
) -> None:
    report = launch(device, folder, what)
    assert report.status == "pipe", report
    finding = report.findings[0]
    assert finding.kind == "bounds" and story in finding.text, finding
    assert "of UB" in finding.text
    assert finding.second is not None and finding.second["line"] == line(place)


@pytest.mark.parametrize(
    "what",
    [
        "fill(p, 0, 64)",
        f"{TAKE}; fill(p, 0, 64); fill(q, 0, 64)",
        f"{TAKE}; __ubuf__ float *both[2] = {{p, q}}; for (auto one : both) {{ fill(one, 0, 64); }}",
        f"{TAKE}; fill(q, 0, 64); fill(p, 0, 60)",
        f"fill(p, 0, 64); {TAKE}; fill(q, 0, 3)",
        "float &first = b(0); pipe_barrier(PIPE_ALL); first = 1",
        "b.SetValue(63, a.GetValue(63))",
        "vector_dup(p, 1.0f, 1, 1, 1, 8, 0)",
    ],
)
def test_who_keeps_to_a_buffer_is_not_reported(device: Device, folder: Path, what: str) -> None:
    launch(device, folder, what).raise_for_status()
