"""Stand-ins for what a device would do: they can be called, entered and asked for anything, and do nothing.

As numbers they are zero, as collections empty, as types those of no value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


class Silent:
    """Something of a device that is not there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *arguments: Any, **more: Any) -> Silent:
        return self

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __getattr__(self, name: str) -> Silent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Silent(f"{self._name}.{name}")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __hash__(self) -> int:
        return hash(self._name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Silent) and other._name == self._name

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    __index__ = __len__ = __int__

    def __float__(self) -> float:
        return 0.0

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __getitem__(self, key: object) -> Silent:
        return self

    def __or__(self, other: object) -> Silent:
        return self

    __ror__ = __or__

    def __instancecheck__(self, instance: object) -> bool:
        return False

    __subclasscheck__ = __instancecheck__

    def __format__(self, form: str) -> str:
        return format(0.0, form) if form else repr(self)

    def __repr__(self) -> str:
        return f"<{self._name}: not there in a dry run>"


def _as_zero(operation: Callable[[Any, Any], Any], is_reflected: bool) -> Callable[[Silent, Any], Any]:
    def of_zero(self: Silent, other: Any) -> Any:
        other = 0.0 if isinstance(other, Silent) else other
        try:
            return operation(other, 0.0) if is_reflected else operation(0.0, other)
        except ZeroDivisionError:
            # Rates of what took no time.
            return 0.0

    return of_zero


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "gt", "ge"):
    setattr(Silent, f"__{_name}__", _as_zero(getattr(operator, _name), is_reflected=False))
    if _name not in ("lt", "le", "gt", "ge"):
        setattr(Silent, f"__r{_name}__", _as_zero(getattr(operator, _name), is_reflected=True))


class SilentModule(ModuleType):
    """A module of which everything that is not set is silent."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Silent(f"{self.__name__}.{name}")
