"""What is known of an op of a super kernel."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Callable, Generic, NoReturn, TypeVar, overload

__all__ = ["SubOperatorInfos"]

_Value = TypeVar("_Value")


class Key(Generic[_Value]):
    """An attribute that is one key of the plan: read when it is asked for, and never set."""

    def __init__(self, form: Callable[[Any], _Value]) -> None:
        self._form = form

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, view: None, owner: type) -> Key[_Value]: ...
    @overload
    def __get__(self, view: View, owner: type) -> _Value: ...
    def __get__(self, view: View | None, owner: type) -> Key[_Value] | _Value:
        if view is None:
            return self
        if self._name not in view._made:
            view._made[self._name] = self._form(view._planned[self._name])
        return view._made[self._name]  # type: ignore[no-any-return]

    def __set__(self, view: View, value: NoReturn) -> NoReturn:
        raise AttributeError(f"`{self._name}` is read only: it says what was planned")


class View:
    """Part of a plan, with its keys as attributes."""

    def __init__(self, planned: Mapping[str, Any]) -> None:
        self._planned = planned
        self._made: dict[str, Any] = {}

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, a copy."""
        return {key: self._planned[key] for key in self._planned}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._planned['kernel_name']}>"


def strings(values: Any) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(values)


def numbers(values: Any) -> tuple[int, ...]:
    """A list of numbers."""
    return tuple(values)


def rows(values: Any) -> tuple[Mapping[str, Any], ...]:
    """A list of objects."""
    return tuple(MappingProxyType(value) for value in values)


class SubOperatorInfos(View):
    """One op of a super kernel as the core knows it: an attribute per key of ``superkernel.plan(...)["ops"][i]``."""

    index = Key(int)
    kernel_name = Key(str)
    op_type = Key(str)
    kernel_type = Key(str)
    task_type = Key(str)
    stream_id = Key(int)
    block_num = Key(int)
    param_offset = Key(int)
    notify_param_offset = Key(int)
    wait_param_offset = Key(int)
    send_event_list = Key(numbers)
    recv_event_list = Key(numbers)
    needs_feed_sync_all = Key(bool)
    functions = Key(rows)
