"""Marking operators: frames on a stack per thread, as TorchAir's scope helpers keep them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Union

SCOPE = "_super_kernel_scope"
OPTIONS = "_super_kernel_options"

#: Attributes that operators made under it get.
Frame = Mapping[str, Union[str, bool]]


class _Range(dict[str, Union[str, bool]]):
    """The frame of a range that a call has begun and another call will end."""


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


def _take(wanted: Callable[[Frame], bool]) -> bool:
    """Takes the innermost frame that is wanted away, whatever lies above it; was there one?"""
    stack = _stack()
    for position in range(len(stack) - 1, -1, -1):
        if wanted(stack[position]):
            del stack[position]
            return True
    return False


def depth() -> int:
    """How many frames this thread's stack has."""
    return len(_stack())


@contextmanager
def _frame(frame: Frame) -> Iterator[None]:
    own = dict(frame)
    _stack().append(own)
    try:
        yield
    finally:
        # A range that was begun inside and goes on stays: it is paired by name, not by nesting.
        _take(lambda frame: frame is own)


def merge_frames(frames: Iterable[Frame]) -> dict[str, str | bool]:
    """The attributes of an operator made under these frames, outermost first.

    A later frame overwrites an earlier one. A frame with an empty scope deletes both super-kernel attributes.
    """
    attributes: dict[str, str | bool] = {}
    for frame in frames:
        for key, value in frame.items():
            if key == OPTIONS and frame.get(SCOPE) == "":
                continue
            attributes[key] = value
        if frame.get(SCOPE) == "":
            attributes.pop(SCOPE, None)
            attributes.pop(OPTIONS, None)
    return attributes


def current_attributes() -> dict[str, str | bool]:
    """The attributes an operator made here and now would get."""
    return merge_frames(_stack())


def mark(scope: str | None, options: str | None = "") -> AbstractContextManager[None]:
    """Marks the operators made inside with ``scope``; ``None`` takes marks away. Never asks TorchAir."""
    return _frame({SCOPE: scope or "", OPTIONS: options or ""})


def super_kernel(scope: str | None, options: str | None = "") -> AbstractContextManager[Any]:
    """``torchair.scope.super_kernel`` where TorchAir is importable, :func:`mark` elsewhere: the same semantics."""
    delegated = _torchair("super_kernel")
    if delegated is None:
        return mark(scope, options)
    block: AbstractContextManager[Any] = delegated(scope, options)
    return block


def super_kernel_scope_begin(scope: str | None, options: str | None = "") -> None:
    """Marks the operators made from here on, up to ``super_kernel_scope_end`` with the same name."""
    begin = _torchair("super_kernel_scope_begin")
    if begin is not None:
        begin(scope, options)
    else:
        _stack().append(_Range({SCOPE: scope or "", OPTIONS: options or ""}))


def super_kernel_scope_end(scope: str | None) -> None:
    """Ends the range of that name that was begun last; other ranges and blocks go on."""
    end = _torchair("super_kernel_scope_end")
    if end is not None:
        end(scope)
    elif not _take(lambda frame: isinstance(frame, _Range) and frame[SCOPE] == (scope or "")):
        raise RuntimeError(f"no range of scope {scope!r} has begun in this thread: super_kernel_scope_begin it first")


def _torchair(name: str) -> Callable[..., Any] | None:
    """A function of TorchAir's scope module, where there is one."""
    try:
        from torchair import scope as torchair_scope  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    found: Callable[..., Any] | None = getattr(torchair_scope, name, None)
    return found


def limit_core_num(op_aicore_num: int, op_vectorcore_num: int) -> AbstractContextManager[None]:
    """Limits the cores of the operators made inside."""
    return _frame({"_op_aicore_num": str(op_aicore_num), "_op_vectorcore_num": str(op_vectorcore_num)})


def npu_stream_switch(
    stream_tag: str, stream_priority: int = 0, enable_inner_parallel: bool | None = None
) -> AbstractContextManager[None]:
    """Puts the operators made inside on the stream labelled ``stream_tag``.

    ``enable_inner_parallel`` sets ``_enable_inner_parallel`` on them; left out, the attribute is not touched.
    """
    frame: dict[str, str | bool] = {
        "_user_stream_label": stream_tag,
        "_user_stream_priority": str(stream_priority),
    }
    if enable_inner_parallel is not None:
        frame["_enable_inner_parallel"] = bool(enable_inner_parallel)
    return _frame(frame)
