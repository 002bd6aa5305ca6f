"""Device memory: buffers that kernel code and Python both see."""

from __future__ import annotations

import ctypes
import numbers
import os
import weakref
from typing import TYPE_CHECKING, Any, Union

from superkernel import _core
from superkernel._errors import make_error
from superkernel._fork import new_lock
from superkernel.sim._arguments import integer, refuse, text

if TYPE_CHECKING:
    import numpy

__all__ = ["Arena", "Buffer", "BytesLike", "is_array"]

BytesLike = Union[bytes, bytearray, memoryview]

PAGE = 4096
#: Fills the bytes between the end of a buffer and the end of its last page; a kernel that writes there is found out.
CANARY = _core.SIM_GUARD_BYTE


class Arena:
    """The address space buffers are cut from. Pages outside of buffers cannot be touched."""

    def __init__(self, size: int, address: int | None = None) -> None:
        self.size = size
        self.address, self.file = _core.sim_arena_create(size, address)
        # The first page tells where a run is; it never belongs to a buffer.
        self._space = _core.SimSpace(self.address, size)
        #: Held while memory is touched: it must not go meanwhile.
        self.lock = new_lock()
        self.closed = False
        self._owner = os.getpid()
        self._release = weakref.finalize(self, _release, self.address, size, self.file)

    def require_open(self) -> None:
        """Raises an error once the device is closed."""
        if self.closed:
            raise refuse("the device was closed", "make a new device, and load and allocate there")

    def allocate(self, size: int, wanted: int | None = None) -> int:
        """Whole pages for ``size`` bytes, with an untouchable page after them; at the address ``wanted``, if given."""
        with self.lock:
            self.require_open()
            address = self._space.allocate(size, wanted)
            if address is None:
                raise make_error(
                    "SK0907",
                    f"no room for a buffer of {size} bytes in device memory of {self.size} bytes",
                    "create the device with more memory (memory=...), or free buffers",
                )
            return address

    def release(self, address: int, size: int) -> None:
        """Takes the pages of a buffer back."""
        with self.lock:
            # Gone already, or in use by the process that this one is a copy of?
            if not self.closed and os.getpid() == self._owner:
                self._space.release(address, size)

    def status(self) -> tuple[int, int, int]:
        """Where a run that did not come back was: core + 1 (0: nowhere), operator, steps."""
        with self.lock:
            self.require_open()
            words = (ctypes.c_uint64 * 3).from_address(self.address)
            return words[0], words[1], words[2]

    def clear_status(self) -> None:
        """Forgets the last run."""
        with self.lock:
            self.require_open()
            ctypes.memset(self.address, 0, 24)

    def close(self) -> None:
        """Gives all memory back; buffers cannot be used any more."""
        with self.lock:
            self.closed = True
            self._release()


def _release(address: int, size: int, file: int) -> None:
    _core.sim_arena_detach(address, size)
    os.close(file)


