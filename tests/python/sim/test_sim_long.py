"""A very long super kernel is built and runs on the simulator, every access checked."""

from __future__ import annotations

import os
from pathlib import Path

import superkernel
from superkernel.sim import Device, build_op

#: `make stress` runs 10,000.
OPS = int(os.environ.get("SUPERKERNEL_LONG_KERNEL", "150"))

# Each core adds to numbers of its own; which ones differs from op to op, so order between cores matters.
SOURCE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR y)
{{
    const int cores = (int)AscendC::GetBlockNum(), core = (int)AscendC::GetBlockIdx();
    for (int i = core; i < 8; i += cores) {{ ((int32_t *)y)[i] = ((int32_t *)x)[7 - i] + 1; }}
}}
"""


def test_a_long_kernel_runs(tmp_path: Path) -> None:
    kinds = {"vector": "KERNEL_TYPE_AIV_ONLY", "cube": "KERNEL_TYPE_AIC_ONLY"}
    ops = [
        build_op(SOURCE.format(name=name), name, None, kind, 4, out_dir=tmp_path / "ops").entry()
        for name, kind in kinds.items()
    ]
    infos = {"op_list": [ops[number % 2] for number in range(OPS)], "super_kernel_options": "split-mode=1"}
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host", cache_dir=""):
        superkernel.compile(infos, "long")
    with Device() as device:
        kernel = device.load(tmp_path / "kernel_meta" / "long.json")
        buffers = [device.buffer(bytes(32)), device.buffer(bytes(32))]
        arguments = {}
        for number in range(OPS):
            arguments[f"x_{number}"], arguments[f"y_{number}"] = buffers[number % 2], buffers[1 - number % 2]
        report = kernel.launch(arguments, events="none", seed=3)
        report.raise_for_status()
        assert report.steps > OPS
        assert buffers[OPS % 2].read() == OPS.to_bytes(4, "little") * 8
