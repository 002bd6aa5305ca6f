"""`torchair.scope` where there is no TorchAir: marks that torch traces into its graph."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch

__all__ = [
    "data_dump",
    "deterministic",
    "limit_core_num",
    "npu_stream_switch",
    "npu_wait_tensor",
    "op_never_timeout",
    "super_kernel",
]


class _Frame:
    """Attributes for all ops made inside."""

    def __init__(self, keys: list[str], values: list[str]) -> None:
        self.keys = keys
        self.values = values

    def __enter__(self) -> None:
        torch.ops.superkernel_fx.scope_enter(self.keys, self.values)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        torch.ops.superkernel_fx.scope_exit()


def super_kernel(scope: str | None, options: str | None = "") -> _Frame:
    """Marks the ops inside; ``None`` takes marks away."""
    return _Frame(["_super_kernel_scope", "_super_kernel_options"], [scope or "", options or ""])


def npu_stream_switch(stream_tag: str, stream_priority: int = 0, **_: Any) -> _Frame:
    """The ops inside run on a stream of their own."""
    return _Frame(["_user_stream_label", "_user_stream_priority"], [stream_tag, str(stream_priority)])


def limit_core_num(op_aicore_num: int, op_vectorcore_num: int) -> _Frame:
    """The ops inside may use so many cores."""
    return _Frame(["_op_aicore_num", "_op_vectorcore_num"], [str(op_aicore_num), str(op_vectorcore_num)])


def deterministic(*_: Any, **__: Any) -> _Frame:
    """Means nothing for plans."""
    return _Frame([], [])


def op_never_timeout(*_: Any, **__: Any) -> _Frame:
    """Means nothing for plans."""
    return _Frame([], [])


def data_dump(*_: Any, **__: Any) -> _Frame:
    """Means nothing for plans."""
    return _Frame([], [])


def npu_wait_tensor(tensor: torch.Tensor, dependency: torch.Tensor) -> torch.Tensor:
    """The tensor, for an op that is to wait until the other one is there."""
    result: torch.Tensor = torch.ops.superkernel_fx.wait_tensor(tensor, dependency)
    return result
