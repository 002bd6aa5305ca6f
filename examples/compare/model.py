"""The sample model: six marked fragments of a mixture-of-experts layer, and the operators around them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from superkernel.scope import Graph, mark
from superkernel.sim import build_op
from superkernel.sim.op_builder import BuiltOp

KERNELS = Path(__file__).resolve().parent / "kernels"

# The shapes of kernels/model.h.
TOKENS, WIDTH, EXPERTS, TOP, HIDDEN, LANES = 32, 64, 16, 8, 32, 8
GROUPS = 4
#: The last row of every group of tokens.
GROUP_LIST = np.array([6, 14, 25, TOKENS], np.int32)

CUBE_BLOCKS, VECTOR_BLOCKS = 4, 8


@dataclass(frozen=True)
class Fragment:
    """One marked range: which scope, which options, with or without the optional bias."""

    scope: str
    options: str = ""
    bias: bool = False
    #: An operator in the middle that cannot be fused.
    interrupted: bool = False


#: Some fragments are identical and share a kernel, some differ in an optional input or in their options.
FRAGMENTS = (
    Fragment("sk1"),
    Fragment("sk2"),
    Fragment("sk3", bias=True),
    Fragment("sk4", options="early-start=0"),
    Fragment("sk5"),
    Fragment("sk6", bias=True, options="preload-code=none", interrupted=True),
)


@dataclass
class Op:
    """One operator of the model: what it runs and on which tensors, by parameter name."""

    name: str
    type: str
    core_type: str
    built: BuiltOp
    tensors: dict[str, str]
    outputs: tuple[str, ...]
    #: Multiply-adds per row of the output, for operators with a cube part.
    macs_per_row: int = 0


@dataclass
class Model:
    """All operators in order, the tensors, and the marked graph."""

    graph: Graph = field(default_factory=lambda: Graph("compare"))
    ops: list[Op] = field(default_factory=list)
    tensors: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


class Builder:
    """Compiles each operator once and adds it wherever the model needs it."""

    def __init__(self, out_dir: Path) -> None:
        self.out_dir = out_dir
        self.model = Model()
        self.built: dict[tuple[Any, ...], BuiltOp] = {}
        self.producer: dict[str, Any] = {}
        self.random = np.random.default_rng(2024)

    # -- tensors -----------------------------------------------------------------------------------------------------

    def constant(self, name: str, *shape: int) -> str:
        """A tensor of fixed numbers, the same in every fragment."""
        values = self.random.uniform(-0.5, 0.5, shape).astype(np.float32)
        self.model.tensors.setdefault(name, values)
        return name

    def empty(self, name: str, dtype: Any, *shape: int) -> str:
        """A tensor an operator writes."""
        self.model.tensors[name] = np.zeros(shape, dtype)
        return name

    # -- operators ---------------------------------------------------------------------------------------------------

    def compile(self, source: str, kernel: str, kernel_type: str, blocks: int, *defines: str) -> BuiltOp:
        """An operator; one that was built already is used again."""
        key = (source, kernel, defines)
        if key not in self.built:
            self.built[key] = build_op(
                KERNELS / source,
                kernel,
                None,
                kernel_type,
                blocks,
                op_type=kernel,
                compile_options=list(defines),
                include_dirs=[KERNELS],
                out_dir=self.out_dir,
            )
        return self.built[key]

    def vector(
        self, name: str, type: str, source: str, kernel: str, outputs: int, *tensors: str, **fields: Any
    ) -> None:
        """An operator on vector cores; its last ``outputs`` tensors are what it writes."""
        built = self.compile(source, kernel, "KERNEL_TYPE_AIV_ONLY", VECTOR_BLOCKS)
        self.add(
            Op(name, type, "AI_VECTOR_CORE", built, dict(zip(built.params, tensors)), tensors[-outputs:]), **fields
        )

    def matmul(
        self, name: str, x: str, w: str, groups: str, bias: str | None, y: str, shape: tuple[int, int, int]
    ) -> None:
        """A grouped matrix product on cube and vector cores."""
        columns_in, columns_out, count = shape
        sizes = (f"-DIN={columns_in}", f"-DOUT={columns_out}", f"-DGROUPS={count}")
        defines = (*sizes, f"-DHAS_BIAS={int(bias is not None)}")
        built = self.compile("grouped_matmul.cpp", "grouped_matmul", "KERNEL_TYPE_MIX_AIC_1_2", CUBE_BLOCKS, *defines)
        workspace = self.empty(f"{name}.workspace", np.float32, TOKENS, columns_out)
        # An optional input that is not there still has its place; the kernel does not read it.
        tensors = {"x": x, "w": w, "group_list": groups, "bias": bias or w, "y": y, "workspace": workspace}
        self.add(Op(name, "GroupedMatmul", "MIX_AIC", built, tensors, (y,), columns_in * columns_out))

    def add(self, op: Op, **fields: Any) -> None:
        """Puts an operator at the end of the model and of the graph."""
        inputs = [self.producer.get(tensor) for tensor in op.tensors.values() if tensor not in op.outputs]
        node = self.model.graph.op(
            op.name,
            op.type,
            inputs,
            stream=0,
            kernel_name=op.built.name,
            bin_path=op.built.bin_path,
            json_path=op.built.json_path,
            **{"support": 1, **fields},
        )
        for number, output in enumerate(op.outputs):
            self.producer[output] = node[number]
        self.model.ops.append(op)

    # -- the model ---------------------------------------------------------------------------------------------------

    def fragment(self, fragment: Fragment, h: str) -> str:
        """Router, choice of experts, up projection, gate, back to floats, down projection."""
        p = fragment.scope
        router_bias = None
        up_bias = self.constant("bias.up", GROUPS, 2 * HIDDEN) if fragment.bias else None
        down_bias = self.constant("bias.down", GROUPS, WIDTH) if fragment.bias else None
        with mark(fragment.scope, fragment.options):
            logits = self.empty(f"{p}.logits", np.float32, TOKENS, EXPERTS)
            weights = self.constant("w.router", 1, WIDTH, EXPERTS)
            self.matmul(f"{p}_router", h, weights, "all_tokens", router_bias, logits, (WIDTH, EXPERTS, 1))
            scores = self.empty(f"{p}.scores", np.float32, TOKENS, TOP)
            experts = self.empty(f"{p}.experts", np.int32, TOKENS, TOP)
            self.vector(
                f"{p}_gating", "MoeGatingTopK", "moe_gating_top_k.cpp", "moe_gating_top_k", 2, logits, scores, experts
            )
            if fragment.interrupted:
                sliced = self.empty(f"{p}.sliced", np.float32, TOKENS, WIDTH)
                self.vector(f"{p}_slice", "StridedSliceD", "around.cpp", "strided_slice_d", 1, h, sliced, support=0)
                h = sliced
            up = self.empty(f"{p}.up", np.float32, TOKENS, 2 * HIDDEN)
            weights = self.constant("w.up", GROUPS, WIDTH, 2 * HIDDEN)
            self.matmul(f"{p}_up", h, weights, "groups", up_bias, up, (WIDTH, 2 * HIDDEN, GROUPS))
            gated = self.empty(f"{p}.gated", np.int8, TOKENS, HIDDEN)
            factors = self.empty(f"{p}.factors", np.float32, TOKENS, LANES)
            scale = self.constant("weight_scale", HIDDEN)
            self.vector(
                f"{p}_swiglu",
                "DequantSwigluQuant",
                "dequant_swiglu_quant.cpp",
                "dequant_swiglu_quant",
                2,
                up,
                scale,
                gated,
                factors,
            )
            wide = self.empty(f"{p}.wide", np.float32, TOKENS, HIDDEN)
            self.vector(f"{p}_cast", "Cast", "cast.cpp", "cast", 1, gated, factors, wide)
            down = self.empty(f"{p}.down", np.float32, TOKENS, WIDTH)
            weights = self.constant("w.down", GROUPS, HIDDEN, WIDTH)
            self.matmul(f"{p}_down", wide, weights, "groups", down_bias, down, (HIDDEN, WIDTH, GROUPS))
        return down

    def around(self, number: int, h: str, down: str) -> str:
        """What stands between two fragments: subtract the mean of the tokens, add what came in."""
        p = f"between{number}"
        turned = self.empty(f"{p}.turned", np.float32, WIDTH, TOKENS)
        self.vector(f"{p}_transpose", "Transpose", "around.cpp", "transpose", 1, down, turned)
        means = self.empty(f"{p}.means", np.float32, WIDTH)
        self.vector(f"{p}_mean", "ReduceMeanD", "around.cpp", "reduce_mean_d", 1, turned, means)
        tiled = self.empty(f"{p}.tiled", np.float32, TOKENS, WIDTH)
        self.vector(f"{p}_tile", "Tile", "around.cpp", "tile", 1, means, tiled)
        result = self.empty(f"{p}.out", np.float32, TOKENS, WIDTH)
        self.vector(f"{p}_residual", "AutomaticBufferFusionOp", "around.cpp", "residual", 1, down, tiled, h, result)
        return result

    def build(self) -> Model:
        """The whole model."""
        self.model.tensors["groups"] = GROUP_LIST
        self.model.tensors["all_tokens"] = np.array([TOKENS], np.int32)
        h = self.constant("input", TOKENS, WIDTH)
        self.producer[h] = self.model.graph.op("input", "Data", stream=0)
        for number, fragment in enumerate(FRAGMENTS):
            h = self.around(number, h, self.fragment(fragment, h))
        return self.model


# -- the same in numpy -------------------------------------------------------------------------------------------------


def reference(tensors: dict[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """What every fragment should compute, up to rounding of the last bits."""
    found: dict[str, np.ndarray[Any, Any]] = {}
    h = tensors["input"].astype(np.float64)
    group = np.searchsorted(GROUP_LIST, np.arange(TOKENS), side="right")
    for number, fragment in enumerate(FRAGMENTS):
        p = fragment.scope
        logits = h @ tensors["w.router"][0].astype(np.float64)
        weights = np.exp(logits - logits.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        found[f"{p}.scores"] = -np.sort(-weights, axis=1)[:, :TOP]
        up = np.einsum("tk,tkn->tn", h, tensors["w.up"][group].astype(np.float64))
        if fragment.bias:
            up += tensors["bias.up"][group]
        left = up[:, :HIDDEN] * tensors["weight_scale"]
        gate = left / (1 + np.exp(-left)) * up[:, HIDDEN:]
        step = np.abs(gate).max(1, keepdims=True) / 127
        down = np.einsum("tk,tkn->tn", np.rint(gate / step) * step, tensors["w.down"][group].astype(np.float64))
        if fragment.bias:
            down += tensors["bias.down"][group]
        h = (down - down.mean(0)) / 2 + h
        found[f"between{number}.out"] = h
    return found
