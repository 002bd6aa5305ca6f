"""The built-in AscendC: calls of every family against models in numpy, one operator and one launch per element type.

The same operators are built with the vendor's headers where a tree of them is at hand.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sim_kernels
import superkernel
from core_model import Mask, Strided, width
from superkernel.sim import INCLUDE_DIR, Device, build_op

TREE = os.environ.get("SUPERKERNEL_ASCENDC", "")
needs_tree = pytest.mark.skipif(not TREE, reason="SUPERKERNEL_ASCENDC names no tree of AscendC headers")

N = 1024
RESULT = 8192  # bytes of the result of a case
Model = Callable[[np.ndarray, np.ndarray, np.ndarray], object]
Results = tuple[np.ndarray, np.ndarray, np.ndarray]
KINDS = {"f16": ("half", np.float16), "f32": ("float", np.float32)}

# Every case works on `a` and `b` (N elements), fills `c`, which is clear, and may use `t`; `u32` and `bytes` make views
# of tensors. `E` is the number of elements of a repeat.
FRAME = """
#include "kernel_operator.h"
using namespace AscendC;
using T = {kind};
using M = uint{bits}_t;
constexpr uint32_t N = {n}, E = 256 / sizeof(T);
template <class U> static auto u32(const LocalTensor<U> &x) {{ return x.template ReinterpretCast<uint32_t>(); }}
template <class U> static auto bytes(const LocalTensor<U> &x) {{ return x.template ReinterpretCast<uint8_t>(); }}
extern "C" __global__ __aicore__ void calls(GM_ADDR x_, GM_ADDR y_, GM_ADDR z_, GM_ADDR word) {{
    TPipe pipe;
    InitSocState();
    LocalMemAllocator<Hardware::UB> memory;
    LocalTensor<T> a = memory.Alloc<TPosition::VECIN, T, N>();
    LocalTensor<T> b = memory.Alloc<T, N>();
    LocalTensor<T> c = memory.Alloc<TPosition::VECOUT, T>({result} / sizeof(T));
    LocalTensor<T> t(TPosition::VECCALC, 65536, 32768 / sizeof(T));
    GlobalTensor<T> x, y, z;
    x.SetGlobalBuffer((__gm__ T *)x_, N);
    y.SetGlobalBuffer((__gm__ T *)y_, N);
    {cases}
}}
"""
CASE = """
{{
    DataCopy(a, x, N); DataCopy(b, y, N);
    SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0);
    Duplicate(c, T(0), {result} / sizeof(T)); Duplicate(t, T(0), 32768 / sizeof(T)); PipeBarrier<PIPE_V>();
    {call}
    PipeBarrier<PIPE_ALL>();
    z.SetGlobalBuffer((__gm__ T *)(z_ + {result} * {number}), {result} / sizeof(T));
    DataCopy(z, c, {result} / sizeof(T));
    SetFlag<HardEvent::MTE3_V>(0); WaitFlag<HardEvent::MTE3_V>(0);
    SetFlag<HardEvent::MTE3_MTE2>(0); WaitFlag<HardEvent::MTE3_MTE2>(0);
}}
"""


def masked(mask: Mask, repeats: int, dst: tuple[int, int], *srcs: tuple[int, int], by: Callable[..., object]) -> Model:
    """A call with mask, repeats and strides (block, repeat)."""

    def model(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        kind = "f16" if a.itemsize == 2 else "f32"
        size = width(kind)
        target = Strided(0, *dst, kind)
        sources = [Strided(0, *src, kind) for src in srcs]
        for repeat, lanes in enumerate(mask.lanes(repeats, size)):
            for lane in lanes:
                values = [data[src.at(repeat, lane) // size] for data, src in zip((a, b), sources)]
                c[target.at(repeat, lane) // size] = by(*values)

    return model


def counted_copies(count: int, repeats: int, dst: tuple[int, int], src: tuple[int, int]) -> Model:
    """Copies in counter mode: the count is that of each repeat."""

    def model(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        kind = "f16" if a.itemsize == 2 else "f32"
        target, source = Strided(0, *dst, kind), Strided(0, *src, kind)
        for repeat, lane in itertools.product(range(repeats), range(count)):
            c[target.at(repeat, lane) // a.itemsize] = a[source.at(repeat, lane) // a.itemsize]

    return model


def store(at: int, values: Callable[[np.ndarray, np.ndarray], object]) -> Model:
    """The result is `values`, bit by bit, from byte `at` on."""

    def model(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        raw = np.frombuffer(np.asarray(values(a, b)).tobytes(), np.uint8)
        c.view(np.uint8)[at : at + raw.size] = raw

    return model


def bits(relation: Callable[[np.ndarray, np.ndarray], np.ndarray], repeats: int | None = None) -> Model:
    """A bit per element of everything, or of whole repeats: the chip compares those, whatever the mask."""

    def packed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        count = N if repeats is None else repeats * lanes_of(a)
        return np.packbits(relation(a[:count], b[:count]), bitorder="little")

    return store(0, packed)


def lanes_of(a: np.ndarray) -> int:
    return 256 // a.itemsize


def index_type(a: np.ndarray) -> type:
    return np.uint16 if a.itemsize == 2 else np.uint32


def pairs(a: np.ndarray, values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.stack([values.view(index_type(a)), indices.astype(index_type(a))], axis=1)


def whole(a: np.ndarray, repeats: int) -> np.ndarray:
    return a[: repeats * lanes_of(a)].reshape(repeats, -1)


def records(a: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Sorted records: a score, then an index in the upper half of 8 bytes."""
    made = np.zeros((order.size, 2), np.uint32)
    made[:, 0] = a[order].view(index_type(a))
    made[:, 1] = order
    return made


