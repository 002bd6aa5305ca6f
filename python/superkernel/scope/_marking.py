"""Marking operators: frames on a stack per thread, as TorchAir's scope helpers keep them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

SCOPE = "_super_kernel_scope"
OPTIONS = "_super_kernel_options"

Frame = Mapping[str, str]

_local = threading.local()


def _stack() -> list[Frame]:
    stack: list[Frame] | None = getattr(_local, "frames", None)
    if stack is None:
        stack = _local.frames = []
    return stack


def push_frame(frame: Frame) -> None:
    """Puts a frame on this thread's stack; rather use the context managers."""
    _stack().append(dict(frame))


def pop_frame() -> None:
    """Takes the innermost frame away; with none there nothing happens."""
    if _stack():
        _stack().pop()


def depth() -> int:
    """How many frames this thread's stack has."""
    return len(_stack())


@contextmanager
def _frame(frame: Frame) -> Iterator[None]:
    push_frame(frame)
    try:
        yield
    finally:
        pop_frame()


def merge_frames(frames: Iterable[Frame]) -> dict[str, str]:
    """The attributes of an operator made under these frames, outermost first.

    A later frame overwrites an earlier one. A frame with an empty scope deletes both super-kernel attributes.
    """
    attributes: dict[str, str] = {}
    for frame in frames:
        for key, value in frame.items():
            if key == OPTIONS and frame.get(SCOPE) == "":
                continue
            attributes[key] = value
        if frame.get(SCOPE) == "":
            attributes.pop(SCOPE, None)
            attributes.pop(OPTIONS, None)
    return attributes


def current_attributes() -> dict[str, str]:
    """The attributes an operator made here and now would get."""
    return merge_frames(_stack())


def mark(scope: str | None, options: str | None = "") -> AbstractContextManager[None]:
    """Marks the operators made inside with ``scope``; ``None`` takes marks away. Never asks TorchAir."""
    return _frame({SCOPE: scope or "", OPTIONS: options or ""})


def super_kernel(scope: str | None, options: str | None = "") -> AbstractContextManager[Any]:
    """``torchair.scope.super_kernel`` where TorchAir is importable, :func:`mark` elsewhere: the same semantics."""
    try:
        from torchair import scope as torchair_scope  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return mark(scope, options)
    delegated: AbstractContextManager[Any] = torchair_scope.super_kernel(scope, options)
    return delegated


def limit_core_num(op_aicore_num: int, op_vectorcore_num: int) -> AbstractContextManager[None]:
    """Limits the cores of the operators made inside."""
    return _frame({"_op_aicore_num": str(op_aicore_num), "_op_vectorcore_num": str(op_vectorcore_num)})


def npu_stream_switch(stream_tag: str, stream_priority: int = 0) -> AbstractContextManager[None]:
    """Puts the operators made inside on the stream labelled ``stream_tag``."""
    return _frame({"_user_stream_label": stream_tag, "_user_stream_priority": str(stream_priority)})
