"""The minimal sample: two operators, fused and run.

    input1 ─┐
            ├─ pow ── isinf ── output
    input2 ─┘

Runs on the simulator; a C++ compiler is all it needs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from compile_sk import compile_sub_kernels, compile_super_kernel
from superkernel.sim import Device
from utils import allocate, argument_names

LENGTH = 4096
SOC = "Ascend910_93"


def make_inputs() -> dict[str, np.ndarray]:
    """Bases and exponents whose powers are partly beyond what 16 bits can hold, and partly infinite from the start."""
    generator = np.random.default_rng(2026)
    base = generator.uniform(0, 100, LENGTH).astype(np.float16)
    exponent = generator.uniform(-2, 6, LENGTH).astype(np.float16)
    base[:6] = [np.inf, -np.inf, np.nan, 0, 0, -2]
    exponent[:6] = [2, 3, 1, -1, 2, 3]
    return {
        "pow_in1": base,
        "pow_in2": exponent,
        "pow_out": np.zeros(LENGTH, np.float16),
        "pow_workspace": np.zeros(64, np.uint8),
        "isinf_out": np.full(LENGTH, -1, np.float16),
        "isinf_workspace": np.zeros(64, np.uint8),
    }


def expected_output(contents: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        power = contents["pow_in1"].astype(np.float32) ** contents["pow_in2"].astype(np.float32)
        power = power.astype(np.float16)
    return power, np.isinf(power).astype(np.float16)


def main() -> int:
    with tempfile.TemporaryDirectory() as directory, Device(soc=SOC) as device:
        out_dir = Path(directory)
        print("compile sub kernels")
        nodes = compile_sub_kernels(out_dir / "sub_kernels")
        for node in nodes:
            print(f"  {node.op.name}: {node.op.block_dim} blocks, {', '.join(node.memory)}")
        print("compile super kernel")
        json_path = compile_super_kernel(nodes, out_dir)
        print(f"  {json_path.name}")

        print("allocate memory")
        contents = make_inputs()
        names = argument_names(nodes)
        memory = allocate(device, names, contents)
        print(f"  {len(memory)} buffers for {len(names)} arguments")

        print("load and launch")
        kernel = device.load(json_path)
        report = kernel.launch([memory[name] for name in names], seed=1)
        report.raise_for_status()
        print(f"  {len(report.cores)} cores, {report.steps} steps, {len(report.hazards)} hazards")

        print("check the output")
        power, is_inf = expected_output(contents)
        pow_out = memory["pow_out"].numpy()
        isinf_out = memory["isinf_out"].numpy()
        print(f"  {int(isinf_out.sum())} of {LENGTH} powers are infinite; the first: {isinf_out[:8].tolist()}")
        # The C library and numpy may differ in the last bit of a power.
        near = np.isclose(pow_out.astype(np.float32), power.astype(np.float32), rtol=2e-3, equal_nan=True)
        if not near.all() or not np.array_equal(isinf_out, is_inf):
            print(f"wrong: {int((~near).sum())} powers, {int((isinf_out != is_inf).sum())} flags", file=sys.stderr)
            return 1

        print("clean up")
        for buffer in memory.values():
            buffer.free()
    print("execute sample success")
    return 0


if __name__ == "__main__":
    sys.exit(main())
