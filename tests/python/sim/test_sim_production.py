"""What sources of production operators expect of their compiler, and what they would otherwise lose without a word."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from superkernel.sim import Device, Report, build_op

AIV = "KERNEL_TYPE_AIV_ONLY"
X = np.arange(8, dtype=np.int32)


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with Device("Ascend910_93") as device:
        yield device


def run(
    device: Device, folder: Path, body: str, before: str = "", options: Sequence[str] = (), **arguments: np.ndarray
) -> Report:
    """Launches an operator whose parameters are the arrays given."""
    params = ", ".join(f"GM_ADDR {name}" for name in arguments)
    text = (
        f'#include "kernel_operator.h"\n{before}\n'
        f'extern "C" __global__ __aicore__ void made({params})\n{{\n{body}\n}}\n'
    )
    op = build_op(text, "made", list(arguments), AIV, 1, op_type="Made", out_dir=folder, compile_options=list(options))
    return device.load(op.json_path).launch(arguments)


@pytest.mark.parametrize("soc", ["Ascend910_93", "Ascend950"])
def test_sources_tell_chips_apart_by_the_older_name(tmp_path: Path, soc: str) -> None:
    y = np.zeros(8, np.int32)
    value = {"Ascend910_93": 220, "Ascend950": 310}[soc]
    text = (
        f'#if __CCE_AICORE__ == {value} && defined(__CCE__)\n#include "kernel_operator.h"\n#endif\n'
        'extern "C" __global__ __aicore__ void made(GM_ADDR y) { ((int32_t *)y)[0] = __CCE_AICORE__; }\n'
    )
    op = build_op(text, "made", ["y"], AIV, 1, op_type="Made", out_dir=tmp_path, soc=soc)
    with Device(soc) as device:
        device.load(op.json_path).launch({"y": y}).raise_for_status()
    assert y[0] == value


def test_an_operator_that_does_nothing_says_so(device: Device, tmp_path: Path) -> None:
    y = np.zeros(8, np.int32)
    cut = "#if __CCE_AICORE__ == 100\n((int32_t *)y)[0] = 1;\n#endif"
    report = run(device, tmp_path, cut, y=y)
    assert report.ok and "made" in str(report.unchecked) and "no core issued an instruction" in str(report.unchecked)
    (warning,) = report.warnings
    assert "issued no instruction and touched no global memory on any core" in warning
    other_key = "if (TILING_KEY_IS(5)) { ((int32_t *)y)[0] = 1; }"
    assert any("TILING_KEY_IS" in text for text in run(device, tmp_path, other_key, y=y).warnings)
    for busy in (
        "((int32_t *)y)[0] = 1;",
        "copy_gm_to_ubuf((int32_t *)0, (int32_t *)y, 0, 1, 1, 0, 0);",
        'AscendC::printf("here\\n");',
        "if (AscendC::GetBlockIdx() == 7) { return; } dcci(y, 0, 2);",
    ):
        report = run(device, tmp_path, busy, y=y)
        assert report.warnings == () and report.unchecked == (), busy
