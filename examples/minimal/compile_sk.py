"""Compiles the two sub-kernels and fuses them into one super kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import superkernel
from superkernel.sim import BuiltOp, build_op

SOURCES = Path(__file__).resolve().parent / "kernels"
SUPER_KERNEL = "te_superkernel_pow_isinf"
VECTOR_CORES = 16


@dataclass(frozen=True)
class Node:
    """One operator of the fused graph.

    ``memory`` names what each parameter points to. Equal names mean the same memory: that is the topology, and it is
    how memory is shared.
    """

    op: BuiltOp
    memory: tuple[str, ...]


def compile_sub_kernels(out_dir: Path) -> list[Node]:
    pows = build_op(
        SOURCES / "pows.cpp",
        "pows",
        ["x1", "x2", "y", "workspace"],
        "KERNEL_TYPE_AIV_ONLY",
        VECTOR_CORES,
        op_type="Pow",
        name="pows__kernel0",
        out_dir=out_dir,
    )
    is_inf = build_op(
        SOURCES / "is_inf.cpp",
        "is_inf",
        ["x", "y", "workspace"],
        "KERNEL_TYPE_AIV_ONLY",
        VECTOR_CORES // 2,
        op_type="IsInf",
        name="is_inf__kernel0",
        out_dir=out_dir,
    )
    return [
        Node(pows, ("pow_in1", "pow_in2", "pow_out", "pow_workspace")),
        # What pow writes is what isinf reads.
        Node(is_inf, ("pow_out", "isinf_out", "isinf_workspace")),
    ]


def compile_super_kernel(nodes: list[Node], out_dir: Path) -> Path:
    """Fuses the operators; returns the JSON beside the new object."""
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=out_dir):
        superkernel.compile({"op_list": [node.op.entry() for node in nodes]}, SUPER_KERNEL)
    return out_dir / "kernel_meta" / f"{SUPER_KERNEL}.json"
