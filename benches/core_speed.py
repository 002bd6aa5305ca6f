"""How fast simulated vector instructions are: whole operators over 1 M elements against one call of numpy.

    python benches/core_speed.py [--repeat 15] [--elements 1048576]

An operator moves its data through UB tile by tile, as operators do, and a launch is timed as a whole. Build the
extension with optimisation first (``maturin develop --release``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python" / "helpers"))

import sim_kernels
from ratios import ratio
from superkernel.sim import Device

#: So much slower than numpy an operator may be.
LIMIT = 20

SOURCE = """
using namespace AscendC;
using Element = KIND;
static void body() {
    constexpr uint32_t TILE = 8192;
    const uint32_t elements = (uint32_t)*slot(3);
    GlobalTensor<Element> x, y, z;
    x.SetGlobalBuffer((Element *)slot(0), elements);
    y.SetGlobalBuffer((Element *)slot(1), elements);
    z.SetGlobalBuffer((Element *)slot(2), elements);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> left, right;
    TQue<TPosition::VECOUT, 1> result;
    pipe.InitBuffer(left, 1, TILE * sizeof(Element));
    pipe.InitBuffer(right, 1, TILE * sizeof(Element));
    pipe.InitBuffer(result, 1, TILE * sizeof(Element));
    for (uint32_t at = 0; at < elements; at += TILE) {
        LocalTensor<Element> a = left.AllocTensor<Element>();
        LocalTensor<Element> b;
        LocalTensor<Element> c = result.AllocTensor<Element>();
        DataCopy(a, x[at], TILE);
        left.EnQue(a);
        a = left.DeQue<Element>();
        if (INPUTS == 2) {
            b = right.AllocTensor<Element>();
            DataCopy(b, y[at], TILE);
            right.EnQue(b);
            b = right.DeQue<Element>();
        }
        COMPUTE;
        result.EnQue(c);
        left.FreeTensor(a);
        if (INPUTS == 2) { right.FreeTensor(b); }
        c = result.DeQue<Element>();
        DataCopy(z[at], c, TILE);
        result.FreeTensor(c);
    }
}
"""


class Operator(NamedTuple):
    """What is computed, of which elements, and the same in numpy."""

    name: str
    compute: str
    inputs: int
    kind: str
    dtype: type
    plain: Callable[..., Any]


OPERATORS = [
    Operator("Add of floats", "Add(c, a, b, TILE)", 2, "float", np.float32, np.add),
    Operator("Add of halves", "Add(c, a, b, TILE)", 2, "half", np.float16, np.add),
    Operator("Add of integers", "Add(c, a, b, TILE)", 2, "int32_t", np.int32, np.add),
    Operator("Exp of floats", "Exp(c, a, TILE)", 1, "float", np.float32, lambda a, b, out: np.exp(a, out=out)),
]


def shortest(repeat: int, call: Callable[[], object]) -> float:
    """Seconds of the processor that the shortest of several calls takes: on a busy machine others get the rest."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def measure(device: Device, folder: Path, operator: Operator, elements: int, repeat: int) -> float:
    """How many times longer than numpy a launch takes."""
    flags = (f"-DCOMPUTE={operator.compute}", f"-DKIND={operator.kind}", f"-DINPUTS={operator.inputs}")
    kernel = sim_kernels.kernel(device, folder, SOURCE, "0:1", flags)
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-5, 5, elements).astype(operator.dtype) for _ in range(2))
    z = np.zeros_like(x)
    result = device.buffer(z)
    arguments = [device.buffer(x), device.buffer(y), result, device.buffer(elements.to_bytes(8, "little"))]
    kernel.launch(arguments, block_dim=1).raise_for_status()
    simulated = shortest(repeat, lambda: kernel.launch(arguments, block_dim=1))
    expected = shortest(repeat, lambda: operator.plain(x, y, out=z))
    np.testing.assert_allclose(result.numpy(), z, rtol=1e-6)
    print(f"{operator.name:<20} {elements} elements: {simulated * 1e3:8.2f} ms, numpy {expected * 1e3:8.3f} ms")
    for buffer in arguments:
        buffer.free()
    return simulated / expected


def main() -> int:
    """1 if an operator is too slow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--elements", type=int, default=1 << 20)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder, Device("Ascend910_93", isolation="in-process") as device:
        for operator in OPERATORS:
            found[operator.name] = measure(device, Path(folder), operator, options.elements, options.repeat)
            ratio(f"{operator.name}, {options.elements:,} elements, simulated / numpy", found[operator.name], "lower")
    slow = [name for name, factor in found.items() if factor > LIMIT]
    for name in slow:
        print(f"{name}: more than {LIMIT} times as long as numpy")
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
