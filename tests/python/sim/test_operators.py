"""Operators as users write them, alone and fused into one super kernel, in all modes of the core, against numpy."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import superkernel
from superkernel import sim

SOURCES = Path(__file__).resolve().parents[2] / "operators"
TREE = os.environ.get("SUPERKERNEL_ASCENDC", "")
needs_tree = pytest.mark.skipif(not TREE, reason="SUPERKERNEL_ASCENDC names no tree of AscendC headers")
VECTOR, CUBE, MIXED = "KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_2"
ROWS, COLUMNS = 24, 256

Arrays = dict[str, np.ndarray]


class Operator(NamedTuple):
    """What an operator takes, and what it leaves."""

    arguments: Callable[[np.random.Generator], Arrays]
    expected: Callable[[Arrays], Arrays]
    kernel_type: str = VECTOR
    blocks: int = 4
    tolerance: float = 1e-5
    #: The file and function, if not the operator's name.
    source: str = ""
    #: The built-in AscendC has not all it needs.
    needs_headers: bool = False


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def uniform(generator: np.random.Generator, *shape: int, dtype: type = np.float32) -> np.ndarray:
    return generator.uniform(-3, 3, shape).astype(dtype)


def empty(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(wide(x) - wide(x).max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def layer_norm(x: np.ndarray) -> np.ndarray:
    centred = wide(x) - wide(x).mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)


def largest(x: np.ndarray, count: int) -> Arrays:
    order = np.argsort(-x, axis=1, kind="stable")[:, :count]
    return {"values": np.take_along_axis(x, order, 1), "indices": order.astype(np.int32)}


def quantised(x: np.ndarray) -> Arrays:
    top = np.abs(x).max(axis=1, keepdims=True)
    return {"y": np.rint(x * (np.float32(127) / top)).astype(np.int8), "scales": (top / np.float32(127)).ravel()}


def looked_up(table: np.ndarray, words: np.ndarray) -> np.ndarray:
    found = table[np.clip(words, 0, len(table) - 1)]
    found[(words < 0) | (words >= len(table))] = 0
    return found


def dropped(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    kept = np.unpackbits(mask, bitorder="little").reshape(x.shape)
    return np.where(kept, wide(x) / (1 + np.exp(-1.702 * wide(x))) / 0.75, 0)


def leaky(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 0, x, 0.25 * x)


def activated(x: np.ndarray) -> np.ndarray:
    x = wide(x)
    value = x / (1 + np.exp(-x)) + np.vectorize(math.erf)(x)
    return np.clip(np.rint(value * 16 + 3), -128, 127)


OPERATORS = {
    "layer_norm": Operator(
        lambda g: (
            {"x": uniform(g, ROWS, COLUMNS), "gamma": uniform(g, COLUMNS), "beta": uniform(g, COLUMNS)}
            | {"y": empty(ROWS, COLUMNS)}
        ),
        lambda a: {"y": layer_norm(a["x"]) * a["gamma"] + a["beta"]},
    ),
    "softmax": Operator(
        lambda g: {"x": uniform(g, ROWS, COLUMNS), "y": empty(ROWS, COLUMNS)},
        lambda a: {"y": softmax(a["x"])},
    ),
    "rms_norm": Operator(
        lambda g: {"x": uniform(g, ROWS, COLUMNS, dtype=np.float16), "y": empty(ROWS, COLUMNS, dtype=np.float16)},
        lambda a: {"y": wide(a["x"]) / np.sqrt((wide(a["x"]) ** 2).mean(axis=1, keepdims=True) + 1e-6)},
        tolerance=2e-3,
    ),
    "top_k": Operator(
        lambda g: {"x": uniform(g, ROWS, 128), "values": empty(ROWS, 32), "indices": empty(ROWS, 32, dtype=np.int32)},
        lambda a: largest(a["x"], 32),
        tolerance=0,
    ),
    "quantise": Operator(
        lambda g: {"x": uniform(g, ROWS, COLUMNS), "y": empty(ROWS, COLUMNS, dtype=np.int8), "scales": empty(ROWS)},
        lambda a: quantised(a["x"]),
        tolerance=1e-6,
    ),
    "embedding": Operator(
        lambda g: {
            "table": uniform(g, 100, 50, dtype=np.float16),
            "words": g.integers(-10, 110, 37, dtype=np.int32),
            "y": empty(37, 50, dtype=np.float16),
        },
        lambda a: {"y": looked_up(a["table"], a["words"])},
        tolerance=0,
    ),
    "global_norm": Operator(
        lambda g: {"x": uniform(g, ROWS, COLUMNS), "y": empty(ROWS, COLUMNS), "workspace": empty(128)},
        lambda a: {"y": wide(a["x"]) / np.sqrt((wide(a["x"]) ** 2).sum())},
        kernel_type="KERNEL_TYPE_MIX_AIV_1_0",
    ),
    "gelu_drop": Operator(
        lambda g: {
            "x": uniform(g, ROWS, COLUMNS),
            "mask": g.integers(0, 256, ROWS * COLUMNS // 8, dtype=np.uint8),
            "y": empty(ROWS, COLUMNS),
        },
        lambda a: {"y": dropped(a["x"], a["mask"])},
    ),
    "dense": Operator(
        lambda g: {
            "a": uniform(g, 64, 96, dtype=np.float16),
            "b": uniform(g, 96, 48, dtype=np.float16),
            "bias": uniform(g, 48),
            "c": empty(64, 48, dtype=np.float16),
        },
        lambda a: {"c": np.maximum(wide(a["a"]) @ wide(a["b"]) + a["bias"], 0)},
        kernel_type=CUBE,
        tolerance=1e-3,
    ),
    "turned": Operator(
        lambda g: {"x": uniform(g, 64, 96, dtype=np.float16), "y": empty(96, 64, dtype=np.float16)},
        lambda a: {"y": a["x"].T},
        tolerance=0,
    ),
    "histogram": Operator(
        lambda g: {"x": g.integers(0, 64, 3000, dtype=np.int32), "y": empty(64, dtype=np.int32)},
        lambda a: {"y": np.bincount(a["x"], minlength=64)},
        tolerance=0,
    ),
    "scores": Operator(
        lambda g: {
            "q": uniform(g, 64, 64, dtype=np.float16),
            "k": uniform(g, 64, 64, dtype=np.float16),
            "y": empty(64, 64),
            "workspace": empty(64 * 64),
        },
        lambda a: {"y": softmax(wide(a["q"]) @ wide(a["k"]).T / 8)},
        kernel_type=MIXED,
    ),
    "product": Operator(
        lambda g: {
            "a": uniform(g, 64, 128, dtype=np.float16),
            "b": uniform(g, 128, 96, dtype=np.float16),
            "c": empty(64, 96),
        },
        lambda a: {"c": leaky(wide(a["a"]) @ wide(a["b"]))},
        kernel_type=MIXED,
        blocks=2,
        tolerance=1e-4,
        needs_headers=True,
    ),
    "activations": Operator(
        lambda g: {"x": uniform(g, ROWS, COLUMNS), "y": empty(ROWS, COLUMNS, dtype=np.int8)},
        lambda a: {"y": activated(a["x"])},
        tolerance=1,  # bytes: what lies half-way between two of them may fall to either side
        needs_headers=True,
    ),
}

# Finds the messages of the one before it in the workspace.
OPERATORS["product_again"] = OPERATORS["product"]._replace(source="product")

MODES: list[dict[str, Any]] = [
    {},
    {"pipes": "checked"},
    {"cache": "strict"},
    *({"pipes": "reordered", "seed": seed} for seed in range(3)),
]


class Built(NamedTuple):
    """All operators, alone and in one super kernel."""

    device: sim.Device
    alone: dict[str, sim.Kernel]
    fused: sim.Kernel


def build(folder: Path, device: sim.Device, tree: str) -> Built:
    ops = {}
    names = [name for name, operator in OPERATORS.items() if tree or not operator.needs_headers]
    with superkernel.configure(ascendc=tree, soc="Ascend910_93", toolchain="host", kernel_meta_parent_dir=folder):
        for name in names:
            operator = OPERATORS[name]
            ops[name] = sim.build_op(
                SOURCES / f"{operator.source or name}.cpp",
                operator.source or name,
                kernel_type=operator.kernel_type,
                block_dim=operator.blocks,
                name=name,
                include_dirs=[SOURCES],
                compile_options=["-g1"],
                out_dir=folder / "ops",
            )
        entries = [op.entry() for op in ops.values()]
        superkernel.compile({"op_list": entries, "super_kernel_options": "feed-sync-all=1"}, "all_operators")
    alone = {name: device.load(op.json_path) for name, op in ops.items()}
    return Built(device, alone, device.load(folder / "kernel_meta" / "all_operators.json"))


@pytest.fixture(
    scope="module", params=[pytest.param("", id="built-in"), pytest.param(TREE, id="headers", marks=needs_tree)]
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    with sim.Device("Ascend910_93") as device:
        yield build(tmp_path_factory.mktemp("operators"), device, request.param)


def compare(name: str, arguments: Arrays, found: Arrays) -> None:
    operator = OPERATORS[name]
    for key, expected in operator.expected(arguments).items():
        where = f"{key} of {name}"
        np.testing.assert_allclose(
            wide(found[key]), wide(expected), operator.tolerance, operator.tolerance, err_msg=where
        )


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_alone(built: Built, name: str) -> None:
    if name not in built.alone:
        pytest.skip("needs AscendC's headers")
    kernel, blocks = built.alone[name], OPERATORS[name].blocks
    for mode in MODES:
        arguments = OPERATORS[name].arguments(np.random.default_rng(1))
        buffers = {key: built.device.buffer(value, key) for key, value in arguments.items()}
        report = kernel.launch(list(buffers.values()), block_dim=blocks, **mode)
        assert report.status == "ok", (mode, report)
        compare(name, arguments, {key: buffer.numpy() for key, buffer in buffers.items()})
        for buffer in buffers.values():
            buffer.free()


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_all_of_them_in_one_super_kernel(built: Built, mode: dict[str, Any]) -> None:
    taken, values = {}, {}
    for name in built.alone:
        arguments = OPERATORS[name].arguments(np.random.default_rng(2))
        taken[name] = arguments
        values |= {(name, key): value.copy() for key, value in arguments.items()}
    report = built.fused.launch(values, **mode)
    assert report.status == "ok", report
    for name, arguments in taken.items():
        compare(name, arguments, {key: values[name, key] for key in arguments})
