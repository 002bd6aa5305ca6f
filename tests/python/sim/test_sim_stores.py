"""Scalar stores that combine with what is in global memory, in all modes of the core, against numpy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel import sim
from superkernel.cli import main

TREE = os.environ.get("SUPERKERNEL_ASCENDC", "")
needs_tree = pytest.mark.skipif(not TREE, reason="SUPERKERNEL_ASCENDC names no tree of AscendC headers")
TREES = [pytest.param("", id="built-in"), pytest.param(TREE, id="headers", marks=needs_tree)]

BLOCKS = 3
#: Stores of every core, and the elements they go to.
STORES, PLACES = 40, 24
#: Behind the sums every core has a line that it stores to when stores overwrite again.
BEHIND = 128
KINDS = {
    "F32": ("float", np.float32),
    "F16": ("half", np.float16),
    "S16": ("int16_t", np.int16),
    "S32": ("int32_t", np.int32),
    "S8": ("int8_t", np.int8),
    "BF16": ("bfloat16_t", np.uint16),
}
WAYS = ["a tensor", "a plain pointer", "a volatile word", "around the cache"]
MODES: list[dict[str, Any]] = [
    {},
    {"pipes": "checked"},
    {"cache": "strict"},
    {"pipes": "reordered", "seed": 1},
    {"pipes": "checked", "cache": "strict", "schedule": "random", "seed": 2},
]

_ADD_UP = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void add_up(GM_ADDR places, GM_ADDR values, GM_ADDR sums, GM_ADDR way) {
    GlobalTensor<uint32_t> place;
    GlobalTensor<TYPE> value, sum;
    place.SetGlobalBuffer((__gm__ uint32_t *)places, STORES * GetBlockNum());
    value.SetGlobalBuffer((__gm__ TYPE *)values, STORES * GetBlockNum());
    sum.SetGlobalBuffer((__gm__ TYPE *)sums, SIZE);
    const uint32_t chosen = *(__gm__ uint32_t *)way;
    SetStoreAtomicConfig<AtomicDtype::ATOMIC_KIND, AtomicOp::ATOMIC_SUM>();
    uint16_t type = 0, operation = 7;
    GetStoreAtomicConfig(type, operation);
    for (uint32_t i = STORES * GetBlockIdx(); i < STORES * (GetBlockIdx() + 1); ++i) {
        const uint32_t at = place.GetValue(i);
        switch (chosen) {
        case 0:
            sum.SetValue(at, value.GetValue(i));
            break;
        case 1:
            ((__gm__ TYPE *)sums)[at] = ((__gm__ TYPE *)values)[i];
            break;
        case 2:
            ((volatile __gm__ WORD *)sums)[at] = ((__gm__ WORD *)values)[i];
            break;
        default:
            WriteGmByPassDCache((__gm__ WORD *)sums + at, ((__gm__ WORD *)values)[i]);
        }
    }
    SetStoreAtomicConfig<AtomicDtype::ATOMIC_NONE, AtomicOp::ATOMIC_SUM>();
    const uint32_t line = BEHIND + GetBlockIdx() * 64;
    ((__gm__ WORD *)sums)[line] = (WORD)(type + operation + GetStoreAtomicConfig());
    dcci((__gm__ WORD *)sums + line, SINGLE_CACHE_LINE, CACHELINE_OUT);
}
"""


def build(folder: Path, source: str, tree: str, **options: Any) -> sim.BuiltOp:
    with pytest.MonkeyPatch.context() as environment, superkernel.configure(ascendc=tree or None):
        environment.delenv("SUPERKERNEL_ASCENDC", raising=False)
        return sim.build_op(source, "add_up", block_dim=BLOCKS, out_dir=folder, **options)


def add_up(kind: str) -> str:
    name, dtype = KINDS[kind]
    source = _ADD_UP.replace("ATOMIC_KIND", f"ATOMIC_{kind}").replace("TYPE", name)
    source = source.replace("WORD", f"uint{8 * np.dtype(dtype).itemsize}_t").replace("SIZE", str(BEHIND + 64 * BLOCKS))
    return source.replace("STORES", str(STORES)).replace("BEHIND", str(BEHIND))