def _pages(size: int) -> int:
    return max(1, -(-size // PAGE))


class Buffer:
    """A piece of global memory of a device. Made by :meth:`superkernel.sim.Device.buffer`."""

    def __init__(self, arena: Arena, data: Any, name: str, address: int | None = None) -> None:
        self._arena = arena
        content, self._dtype, self._shape = _content(data)
        #: Number of bytes.
        self.nbytes: int = content if isinstance(content, int) else len(content)
        #: Name in reports.
        self.name = text("name", name)
        self._live = False
        with arena.lock:
            #: Address of the first byte, the same for Python and for kernel code.
            self.address: int = arena.allocate(self.nbytes, address)
            self._live = True
            # Fresh pages are zero, with guard bytes after the end.
            if not isinstance(content, int):
                ctypes.memmove(self.address, content, self.nbytes)

    @property
    def slack(self) -> int:
        """Bytes between its end and the end of its last page."""
        return _pages(self.nbytes) * PAGE - self.nbytes

    def _require(self, offset: int, size: int) -> int:
        self._arena.require_open()
        if not self._live:
            raise refuse(f"buffer `{self.name}` was freed", "allocate a new one")
        offset, size = (integer(name, value, -(2**63), 2**63) for name, value in (("offset", offset), ("size", size)))
        if offset < 0 or size < 0 or offset + size > self.nbytes:
            raise refuse(f"{size} bytes at {offset} of buffer `{self.name}` of {self.nbytes} bytes", "stay inside it")
        return self.address + offset

    def at(self, offset: int) -> int:
        """The address of a byte inside the buffer."""
        return self._require(offset, 0)

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """A copy of the content."""
        offset = integer("offset", offset, 0, self.nbytes)
        size = self.nbytes - offset if size is None else size
        with self._arena.lock:
            return ctypes.string_at(self._require(offset, size), size)

    def write(self, data: Any, offset: int = 0) -> None:
        """Overwrites the content from ``offset`` on with bytes or an array."""
        content, _, _ = _content(data)
        if isinstance(content, int):
            raise refuse(f"{content} as the content of a buffer", "write() takes bytes or an array")
        with self._arena.lock:
            ctypes.memmove(self._require(offset, len(content)), content, len(content))

    def word(self, index: int = 0) -> int:
        """The 64-bit word number ``index``."""
        return int.from_bytes(self.read(8 * integer("index", index, 0, self.nbytes // 8), 8), "little")

    def set_word(self, value: int, index: int = 0) -> None:
        """Stores a 64-bit word."""
        word = integer("value", value, -(2**63), 2**64 - 1) & (2**64 - 1)
        self.write(word.to_bytes(8, "little"), 8 * integer("index", index, 0, self.nbytes // 8))

    def numpy(self, dtype: Any = None, shape: Any = None) -> numpy.ndarray[Any, Any]:
        """A copy of the content as an array; type and shape default to those of the array it was made of."""
        try:
            import numpy
        except ModuleNotFoundError as error:
            if error.name != "numpy":
                raise
            raise refuse(
                "numpy is not installed, and arrays are numpy's",
                'run `pip install "superkernel-rs[sim]"`, or take the bytes with `Buffer.read()`',
            ) from None

        kind = self._dtype if dtype is None else dtype
        wanted = shape if shape is not None else (self._shape if dtype is None else None)
        content = self.read()
        try:
            array = numpy.frombuffer(content, dtype=numpy.uint8 if kind is None else kind).copy()
            return array if wanted is None else array.reshape(wanted)
        except (TypeError, ValueError) as error:
            raise refuse(
                f"buffer `{self.name}` of {self.nbytes} bytes as an array: {error}", "give another type or shape"
            ) from None

    def overrun(self) -> int | None:
        """How far past its end something was written, if at all."""
        with self._arena.lock:
            if not self.live:
                return None
            slack = ctypes.string_at(self.address + self.nbytes, self.slack)
        if slack.count(CANARY) == len(slack):
            return None
        return next(at for at, byte in enumerate(slack) if byte != CANARY)

    def repair(self) -> None:
        """Restores the guard bytes after the end."""
        with self._arena.lock:
            if self.live:
                ctypes.memset(self.address + self.nbytes, CANARY, self.slack)

    def free(self) -> None:
        """Gives the memory back. Kernel code that still touches it crashes."""
        with self._arena.lock:
            if self._live:
                self._live = False
                self._arena.release(self.address, self.nbytes)

    @property
    def dtype(self) -> Any:
        """The element type of the array it was made of; ``None`` if it was made of something else."""
        return self._dtype

    @property
    def live(self) -> bool:
        """Whether it was not freed yet."""
        return self._live and not self._arena.closed

    def __len__(self) -> int:
        return self.nbytes

    def __repr__(self) -> str:
        return f"Buffer({self.name!r}, {self.nbytes} bytes at {self.address:#x})"


def is_array(data: Any) -> bool:
    """Whether it is an array, or a single value, of numpy."""
    return hasattr(data, "tobytes") and hasattr(getattr(data, "dtype", None), "isnative")


def _content(data: Any) -> tuple[int | bytes, Any, Any]:
    """A number of bytes, or the bytes of an array or of anything bytes-like, with the type and shape of an array.

    Kernel code reads numbers in this machine's byte order: arrays in another one are converted.
    """
    if isinstance(data, numbers.Integral):
        return integer("data", data, 1, 2**63), None, None
    if is_array(data):
        kind, shape = data.dtype, data.shape
        if kind.hasobject:
            raise refuse("an array of Python objects", "give an array of numbers")
        if not kind.isnative:
            kind = kind.newbyteorder("=")
            data = data.astype(kind)
        return bytes(data.tobytes()), kind, shape
    try:
        view = memoryview(data)
    except TypeError:
        problem = f"a buffer of {type(data).__name__}"
        raise refuse(problem, "give an array, bytes, or a number of bytes (at least 1)") from None
    if ">" in view.format or "!" in view.format or view.format == "O":
        raise refuse(f"data of the format `{view.format[:40]}`", "give numbers in this machine's byte order")
    return view.tobytes(), None, None
