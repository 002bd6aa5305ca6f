"""Scopes: mark ranges of a model, see what they become, build all their super kernels."""

from __future__ import annotations

from superkernel._core import ScopePiece as Piece
from superkernel.scope._build import KernelResult, ModelBuild, compile_graph
from superkernel.scope._cache import KernelCache, kernels
from superkernel.scope._graph import Graph, Node
from superkernel.scope._launch import LaunchEntry, LaunchLayout, launch_layout
from superkernel.scope._marking import (
    current_attributes,
    data_dump,
    deterministic,
    limit_core_num,
    mark,
    merge_frames,
    npu_stream_switch,
    op_never_timeout,
    super_kernel,
)
from superkernel.scope._plan import ScopePlan, plan

__all__ = [
    "Graph",
    "KernelCache",
    "KernelResult",
    "LaunchEntry",
    "LaunchLayout",
    "ModelBuild",
    "Node",
    "Piece",
    "ScopePlan",
    "compile_graph",
    "current_attributes",
    "data_dump",
    "deterministic",
    "kernels",
    "launch_layout",
    "limit_core_num",
    "mark",
    "merge_frames",
    "npu_stream_switch",
    "op_never_timeout",
    "plan",
    "super_kernel",
]