def rounded(values: np.ndarray) -> np.ndarray:
    """The bits of bfloat16 nearest to single precision."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def added(kind: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    if kind != "BF16":
        with np.errstate(over="ignore"):
            return old + new
    wide = [part.astype(np.uint32) << 16 for part in (old, new)]
    return rounded(wide[0].view(np.float32) + wide[1].view(np.float32))


def numbers(kind: str, generator: np.random.Generator, count: int) -> np.ndarray:
    """Whole numbers, so that sums do not depend on the order of cores; integers overflow."""
    dtype = KINDS[kind][1]
    if kind in ("F32", "F16"):
        return generator.integers(-9, 9, count).astype(dtype)
    if kind == "BF16":
        return rounded(generator.integers(-3, 3, count))
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, count, dtype=dtype)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("kind", KINDS)
def test_stores_of_many_cores_add_up(device: sim.Device, tmp_path: Path, kind: str, tree: str) -> None:
    kernel = device.load(build(tmp_path, add_up(kind), tree).json_path)
    dtype = KINDS[kind][1]
    generator = np.random.default_rng(list(KINDS).index(kind))
    for mode in MODES:
        for number, way in enumerate(WAYS):
            places = generator.integers(0, PLACES, BLOCKS * STORES).astype(np.uint32)
            values = numbers(kind, generator, BLOCKS * STORES)
            sums = np.zeros(BEHIND + 64 * BLOCKS, dtype)
            sums[:PLACES] = numbers(kind, generator, PLACES)
            expected = sums.copy()
            for place, value in zip(places, values):
                expected[place : place + 1] = added(kind, expected[place : place + 1], value)
            expected[BEHIND::64].view(f"u{dtype().itemsize}")[:] = 1 + list(KINDS).index(kind)
            result = device.buffer(sums, "sums")
            inputs = [device.buffer(places, "places"), device.buffer(values, "values")]
            report = kernel.launch([*inputs, result, device.buffer(np.array([number], np.uint32))], **mode)
            assert report.ok and report.findings == (), (mode, way, report)
            np.testing.assert_array_equal(result.numpy(), expected, f"{mode} {way}")


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16"])
def test_every_store_rounds(device: sim.Device, tmp_path: Path, kind: str) -> None:
    kernel = device.load(build(tmp_path, add_up(kind), "").json_path)
    dtype = KINDS[kind][1]
    values = np.random.default_rng(5).normal(0, 100, STORES)
    terms = rounded(values) if kind == "BF16" else values.astype(dtype)
    expected = np.zeros(BEHIND + 64 * BLOCKS, dtype)
    for term in terms:
        expected[:1] = added(kind, expected[:1], np.array([term], dtype))
    result = device.buffer(np.zeros_like(expected), "sums")
    places = device.buffer(np.zeros(STORES, np.uint32))
    kernel.launch([places, device.buffer(terms), result, device.buffer(64)], block_dim=1).raise_for_status()
    np.testing.assert_array_equal(result.numpy()[:PLACES], expected[:PLACES])


#: Two cores, and a word of the launch that says what happens.
_CASES = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void add_up(GM_ADDR x, GM_ADDR y, GM_ADDR way) {
    auto *sum = (__gm__ int32_t *)x, *told = (__gm__ int32_t *)y;
    auto *counter = (volatile __gm__ int32_t *)(x + 512);
    const int32_t chosen = *(__gm__ int32_t *)way;
    const bool first = GetBlockIdx() == 0;
    if (chosen == 3) {
        // Everybody leaves a word and counts; the first one waits until all have counted.
        told[GetBlockIdx() * 16] = 5;
        dcci(told + GetBlockIdx() * 16, SINGLE_CACHE_LINE, CACHELINE_OUT);
        SetStoreAtomicConfig<AtomicDtype::ATOMIC_S32, AtomicOp::ATOMIC_SUM>();
        *counter = 1;
        SetStoreAtomicConfig<AtomicDtype::ATOMIC_NONE, AtomicOp::ATOMIC_SUM>();
        if (first) {
            do { dcci((__gm__ int32_t *)counter, 0, 2); } while (*counter != 2);
            dcci(told + 16, SINGLE_CACHE_LINE, CACHELINE_OUT);
            sum[0] = told[16];
        }
        return;
    }
    if (!first) {
        return;
    }
    if (chosen == 1) {
        told[0] = sum[0];
    } else if (chosen == 2) {
        sum[0] = 7; // UNFLUSHED
    }
    if (chosen == 6) {
        set_st_atomic_cfg(4, 1);
    } else {
        SetStoreAtomicConfig<AtomicDtype::ATOMIC_S32, AtomicOp::ATOMIC_SUM>();
    }
    sum[0] = 1; // COMBINES
    if (chosen == 5) {
        ((__gm__ int16_t *)sum)[4] = 1; // NARROW
    }
    SetStoreAtomicConfig<AtomicDtype::ATOMIC_NONE, AtomicOp::ATOMIC_SUM>();
    if (chosen == 1) {
        told[1] = sum[0]; // STALE
    }
}
"""