def descending(values: np.ndarray) -> np.ndarray:
    return np.argsort(-values.astype(np.float64), kind="stable")


def best(rows: np.ndarray, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """Value and index of the largest element of masked repeats."""
    row, lane = np.unravel_index(rows.argmax(), rows.shape)
    return rows[row, lane : lane + 1], np.array([row * lanes + lane])


def by_register(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """Bits 00001111, in the first 8 elements of two repeats."""
    for start in (0, lanes_of(a)):
        c[start : start + 4], c[start + 4 : start + 8] = a[start : start + 4], b[start + 4 : start + 8]


def every_second(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    for start in (0, lanes_of(a)):
        c[start : start + 4] = a[2 * np.arange(start, start + 4)]


def kept(choice: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Model:
    """What is chosen, packed, and how many."""

    def model(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        chosen = choice(a, b)
        c[: chosen.size], c[N] = chosen, chosen.size

    return model


def taken_apart(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    order = np.concatenate([descending(a[:32]), 32 + descending(a[32:64])])
    c[:64] = a[order]
    c.view(np.uint32)[1024:1088] = order


CHECKERED = 0x5555_5555_5555_5555
INDICES = "for (uint32_t i = 0; i < {count}; ++i) {{ u32(t).SetValue(i, {value}); }} PipeBarrier<PIPE_ALL>();"
BITS = "Compare(bytes(t), a, b, CMPMODE::LT, N); PipeBarrier<PIPE_V>();"

CASES: dict[str, tuple[str, Model]] = {
    # -- masks --
    "bits of a mask": (
        f"uint64_t mask[2] = {{{CHECKERED}ull, 3}}; Add(c, a, b, mask, 3, {{1, 1, 1, 8, 8, 8}});",
        masked(Mask(CHECKERED | 3 << 64), 3, (1, 8), (1, 8), (1, 8), by=lambda a, b: a + b),
    ),
    "bits and strides": (
        "uint64_t mask[2] = {0xff00ff, 0}; Abs(c, a, mask, 2, {2, 1, 24, 8});",
        masked(Mask(0xFF00FF), 2, (2, 24), (1, 8), by=abs),
    ),
    "a number and a scalar": (
        "Muls(c, a, T(3), 20, 4, {1, 1, 8, 8});",
        masked(Mask((1 << 20) - 1), 4, (1, 8), (1, 8), by=lambda a: a * a.dtype.type(3)),
    ),
    "counter mode by register": (
        "SetMaskCount(); SetVectorMask<T, MaskMode::COUNTER>(300);"
        " Adds<T, false>(c, a, T(1), MASK_PLACEHOLDER, 1, {1, 1, 8, 8}); SetMaskNorm(); ResetMask();",
        masked(Mask(count=300), 1, (1, 8), (1, 8), by=lambda a: a + a.dtype.type(1)),
    ),
    "counter mode by bits": (
        "uint64_t mask[2] = {200, 0}; SetMaskCount(); Mul(c, a, b, mask, 1, {1, 1, 1, 8, 8, 8}); SetMaskNorm();"
        " ResetMask();",
        masked(Mask(count=200), 1, (1, 8), (1, 8), (1, 8), by=lambda a, b: a * b),
    ),
    "norm mode by register": (
        "SetMaskNorm(); SetVectorMask<T>(0, 0xf0f0); Max<T, false>(c, a, b, MASK_PLACEHOLDER, 2, {1, 1, 1, 8, 8, 8});"
        " ResetMask();",
        masked(Mask(0xF0F0), 2, (1, 8), (1, 8), (1, 8), by=max),
    ),
    "a mask lasts": (
        "uint64_t mask[2] = {5, 0}; Relu(c, a, mask, 1, {1, 1, 8, 8}); PipeBarrier<PIPE_V>();"
        " Abs<T, false>(c, a, MASK_PLACEHOLDER, 2, {1, 1, 8, 8}); ResetMask();",
        masked(Mask(5), 2, (1, 8), (1, 8), by=abs),
    ),
    "fill by bits": (
        "uint64_t mask[2] = {0x11, 0}; Duplicate(c, T(7), mask, 3, 1, 8);",
        masked(Mask(0x11), 3, (1, 8), by=lambda: 7),
    ),
    "accumulate": (
        "Duplicate(c, T(1), N); PipeBarrier<PIPE_V>(); Axpy(c, a, T(2), 100); PipeBarrier<PIPE_V>();"
        " MulAddDst(c, a, b, 10, 1, {1, 1, 1, 8, 8, 8});",
        store(
            0,
            lambda a, b: (1 + 2 * a * (np.arange(N) < 100) + a * b * (np.arange(N) < 10)).astype(a.dtype),
        ),
    ),
    "copy": (
        "uint64_t mask[2] = {CHECKERED, 0}; Copy(c, a, mask, 2, {1, 1, 8, 8});".replace("CHECKERED", f"{CHECKERED}ull"),
        masked(Mask(CHECKERED), 2, (1, 8), (1, 8), by=lambda a: a),
    ),
    "copy with a count in every repeat": (
        "SetMaskCount(); SetVectorMask<T, MaskMode::COUNTER>(100);"
        " Copy<T, false>(c, a, MASK_PLACEHOLDER, 2, {1, 2, 13, 1});"
        " SetMaskNorm(); ResetMask();",
        counted_copies(100, 2, (1, 13), (2, 1)),
    ),
    "index": ("CreateVecIndex(c, T(3), 1000u);", store(0, lambda a, b: (3 + np.arange(1000)).astype(a.dtype))),
    "progression": (
        "ArithProgression(c, T(-5), T(2), 77);",
        store(0, lambda a, b: (2 * np.arange(80) - 5).astype(a.dtype)),
    ),
    # -- comparison and selection --
    "less": ("Compare(bytes(c), a, b, CMPMODE::LT, N);", bits(np.less)),
    "greater": ("Compare(bytes(c), a, b, CMPMODE::GT, N);", bits(np.greater)),
    "equal": ("Compare(bytes(c), a, b, CMPMODE::EQ, N);", bits(np.equal)),
    "less or equal": ("Compare(bytes(c), a, b, CMPMODE::LE, E, 2, {1, 1, 1, 8, 8, 8});", bits(np.less_equal, 2)),
    "greater or equal": ("CompareScalar(bytes(c), a, T(2), CMPMODE::GE, N);", bits(lambda a, b: a >= 2)),
    "not equal": (
        "uint64_t mask[2] = {1, 0}; CompareScalar(bytes(c), a, T(2), CMPMODE::NE, mask, 2, {1, 1, 8, 8});",
        bits(lambda a, b: a != 2, 2),
    ),
    "into the register": (
        "Compare(a, b, CMPMODE::LT, 40, {1, 1, 1, 8, 8, 8}); GetCmpMask(bytes(c));",
        store(0, lambda a, b: np.packbits(np.append(a[:40] < b[:40], np.zeros(88, bool)), bitorder="little")),
    ),
    "by the register": (
        "Duplicate(u32(t), 0x0f0f0f0fu, 8); PipeBarrier<PIPE_V>(); SetCmpMask(u32(t)); SetVectorMask<T>(0, 0xff);"
        " Select<T, SELMODE::VSEL_CMPMASK_SPR>(c, a, b, 2, {1, 1, 1, 8, 8, 8}); ResetMask();",
        by_register,
    ),
    "a scalar in the register": (
        BITS + "auto s = t[8192 / sizeof(T)]; Duplicate(s, T(-9), 16); PipeBarrier<PIPE_V>(); SetCmpMask(s);"
        " SetVectorMask<T>(0, 0x33); Select(c, bytes(t), a, 2, {1, 1, 1, 8, 8, 8}); ResetMask();",
        masked(Mask(0x33), 2, (1, 8), (1, 8), (1, 8), by=lambda a, b: a if a < b else -9),
    ),
    "select by register mode": (
        BITS + "Select(c, bytes(t), a, b, SELMODE::VSEL_CMPMASK_SPR, N);",
        store(0, lambda a, b: np.where(np.tile(a[: lanes_of(a)] < b[: lanes_of(a)], N // lanes_of(a)), a, b)),
    ),
    "select a tensor": (
        BITS + "Select(c, bytes(t), a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, N);",
        store(0, lambda a, b: np.where(a < b, a, b)),
    ),
    "select a scalar": (
        BITS + "Select(c, bytes(t), a, T(-9), SELMODE::VSEL_TENSOR_SCALAR_MODE, 900u);",
        store(0, lambda a, b: np.where(a < b, a, a.dtype.type(-9))[:900]),
    ),
    "select with a mask": (
        BITS + "uint64_t mask[2] = {0x33, 0}; Select(c, bytes(t), a, T(-9), SELMODE::VSEL_TENSOR_SCALAR_MODE, mask, 2,"
        " {1, 1, 1, 8, 8, 8});",
        masked(Mask(0x33), 2, (1, 8), (1, 8), (1, 8), by=lambda a, b: a if a < b else -9),
    ),
    # -- gathering --
    "gather": (
        INDICES.format(count="N", value="sizeof(T) * (N - 17 - i % 500)") + "Gather(c, a, u32(t), 32u, N);",
        store(0, lambda a, b: a[N - 17 - np.arange(N) % 500 + 32 // a.itemsize]),
    ),
    "gather by bits": (
        INDICES.format(count="2 * E", value="sizeof(T) * i * 2")
        + "uint64_t mask[2] = {0xf, 0}; Gather(c, a, u32(t), 0u, mask, 2, 8);",
        every_second,
    ),
    "gather blocks": (
        INDICES.format(count="16", value="32 * (i * 3 % 16)")
        + "Gatherb(c.ReinterpretCast<M>(), a.ReinterpretCast<M>(), u32(t), 2, {1, 8});",
        store(0, lambda a, b: a.view(np.uint8).reshape(-1, 32)[np.arange(16) * 3 % 16]),
    ),
    "keep a pattern": (
        "uint64_t kept = 0; GatherMask(c, a, 3, false, 0, {1, 2, 8, 0}, kept); c.SetValue(N, T(int(kept)));",
        kept(lambda a, b: a[: 2 * lanes_of(a) : 4]),
    ),
    "keep by bits": (
        BITS + "uint64_t kept = 0; GatherMask(c, a, t.ReinterpretCast<M>(), true, 70, {1, 1, 8, 1}, kept);"
        " c.SetValue(N, T(int(kept)));",
        kept(lambda a, b: a[:70][a[:70] < b[:70]]),
    ),
    "broadcast": ("Brcb(c, a, 3, {1, 8});", store(0, lambda a, b: np.repeat(a[:24], 32 // a.itemsize))),
    # -- reductions --
    "sum": ("ReduceSum(c, a, t, 1000);", store(0, lambda a, b: a[:1000].sum(dtype=np.float64).astype(a.dtype))),
    "sum with repeats": (
        "uint64_t mask[2] = {0xffff, 0}; ReduceSum(c, a, t, mask, 3, 8);",
        store(0, lambda a, b: whole(a, 3)[:, :16].sum(dtype=np.float64).astype(a.dtype)),
    ),
    "largest": (
        "ReduceMax(c, a, t, 1000, true);",
        store(0, lambda a, b: pairs(a, a[:1000].max(keepdims=True), a[:1000].argmax(keepdims=True))),
    ),
    "smallest in parts": (
        "LocalTensor<T> few = t[0]; few.SetSize(32 / sizeof(T) + 2); ReduceMin(c, a, few, N, true);",
        store(0, lambda a, b: pairs(a, a.min(keepdims=True), a.argmin(keepdims=True))),
    ),
    "smallest without index": ("ReduceMin(c, a, t, 333);", store(0, lambda a, b: a[:333].min())),
    "largest with repeats": (
        "ReduceMax(c, a, t, 30, 3, 8, true);",
        store(0, lambda a, b: pairs(a, *best(whole(a, 3)[:, :30], lanes_of(a)))),
    ),
    "sums of repeats": (
        "WholeReduceSum(c, a, 50, 4, 2, 1, 8);",
        store(0, lambda a, b: np.stack([whole(a, 4)[:, :50].sum(axis=1), np.zeros(4)], axis=1).astype(a.dtype)),
    ),
    "largest of repeats": (
        "WholeReduceMax(c, a, E, 4, 1, 1, 8);",
        store(0, lambda a, b: pairs(a, whole(a, 4).max(axis=1), whole(a, 4).argmax(axis=1))),
    ),
    "smallest values of repeats": (
        "uint64_t mask[2] = {0xff, 0}; WholeReduceMin(c, a, mask, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);",
        store(0, lambda a, b: whole(a, 4)[:, :8].min(axis=1)),
    ),
    "indices of repeats": (
        "WholeReduceMin(c, a, E, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX);",
        store(0, lambda a, b: whole(a, 4).argmin(axis=1).astype(np.uint32)),
    ),
    "of blocks": (
        "BlockReduceSum(c, a, 2, E, 1, 1, 8); BlockReduceMax(c[16], a, 2, E, 1, 1, 8);"
        " BlockReduceMin(c[32], a, 2, E, 1, 1, 8);",
        store(
            0,
            lambda a, b: np.concatenate(
                [part(whole(a, 2).reshape(16, -1), axis=1) for part in (np.sum, np.max, np.min)]
            ).astype(a.dtype),
        ),
    ),
    "of pairs": (
        "PairReduceSum(c, a, 2, E, 1, 1, 8);",
        store(0, lambda a, b: whole(a, 2).reshape(-1, 2).sum(axis=1).astype(a.dtype)),
    ),
    "registers of reductions": (
        "WholeReduceMax(t, a, E, 2, 1, 1, 8); PipeBarrier<PIPE_ALL>(); uint32_t value = 0, index = 0;"
        " GetReduceMaxMinCount<T>(value, index); u32(c).SetValue(0, value); u32(c).SetValue(1, index);",
        store(
            0, lambda a, b: np.array([whole(a, 2).max().view(index_type(a)), whole(a, 2).ravel().argmax()], np.uint32)
        ),
    ),
    # -- sorting and transposing --
    "sort 32": (
        "CreateVecIndex(t.ReinterpretCast<int32_t>(), 0, 64u); PipeBarrier<PIPE_V>(); Sort32(c, a, u32(t), 2);",
        store(
            0,
            lambda a, b: np.concatenate([records(a, 32 * at + descending(a[32 * at : 32 * at + 32])) for at in (0, 1)]),
        ),
    ),
    "merge": (
        "CreateVecIndex(t.ReinterpretCast<int32_t>(), 0, 96u); PipeBarrier<PIPE_V>(); auto s = t[8192 / sizeof(T)];"
        " Sort32(s, a, u32(t), 3); PipeBarrier<PIPE_V>(); constexpr uint32_t step = 32 * 8 / sizeof(T);"
        " uint16_t lengths[4] = {32, 32, 32, 0};"
        " MrgSort(c, MrgSortSrcList<T>(s, s[step], s[2 * step], s), MrgSort4Info(lengths, false, 7, 1));",
        store(0, lambda a, b: records(a, descending(a[:96]))),
    ),
    "merge until one list ends": (
        "CreateVecIndex(t.ReinterpretCast<int32_t>(), 0, 64u); PipeBarrier<PIPE_V>(); auto s = t[8192 / sizeof(T)];"
        " Sort32(s, a, u32(t), 2); PipeBarrier<PIPE_V>(); const uint16_t lengths[4] = {32, 32, 0, 0};"
        " uint32_t taken[4]; MrgSortSrcList<T> lists(s, s[32 * 8 / sizeof(T)], s, s);"
        " MrgSort<T, true>(t[16384 / sizeof(T)], lists, lengths, taken, 3, 1);"
        " u32(c).SetValue(0, taken[0] == 32 || taken[1] == 32); u32(c).SetValue(1, taken[0] < 32 || taken[1] < 32);",
        store(0, lambda a, b: np.array([1, 1], np.uint32)),
    ),
    "sort everything": (
        "CreateVecIndex(t.ReinterpretCast<int32_t>(), 0, 736u); PipeBarrier<PIPE_V>(); LocalTensor<T> both;"
        " Concat(both, a, t, 23); auto work = t[8192 / sizeof(T)], indices = t; auto order = u32(indices);"
        " Sort<T, true>(c, both, order, work, 23);",
        store(0, lambda a, b: records(a, descending(a[:736]))),
    ),
    "take records apart": (
        "CreateVecIndex(t.ReinterpretCast<int32_t>(), 0, 64u); PipeBarrier<PIPE_V>(); auto s = t[8192 / sizeof(T)];"
        " auto order = u32(t); Sort<T, false>(s, a, order, c, 2); PipeBarrier<PIPE_V>();"
        " Extract(c, u32(c)[1024], s, 2);",
        taken_apart,
    ),
    "transpose rows": (
        "LocalTensor<T> to[16], from[16]; for (uint32_t i = 0; i < 16; ++i) {"
        " to[i] = c[i * 32 / sizeof(T)]; from[i] = a[i * 32 / sizeof(T)]; }"
        " TransDataTo5HD<T>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));",
        store(0, lambda a, b: a[: 512 // a.itemsize].reshape(16, -1).T),
    ),
    "transpose rows named by lists in memory": (
        "auto to = t.template ReinterpretCast<uint64_t>(), from = to[16]; for (uint32_t i = 0; i < 16; ++i) {"
        " to.SetValue(i, (uint64_t)c[i * 32 / sizeof(T)].GetPhyAddr());"
        " from.SetValue(i, (uint64_t)a[i * 32 / sizeof(T)].GetPhyAddr()); }"
        " TransDataTo5HD<T>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));",
        store(0, lambda a, b: a[: 512 // a.itemsize].reshape(16, -1).T),
    ),
    # -- names --
    "small names": (
        'static_assert(IsSameType<Conditional<sizeof(T) == 2, half, float>::type, T>::value, "");'
        " assert(DivCeil(33, 32) == 2 && AlignUp(33, 32) == 64 && CeilDivision(64, 32) == 2);"
        " WriteGmByPassDCache((uint32_t *)word, (uint32_t)41);"
        " u32(c).SetValue(0, ReadGmByPassDCache((uint32_t *)word) + 1); u32(c).SetValue(1, memory.GetCurAddr());"
        " u32(c).SetValue(2, uint32_t(block_idx + get_block_idx() + GetBlockNum()));",
        store(0, lambda a, b: np.array([42, 2 * a.nbytes + RESULT, 1], np.uint32)),
    ),
}


def run(folder: Path, tree: str | None = None) -> dict[str, Results]:
    """Inputs and results of all cases, by element type."""
    found = {}
    generator = np.random.default_rng(11)
    numbered = enumerate(CASES.values())
    cases = "".join(CASE.format(call=call, number=at, result=RESULT) for at, (call, _) in numbered)
    for kind, (name, dtype) in KINDS.items():
        source = FRAME.format(kind=name, bits=8 * width(kind), n=N, result=RESULT, cases=cases)
        with pytest.MonkeyPatch.context() as environment, superkernel.configure(ascendc=tree):
            environment.delenv("SUPERKERNEL_ASCENDC", raising=False)
            built = build_op(source, "calls", compile_options=["-O0"], watch_accesses=False, out_dir=folder)
        # Whole numbers, so that sums do not depend on the order.
        x, y = (generator.integers(-9, 9, N, endpoint=True).astype(dtype) for _ in range(2))
        with Device("Ascend910_93") as device:
            output = device.buffer(np.zeros(len(CASES) * RESULT, np.uint8))
            arguments = [device.buffer(x), device.buffer(y), output, device.buffer(64)]
            report = device.load(built.json_path).launch(arguments, block_dim=1, pipes="checked")
            assert report.ok, report
            found[kind] = (x, y, output.numpy().reshape(len(CASES), -1))
    return found


def check(name: str, x: np.ndarray, y: np.ndarray, output: np.ndarray) -> None:
    expected = np.zeros(RESULT // x.itemsize, x.dtype)
    CASES[name][1](x, y, expected)
    # Zeros have two signs, and arithmetic may give either.
    found = output[list(CASES).index(name)].copy().view(x.dtype)
    found[found == 0], expected[expected == 0] = 0, 0
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8), name)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    return run(tmp_path_factory.mktemp("subset"))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_call(results: dict[str, Results], kind: str, name: str) -> None:
    check(name, *results[kind])


@needs_tree
def test_calls_of_the_vendors_headers(tmp_path: Path) -> None:
    for found in run(tmp_path, TREE).values():
        for name in CASES:
            check(name, *found)


def test_narrow_elements(tmp_path: Path) -> None:
    """Halves to integers of 4 bits and back, by queues and moves that count elements; output; bytes transposed."""
    source = """
using namespace AscendC;
static void body() {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    GetTPipePtr()->InitBuffer(in, 1, 512);
    GetTPipePtr()->InitBuffer(out, 1, 128);
    GlobalTensor<half> x; GlobalTensor<int4b_t> y; GlobalTensor<half> z;
    x.SetGlobalBuffer((__gm__ half *)slot(0), 256);
    y.SetGlobalBuffer((__gm__ int4b_t *)slot(1), 256);
    z.SetGlobalBuffer((__gm__ half *)slot(2), 256);
    LocalTensor<half> h = in.AllocTensor<half>();
    DataCopy(h, x, 256);
    in.EnQue(h); h = in.DeQue<half>();
    LocalTensor<int4b_t> n = out.AllocTensor<int4b_t>();
    static_assert(sizeof(n.GetSize()) == 4, "");
    assert(n.GetSize() == 256 && n[64].GetSize() == 192 && n.GetLength() == 128);
    Cast(n, h, RoundMode::CAST_RINT, 256);
    out.EnQue(n); n = out.DeQue<int4b_t>();
    DataCopy(y, n, 256);
    DumpTensor(n, 5, 4);
    PipeBarrier<PIPE_ALL>();
    Cast(h, n, RoundMode::CAST_NONE, 256);
    const uint32_t shape[] = {2, 3};
    DumpTensor(h, 6, 6, ShapeInfo(2, shape));
    DumpTensor(x, 7, 2);
    SetFlag<HardEvent::V_MTE3>(0); WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(z, h, 256);
    LocalTensor<int16_t> square(TPosition::VECCALC, 8192, 256), turned(TPosition::VECCALC, 16384, 512);
    CreateVecIndex(square, 0, 256u);
    Transpose(turned, square);
    LocalTensor<uint8_t> to[16], from[16];
    for (uint32_t i = 0; i < 16; ++i) {
        from[i] = square.ReinterpretCast<uint8_t>()[32 * i];
        to[i] = turned.ReinterpretCast<uint8_t>()[512 + 32 * i];
    }
    Duplicate(turned[256], (int16_t)0, 256);
    TransDataTo5HD<uint8_t>(to, from, TransDataTo5HDParams(true, false, 1, 0, 0));
    GlobalTensor<int16_t> w;
    w.SetGlobalBuffer((__gm__ int16_t *)slot(3), 512);
    PipeBarrier<PIPE_ALL>();
    DataCopy(w, turned, 512);
    out.FreeTensor(n); in.FreeTensor(h);
}
"""
    with Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, tmp_path, source, "0:1")
        data = (np.arange(256) % 40 / 2 - 10).astype(np.float16)
        packed, back, turned = device.buffer(128), device.buffer(512), device.buffer(1024)
        report = kernel.launch([device.buffer(data), packed, back, turned], block_dim=1)
        report.raise_for_status()
        expected = np.clip(np.rint(data), -8, 7).astype(np.int8)
        nibbles = np.frombuffer(packed.read(), np.uint8)
        assert np.array_equal(nibbles & 15, expected[::2] & 15) and np.array_equal(nibbles >> 4, expected[1::2] & 15)
        assert np.array_equal(np.frombuffer(back.read(), np.float16), expected.astype(np.float16))
        square = np.arange(256, dtype=np.int16).reshape(16, 16)
        assert np.array_equal(turned.numpy().view(np.int16)[:256], square.T.ravel())
        # The first half of rows of 32 bytes, into the second half of others.
        halves = turned.numpy()[512:].view(np.uint8).reshape(16, 32)
        assert not halves[:, :16].any()
        assert np.array_equal(halves[:, 16:], square.view(np.uint8).reshape(16, 32)[:, :16].T)
        assert report.output == (
            "[AIV0] DumpTensor 5: 4 x int4b_t in UB, shape [4]",
            "[AIV0] -8 -8 -8 -8",
            "[AIV0] DumpTensor 6: 6 x half in UB, shape [2, 3]",
            "[AIV0] -8 -8 -8",
            "[AIV0] -8 -8 -8",
            "[AIV0] DumpTensor 7: 2 x half in GM, shape [2]",
            "[AIV0] -10 -9.5",
        )


REFUSED = {
    "Compare(of<uint8_t>(), of<int16_t>(), of<int16_t>(), CMPMODE::LT, 128u);": "Compare: the chip has no form",
    "Compare(of<float>(), of<float>(), of<float>(), CMPMODE::LT, 128u);": "Compare: the result is a tensor of int8_t",
    "Select(of<int32_t>(), of<uint8_t>(), of<int32_t>(), 1, SELMODE::VSEL_TENSOR_SCALAR_MODE, 8u);": "Select: the chip",
    "Gather(of<int64_t>(), of<int64_t>(), of<uint32_t>(), 0u, 8u);": "Gather: the chip has no form",
    "ReduceSum(of<int32_t>(), of<int32_t>(), of<int32_t>(), 8);": "ReduceSum: the chip has no form",
    "ReduceMax(of<int16_t>(), of<int16_t>(), of<int16_t>(), 8);": "ReduceMax, ReduceMin: the chip has no form",
    "BlockReduceMin(of<int32_t>(), of<int32_t>(), 1, 64, 1, 1, 8);": "BlockReduceMin: the chip has no form",
    "Sort32(of<int32_t>(), of<int32_t>(), of<uint32_t>(), 1);": "Sort32: the chip has no form",
    "Transpose(of<float>(), of<float>());": "Transpose: the chip has no form",
    "Brcb(of<int8_t>(), of<int8_t>(), 1, {1, 8});": "Brcb: the chip has no form",
    "Duplicate(of<int8_t>(), 1, 8);": "Duplicate: the chip has no form",
    "Cast(of<int8_t>(), of<float>(), RoundMode::CAST_RINT, 64u);": "Cast: the chip has no conversion",
    "Cast(of<bfloat16_t>(), of<half>(), RoundMode::CAST_RINT, 64u);": "Cast: the chip has no conversion",
    "Axpy(of<half>(), of<float>(), 1.0f, 8);": "Axpy: the chip has no form",
    "of<int4b_t>().GetValue(0);": "elements of 4 bits have no address of their own",
    "LocalMemAllocator<Hardware::GM> all; all.GetCurAddr();": "there are no tensors in this memory",
}


def test_forms_the_chip_does_not_have_do_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "refused.cpp"
    functions = "".join(f"void refused_{at}() {{ {call} }}\n" for at, call in enumerate(REFUSED))
    source.write_text(
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        f"template <class T> static LocalTensor<T> of() {{ return LocalTensor<T>(); }}\n{functions}"
    )
    command = [sim_kernels.compiler(), "-std=c++17", "-fsyntax-only", f"-I{INCLUDE_DIR}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    refusals = [
        line for line in done.stderr.splitlines() if "static assertion failed" in line or "static_assert" in line
    ]
    for call, message in REFUSED.items():
        assert any(message in line for line in refusals), call
