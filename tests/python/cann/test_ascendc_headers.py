"""Operators of our own, compiled against the vendor's AscendC headers where a tree of them is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import superkernel
from superkernel import sim
from superkernel.cli import main
from superkernel.types import Asserts

TREE = os.environ.get("SUPERKERNEL_ASCENDC", "")
needs_tree = pytest.mark.skipif(not TREE, reason="SUPERKERNEL_ASCENDC names no tree of AscendC headers")

COUNT = 2048
BLOCKS = 4

# x and y in, z out; BODY works on a, b and c with `n` elements; t is scratch.
_OPERATOR = """
#include "kernel_operator.h"
using namespace AscendC;
class Operator {
  public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
        n = COUNT / GetBlockNum();
        xg.SetGlobalBuffer((__gm__ TYPE *)x + n * GetBlockIdx(), n);
        yg.SetGlobalBuffer((__gm__ TYPE *)y + n * GetBlockIdx(), n);
        zg.SetGlobalBuffer((__gm__ RESULT *)z + n * GetBlockIdx(), n);
        pipe.InitBuffer(qx, 2, n * sizeof(TYPE));
        pipe.InitBuffer(qy, 2, n * sizeof(TYPE));
        pipe.InitBuffer(qz, 2, n * sizeof(RESULT));
        pipe.InitBuffer(scratch, 16384);
    }
    __aicore__ inline void Process() {
        LocalTensor<TYPE> a = qx.AllocTensor<TYPE>();
        LocalTensor<TYPE> b = qy.AllocTensor<TYPE>();
        DataCopy(a, xg, n);
        DataCopy(b, yg, n);
        qx.EnQue(a);
        qy.EnQue(b);
        a = qx.DeQue<TYPE>();
        b = qy.DeQue<TYPE>();
        LocalTensor<RESULT> c = qz.AllocTensor<RESULT>();
        LocalTensor<uint8_t> t = scratch.Get<uint8_t>();
        BODY
        qz.EnQue(c);
        qx.FreeTensor(a);
        qy.FreeTensor(b);
        c = qz.DeQue<RESULT>();
        DataCopy(zg, c, n);
        qz.FreeTensor(c);
    }

  private:
    TPipe pipe;
    TQue<TPosition::VECIN, 2> qx, qy;
    TQue<TPosition::VECOUT, 2> qz;
    TBuf<TPosition::VECCALC> scratch;
    GlobalTensor<TYPE> xg, yg;
    GlobalTensor<RESULT> zg;
    uint32_t n;
};
extern "C" __global__ __aicore__ void own_operator(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
    Operator op;
    op.Init(x, y, z);
    op.Process();
}
"""
NAMES = {np.float16: "half", np.float32: "float", np.int32: "int32_t", np.int8: "int8_t"}


def run(
    device: sim.Device, folder: Path, body: str, x: np.ndarray, y: np.ndarray, result: type, asserts: Asserts = "warn"
) -> tuple[sim.Report, np.ndarray]:
    source = _OPERATOR.replace("BODY", body).replace("COUNT", str(COUNT))
    source = source.replace("RESULT", NAMES[result]).replace("TYPE", NAMES[x.dtype.type])
    with superkernel.configure(ascendc=TREE):
        built = sim.build_op(source, "own_operator", block_dim=BLOCKS, out_dir=folder)
    output = device.buffer(np.zeros(COUNT, result))
    kernel = device.load(built.json_path)
    report = kernel.launch([device.buffer(x), device.buffer(y), output], block_dim=BLOCKS, asserts=asserts)
    return report, output.numpy()


#: The first element of the result, before and after it is moved there.
_LOOKS = (
    "LocalTensor<TYPE> a = qx.AllocTensor",
    "float seen = zg.GetValue(0); LocalTensor<TYPE> a = qx.AllocTensor",
)
_FLUSH = "DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(zg);"


def modes(
    device: sim.Device, folder: Path, *changes: tuple[str, str], seeds: int = 0, **options: object
) -> list[tuple[sim.Report, bool]]:
    """Reports of a sum in a mode of the core, and whether its values are right, after ``changes``."""
    source = _OPERATOR.replace("BODY", "Add(c, a, b, n);").replace("COUNT", str(COUNT))
    for old, new in changes:
        assert old in source
        source = source.replace(old, new, 1)
    source = source.replace("RESULT", "float").replace("TYPE", "float")
    path = folder / "own.cpp"
    path.write_text(source)
    with superkernel.configure(ascendc=TREE):
        built = sim.build_op(path, "own_operator", block_dim=1, out_dir=folder, compile_options=["-g1"])
    kernel = device.load(built.json_path)
    found = []
    for seed in range(seeds) if seeds else [None]:
        x, y = numbers(1, np.float32), numbers(2, np.float32)
        output = device.buffer(np.zeros(COUNT, np.float32))
        report = kernel.launch([device.buffer(x), device.buffer(y), output], seed=seed, **options)
        found.append((report, bool(np.array_equal(output.numpy(), x + y))))
    return found


@needs_tree
def test_modes_of_the_core(device: sim.Device, tmp_path: Path) -> None:
    for options in ({"pipes": "checked"}, {"cache": "strict"}, {"pipes": "reordered", "seeds": 5}):
        for report, is_right in modes(device, tmp_path, **options):
            report.raise_for_status()
            assert is_right


@needs_tree
def test_pipes_that_nothing_orders(device: sim.Device, tmp_path: Path) -> None:
    # An event of either queue would order both copies.
    calls = ("qx.EnQue(a);", "qy.EnQue(b);", "a = qx.DeQue<TYPE>();", "b = qy.DeQue<TYPE>();")
    broken = [(call, "") for call in calls]
    ((report, _),) = modes(device, tmp_path, *broken, pipes="checked")
    finding = next(finding for finding in report.findings if finding.kind == "unordered")
    assert finding.missing == "SetFlag<HardEvent::MTE2_V> and WaitFlag<HardEvent::MTE2_V>"
    lines = (tmp_path / "own.cpp").read_text().splitlines()
    for party, call in ((finding.first, "DataCopy(a, xg, n);"), (finding.second, "Add(c, a, b, n);")):
        assert party is not None
        assert party["file"] == str(tmp_path / "own.cpp")
        assert call in lines[party["line"] - 1], "the line of the operator, not of the headers"
    assert not all(is_right for _, is_right in modes(device, tmp_path, *broken, pipes="reordered", seeds=20))


@needs_tree
def test_memory_that_nothing_has_written(device: sim.Device, tmp_path: Path) -> None:
    # The headers' CPU mode fills memories with random numbers at the start; that is nobody's data.
    ((report, _),) = modes(device, tmp_path, ("DataCopy(b, yg, n);", ""), pipes="checked")
    assert [finding.kind for finding in report.findings] == ["never-written"]


@needs_tree
def test_a_line_of_the_cache_that_was_not_refreshed(device: sim.Device, tmp_path: Path) -> None:
    for flush, status, is_copied in (("", "cache", False), (_FLUSH, "ok", True)):
        tail = ("qz.FreeTensor(c);", f"{flush} zg.SetValue(1, zg.GetValue(0) + seen); {flush}")
        ((report, _),) = modes(device, tmp_path, _LOOKS, tail, cache="strict")
        assert report.status == status, report
        kinds = {finding.kind for finding in report.findings}
        assert kinds == (set() if is_copied else {"stale-read"})


def numbers(seed: int, dtype: type) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-4, 4, COUNT).astype(dtype)


@needs_tree
def test_arithmetic_on_halves(device: sim.Device, tmp_path: Path) -> None:
    x, y = numbers(1, np.float16), numbers(2, np.float16)
    report, found = run(device, tmp_path, "Add(c, a, b, n); Muls(c, c, half(0.5f), n); Abs(c, c, n);", x, y, np.float16)
    report.raise_for_status()
    np.testing.assert_array_equal(found, np.abs((x + y) * np.float16(0.5)))


@needs_tree
def test_comparison_and_selection(device: sim.Device, tmp_path: Path) -> None:
    x, y = numbers(3, np.float32), numbers(4, np.float32)
    body = "Compare(t, a, b, CMPMODE::LT, n); Select(c, t, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);"
    report, found = run(device, tmp_path, body, x, y, np.float32)
    report.raise_for_status()
    np.testing.assert_array_equal(found, np.minimum(x, y))


@needs_tree
def test_conversion(device: sim.Device, tmp_path: Path) -> None:
    x, y = numbers(5, np.float32), numbers(6, np.float32)
    report, found = run(device, tmp_path, "Cast(c, a, RoundMode::CAST_RINT, n);", x, y, np.int32)
    report.raise_for_status()
    np.testing.assert_array_equal(found, np.rint(x).astype(np.int32))


@needs_tree
def test_a_function_of_the_high_level_interface(device: sim.Device, tmp_path: Path) -> None:
    x, y = numbers(7, np.float32), numbers(8, np.float32)
    report, found = run(device, tmp_path, "Tanh(c, a, t, n);", x, y, np.float32)
    report.raise_for_status()
    np.testing.assert_allclose(found, np.tanh(x.astype(np.float64)), rtol=1e-5, atol=1e-6)


@needs_tree
def test_a_column_is_broadcast(device: sim.Device, tmp_path: Path) -> None:
    # The headers do it by copies with a count in every repeat, which must reach all rows.
    x, y = numbers(9, np.float32), numbers(10, np.float32)
    rows, columns = 4, COUNT // BLOCKS // 4
    body = f"uint32_t to[] = {{{rows}, {columns}}}, from[] = {{{rows}, 1}};"
    body += " Broadcast<TYPE, 2, 1>(c, a, to, from, t);"
    report, found = run(device, tmp_path, body, x, y, np.float32)
    report.raise_for_status()
    expected = np.repeat(x.reshape(BLOCKS, -1)[:, :rows], columns, axis=1)
    np.testing.assert_array_equal(found.reshape(BLOCKS, -1), expected)


@needs_tree
def test_output_and_a_broken_rule(device: sim.Device, tmp_path: Path) -> None:
    x, y = numbers(9, np.float32), numbers(10, np.float32)
    body = 'printf("block %d\\n", int(GetBlockIdx())); Duplicate(c, 1.0f, n); qx.FreeTensor(a); qx.FreeTensor(a);'
    report, _ = run(device, tmp_path, body, x, y, np.float32, "strict")
    assert report.status == "api"
    assert any("block 0" in line for line in report.output)


@needs_tree
def test_what_only_headers_for_cpus_check_is_a_warning(device: sim.Device, tmp_path: Path) -> None:
    x, y = numbers(9, np.float32), numbers(10, np.float32)
    # Every core copies more than the tensor says it has, from memory that is there.
    body = "auto small = a[0]; small.SetSize(8); DataCopy(c, small, n);"
    report, found = run(device, tmp_path, body, x, y, np.float32)
    report.raise_for_status()
    complaints = [warning for warning in report.warnings if "an assert of the headers' CPU mode" in warning]
    assert len(complaints) == 1 and "srcLocal" in complaints[0], report.warnings
    np.testing.assert_array_equal(found, x)
    report, _ = run(device, tmp_path, body, x, y, np.float32, "strict")
    assert report.status == "api" and "srcLocal" in report.message


@needs_tree
def test_the_headers_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for body in ("x[0] = 1;", "x[0] = 2;"):
        source = f'#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void f(GM_ADDR x) {{\n{body}\n}}\n'
        with superkernel.configure(ascendc=TREE):
            assert not sim.build_op(source, "f", out_dir=tmp_path).reused
    kept = list((tmp_path / "cache" / "superkernel" / "sim").glob("sk_operator_headers_*"))
    assert len(kept) == 1 and (kept[0] / "prelude.h.gch").exists()


def test_a_folder_without_headers(tmp_path: Path) -> None:
    with superkernel.configure(ascendc=tmp_path), pytest.raises(superkernel.SuperKernelError) as caught:
        sim.build_op("extern void f() {\n}", "f", out_dir=tmp_path)
    assert "[SK0954]" in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@needs_tree
def test_other_chips_have_no_emulation(tmp_path: Path) -> None:
    with superkernel.configure(ascendc=TREE), pytest.raises(superkernel.SuperKernelError, match="family c220 only"):
        sim.build_op("extern void f() {\n}", "f", soc="Ascend950", out_dir=tmp_path)


def test_the_doctor_names_the_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "asc" / "include").mkdir(parents=True)
    (tmp_path / "asc" / "impl" / "basic_api" / "dav_c220").mkdir(parents=True)
    (tmp_path / "asc" / "include" / "kernel_operator.h").touch()
    (tmp_path / "asc" / "version.info").write_text("# 0.0\nVersion=8.3.RC1\n")
    main(["doctor", "--ascendc", str(tmp_path)])
    assert f"AscendC headers of a development kit, version 8.3.RC1: {tmp_path / 'asc'}" in capsys.readouterr().out
    assert main(["doctor", "--ascendc", str(tmp_path / "asc" / "impl")]) == 1
    assert "PROBLEM: no AscendC headers: " in capsys.readouterr().out
    main(["doctor", "--ascendc", ""])
    assert "AscendC headers: the built-in subset" in capsys.readouterr().out
