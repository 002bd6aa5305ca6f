"""The AscendC subset: ordinary vector kernels give numpy's results, and broken rules are reported with their line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Report

# `CASES` turn a, b (inputs) into c with `count` elements; t is scratch of 8 KiB. Argument 3 selects one of them: one
# compilation serves many tests.
_VECTOR = """
using namespace AscendC;
static void body() {
    constexpr uint32_t total = COUNT;
    const uint32_t count = total / (uint32_t)(get_block_num() * get_subblockdim());
    GlobalTensor<TYPE> x, y;
    GlobalTensor<RESULT> z;
    x.SetGlobalBuffer((__gm__ TYPE *)slot(0) + count * GetBlockIdx(), count);
    y.SetGlobalBuffer((__gm__ TYPE *)slot(1) + count * GetBlockIdx(), count);
    z.SetGlobalBuffer((__gm__ RESULT *)slot(2) + count * GetBlockIdx(), count);
    TPipe pipe;
    TQue<TPosition::VECIN, 2> inX, inY;
    TQue<TPosition::VECOUT, 1> outZ;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(inX, 2, count * sizeof(TYPE));
    pipe.InitBuffer(inY, 2, count * sizeof(TYPE));
    pipe.InitBuffer(outZ, 1, count * sizeof(RESULT));
    pipe.InitBuffer(scratch, 8192);
    LocalTensor<TYPE> a0 = inX.AllocTensor<TYPE>();
    DataCopy(a0, x, count);
    inX.EnQue(a0);
    LocalTensor<TYPE> b0 = inY.AllocTensor<TYPE>();
    DataCopy(b0, y, count);
    inY.EnQue(b0);
    LocalTensor<TYPE> a = inX.DeQue<TYPE>();
    LocalTensor<TYPE> b = inY.DeQue<TYPE>();
    LocalTensor<RESULT> c = outZ.AllocTensor<RESULT>();
    [[maybe_unused]] LocalTensor<uint8_t> t = scratch.Get<uint8_t>();
    switch (*slot(3)) { CASES }
    outZ.EnQue(c);
    LocalTensor<RESULT> result = outZ.DeQue<RESULT>();
    DataCopy(z, result, count);
    inX.FreeTensor(a);
    inY.FreeTensor(b);
    outZ.FreeTensor(result);
}
"""

COUNT = 1024
TYPES = {np.float32: "float", np.float16: "half", np.int32: "int32_t", np.int16: "int16_t", np.uint8: "uint8_t"}


def _run(
    device: Device, folder: Path, cases: Iterable[str], compute: str, x: np.ndarray, y: np.ndarray, result: type
) -> np.ndarray:
    """The result of one of the computations ``cases``."""
    cases = list(cases)
    text = " ".join(f"case {number}: {{ {case}; break; }}" for number, case in enumerate(cases))
    defines = f"#define TYPE {TYPES[x.dtype.type]}\n#define RESULT {TYPES[result]}\n#define COUNT {x.size}\n"
    kernel = sim_kernels.kernel(device, folder, defines + _VECTOR.replace("CASES", text), "0:1")
    output = device.buffer(np.zeros(x.size, result))
    selector = device.buffer(cases.index(compute).to_bytes(8, "little"))
    kernel.launch([device.buffer(x), device.buffer(y), output, selector], block_dim=4).raise_for_status()
    return output.numpy()


def _data(dtype: type, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    return tuple((random.random(COUNT) * (high - low) + low).astype(dtype) for _ in range(2))  # type: ignore[return-value]


BINARY = {
    "Add(c, a, b, count)": lambda a, b: a + b,
    "Sub(c, a, b, count)": lambda a, b: a - b,
    "Mul(c, a, b, count)": lambda a, b: a * b,
    "Div(c, a, b, count)": lambda a, b: a / b,
    "Max(c, a, b, count)": np.maximum,
    "Min(c, a, b, count)": np.minimum,
    "Adds(c, a, (TYPE)3, count)": lambda a, b: a + a.dtype.type(3),
    "Muls(c, a, (TYPE)3, count)": lambda a, b: a * a.dtype.type(3),
    "Maxs(c, a, (TYPE)2, count)": lambda a, b: np.maximum(a, 2),
    "Mins(c, a, (TYPE)2, count)": lambda a, b: np.minimum(a, 2),
    "Abs(c, a, count)": lambda a, b: np.abs(a),
    "Relu(c, a, count)": lambda a, b: np.maximum(a, 0),
    "Duplicate(c, (TYPE)5, count)": lambda a, b: np.full_like(a, 5),
    # 2 repeats of 64 lanes in the first 256 elements' worth, every second repeat left alone.
    "Duplicate(c, (TYPE)0, count); Add(c, a, b, 32, count * sizeof(TYPE) / 256, {1, 1, 1, 8, 8, 8})": lambda a, b: (
        np.where(np.arange(a.size) % (256 // a.itemsize) < 32, a + b, 0)
    ),
}


@pytest.mark.parametrize("compute", BINARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_arithmetic(device: Device, folder: Path, compute: str, dtype: type) -> None:
    x, y = _data(dtype, -4, 4)
    expected = BINARY[compute](x, y).astype(dtype)
    assert np.array_equal(_run(device, folder, BINARY, compute, x, y, dtype), expected)


UNARY = {
    "Exp(c, a, count)": np.exp,
    "Ln(c, a, count)": np.log,
    "Log(c, a, count)": np.log,
    "Log2(c, a, count)": np.log2,
    "Log10(c, a, count)": np.log10,
    "Sqrt(c, a, count)": np.sqrt,
    "Rsqrt(c, a, count)": lambda a: 1 / np.sqrt(a),
    "Reciprocal(c, a, count)": lambda a: 1 / a,
}


@pytest.mark.parametrize("compute", UNARY)
def test_functions(device: Device, folder: Path, compute: str) -> None:
    x, y = _data(np.float32, 0.1, 4)
    assert np.allclose(_run(device, folder, UNARY, compute, x, y, np.float32), UNARY[compute](x), rtol=1e-6)


def test_bits(device: Device, folder: Path) -> None:
    x, y = _data(np.int16, -1000, 1000)
    cases = {
        "And(c, a, b, count)": x & y,
        "Or(c, a, b, count)": x | y,
        "Not(c, a, count)": ~x,
        "ShiftRight(c, a, (int16_t)2, count)": x >> 2,
        "ShiftRight(c, a, (int16_t)2, 128, 2, {1, 1, 8, 8}, true)": (x >> 2) + (x >> 1 & 1),
    }
    for compute, expected in cases.items():
        assert np.array_equal(_run(device, folder, cases, compute, x, y, np.int16), expected)


ROUNDING = {
    "CAST_RINT": np.rint,
    "CAST_FLOOR": np.floor,
    "CAST_CEIL": np.ceil,
    "CAST_TRUNC": np.trunc,
    "CAST_ROUND": lambda a: np.sign(a) * np.floor(np.abs(a) + 0.5),
}


@pytest.mark.parametrize("mode", ROUNDING)
def test_casts_round_as_asked(device: Device, folder: Path, mode: str) -> None:
    x = np.concatenate([np.arange(-256, 256) / 2, np.linspace(-9, 9, 512)]).astype(np.float32)
    x[:4] = [np.nan, np.inf, -np.inf, 3e9]
    cases = [f"Cast(c, a, RoundMode::{name}, count)" for name in ROUNDING]
    got = _run(device, folder, cases, f"Cast(c, a, RoundMode::{mode}, count)", x, x, np.int32)
    largest, smallest = 2**31 - 1, -(2**31)
    assert list(got[:4]) == [0, largest, smallest, largest]
    assert np.array_equal(got[4:], ROUNDING[mode](x[4:].astype(np.float64)).astype(np.int32))


def test_half_is_rounded_to_nearest_even(device: Device, folder: Path) -> None:
    values = np.random.default_rng(3).integers(0, 2**32, COUNT, dtype=np.uint32).view(np.float32)
    special = [0.0, -0.0, 65504.0, 65519.99, 65520.0, 1e-8, 2.98e-8, 2.981e-8, 6.1e-5, 1.0009765, np.inf, -np.inf]
    values[: len(special)] = special
    values = np.where(np.isnan(values), np.float32(1.5), values)
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    cast = "Cast(c, a, RoundMode::CAST_NONE, count)"
    got = _run(device, folder, [cast], cast, values, values, np.float16)
    assert np.array_equal(got.view(np.uint16), expected.view(np.uint16))
    back = _run(device, folder, [cast], cast, expected, expected, np.float32)
    assert np.array_equal(back, expected.astype(np.float32))


COMPOUND = {
    "select": "Compare(t, a, b, CMPMODE::LT, count); Select(c, t, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, count)",
    "select scalar": (
        "CompareScalar(t, a, 1.0f, CMPMODE::GE, count); Select(c, t, a, -1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, count)"
    ),
    "sum": "Duplicate(c, 0.0f, count); ReduceSum(c, a, b, count)",
    "max": "Duplicate(c, 0.0f, count); ReduceMax(c, a, b, count, true)",
    "min": "Duplicate(c, 0.0f, count); ReduceMin(c, a, b, count)",
    "whole sum": "Duplicate(c, 0.0f, count); WholeReduceSum(c, a, 64, 4, 1, 1, 8)",
    "gather": (
        "LocalTensor<uint32_t> o = t.ReinterpretCast<uint32_t>();"
        " for (uint32_t i = 0; i < count; ++i) { o.SetValue(i, 4 * (count - 1 - i)); }"
        " Gather(c, a, o, 0u, count)"
    ),
}


def _expected(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    parts = x.reshape(4, -1)
    result = np.zeros_like(parts)
    if name == "select":
        return np.where(x < y, x, y)
    if name == "select scalar":
        return np.where(x >= 1, x, -1)
    if name == "gather":
        return parts[:, ::-1].ravel()
    if name == "sum":
        result[:, 0] = parts.sum(axis=1)
    elif name == "max":
        result[:, 0], result[:, 1] = parts.max(axis=1), parts.argmax(axis=1).astype(np.uint32).view(np.float32)
    elif name == "min":
        result[:, 0] = parts.min(axis=1)
    else:
        result[:, :4] = parts.reshape(4, 4, 64).sum(axis=2)
    return result.ravel()


@pytest.mark.parametrize("name", COMPOUND)
def test_comparison_reduction_and_gathering(device: Device, folder: Path, name: str) -> None:
    # Sums of whole numbers do not depend on the order.
    x, y = (np.rint(values) for values in _data(np.float32, -40, 40))
    got = _run(device, folder, COMPOUND.values(), COMPOUND[name], x, y, np.float32)
    assert np.array_equal(got, _expected(name, x, y))


def test_copies_with_padding_and_rows(device: Device, folder: Path) -> None:
    """Rows of 20 bytes go in and out; in local memory each starts at a multiple of 32."""
    source = """
    using namespace AscendC;
    static void body() {
        GlobalTensor<float> in, out;
        in.SetGlobalBuffer((__gm__ float *)slot(0), 30);
        out.SetGlobalBuffer((__gm__ float *)slot(1), 40);
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 4 * 32);
        LocalTensor<float> local = buffer.Get<float>();
        DataCopyPad(local, in, DataCopyExtParams{4, 20, 8, 0, 0}, DataCopyPadExtParams<float>{true, 1, 2, -1.0f});
        DataCopy(out, local, 32u);
        DataCopyPad(out[32], local[1].ReinterpretCast<float>()[7], DataCopyExtParams{1, 20, 0, 0, 0});
    }
    """
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    data = np.arange(30, dtype=np.float32)
    out = device.buffer(np.zeros(40, np.float32))
    kernel.launch([device.buffer(data), out], block_dim=1).raise_for_status()
    rows = np.full((4, 8), -1, np.float32)
    for row in range(4):
        rows[row, 1:6] = data[7 * row : 7 * row + 5]
    assert np.array_equal(out.numpy()[:32].reshape(4, 8), rows)
    assert np.array_equal(out.numpy()[32:37], rows[1, :5])


def test_tiling_data_and_output(device: Device, folder: Path) -> None:
    source = """
    struct Tiling { uint32_t total; float scale; };
    static void body() {
        REGISTER_TILING_DEFAULT(Tiling);
        GET_TILING_DATA(tiling, slot(0));
        GET_TILING_DATA_MEMBER(Tiling, scale, scale, slot(0));
        if ASCEND_IS_AIC {
            AscendC::printf("%u of %.2f", tiling.total, scale);
            AscendC::printf(" and %.1f\\n", half(0.1f) * 10);
        }
        if (TILING_KEY_IS(0)) { assert(tiling.total == 7, "never\\n"); }
    }
    """
    tiling = device.buffer(np.array([7], np.uint32).tobytes() + np.array([0.25], np.float32).tobytes())
    report = sim_kernels.kernel(device, folder, source, "1:2").launch([tiling], block_dim=2)
    assert report.ok
    assert report.output == ("[AIC0] 7 of 0.25 and 1.0", "[AIC1] 7 of 0.25 and 1.0")


VIOLATIONS = {
    "DataCopy(local, gm, 7u);": "28 bytes are not a multiple of 32",
    "DataCopy(local[1], gm, 8u);": "offset 4 of UB is not a multiple of 32",
    "DataCopy(local, gm, 80u);": "only 256 are left in the tensor",
    "DataCopy(local, gm, 4096u);": "the local tensor has only 1024",
    "Add(local, local, local, 1000);": "the local tensor has only 1024",
    "local.SetValue(256, 1.0f);": "index 256, but it has 256 elements",
    "gm.GetValue(64);": "index 64, but it has 64 elements",
    "pipe.InitBuffer(queue, 2, 100000);": "200000 bytes of UB wanted, 1024 of 196608 are in use",
    "pipe.InitBuffer(queue, 1, 64); queue.AllocTensor<float>(); queue.AllocTensor<float>();": "FreeTensor is missing",
    "pipe.InitBuffer(queue, 1, 64); queue.DeQue<float>();": "EnQue is missing",
    "queue.AllocTensor<float>();": "InitBuffer was not called",
    "DataCopyPad(gm, local, DataCopyExtParams{1, 300, 0, 0, 0});": "300 bytes wanted",
    "SetMaskCount(); Abs(local, local, 8, 1, {1, 1, 8, 8});": "Abs: a mask in counter mode",
    "Abs(local, local, 65, 1, {1, 1, 8, 8});": "Abs: mask 65; a repeat has 1 to 64 elements of 4 bytes",
    "uint64_t mask[2] = {1ull << 63, 0}; Abs(local, local, mask, 5, {1, 1, 8, 8});": "1280 bytes wanted",
    "Gather(local, local, local.ReinterpretCast<uint32_t>(), 196608u, 8u);": "vgather: element 0 wants byte",
    "LocalTensor<float> one = local; one.SetSize(1); ReduceMax(local, local, one, 64);": "must hold a pair of elements",
    "LocalTensor<float> far(TPosition::VECIN, 196608, 8);": "32 bytes at offset 196608 of UB: it has only 196608 bytes",
    "LocalMemAllocator<> memory; memory.Alloc<float>(50000);": "200000 bytes of UB wanted, 0 of 196608 are in use",
    "DumpTensor(gm, 1, 65);": "DumpTensor: 65 elements wanted, but the tensor has 64",
    "CompareScalar(local.ReinterpretCast<uint8_t>(), local, 0.0f, CMPMODE::LT, 8u);": "multiple of 256 bytes",
    "copy_gm_to_cbuf((__cbuf__ void *)0, slot(0), 0, 1, 1, 0, 0);": "lies in L1, which this kind of core does not have",
    "copy_ubuf_to_gm(slot(0), (__ubuf__ void *)196608, 0, 1, 1, 0, 0);": "src is not in UB",
    "WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);": "without a SetFlag",
    "assert(get_block_num() == 99);": "assertion `get_block_num() == 99` failed",
    "trap();": "trap()",
}


def _violate(device: Device, folder: Path, statement: str, ratio: str = "0:1") -> Report:
    statements = [*VIOLATIONS, "Duplicate(local, 0.0f, 8);"]
    cases = "".join(
        f'case {number}: {{\n#line {100 + number} "operator.cpp"\n{case}\nbreak; }}\n'
        for number, case in enumerate(statements)
    )
    source = f"""
    using namespace AscendC;
    static void body() {{
        GlobalTensor<float> gm;
        gm.SetGlobalBuffer((__gm__ float *)slot(0), 64);
        TPipe pipe;
        TQue<TPosition::VECIN, 1> queue;
        TBuf<TPosition::VECCALC> buffer;
        LocalTensor<float> local;
        if ASCEND_IS_AIV {{ pipe.InitBuffer(buffer, 1024); local = buffer.Get<float>(); }}
        switch (*slot(1)) {{
{cases}
        }}
    }}
    """
    kernel = sim_kernels.kernel(device, folder, source, ratio)
    selector = device.buffer(statements.index(statement).to_bytes(8, "little"))
    return kernel.launch([device.buffer(np.zeros(64, np.float32)), selector], block_dim=1)


@pytest.mark.parametrize("statement", VIOLATIONS)
def test_broken_rules_name_the_line(device: Device, folder: Path, statement: str) -> None:
    report = _violate(device, folder, statement)
    assert not report.ok
    assert VIOLATIONS[statement] in report.message
    assert report.failure is not None and report.failure["core"] == "AIV0"
    if "WaitFlag" not in statement:
        line = 100 + list(VIOLATIONS).index(statement)
        assert (report.failure["file"], report.failure["line"]) == ("operator.cpp", line)


def test_vector_instructions_exist_on_vector_cores_only(device: Device, folder: Path) -> None:
    report = _violate(device, folder, "Duplicate(local, 0.0f, 8);", "1:0")
    assert report.status == "api" and "AIV cores only" in report.message


def test_l1_and_ub_pointers_are_offsets_from_zero(device: Device, folder: Path) -> None:
    """What generated code does to clear memory: addresses 0 of UB and L1, literally."""
    source = """
    static void body() {
        uint8_t *target = (uint8_t *)slot(0) + 512 * AscendC::GetBlockIdxImpl();
        if ASCEND_IS_AIC {
            create_cbuf_matrix((__cbuf__ uint32_t *)0, 0x10010, 0);
            copy_cbuf_to_gm(target, (__cbuf__ void *)0, 0, 1, 16, 1, 1);
        } else {
            AscendC::DuplicateImpl((__ubuf__ uint32_t *)0, (uint32_t)0x01010101, 128);
            copy_ubuf_to_gm(target + 1024, (__ubuf__ void *)0, 0, 1, 16, 1, 1);
        }
    }
    """
    memory = device.buffer(b"\xff" * 2048)
    sim_kernels.kernel(device, folder, source, "1:1").launch([memory], block_dim=2).raise_for_status()
    assert memory.read() == bytes(1024) + b"\x01" * 1024


def test_per_core_variables(device: Device, folder: Path) -> None:
    """Each core has its own copy, initialised like the original, across switches."""
    source = """
    __BLOCK_LOCAL__ __inline__ uint32_t counter;
    static __BLOCK_LOCAL__ uint32_t base = 100;
    static void body() {
        for (int i = 0; i < 5; ++i) {
            counter += (uint32_t)AscendC::GetBlockIdx();
            base += 1;
            AscendC::SyncAll<true>();
        }
        ((uint32_t *)slot(0))[AscendC::GetBlockIdx()] = base * 1000 + counter;
    }
    """
    out = device.buffer(np.zeros(8, np.uint32))
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    for seed in range(3):
        kernel.launch([out], block_dim=8, seed=seed).raise_for_status()
        assert list(out.numpy()) == [105_000 + 5 * core for core in range(8)]


PICKED = {
    # Each core has 256 elements: 4 whole repeats, or 8 of 32.
    "odd": "uint64_t kept; Duplicate(c, 0.0f, count); GatherMask(c, a, 2, false, 0, {1, 4, 8, 0}, kept);"
    " c.SetValue(255, (float)kept)",
    "third of four, counted": "uint64_t kept; Duplicate(c, 0.0f, count);"
    " GatherMask(c, a, 5, true, 30, {1, 8, 4, 0}, kept); c.SetValue(255, (float)kept)",
    "bits": "LocalTensor<uint32_t> o = t.ReinterpretCast<uint32_t>(); Duplicate(o, 0x80000003u, 64); uint64_t kept;"
    " Duplicate(c, 0.0f, count); GatherMask(c, a, o, false, 0, {1, 4, 8, 1}, kept); c.SetValue(255, (float)kept)",
    "spread": "Brcb(c, a, 4, {1, 8})",
    "blocks": "LocalTensor<uint32_t> o = t.ReinterpretCast<uint32_t>();"
    " for (uint32_t i = 0; i < 32; ++i) { o.SetValue(i, 32 * (31 - i)); }"
    " Gatherb(c.ReinterpretCast<uint32_t>(), a.ReinterpretCast<uint32_t>(), o, 4, {1, 8})",
}


def _picked(name: str, part: np.ndarray) -> np.ndarray:
    if name == "spread":
        return part[:32].repeat(8)
    if name == "blocks":
        return part.reshape(32, 8)[::-1].ravel()
    places = np.arange(256)
    if name == "odd":
        kept = part[places % 2 == 1]
    elif name == "bits":
        kept = part[np.isin(places % 32, [0, 1, 31])]
    else:
        kept = part[(places % 32 < 30) & (places % 32 % 4 == 2)]
    result = np.zeros(256, np.float32)
    result[: kept.size], result[255] = kept, kept.size
    return result


@pytest.mark.parametrize("name", PICKED)
def test_elements_and_blocks_are_picked(device: Device, folder: Path, name: str) -> None:
    x, y = _data(np.float32, -40, 40)
    got = _run(device, folder, PICKED.values(), PICKED[name], x, y, np.float32)
    assert np.array_equal(got, np.concatenate([_picked(name, part) for part in x.reshape(4, 256)]))


NEWER = {
    # Each core has 256 elements: 4 repeats of 8 blocks.
    "repeats": "ReduceRepeat<ReduceType::SUM>(c, a, 64, 4, 1, 1, 8);"
    " ReduceRepeat<ReduceType::MAX>(c[8], a, 64, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);"
    " uint64_t some[2] = {0xff00, 0};"
    " ReduceRepeat<ReduceType::MIN, float, float>(c[16], a, some, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE)",
    "blocks": "ReduceDataBlock<ReduceType::SUM>(c, a, 64, 4, 1, 1, 8);"
    " ReduceDataBlock<ReduceType::MAX>(c[32], a, 64, 4, 1, 1, 8);"
    " ReduceDataBlock<ReduceType::MIN>(c[64], a, 64, 4, 1, 1, 8)",
    "pairs": "ReducePairElem<ReduceType::SUM>(c, a, 64, 4, 1, 1, 8)",
    "scalar": "Compares(t, a, 1.0f, CMPMODE::GE, count);"
    " Select(c, t, a, -1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, count)",
    "register": "ReduceSum(c, a, b, count); Duplicate(c, GetReduceRepeatSumSpr<float>(), count)",
}


def _newer(name: str, part: np.ndarray) -> np.ndarray:
    repeats, blocks = part.reshape(4, 64), part.reshape(32, 8)
    if name == "repeats":
        gap = np.zeros(4, np.float32)
        pieces = [repeats.sum(axis=1), gap, repeats.max(axis=1), gap, repeats[:, 8:16].min(axis=1)]
    elif name == "blocks":
        pieces = [blocks.sum(axis=1), blocks.max(axis=1), blocks.min(axis=1)]
    elif name == "pairs":
        pieces = [part[::2] + part[1::2]]
    else:
        pieces = [np.where(part >= 1, part, -1) if name == "scalar" else np.full(256, part.sum(), np.float32)]
    result = np.zeros(256, np.float32)
    found = np.concatenate(pieces)
    result[: found.size] = found
    return result


@pytest.mark.parametrize("name", NEWER)
def test_newer_names(device: Device, folder: Path, name: str) -> None:
    x, y = (np.rint(values) for values in _data(np.float32, -40, 40))
    cases = [f"Duplicate(c, 0.0f, count); {case}" for case in NEWER.values()]
    got = _run(device, folder, cases, f"Duplicate(c, 0.0f, count); {NEWER[name]}", x, y, np.float32)
    assert np.array_equal(got, np.concatenate([_newer(name, part) for part in x.reshape(4, 256)]))
