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
    _stack().append(dict(frame))
    try:
        yield
    finally:
        pop_frame()


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
    return _frame({SCOPE: _text("scope", scope or ""), OPTIONS: _text("options", options or "")})


def super_kernel(scope: str | None, options: str | None = "") -> AbstractContextManager[Any]:
    """``torchair.scope.super_kernel`` where TorchAir is importable, :func:`mark` elsewhere: the same semantics.

    ``options=None`` means none in both.
    """
    own = mark(scope, options)
    return _delegated("super_kernel", own, scope or "", options or "")


def limit_core_num(op_aicore_num: int, op_vectorcore_num: int) -> AbstractContextManager[Any]:
    """Limits the cores of the operators made inside."""
    counts = {"_op_aicore_num": op_aicore_num, "_op_vectorcore_num": op_vectorcore_num}
    own = _frame({key: str(_count(key[1:], count)) for key, count in counts.items()})
    return _delegated("limit_core_num", own, op_aicore_num, op_vectorcore_num)


def npu_stream_switch(
    stream_tag: str, stream_priority: int = 0, enable_inner_parallel: bool = True
) -> AbstractContextManager[Any]:
    """Puts the operators made inside on the stream labelled ``stream_tag``.

    ``enable_inner_parallel=False`` needs a TorchAir that knows it, where there is one.
    """
    own = _frame(
        {
            "_user_stream_label": _text("stream_tag", stream_tag),
            "_user_stream_priority": str(_count("stream_priority", stream_priority)),
            "_enable_inner_parallel": _switch("enable_inner_parallel", enable_inner_parallel),
        }
    )
    more = {} if enable_inner_parallel else {"enable_inner_parallel": False}
    return _delegated("npu_stream_switch", own, stream_tag, stream_priority, **more)


def deterministic(level: int) -> AbstractContextManager[Any]:
    """Makes the operators made inside compute the same every time: level 0 (off) to 3."""
    if _count("level", level) > 3:
        raise ValueError(f"level cannot be {level}; expected 0, 1, 2 or 3")
    own = _frame({"_deterministic": "1" if level else "0", "_deterministic_level": str(level)})
    return _delegated("deterministic", own, level)


def op_never_timeout(enable: bool = True) -> AbstractContextManager[Any]:
    """The operators made inside may run as long as they want."""
    own = _frame({"_op_exec_never_timeout": _switch("enable", enable)})
    return _delegated("op_never_timeout", own, enable)


def data_dump() -> AbstractContextManager[Any]:
    """The inputs and outputs of the operators made inside are dumped."""
    return _delegated("data_dump", _frame({"torchair_enable_data_dump": "True"}))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def _count(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} cannot be {value}; expected 0 or more")
    return value


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return value


def _delegated(
    name: str, own: AbstractContextManager[None], *arguments: object, **more: object
) -> AbstractContextManager[Any]:
    """What TorchAir's function of that name gives, or ``own`` where there is no TorchAir."""
    try:
        from torchair import scope as torchair_scope
    except ImportError:
        return own
    function: Callable[..., AbstractContextManager[Any]] | None = getattr(torchair_scope, name, None)
    if function is None:
        # A mark of ours would not reach the graph that TorchAir makes.
        raise RuntimeError(f"the TorchAir that is installed has no scope.{name}; install a newer torch_npu")
    return function(*arguments, **more)
