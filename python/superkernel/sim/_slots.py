"""The parameter block of a launch: what was given goes into its slots, the rest is filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from superkernel import _core
from superkernel._errors import SuperKernelError
from superkernel.sim import _arguments as check
from superkernel.sim.memory import Buffer, is_array
from superkernel.sim.profiling import ProfilingBuffer, ProfilingRecord

if TYPE_CHECKING:
    import numpy

    from superkernel.sim.device import Device

__all__ = ["Argument", "ArgumentName", "Arguments", "Slots"]

#: A buffer stands for its address; an array is copied in and out; an int is stored as it is.
Argument = Union[Buffer, int, "numpy.ndarray[Any, Any]", bytes, bytearray, memoryview]
#: A slot's name (``x_0``), or an op (its place in ``op_list``, or its name) and the name of its parameter.
ArgumentName = Union[str, tuple[Union[int, str], str]]
Arguments = Union[Mapping[ArgumentName, Argument], Sequence[Argument]]

#: Any value but null tells a kernel that the scheduler's message area exists.
FFTS_ADDRESS = 0x7FF75000
#: One cache line: no two locks share one.
_LOCK_BYTES = 64


class Slots:
    """The parameter block of one launch of a kernel."""

    def __init__(
        self,
        device: Device,
        kernel: _core.KernelDescription,
        args: Any,
        ffts: int | None,
        tiling_key: Mapping[Any, Any],
    ) -> None:
        self._device = device
        self._kernel = kernel
        self._parameters = kernel.parameters
        self._ffts = 0 if ffts is None else check.integer("ffts", ffts, 0, 2**64 - 1)
        self._tiling = tiling_key
        self._temporary: list[Buffer] = []
        self._arrays: list[tuple[Any, Buffer]] = []
        self._profiling: ProfilingBuffer | None = None
        #: Lock words of events that nothing else will send.
        self.waits: list[Buffer] = []
        names, given = _given(args)
        sources = kernel.assign_list(len(given)) if names is None else kernel.assign_names(names)
        try:
            #: The words of the block.
            self.values: list[int] = [
                self._own(slot, role) if number is None else self._value(slot, given[number])
                for slot, (number, role) in enumerate(sources)
            ]
        except BaseException:
            self.free()
            raise

    def _name(self, slot: int) -> str:
        return self._parameters[slot].name if slot < len(self._parameters) else f"argument {slot}"

    # -- what was given ----------------------------------------------------------------------------------------------

    def _value(self, slot: int, argument: Any) -> int:
        name = self._name(slot)
        if is_array(argument) and argument.ndim > 0:
            return self._array(name, argument).address
        if isinstance(argument, (bytes, bytearray, memoryview)):
            return self._buffer(argument, name).address
        if isinstance(argument, Buffer):
            return argument.at(0)
        try:
            return _word(name, argument)
        except SuperKernelError:
            problem = f"`{name}` of kernel `{self._kernel.name}` cannot be {check.shown(argument)}"
            raise check.refuse(
                problem, "an argument is a buffer of the device, an array, bytes, or a whole number of 64 bits"
            ) from None

    def _array(self, name: str, array: Any) -> Buffer:
        extent = _extent(array)
        for other, buffer in self._arrays:
            if _is_same(array, other):
                return buffer
            start, end = _extent(other)
            if extent[0] < end and start < extent[1] and (array.flags.writeable or other.flags.writeable):
                raise check.refuse(
                    f"`{name}` and `{buffer.name}` are arrays that share a part of their memory",
                    "pass the same array twice, or arrays that have nothing in common, or buffers",
                )
        buffer = self._buffer(array, name)
        self._arrays.append((array, buffer))
        return buffer

    def _buffer(self, data: Any, name: str) -> Buffer:
        buffer = self._device.buffer(data, name)
        self._temporary.append(buffer)
        return buffer

    def address(self, name: str, place: Any) -> int:
        """Where something is that was given: a buffer, an array of this launch, the name of a slot, an address."""
        if isinstance(place, Buffer):
            return place.at(0)
        if isinstance(place, str):
            found = [slot for slot, parameter in enumerate(self._parameters) if parameter.name == place]
            if not found:
                near = _core.nearest(place, [parameter.name for parameter in self._parameters], 3)
                meant = f"did you mean {', '.join(near)}?" if near else "`kernel.parameters` lists all"
                raise check.refuse(f"{name}: kernel `{self._kernel.name}` has no parameter `{place}`", meant)
            return self.values[found[0]]
        if is_array(place) and place.ndim > 0:
            found = [buffer.address for array, buffer in self._arrays if _is_same(array, place)]
            if not found:
                raise check.refuse(f"{name}: an array that is no argument of this launch", "name what was given")
            return found[0]
        return _word(name, place)

    # -- what was not given --------------------------------------------------------------------------------------------

    def _own(self, slot: int, role: str | None) -> int:
        name = self._name(slot)
        if role == "ffts-address":
            return self._ffts
        if role == "task-id":
            return 0
        if role == "profiling":
            self._profiling = ProfilingBuffer(self._device, records=16 + 8 * len(self._kernel.ops))
            self._temporary.append(self._profiling.buffer)
            return self._profiling.buffer.address
        if role == "workspace":
            return self._buffer(max(self._kernel.workspace_bytes, _LOCK_BYTES), name).address
        buffer = self._buffer(_LOCK_BYTES, name)
        if role in ("tiling-key", "block-num"):
            key, blocks = self._tiling_of(slot)
            buffer.set_word(key if role == "tiling-key" else blocks)
        elif role in ("tiling-lock", "wait-lock"):
            # Whoever this op waits for has come already.
            buffer.set_word(1)
            if role == "wait-lock":
                self.waits.append(buffer)
        return buffer.address

    def _tiling_of(self, slot: int) -> tuple[int, int]:
        parameter = self._parameters[slot]
        found = self._tiling.get(parameter.op, self._tiling.get(parameter.op_name))
        if found is None:
            raise check.refuse(
                f"op {parameter.op} `{parameter.op_name}` of kernel `{self._kernel.name}` is tiled at run time",
                f"pass tiling_key={{{parameter.op}: KEY}} (or (KEY, BLOCKS)), with `superkernel run` --tiling-key "
                f"{parameter.op}=KEY[:BLOCKS], or fill its slots, `{parameter.name}` and those after it, by name",
            )
        blocks = next((op.blocks for op in self._kernel.ops if op.name == parameter.op_name), 0)
        key, blocks = found if isinstance(found, tuple) and len(found) == 2 else (found, blocks)
        return check.integer("tiling_key", key, 0, 2**64 - 1), check.integer("blocks", blocks, 0, 2**32 - 1)

    # -- afterwards --------------------------------------------------------------------------------------------------

    def bring_back(self) -> tuple[ProfilingRecord, ...]:
        """Copies what the kernel left into the arrays that were given; what it recorded in the profiling slot."""
        for array, buffer in self._arrays:
            if array.flags.writeable:
                array[...] = buffer.numpy(array.dtype.newbyteorder("="), array.shape)
        return () if self._profiling is None else tuple(self._profiling.records())

    def free(self) -> None:
        """Gives back what was made for this launch."""
        for buffer in self._temporary:
            buffer.free()
        self._temporary.clear()


def _given(args: Any) -> tuple[list[tuple[int | str | None, str]] | None, list[Any]]:
    """Names, if there are any, and values."""
    if not isinstance(args, Mapping):
        if is_array(args):
            raise check.refuse("`args` is an array", "`args` is a list of arguments, or a dict by name")
        return None, check.listed("args", args)
    return [_split(key) for key in args], list(args.values())


def _split(key: Any) -> tuple[int | str | None, str]:
    if isinstance(key, str):
        return None, check.text("args", key)
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], str):
        op = key[0]
        return (check.text("op", op) if isinstance(op, str) else check.integer("op", op, 0, 2**32)), key[1]
    raise check.refuse(
        f"{check.shown(key)} as the name of an argument", 'a name is "x_0", or (0, "x"), or ("add", "x")'
    )


def _word(name: str, number: Any) -> int:
    return check.integer(name, number, -(2**63), 2**64 - 1) & (2**64 - 1)


def _extent(array: Any) -> tuple[int, int]:
    """First byte, and the byte after the last."""
    start = end = array.__array_interface__["data"][0]
    if array.size == 0:
        return start, start
    for length, stride in zip(array.shape, array.strides):
        reach = (length - 1) * stride
        start, end = start + min(reach, 0), end + max(reach, 0)
    return start, end + array.itemsize


def _is_same(first: Any, second: Any) -> bool:
    def key(array: Any) -> tuple[Any, ...]:
        return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype

    return first is second or (_extent(first) != (0, 0) and key(first) == key(second))
