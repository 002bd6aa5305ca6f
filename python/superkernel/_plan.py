"""What a compile would do, without doing it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from superkernel import _core
from superkernel._build import settings
from superkernel._logging import building

if TYPE_CHECKING:
    # Not part of every import of the package.
    from superkernel.types import Planned

__all__ = ["plan"]


class Plan(dict[str, Any]):
    """A plan: a dictionary whose large parts (steps, ops, slots, ...) are made when they are first asked for."""

    def __init__(self, planned: _core.Planned) -> None:
        super().__init__(planned.head())
        self._planned = planned
        self._open = set(planned.large())

    def _complete(self) -> None:
        """Makes all parts."""
        for key in list(self._open):
            self[key]

    def __getitem__(self, key: str) -> Any:
        if key in self._open:
            # Thousands of new containers: looking for garbage among them again and again would take most of the time.
            collects = gc.isenabled()
            gc.disable()
            try:
                super().__setitem__(key, self._planned.part(key))
            finally:
                if collects:
                    gc.enable()
            self._open.discard(key)
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._open.discard(key)
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._open.discard(key)
        super().__delitem__(key)

    # Written in Python, so that `dict(plan)` and `{**plan}` ask for the values instead of copying what is there.
    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401

    def items(self) -> Any:
        self._complete()
        return super().items()

    def values(self) -> Any:
        self._complete()
        return super().values()

    def pop(self, key: str, *default: Any) -> Any:
        self._complete()
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        self._complete()
        return super().popitem()

    def setdefault(self, key: str, default: Any = None) -> Any:
        self._complete()
        return super().setdefault(key, default)

    def update(self, *args: Any, **kwargs: Any) -> None:
        self._complete()
        super().update(*args, **kwargs)

    def clear(self) -> None:
        self._open.clear()
        super().clear()

    def copy(self) -> dict[str, Any]:
        return dict(self.items())

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Plan):
            other._complete()
        self._complete()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        self._complete()
        return super().__repr__()

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)


def plan(kernel_infos: Mapping[str, Any], kernel_name: str = "ascendc_super_kernel_plus") -> Planned:
    """The plan of a super kernel as JSON-able data: its shape, slots, ops, events, device program.

    Reads the sub-kernels' JSONs and, where they exist, their objects; needs no toolchain and writes nothing. The parts
    that grow with the number of ops become Python data when they are first asked for.
    """
    current = settings()
    with building(kernel_name):
        # A dictionary that has the keys of the type, and makes their values when they are asked for.
        return cast("Planned", Plan(_core.plan(kernel_infos, kernel_name, current)))