@pytest.fixture(scope="module", params=TREES)
def cases(request: pytest.FixtureRequest, device: sim.Device, tmp_path_factory: pytest.TempPathFactory) -> sim.Kernel:
    folder = tmp_path_factory.mktemp("cases")
    path = folder / "cases.cpp"
    path.write_text(_CASES)
    with pytest.MonkeyPatch.context() as environment, superkernel.configure(ascendc=request.param or None):
        environment.delenv("SUPERKERNEL_ASCENDC", raising=False)
        built = sim.build_op(path, "add_up", block_dim=2, out_dir=folder, compile_options=["-g1"])
    return device.load(built.json_path)


def case(device: sim.Device, kernel: sim.Kernel, number: int, **options: Any) -> tuple[sim.Report, int, np.ndarray]:
    start = np.zeros(256, np.int32)
    start[0] = 3
    x, y = device.buffer(start, "x"), device.buffer(np.zeros(64, np.int32), "y")
    report = kernel.launch([x, y, device.buffer(np.array([number], np.int32))], op_names=["cases"], **options)
    return report, int(x.numpy()[0]), y.numpy()


def line(mark: str) -> int:
    return next(at for at, text in enumerate(_CASES.splitlines(), 1) if mark in text)


def test_such_stores_go_around_the_cache(device: sim.Device, cases: sim.Kernel) -> None:
    for mode in MODES:
        report, total, _ = case(device, cases, 0, **mode)
        assert report.ok and total == 4, report
    # The core's own line does not hear of it.
    report, total, told = case(device, cases, 1, cache="strict")
    (finding,) = report.findings
    assert (finding.kind, total, told[1]) == ("stale-read", 4, 3), report
    assert "a scalar store that combines" in finding.text and finding.second["line"] == line("STALE")  # type: ignore[index]
    assert case(device, cases, 1)[2][1] == 4
    # And what is only in a line takes no part.
    report, _, _ = case(device, cases, 2, cache="strict")
    assert [finding.kind for finding in report.findings] == ["unflushed"], report
    assert case(device, cases, 2)[1] == 8


def test_cores_hear_of_each_other_by_counting(device: sim.Device, cases: sim.Kernel) -> None:
    for seed in range(5):
        report, total, _ = case(device, cases, 3, schedule="random", seed=seed, cache="strict")
        assert report.ok and total == 5, report


@pytest.mark.parametrize(
    ("number", "message", "mark"),
    [
        (5, "a scalar store of 2 bytes to GM while scalar stores combine elements of 4", "NARROW"),
        (6, "set_st_atomic_cfg asks for operation 1 of type 4: there is the sum", "COMBINES"),
    ],
)
def test_stores_that_cannot_combine_end_the_run(
    device: sim.Device, cases: sim.Kernel, number: int, message: str, mark: str
) -> None:
    report, _, _ = case(device, cases, number)
    assert report.status == "api" and message in report.message, report
    assert report.failure is not None and report.failure["line"] == line(mark)


def test_code_without_hooks_cannot_combine(device: sim.Device, tmp_path: Path) -> None:
    kernel = device.load(build(tmp_path, add_up("S32"), "", watch_accesses=False).json_path)
    report = kernel.launch([device.buffer(4096) for _ in range(4)])
    assert report.status == "api" and "build it with watch_accesses=True" in report.message, report


_PROGRAM = """
#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"
__global__ __aicore__ void count(GM_ADDR x) {
    AscendC::GlobalTensor<float> sum;
    sum.SetGlobalBuffer((__gm__ float *)x, 16);
    AscendC::SetStoreAtomicConfig<AscendC::AtomicDtype::ATOMIC_F32, AscendC::AtomicOp::ATOMIC_SUM>();
    sum.SetValue(3, 0.5f);
    AscendC::SetStoreAtomicConfig<AscendC::AtomicDtype::ATOMIC_NONE, AscendC::AtomicOp::ATOMIC_SUM>();
}
int main() {
    float *x = nullptr;
    aclrtMalloc((void **)&x, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
    x[3] = 1;
    count<<<7, nullptr, nullptr>>>((GM_ADDR)x);
    printf("%.1f\\n", x[3]);
    return 0;
}
"""


@pytest.mark.parametrize("tree", TREES)
def test_programs_need_not_ask_for_hooks(tmp_path: Path, tree: str, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "count.asc"
    file.write_text(_PROGRAM)
    assert main(["sim", "--ascendc", tree, str(file)]) == 0
    assert capfd.readouterr().out == "4.5\n"
