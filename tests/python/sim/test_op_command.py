"""Operators from their folders: `superkernel op` and `sim.Operator`, on small ones in the style of production ones."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel import SuperKernelError, cli, sim

OPERATORS = Path(__file__).resolve().parents[3] / "examples" / "operators"
SOC = "Ascend910_93"
#: Tilings are asked for on every chip that has such a kernel.
CHIP = ["--soc", SOC]


@pytest.fixture(autouse=True)
def _built_in_headers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SUPERKERNEL_ASCENDC", raising=False)
    with superkernel.configure(ascendc=""):
        yield


def row_norm(x: Any, gamma: Any, epsilon: float) -> Any:
    wide = x.astype(np.float32)
    root = np.sqrt((wide * wide).mean(1, keepdims=True) + epsilon)
    return (wide / root * gamma.astype(np.float32)).astype(x.dtype)


def gate(x: Any, gate: Any, mode: str) -> Any:
    factor = gate * gate if mode == "square" else np.clip(gate, 0, 6)
    return x * factor


def values(dtype: str, *shape: int) -> Any:
    return np.random.default_rng(len(shape)).uniform(-4, 4, shape).astype(dtype)


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], Callable[..., Any], str, float]] = {
    "half": (
        "norm/row_norm",
        {"x": values("float16", 24, 256), "gamma": values("float16", 256)},
        {},
        row_norm,
        "KERNEL_TYPE_AIV_ONLY",
        2e-3,
    ),
    "attribute": (
        "norm/row_norm",
        {"x": values("float32", 50, 128), "gamma": values("float32", 128)},
        {"epsilon": 3.0},
        row_norm,
        "KERNEL_TYPE_AIV_ONLY",
        1e-5,
    ),
    "template": (
        "activation/gate",
        {"x": values("float32", 8, 256), "gate": values("float32", 8, 256)},
        {"mode": "square"},
        gate,
        "KERNEL_TYPE_AIV_ONLY",
        1e-5,
    ),
    "other template": (
        "activation/gate",
        {"x": values("float16", 8, 256), "gate": values("float16", 8, 256)},
        {},
        gate,
        "KERNEL_TYPE_AIV_ONLY",
        2e-3,
    ),
    "both inputs": (
        "math/row_add",
        {"x1": values("float32", 9, 64), "x2": values("float32", 9, 64)},
        {},
        lambda x1, x2: x1 + x2,
        "KERNEL_TYPE_AIV_ONLY",
        0.0,
    ),
    "one input": ("math/row_add", {"x1": values("float32", 9, 64)}, {}, lambda x1, x2: x1, "KERNEL_TYPE_AIV_ONLY", 0.0),
    "all cores meet": (
        "math/column_sum",
        {"x": values("float32", 30, 64)},
        {},
        lambda x: x.sum(0),
        "KERNEL_TYPE_MIX_AIV_1_0",
        1e-4,
    ),
    "options of CMake": (
        "quant/row_quant",
        {"x": values("float32", 8, 64)},
        {"scale": 60.0},
        lambda x, scale: np.clip(np.rint(x * scale), -127, 127),
        "KERNEL_TYPE_AIV_ONLY",
        1.0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_operator_runs_from_its_folder(device: sim.Device, case: str) -> None:
    folder, inputs, attributes, reference, kernel_type, tolerance = CASES[case]
    with sim.Operator(OPERATORS / folder, soc=SOC) as operator:
        done = operator.run(inputs, attributes, device=device)
        done.report.raise_for_status()
        assert done.built.kernel_type == kernel_type
        for comparison in done.compare(operator.reference(done, reference, attributes), rtol=tolerance, atol=tolerance):
            assert comparison.ok, comparison
    assert not done.report.warnings


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(["op", *words, *CHIP])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_the_verdict_is_the_exit_status(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    add = [str(OPERATORS / "math/row_add"), "--keep", str(tmp_path / "kept")]
    x = values("float32", 8, 64)
    np.save(tmp_path / "x.npy", x)
    given = ["--input", f"x1=@{tmp_path}/x.npy"]
    status, out, _ = run(capsys, *add, *given, "--expect", f"y={tmp_path}/x.npy")
    assert status == 0 and "as expected" in out and "in  x1" in out and out.endswith("passed\n")
    np.save(tmp_path / "wrong.npy", x + np.eye(8, 64, dtype=np.float32))
    status, out, _ = run(capsys, *add, *given, "--expect", f"y={tmp_path}/wrong.npy", "--json")
    told = json.loads(out)
    assert status == 1 and not told["passed"] and told["comparisons"][0]["first"] == [0, 0]
    assert told["comparisons"][0]["wrong"] == 8 and told["tiling"]["key"] == 1
    status, _, err = run(capsys, *add, "--input", "x1=float16:8x64")
    assert status == 2 and "`RowAdd` has no kernel for x1 float16" in err and "x1 float32" in err
    status, _, err = run(capsys, *add, "--input", "x3=float32:8x64")
    assert status == 2 and "`RowAdd` has no input `x3`" in err and "did you mean `x" in err
    status, _, err = run(capsys, *add)
    assert status == 2 and "`RowAdd` needs the input `x1`" in err
    status, _, err = run(capsys, str(tmp_path))
    assert status == 2 and "SK0980" in err


def test_an_output_that_is_left_out_has_a_shape_for_host_code(device: sim.Device, tmp_path: Path) -> None:
    folder = tmp_path / "math" / "row_add"
    shutil.copytree(OPERATORS / "math/row_add", folder)
    shutil.copytree(OPERATORS / "norm/row_common", tmp_path / "norm" / "row_common")
    definition = folder / "op_host" / "row_add_def.cpp"
    more = '        this->Output("count").ParamType(OPTIONAL).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});\n'
    chips = '        this->AICore().AddConfig("ascend910b")'
    definition.write_text(definition.read_text().replace(chips, more + chips))
    shapes = folder / "op_host" / "row_add_infershape.cpp"
    counted = (
        "    context->GetOutputShape(1)->SetDimNum(1);\n    return ge::GRAPH_SUCCESS;\n}\nstatic ge::graphStatus InferT"
    )
    shapes.write_text(
        shapes.read_text().replace("    return ge::GRAPH_SUCCESS;\n}\nstatic ge::graphStatus InferT", counted)
    )
    assert "GetOutputShape(1)" in shapes.read_text()
    with sim.Operator(folder, soc=SOC) as operator:
        prepared = operator.prepare({"x1": values("float32", 8, 64)})
        assert prepared.outputs == {"y": ((8, 64), "float32"), "count": None}


def test_tiling_can_be_given(capsys: pytest.CaptureFixture[str], tmp_path: Path, device: sim.Device) -> None:
    """For operators whose host code cannot be asked."""
    folder = OPERATORS / "math/row_add"
    (tmp_path / "t.bin").write_bytes(np.array([8, 64], np.uint32).tobytes())
    np.save(tmp_path / "x.npy", values("float32", 8, 64))
    file = f"@{tmp_path}/x.npy"
    words = ["--input", f"x1={file}", "--input", f"x2={file}", "--tiling", f"{tmp_path}/t.bin", "--key", "1"]
    status, out, _ = run(capsys, str(folder), *words, "--blocks", "3", "--expect", f"y={tmp_path}/x.npy")
    assert status == 0 and "key 1, 3 blocks" in out

    def decide(inputs: Any, attributes: Any, soc: str) -> sim.Tiling:
        assert soc == SOC and inputs["x2"] is None and attributes == {}
        return sim.Tiling(np.array(inputs["x1"].shape, np.uint32).tobytes(), 1, 2)

    with sim.Operator(folder, soc=SOC, tiling=decide) as operator:
        done = operator.run({"x1": values("float32", 8, 64)}, device=device)
        assert done.report.ok and (done["y"] == values("float32", 8, 64)).all()


def test_the_gate_looks_at_an_operator(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(
        capsys, str(OPERATORS / "math/row_add"), "--input", "x1=float32:8x64", "--tool", "pipe,cache", "--seeds", "2"
    )
    assert status == 0 and "2 seeds" in out and "checks: pipe, cache" in out
    broken = tmp_path / "math" / "row_add"
    shutil.copytree(OPERATORS / "math/row_add", broken)
    kernel = broken / "op_kernel" / "row_add.cpp"
    text = kernel.read_text().replace("../../norm/row_common/op_kernel", str(OPERATORS / "norm/row_common/op_kernel"))
    kernel.write_text(text.replace("other = others.DeQue<float>();", "others.DeQue<float>(); other = other;"))
    kernel.write_text(kernel.read_text().replace("others.EnQue(other);\n            others.DeQue<float>();", ""))
    words = ["--input", "x1=float32:8x64", "--input", "x2=float32:8x64"]
    status, out, _ = run(capsys, str(broken), *words, "--pipes", "checked")
    assert status == 1 and "row_add.cpp" in out and out.endswith("failed\n")


def test_small_tensors_are_whole_blocks_of_memory(device: sim.Device, tmp_path: Path) -> None:
    """A kernel may move a block of 32 bytes for five numbers."""
    folder = tmp_path / "math" / "row_add"
    shutil.copytree(OPERATORS / "math/row_add", folder)
    (folder / "op_kernel" / "row_add.cpp").write_text("""
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void row_add(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> moved;
    pipe.InitBuffer(moved, 1, 32);
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x1, 8);
    to.SetGlobalBuffer((__gm__ float *)y, 8);
    LocalTensor<float> block = moved.AllocTensor<float>();
    DataCopy(block, from, 8);
    moved.EnQue(block);
    block = moved.DeQue<float>();
    DataCopy(to, block, 8);
    moved.FreeTensor(block);
}
""")
    x = values("float32", 1, 5)
    with sim.Operator(folder, soc=SOC) as operator:
        prepared = operator.prepare({"x1": x}, tiling=sim.Tiling(bytes(8), 1, 1))
        done = operator.run_prepared(prepared, device)
        done.report.raise_for_status()
        assert (done["y"] == x).all()


def test_values_are_compared_where_flags_are_left(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """All cores ended, so a finding about flags says nothing about values."""
    folder = tmp_path / "column_sum"
    shutil.copytree(OPERATORS / "math/column_sum", folder)
    kernel = folder / "op_kernel" / "column_sum.cpp"
    kernel.write_text(
        kernel.read_text().replace("    SyncAll();", "    SyncAll();\n    CrossCoreSetFlag<0x0, PIPE_MTE3>(5);")
    )
    np.save(tmp_path / "x.npy", np.ones((30, 64), np.float32))
    np.save(tmp_path / "y.npy", np.full(64, 30, np.float32))
    words = ["--input", f"x=@{tmp_path}/x.npy", "--expect", f"y={tmp_path}/y.npy"]
    status, out, _ = run(capsys, str(folder), *words)
    assert status == 1 and "still raised" in out and "y: as expected" in out and out.endswith("failed\n")


def test_mistakes_are_told_by_the_operator_s_own_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "row_add"
    shutil.copytree(OPERATORS / "math/row_add", folder)
    kernel = folder / "op_kernel" / "row_add.cpp"
    text = kernel.read_text().replace("../../norm/row_common/op_kernel", str(OPERATORS / "norm/row_common/op_kernel"))
    line = 1 + text[: text.index("Muls(")].count("\n")
    kernel.write_text(text.replace("Muls(output", "AscendC::NotThere(output"))
    status, _, err = run(capsys, str(folder), "--input", "x1=float32:8x64")
    assert status == 2
    assert err.startswith(f"superkernel: error [SK0958]: {kernel}:{line}: ") and "NotThere" in err.splitlines()[0]
    assert "setting `ascendc`" in err
    command = next(at for at, told in enumerate(err.splitlines()) if "c++ …" in told or "… -c" in told)
    assert command >= len(err.splitlines()) - 2


def test_five_operators_are_fused_in_both_forms(device: sim.Device, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("chain", OPERATORS / "chain.py")
    assert spec is not None and spec.loader is not None
    chain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chain)
    unfused = chain.Unfused(device, tmp_path)
    for form in ("static", "dynamic"):
        chain.fuse(form, unfused, device, tmp_path)


# -- real ones, where the trees are there ----------------------------------------------------------------------------

CHECKOUTS = os.environ.get("SUPERKERNEL_OPERATORS", "")
ASCENDC = os.environ.get("SUPERKERNEL_ASCENDC", "")


def rms(x: Any, gamma: Any, epsilon: float) -> tuple[Any, Any]:
    wide = x.astype(np.float32)
    root = 1 / np.sqrt((wide * wide).mean(-1, keepdims=True) + epsilon)
    return wide * root * gamma.astype(np.float32), root


def add_rms(x1: Any, x2: Any, gamma: Any, epsilon: float) -> tuple[Any, Any, Any]:
    added = x1.astype(np.float32) + x2.astype(np.float32)
    return (*rms(added, gamma, epsilon), added)


def swi_glu(x: Any, dim: int) -> Any:
    first, second = np.split(x.astype(np.float32), 2, axis=dim)
    return first / (1 + np.exp(-first)) * second


def dynamic_quant(x: Any, *_: Any, **__: Any) -> dict[str, Any]:
    wide = x.astype(np.float32)
    scale = np.abs(wide).max(-1) / 127
    return {"y": np.rint(wide / scale[..., None]), "scale": scale}


def gating(x: Any, *_: Any, k: int, **__: Any) -> dict[str, Any]:
    wide = x.astype(np.float32)
    scores = np.exp(wide - wide.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    order = np.argsort(-scores, axis=-1, kind="stable")[:, :k]
    return {"expert_idx": order}


REAL: dict[str, tuple[str, dict[str, Any], dict[str, Any], Callable[..., Any], float]] = {
    "RmsNorm": (
        "norm/rms_norm",
        {"x": values("float16", 16, 1024), "gamma": values("float16", 1024)},
        {},
        rms,
        4e-3,
    ),
    "AddRmsNorm": (
        "norm/add_rms_norm",
        {"x1": values("float16", 16, 1024), "x2": values("float16", 16, 1024), "gamma": values("float16", 1024)},
        {},
        add_rms,
        8e-3,
    ),
    "SwiGlu": ("activation/swi_glu", {"x": values("float16", 16, 512)}, {}, swi_glu, 4e-3),
    "DynamicQuant": ("quant/dynamic_quant", {"x": values("float16", 16, 512)}, {"dst_type": 2}, dynamic_quant, 1.0),
    "MoeGatingTopK": ("moe/moe_gating_top_k", {"x": values("float32", 16, 64)}, {"k": 4}, gating, 0.0),
    "MatMulV3": (
        "matmul/mat_mul_v3",
        {"x1": values("float16", 64, 128), "x2": values("float16", 128, 64)},
        {},
        lambda x1, x2, *_, **__: x1.astype(np.float32) @ x2.astype(np.float32),
        5e-2,
    ),
}


@pytest.mark.skipif(not (CHECKOUTS and ASCENDC), reason="SUPERKERNEL_OPERATORS and SUPERKERNEL_ASCENDC name no trees")
@pytest.mark.parametrize("name", REAL)
def test_production_operators_run_unchanged(device: sim.Device, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, inputs, attributes, reference, tolerance = REAL[name]
    found = sorted(Path(CHECKOUTS).glob(f"*/{folder}")) or sorted(Path(CHECKOUTS).glob(folder))
    with superkernel.configure(ascendc=ASCENDC), sim.Operator(found[0], soc=SOC) as operator:
        done = operator.run(inputs, attributes, device=device)
        done.report.raise_for_status()
        for comparison in done.compare(operator.reference(done, reference, attributes), rtol=tolerance, atol=tolerance):
            assert comparison.ok, comparison


def test_an_operator_without_the_trees_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SuperKernelError, match="holds no operator"):
        sim.Operator(tmp_path, soc=SOC)


def test_shapes_that_nobody_tells(capsys: pytest.CaptureFixture[str], tmp_path: Path, device: sim.Device) -> None:
    """They are those of what the outputs are compared with, or the inputs', and the report says so."""
    folder = tmp_path / "math" / "row_add"
    shutil.copytree(OPERATORS / "math/row_add", folder)
    shutil.copytree(OPERATORS / "norm/row_common", tmp_path / "norm" / "row_common")
    (folder / "op_host" / "row_add_infershape.cpp").unlink()
    status, out, err = run(capsys, str(folder), "--input", "x1=float32:8x64")
    assert status == 0, err
    assert "assumed: `y` has the shape of all inputs together, [8, 64]: the operator does not tell" in out
    x = values("float32", 8, 64)
    with sim.Operator(folder, soc=SOC) as operator:
        prepared = operator.prepare({"x1": x}, expected={"y": x.reshape(4, 128)})
        assert prepared.outputs["y"] == ((4, 128), "float32") and not prepared.assumed
        prepared = operator.prepare({"x1": x}, outputs={"y": ((512,), "float32")})
        assert prepared.outputs["y"] == ((512,), "float32") and not prepared.assumed
        done = operator.run_prepared(prepared, device)
        assert (done["y"] == x.reshape(-1)).all()
    np.save(tmp_path / "x.npy", x)
    words = ["--input", f"x1=@{tmp_path}/x.npy", "--expect", f"y={tmp_path}/x.npy"]
    status, out, _ = run(capsys, str(folder), *words)
    assert status == 0 and "assumed" not in out
