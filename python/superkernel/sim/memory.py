"""Device memory: buffers that kernel code and Python both see."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import TYPE_CHECKING, Any, Union

from superkernel import _core
from superkernel._errors import make_error

if TYPE_CHECKING:
    import numpy

__all__ = ["Arena", "Buffer", "BytesLike"]

BytesLike = Union[bytes, bytearray, memoryview]

PAGE = 4096
#: Fills the bytes between the end of a buffer and the end of its last page; a kernel that writes there is found out.
CANARY = 0xC3


class Arena:
    """The address space buffers are cut from. Pages outside of buffers cannot be touched."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.address, self.file = _core.sim_arena_create(size)
        # The first page tells where a run is; it never belongs to a buffer.
        _core.sim_arena_protect(self.address, PAGE, True)
        self._next = self.address + 2 * PAGE
        self._free: dict[int, list[int]] = {}
        self._release = weakref.finalize(self, _release, self.address, size, self.file)

    def allocate(self, size: int) -> int:
        """Whole pages for ``size`` bytes, with an untouchable page behind them."""
        pages = _pages(size)
        free = self._free.get(pages)
        if free:
            address = free.pop()
        else:
            address = self._next
            if address + (pages + 1) * PAGE > self.address + self.size:
                raise make_error(
                    "SK0907",
                    f"no room for a buffer of {size} bytes in device memory of {self.size} bytes",
                    "create the device with more memory (memory=...), or free buffers",
                )
            self._next += (pages + 1) * PAGE
        _core.sim_arena_protect(address, pages * PAGE, True)
        return address

    def release(self, address: int, size: int) -> None:
        """Takes the pages of a buffer back."""
        pages = _pages(size)
        _core.sim_arena_protect(address, pages * PAGE, False)
        self._free.setdefault(pages, []).append(address)

    def status(self) -> tuple[int, int, int]:
        """Where a run that did not come back was: core + 1 (0: nowhere), operator, steps."""
        words = (ctypes.c_uint64 * 3).from_address(self.address)
        return words[0], words[1], words[2]

    def clear_status(self) -> None:
        """Forgets the last run."""
        ctypes.memset(self.address, 0, 24)

    def close(self) -> None:
        """Gives all memory back; buffers cannot be used any more."""
        self._release()


def _release(address: int, size: int, file: int) -> None:
    _core.sim_arena_detach(address, size)
    os.close(file)


def _pages(size: int) -> int:
    return max(1, -(-size // PAGE))


class Buffer:
    """A piece of global memory of a device. Made by :meth:`superkernel.sim.Device.buffer`."""

    def __init__(self, arena: Arena, data: Any, name: str) -> None:
        self._arena = arena
        self._dtype = getattr(data, "dtype", None)
        self._shape = getattr(data, "shape", None)
        content = _bytes_of(data)
        #: Number of bytes.
        self.nbytes: int = data if content is None else len(content)
        #: Name in reports.
        self.name = name
        #: Address of the first byte, the same for Python and for kernel code.
        self.address: int = arena.allocate(self.nbytes)
        self._live = True
        ctypes.memset(self.address, 0, self.nbytes)
        ctypes.memset(self.address + self.nbytes, CANARY, self._slack)
        if content is not None:
            ctypes.memmove(self.address, bytes(content), self.nbytes)

    @property
    def _slack(self) -> int:
        return _pages(self.nbytes) * PAGE - self.nbytes

    def _require(self, offset: int, size: int) -> int:
        if not self._live:
            raise make_error("SK0902", f"buffer `{self.name}` was freed", "allocate a new one")
        if offset < 0 or size < 0 or offset + size > self.nbytes:
            raise make_error(
                "SK0902", f"{size} bytes at {offset} of buffer `{self.name}` of {self.nbytes} bytes", "stay inside it"
            )
        return self.address + offset

    def at(self, offset: int) -> int:
        """The address of a byte inside the buffer."""
        return self._require(offset, 0)

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """A copy of the content."""
        size = self.nbytes - offset if size is None else size
        return ctypes.string_at(self._require(offset, size), size)

    def write(self, data: Any, offset: int = 0) -> None:
        """Overwrites the content from ``offset`` on with bytes or an array."""
        content = _bytes_of(data)
        if content is None:
            raise TypeError("write() takes bytes or an array")
        ctypes.memmove(self._require(offset, len(content)), bytes(content), len(content))

    def word(self, index: int = 0) -> int:
        """The 64-bit word number ``index``."""
        return int.from_bytes(self.read(8 * index, 8), "little")

    def set_word(self, value: int, index: int = 0) -> None:
        """Stores a 64-bit word."""
        self.write((value & (2**64 - 1)).to_bytes(8, "little"), 8 * index)

    def numpy(self, dtype: Any = None, shape: Any = None) -> numpy.ndarray[Any, Any]:
        """A copy of the content as an array; type and shape default to those of the array it was made of."""
        import numpy

        kind = self._dtype if dtype is None else dtype
        array = numpy.frombuffer(self.read(), dtype=numpy.uint8 if kind is None else kind).copy()
        wanted = shape if shape is not None else (self._shape if dtype is None else None)
        return array if wanted is None else array.reshape(wanted)

    def overrun(self) -> int | None:
        """How far behind its end somebody wrote, if at all."""
        slack = ctypes.string_at(self.address + self.nbytes, self._slack)
        if slack.count(CANARY) == len(slack):
            return None
        return next(at for at, byte in enumerate(slack) if byte != CANARY)

    def repair(self) -> None:
        """Restores the guard bytes behind the end."""
        ctypes.memset(self.address + self.nbytes, CANARY, self._slack)

    def free(self) -> None:
        """Gives the memory back. Kernel code that still touches it crashes."""
        if self._live:
            self._live = False
            self._arena.release(self.address, self.nbytes)

    @property
    def live(self) -> bool:
        """Whether it was not freed yet."""
        return self._live

    def __len__(self) -> int:
        return self.nbytes

    def __repr__(self) -> str:
        return f"Buffer({self.name!r}, {self.nbytes} bytes at {self.address:#x})"


def _bytes_of(data: Any) -> bytes | None:
    """The bytes of an array or of anything bytes-like; ``None`` for a size."""
    if isinstance(data, int):
        if data < 1:
            raise make_error("SK0902", f"a buffer of {data} bytes", "a buffer has at least one byte")
        return None
    if hasattr(data, "tobytes"):
        return bytes(data.tobytes())
    return bytes(memoryview(data).cast("B"))
