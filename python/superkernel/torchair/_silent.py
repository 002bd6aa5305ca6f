"""Stand-ins for what a device would do: they can be called, entered and asked for anything, and do nothing."""

from __future__ import annotations

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

    def __repr__(self) -> str:
        return f"<{self._name}: not there in a dry run>"


class SilentModule(ModuleType):
    """A module of which everything that is not set is silent."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Silent(f"{self.__name__}.{name}")
