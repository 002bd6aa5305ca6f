"""Multiplications written against the built-in subset: halves with a bias, integers with a scale for every column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import superkernel
from cube_model import quantisation_word, quantised
from superkernel import sim

SOC = "Ascend910_93"
AIC = "KERNEL_TYPE_AIC_ONLY"
# The last rows of the last fractal are not there.
M, K, N = 40, 64, 64

_CUBE = f"""
#include "kernel_operator.h"
using namespace AscendC;
constexpr int M = {M}, K = {K}, N = {N}, ROWS = (M + 15) / 16 * 16;

// Row-major matrices from GM to L0A and L0B.
template <class T> struct Operands {{
    static constexpr int WIDE = 32 / sizeof(T);
    TQue<TPosition::A1, 1> qa1;
    TQue<TPosition::B1, 1> qb1;
    TQue<TPosition::A2, 1> qa2;
    TQue<TPosition::B2, 1> qb2;
    LocalTensor<T> a, b;

    __aicore__ inline void Load(TPipe &pipe, GM_ADDR left, GM_ADDR right) {{
        pipe.InitBuffer(qa1, 1, ROWS * K * sizeof(T));
        pipe.InitBuffer(qb1, 1, K * N * sizeof(T));
        pipe.InitBuffer(qa2, 1, ROWS * K * sizeof(T));
        pipe.InitBuffer(qb2, 1, K * N * sizeof(T));
        GlobalTensor<T> ag, bg;
        ag.SetGlobalBuffer((__gm__ T *)left, M * K);
        bg.SetGlobalBuffer((__gm__ T *)right, K * N);
        LocalTensor<T> a1 = qa1.template AllocTensor<T>(), b1 = qb1.template AllocTensor<T>();
        DataCopy(a1, ag, Nd2NzParams{{1, M, K, 0, K, ROWS, 1, 0}});
        DataCopy(b1, bg, Nd2NzParams{{1, K, N, 0, N, K, 1, 0}});
        qa1.EnQue(a1);
        qb1.EnQue(b1);
        a1 = qa1.template DeQue<T>();
        b1 = qb1.template DeQue<T>();
        a = qa2.template AllocTensor<T>();
        b = qb2.template AllocTensor<T>();
        for (int row = 0; row < ROWS / 16; ++row) {{
            LoadData2DParams load;
            load.repeatTimes = K / WIDE;
            load.srcStride = ROWS / 16;
            LoadData(a[row * 16 * K], a1[row * 16 * WIDE], load);
        }}
        LoadData2dTransposeParams turn;
        turn.repeatTimes = N / WIDE;
        turn.srcStride = K / WIDE;
        turn.dstGap = WIDE / 16 - 1;
        for (int row = 0; row < K / WIDE; ++row) {{
            LoadDataWithTranspose(b[row * WIDE * N], b1[row * WIDE * WIDE], turn);
        }}
        qa2.EnQue(a);
        qb2.EnQue(b);
        a = qa2.template DeQue<T>();
        b = qb2.template DeQue<T>();
        qa1.FreeTensor(a1);
        qb1.FreeTensor(b1);
    }}
    __aicore__ inline void Free() {{
        qa2.FreeTensor(a);
        qb2.FreeTensor(b);
    }}
}};

extern "C" __global__ __aicore__ void halves(GM_ADDR x, GM_ADDR w, GM_ADDR bias, GM_ADDR h) {{
    TPipe pipe;
    Operands<half> operands;
    TQue<TPosition::C1, 1> qc1;
    TQue<TPosition::C2, 1> qc2;
    TQue<TPosition::CO1, 1> qc;
    pipe.InitBuffer(qc1, 1, N * sizeof(float));
    pipe.InitBuffer(qc2, 1, N * sizeof(float));
    pipe.InitBuffer(qc, 1, ROWS * N * sizeof(float));
    operands.Load(pipe, x, w);
    GlobalTensor<float> biasg;
    biasg.SetGlobalBuffer((__gm__ float *)bias, N);
    LocalTensor<float> row = qc1.AllocTensor<float>();
    DataCopy(row, biasg, N);
    qc1.EnQue(row);
    row = qc1.DeQue<float>();
    LocalTensor<float> table = qc2.AllocTensor<float>();
    DataCopy(table, row, DataCopyParams(1, N * sizeof(float) / 64, 0, 0));
    qc2.EnQue(table);
    table = qc2.DeQue<float>();
    LocalTensor<float> c = qc.AllocTensor<float>();
    MmadParams multiply(M, N, K, 0, false, false);
    Mmad(c, operands.a, operands.b, table, multiply);
    qc.EnQue(c);
    c = qc.DeQue<float>();
    GlobalTensor<half> hg;
    hg.SetGlobalBuffer((__gm__ half *)h, M * N);
    FixpipeParamsV220 out(N, M, ROWS, OUT_STRIDE, true);
    out.quantPre = QuantMode_t::F322F16;
    Fixpipe(hg, c, out);
    operands.Free();
    qc1.FreeTensor(row);
    qc2.FreeTensor(table);
    qc.FreeTensor(c);
}}

