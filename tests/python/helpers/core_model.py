"""An independent model of the core's instructions in numpy, and tools to compare the core with it.

Written from the description of the chip, not from the code of the core: slow, element by element, on a copy of UB.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from superkernel import _core

UB = 196_608
BLOCK = 32
REPEAT = 256

NUMPY = {
    "f16": np.float16,
    "f32": np.float32,
    "s8": np.int8,
    "u8": np.uint8,
    "s16": np.int16,
    "u16": np.uint16,
    "s32": np.int32,
    "u32": np.uint32,
    "s64": np.int64,
    "bf16": np.uint16,
}

# Random instructions per test; a long campaign sets it higher.
ROUNDS = int(os.environ.get("SUPERKERNEL_CORE_ROUNDS", "60"))
# For tests that show what they have to show with one input.
ONCE = max(1, ROUNDS // 60)

# Every instruction belongs to one family, by how its name begins; the first that fits counts.
FAMILIES = {
    "cube": ("mad",),
    "fixpipe": ("copy_matrix_cc_to",),
    "pictures": ("img2col",),
    "loads": ("load_",),
    "fills": ("create_", "vector_dup"),
    "moves": ("copy_",),
    "conversions": ("vconv", "vaddreluconv", "vsubreluconv", "vmulconv"),
    "comparison and selection": ("vcmp", "vsel", "set_cmpmask", "get_cmpmask"),
    "reductions": ("vcadd", "vcmax", "vcmin", "vcg", "vcp"),
    "gathering and packing": ("vgather", "vreducev2", "vbrcb"),
    "sorting": ("vbitsort", "vmrgsort4"),
    "transposition": ("vtranspose", "scatter_vnchwconv", "vld_va_reg"),
    "element by element": ("v",),
}
# Instructions issued by this process, by family.
ISSUED: Counter[str] = Counter()


class Core:
    """A core that counts what it is given."""

    def __init__(self, global_bytes: int = 0) -> None:
        self._core = _core.AiCore(global_bytes)
        self.address = self._core.address
        self.read = self._core.read
        self.write = self._core.write
        self.get_register = self._core.get_register
        self.set_register = self._core.set_register
        self.operands = self._core.operands

    def issue(self, op: str, types: list[str], words: list[int]) -> None:
        ISSUED[next(name for name, starts in FAMILIES.items() if op.startswith(starts))] += 1
        self._core.issue(op, types, words)


def width(kind: str) -> int:
    return np.dtype(NUMPY[kind]).itemsize


@dataclass
class Mask:
    """The mask registers: norm mode with bits, or count mode with a number."""

    bits: int = (1 << 128) - 1
    count: int | None = None

    def apply(self, core: Core) -> None:
        core.set_register("MASK_MODE", 0 if self.count is None else 1)
        value = self.bits if self.count is None else self.count
        core.set_register("MASK_LOW", value & ((1 << 64) - 1))
        core.set_register("MASK_HIGH", value >> 64)

    def lanes(self, repeat: int, widest: int) -> list[list[int]]:
        """The enabled elements of every repeat, for elements of at most `widest` bytes."""
        per_repeat = REPEAT // widest
        if self.count is not None:
            repeats = -(-self.count // per_repeat)
            return [list(range(min(per_repeat, self.count - r * per_repeat))) for r in range(repeats)]
        share = 2 if widest == 1 else 1
        enabled = [i for i in range(per_repeat) if self.bits >> (i // share) & 1]
        return [enabled for _ in range(repeat)]


@dataclass
class Strided:
    """A vector operand in UB: offset and strides in blocks."""

    offset: int
    block: int
    repeat: int
    kind: str

    def at(self, repeat: int, lane: int) -> int:
        size = width(self.kind)
        per_block = BLOCK // size
        return self.offset + BLOCK * (repeat * self.repeat + lane // per_block * self.block) + lane % per_block * size

    def extent(self, repeats: int, lanes: int) -> int:
        """Bytes that `repeats` whole repeats of `lanes` elements can touch."""
        blocks = -(-lanes * width(self.kind) // BLOCK)
        return BLOCK * (max(repeats - 1, 0) * self.repeat + (blocks - 1) * self.block + 1)


@dataclass
class Machine:
    """A core and the copy of its UB that the model works on."""

    core: Core = field(default_factory=Core)
    ub: np.ndarray = field(default_factory=lambda: np.zeros(UB, np.uint8))

    def fill(self, offset: int, data: np.ndarray) -> None:
        raw = np.frombuffer(data.tobytes(), np.uint8)
        self.ub[offset : offset + raw.size] = raw
        self.core.write("UB", offset, raw.tobytes())

    def load(self, offset: int, kind: str) -> np.generic:
        return self.ub[offset : offset + width(kind)].view(NUMPY[kind])[0]

    def store(self, offset: int, kind: str, value: object) -> None:
        self.ub[offset : offset + width(kind)] = np.array([value], NUMPY[kind]).view(np.uint8)

    def check(self, what: str) -> None:
        """UB of the core and of the model agree, NaN with NaN."""
        found = np.frombuffer(self.core.read("UB", 0, UB), np.uint8)
        different = np.flatnonzero(found != self.ub)
        assert different.size == 0, f"{what}: {different.size} bytes differ, the first at {different[0]}"


def random_mask(rng: random.Random, widest: int, repeats: int) -> Mask:
    choice = rng.random()
    per_repeat = REPEAT // widest
    if choice < 0.3:
        return Mask()
    if choice < 0.6:
        return Mask(bits=rng.getrandbits(128))
    if choice < 0.7:
        return Mask(bits=(1 << rng.randrange(per_repeat + 1)) - 1)
    return Mask(count=rng.randrange(0, per_repeat * max(repeats, 1) + 1))


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 65504.0, -65504.0, 6e-8, 127.5, -128.5]


def random_data(rng: random.Random, kind: str, count: int, special: bool = True) -> np.ndarray:
    generator = np.random.default_rng(rng.getrandbits(32))
    dtype = NUMPY[kind]
    if kind in ("f16", "f32"):
        scale = 10.0 ** generator.integers(-3, 4)
        data = generator.normal(0, scale, count).astype(dtype)
        if special:
            places = generator.random(count) < 0.1
            with np.errstate(over="ignore"):
                data[places] = generator.choice(np.array(SPECIAL), count)[places].astype(dtype)
        return data
    info = np.iinfo(dtype)
    data = generator.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    small = generator.random(count) < 0.5
    data[small] = generator.integers(max(info.min, -9), 9, count, dtype=dtype)[small]
    return data
