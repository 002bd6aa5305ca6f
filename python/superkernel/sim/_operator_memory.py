"""What an operator is launched with: its tiling, and the memory of its parameters."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from superkernel.sim.elements import Tensor, empty, from_memory, in_memory

if TYPE_CHECKING:
    from superkernel.sim.device import Device
    from superkernel.sim.kernel import Kernel
    from superkernel.sim.memory import Buffer
    from superkernel.sim.op_builder import BuiltOp

__all__ = ["Memory", "Prepared", "Tiling", "Value", "listed", "padded", "parameter_name"]

#: One tensor, several for a parameter that takes a list, or none.
Value = Union[Tensor, Sequence[Any], None]
#: A kernel that uses no scratch memory gets some all the same: device code may look at it.
_LEAST_WORKSPACE = 16 << 20
#: Bytes that device memory comes in.
_BLOCK = 32
#: The alignment of tiling data.
_TILING_ALIGNMENT = 64


@dataclass(frozen=True)
class Tiling:
    """What host code decides before a launch."""

    #: The bytes that the kernel reads its numbers from.
    data: bytes = b""
    key: int = 0
    blocks: int = 1
    #: Bytes of each scratch memory.
    workspaces: tuple[int, ...] = ()


@dataclass(frozen=True)
class Prepared:
    """An operator with its inputs: everything that is decided before it is built."""

    inputs: dict[str, Value]
    #: Names, data types and formats of all parameters.
    tensors: tuple[tuple[str, str, str], ...]
    #: Shape and data type of each output by name; several for one that is a list, none for one that is left out.
    outputs: dict[str, Any]
    tiling: Tiling
    #: What was assumed, in words.
    assumed: tuple[str, ...] = ()
    #: What host code complained about, though it made a tiling.
    complaints: tuple[str, ...] = ()


class Memory:
    """The memory of one launch of an operator."""

    def __init__(self, device: Device, definition: Mapping[str, Any], prepared: Prepared) -> None:
        self._device = device
        self._prepared = prepared
        self._definition = definition
        self._stored: dict[str, Any] = {}
        self._buffers: list[Buffer] = []
        #: By parameter, as :meth:`Kernel.launch` takes them.
        self.arguments: dict[Any, Any] = {}
        #: Other arguments of a launch.
        self.launch = {"tiling_key": prepared.tiling.key, "block_dim": prepared.tiling.blocks}
        for parameter in self._definition["inputs"]:
            name = parameter["name"]
            value: Any = prepared.inputs[name]
            is_output = prepared.outputs.get(name) is not None
            if isinstance(value, list):
                self._stored[name] = [with_room(in_memory(one).reshape(-1)) for one in value]
                self.arguments[name] = self._list([one.shape for one in value], self._stored[name])
            elif value is None:
                self.arguments[name] = 0
            else:
                self._stored[name] = with_room(in_memory(value).reshape(-1))
                # Only what the kernel may change comes back.
                self._stored[name].setflags(write=is_output)
                self.arguments[name] = self._stored[name]
        for parameter in self._definition["outputs"]:
            name = parameter["name"]
            shapes = prepared.outputs[name]
            argument = parameter_name(self._definition, "outputs", name)
            if argument != name:
                self.arguments[argument] = self.arguments[name]
            elif shapes is None:
                self.arguments[argument] = 0
            elif isinstance(shapes, list):
                self._stored[name] = [with_room(empty(data_type, shape)) for shape, data_type in shapes]
                self.arguments[argument] = self._list([shape for shape, _ in shapes], self._stored[name])
            else:
                self._stored[name] = with_room(empty(shapes[1], shapes[0]))
                self.arguments[argument] = self._stored[name]
        scratch = device.buffer(max(sum(prepared.tiling.workspaces), _LEAST_WORKSPACE), "workspace")
        self._buffers.append(scratch)
        self.arguments["workspace"] = scratch
        self.arguments["tiling"] = padded(prepared.tiling)

    def _list(self, shapes: Sequence[Sequence[int]], stored: list[Any]) -> bytes:
        """Where the addresses begin, then number of dimensions, place and dimensions of each, then the addresses."""
        buffers = [self._device.buffer(array) for array in stored]
        self._buffers += buffers
        stored[:] = buffers
        words: list[int] = []
        for place, shape in enumerate(shapes):
            words += [place << 32 | len(shape), *shape]
        start = 8 * (1 + len(words))
        words = [start, *words, *(buffer.address for buffer in buffers)]
        return struct.pack(f"<{len(words)}Q", *words)

    def free(self) -> None:
        """Gives back what a launch does not give back itself."""
        for buffer in self._buffers:
            buffer.free()

    def kernel(self, built: BuiltOp) -> Kernel:
        """The operator, loaded."""
        return self._device.load(built.json_path)

    def outputs(self) -> dict[str, Any]:
        """What is in memory after a launch."""
        made: dict[str, Any] = {}
        for parameter in self._definition["outputs"]:
            name = parameter["name"]
            shapes = self._prepared.outputs[name]
            if shapes is None:
                continue
            if isinstance(shapes, list):
                stored = [
                    buffer.numpy(empty(data_type, shape).dtype)
                    for buffer, (shape, data_type) in zip(self._stored[name], shapes)
                ]
                made[name] = [from_memory(array, data_type, shape) for array, (shape, data_type) in zip(stored, shapes)]
            else:
                made[name] = from_memory(self._stored[name], shapes[1], shapes[0])
        return made


def listed(value: Any) -> list[Any]:
    """A list of one, or of none."""
    return value if isinstance(value, list) else [] if value is None else [value]


def parameter_name(definition: Mapping[str, Any], side: str, name: str) -> str:
    """Its name among the parameters of the kernel: an output that is also an input has another one."""
    is_input = any(parameter["name"] == name for parameter in definition["inputs"])
    return f"{name}_ref" if side == "outputs" and is_input else name


def padded(tiling: Tiling) -> bytes:
    data = bytes(tiling.data)
    return data + bytes(-len(data) % _TILING_ALIGNMENT or (0 if data else _TILING_ALIGNMENT))


def with_room(array: Any) -> Any:
    """Whole blocks, and one at least, as devices allocate memory: kernels move blocks of tensors that are smaller."""
    import numpy

    size = max(array.nbytes + -array.nbytes % _BLOCK, _BLOCK)
    if size == array.nbytes:
        return array
    room = numpy.zeros(size, numpy.uint8)
    room[: array.nbytes] = array.view(numpy.uint8)
    return room.view(array.dtype)