extern "C" __global__ __aicore__ void integers(GM_ADDR q, GM_ADDR v, GM_ADDR scales, GM_ADDR z) {{
    TPipe pipe;
    Operands<int8_t> operands;
    TQue<TPosition::C1, 1> qs;
    TQue<TPosition::CO1, 1> qc;
    pipe.InitBuffer(qs, 1, N * sizeof(uint64_t));
    pipe.InitBuffer(qc, 1, ROWS * N * sizeof(int32_t));
    operands.Load(pipe, q, v);
    GlobalTensor<uint64_t> sg;
    sg.SetGlobalBuffer((__gm__ uint64_t *)scales, N);
    LocalTensor<uint64_t> words = qs.AllocTensor<uint64_t>();
    DataCopy(words, sg, N);
    qs.EnQue(words);
    words = qs.DeQue<uint64_t>();
    LocalTensor<int32_t> c = qc.AllocTensor<int32_t>();
    // The same product twice: first on top of nothing, then on top of the first.
    Mmad(c, operands.a, operands.b, MmadParams(M, N, K, 0, false, true));
    PipeBarrier<PIPE_M>();
    Mmad(c, operands.a, operands.b, MmadParams(M, N, K, 0, false, false));
    qc.EnQue(c);
    c = qc.DeQue<int32_t>();
    GlobalTensor<int8_t> zg;
    zg.SetGlobalBuffer((__gm__ int8_t *)z, M * N);
    FixpipeParamsV220 out(N, M, ROWS, N, false);
    out.quantPre = QuantMode_t::VREQ8;
    SetFlag<HardEvent::MTE2_FIX>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_FIX>(EVENT_ID0);
    Fixpipe(zg, c, words, out);
    operands.Free();
    qs.FreeTensor(words);
    qc.FreeTensor(c);
}}
"""

_VECTOR = f"""
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void bytes(GM_ADDR h, GM_ADDR q) {{
    constexpr int COUNT = {M} * {N};
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, COUNT * sizeof(half));
    pipe.InitBuffer(out, 1, COUNT);
    GlobalTensor<half> hg;
    GlobalTensor<int8_t> qg;
    hg.SetGlobalBuffer((__gm__ half *)h, COUNT);
    qg.SetGlobalBuffer((__gm__ int8_t *)q, COUNT);
    LocalTensor<half> halves = in.AllocTensor<half>();
    DataCopy(halves, hg, COUNT);
    in.EnQue(halves);
    halves = in.DeQue<half>();
    Adds(halves, halves, half(-8.0f), COUNT);
    LocalTensor<int8_t> bytes = out.AllocTensor<int8_t>();
    Cast(bytes, halves, RoundMode::CAST_RINT, COUNT);
    out.EnQue(bytes);
    bytes = out.DeQue<int8_t>();
    DataCopy(qg, bytes, COUNT);
    in.FreeTensor(halves);
    out.FreeTensor(bytes);
}}
"""


def fused(device: sim.Device, folder: Path) -> sim.Kernel:
    cube = _CUBE.replace("OUT_STRIDE", "N")
    with superkernel.configure(ascendc=""):
        ops = [
            sim.build_op(cube, "halves", kernel_type=AIC, block_dim=1, out_dir=folder),
            sim.build_op(_VECTOR, "bytes", block_dim=1, out_dir=folder),
            sim.build_op(cube, "integers", kernel_type=AIC, block_dim=1, out_dir=folder),
        ]
    with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=folder):
        superkernel.compile({"op_list": [op.entry() for op in ops], "super_kernel_options": ""}, "quantised")
    return device.load(folder / "kernel_meta" / "quantised.json")


def test_multiply_quantise_multiply(device: sim.Device, folder: Path) -> None:
    rng = np.random.default_rng(5)
    # Sums of sixteenths, exact in single precision.
    x, w = (rng.integers(-16, 17, shape) / 16 for shape in ((M, K), (K, N)))
    bias = rng.integers(-64, 65, N) / 16
    v = rng.integers(-128, 128, (K, N))
    words = [quantisation_word(float(rng.uniform(0.0005, 0.01)), int(rng.integers(-20, 20))) for _ in range(N)]
    kernel = fused(device, folder)
    h, q = device.buffer(np.zeros((M, N), np.float16)), device.buffer(np.zeros((M, N), np.int8))
    z = device.buffer(np.zeros((M, N), np.int8))
    inputs = [device.buffer(x.astype(np.float16)), device.buffer(w.astype(np.float16))]
    inputs += [device.buffer(bias.astype(np.float32)), h, h, q, q]
    inputs += [device.buffer(v.astype(np.int8)), device.buffer(np.array(words, np.uint64)), z]
    report = kernel.launch(inputs, pipes="reordered", seed=3)
    report.raise_for_status()
    hidden = np.maximum(x @ w + bias, 0).astype(np.float16)
    np.testing.assert_array_equal(h.numpy(), hidden)
    narrow = np.clip(np.rint(hidden - np.float16(8)), -128, 127).astype(np.int8)
    np.testing.assert_array_equal(q.numpy(), narrow)
    sums = 2 * (narrow.astype(np.int64) @ v)
    expected = [[quantised(sums[i, j], "req8", words[j], False) for j in range(N)] for i in range(M)]
    assert len(np.unique(expected)) > 20
    np.testing.assert_array_equal(z.numpy(), np.array(expected).astype(np.int8))


def test_results_behind_the_tensor_are_told(device: sim.Device, folder: Path) -> None:
    with superkernel.configure(ascendc=""):
        op = sim.build_op(
            _CUBE.replace("OUT_STRIDE", "N + 1"), "halves", kernel_type=AIC, block_dim=1, name="wide", out_dir=folder
        )
    kernel = device.load(op.json_path)
    sizes = [M * K * 2, K * N * 2, N * 4, M * N * 2 + 256]
    report = kernel.launch([device.buffer(size) for size in sizes], block_dim=1)
    assert report.status == "api"
    wanted = ((M - 1) * (N + 1) + N) * 2
    assert f"{wanted} bytes wanted, but only {M * N * 2} are left in the tensor" in str(report.failure)
