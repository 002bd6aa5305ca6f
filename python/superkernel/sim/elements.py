"""Elements of tensors: how values of every data type of an operator stand in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from superkernel.sim import _arguments as check

if TYPE_CHECKING:
    import numpy

__all__ = ["Tensor", "empty", "from_memory", "in_memory", "known_type", "tensor", "value_type"]

#: What stands in memory for types that numpy does not have, and the type of their values.
_OTHER = {"bfloat16": ("uint16", "float32"), "int4": ("uint8", "int8")}
_USUAL = (
    *("float16", "float32", "float64", "bool", "complex64", "complex128"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
#: What no kernel has written yet: not a number, or a large one.
_UNWRITTEN = 0x7F


@dataclass(frozen=True)
class Tensor:
    """Values with the data type and format that an operator sees them in."""

    values: numpy.ndarray[Any, Any]
    #: ``float16``, ``bfloat16``, ``int4``, ...
    data_type: str
    format: str = "ND"

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return tuple(int(size) for size in self.values.shape)

    def __str__(self) -> str:
        return f"{self.data_type} {'x'.join(map(str, self.shape)) or 'scalar'}"


def known_type(name: str) -> str:
    """``name``, checked."""
    if name not in _USUAL and name not in _OTHER:
        raise check.refuse(f"the data type `{name[:80]}`", f"it is one of {', '.join((*_USUAL, *_OTHER))}")
    return name


def value_type(data_type: str) -> str:
    """The numpy type of values of a data type."""
    return _OTHER[data_type][1] if data_type in _OTHER else known_type(data_type)


def tensor(value: Any, data_type: str | None = None, format: str = "ND") -> Tensor:
    """A tensor of an array, or of what can become one; ``data_type`` where it is not that of the array."""
    import numpy

    if isinstance(value, Tensor):
        return value
    array = numpy.asarray(value)
    name = known_type(data_type or array.dtype.name)
    return Tensor(numpy.ascontiguousarray(array.astype(value_type(name), copy=False)), name, format)


def in_memory(given: Tensor) -> Any:
    """A copy of its elements as a kernel finds them."""
    import numpy

    values = numpy.ascontiguousarray(given.values)
    if given.data_type == "bfloat16":
        bits = values.astype(numpy.float32).view(numpy.uint32)
        # To the nearest, ties to even; a number that is none stays one.
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return numpy.where(numpy.isnan(values), 0x7FC0, rounded).astype(numpy.uint16)
    if given.data_type == "int4":
        flat = values.reshape(-1).astype(numpy.uint8) & 0xF
        flat = numpy.append(flat, numpy.zeros(flat.size % 2, numpy.uint8))
        return flat[0::2] | (flat[1::2] << 4)
    return values.astype(given.data_type, copy=True)


def from_memory(stored: Any, data_type: str, shape: Sequence[int], format: str = "ND") -> Tensor:
    """The tensor that a kernel left in memory."""
    import numpy

    if data_type == "bfloat16":
        values = (stored.astype(numpy.uint32) << 16).view(numpy.float32)
    elif data_type == "int4":
        halves = numpy.stack([stored & 0xF, stored >> 4], axis=-1).reshape(-1).astype(numpy.int8)
        values = numpy.where(halves > 7, halves - 16, halves)
    else:
        values = stored
    count = int(numpy.prod(shape, dtype=numpy.int64))
    values = values.reshape(-1)[:count]
    return Tensor(values.reshape(tuple(shape)).astype(value_type(data_type), copy=False), data_type, format)


def empty(data_type: str, shape: Sequence[int]) -> Any:
    """Memory for an output."""
    import numpy

    name = _OTHER[data_type][0] if data_type in _OTHER else known_type(data_type)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    count = (count + 1) // 2 if data_type == "int4" else count
    memory = numpy.full(max(count, 1) * numpy.dtype(name).itemsize, _UNWRITTEN, numpy.uint8)
    return memory.view(name) if name != "bool" else memory.view(numpy.bool_)
