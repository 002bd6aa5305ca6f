"""Shapes of outputs that an operator's own code says nothing about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from superkernel.sim._operator_memory import Value, listed

if TYPE_CHECKING:
    from superkernel.sim.elements import Tensor

__all__ = ["Unknown"]


@dataclass(frozen=True)
class Unknown:
    """Where such shapes are taken from: what an output will be compared with, or the inputs."""

    expected: Mapping[str, Any]
    #: What was assumed, in words; grows.
    assumed: list[str]

    def shapes(
        self, names: Sequence[str], usual: Mapping[str, str], several: Sequence[str], inputs: Mapping[str, Value]
    ) -> dict[str, Any] | None:
        """Shape and data type (``usual``) of each of ``names``; lists of them for those in ``several``."""
        made = {}
        for name in names:
            found = self._of_expected(name, usual[name])
            if found is None:
                found = self._of_inputs(name, usual[name], name in several, inputs)
            if found is None:
                return None
            made[name] = found if name in several else found[0]
        return made

    def _of_expected(self, name: str, data_type: str) -> list[Any] | None:
        import numpy

        if name not in self.expected:
            return None
        value = self.expected[name]
        arrays = value if isinstance(value, list) else [value]
        return [(tuple(numpy.shape(array)), data_type) for array in arrays]

    def _of_inputs(self, name: str, data_type: str, is_list: bool, inputs: Mapping[str, Value]) -> list[Any] | None:
        import numpy

        if is_list:
            source, value = next(((key, it) for key, it in inputs.items() if isinstance(it, list)), ("", None))
            if value is not None:
                self.assumed.append(f"`{name}` has the shapes of `{source}`: the operator does not tell")
            return None if value is None else [(tensor.shape, data_type) for tensor in value]
        tensors: list[Tensor] = [tensor for value in inputs.values() for tensor in listed(value)]
        if not tensors:
            return None
        try:
            shape = numpy.broadcast_shapes(*(tensor.shape for tensor in tensors))
            of_what = "all inputs together"
        except ValueError:
            shape, of_what = tensors[0].shape, "the first input"
        self.assumed.append(f"`{name}` has the shape of {of_what}, {list(shape)}: the operator does not tell")
        return [(tuple(shape), data_type)]
