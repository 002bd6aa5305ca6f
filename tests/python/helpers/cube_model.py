"""An independent model of the cube unit in numpy: layouts as index formulas, element by element, from the description.

Elements of 4 bits are kept one per array entry and packed at the border.
"""

from __future__ import annotations

import struct

import numpy as np
from core_model import Core

ROWS = 16
GLOBAL = 1 << 18
SIZES = {"GM": GLOBAL, "L1": 524_288, "L0A": 65_536, "L0B": 65_536, "L0C": 131_072, "BT": 1024, "FB": 7168}
BITS = {"s4": 4, "s8": 8, "u8": 8, "u16": 16, "f16": 16, "bf16": 16, "u32": 32, "f32": 32, "s32": 32}


def per_row(kind: str) -> int:
    """Elements of a row of a fractal."""
    return 256 // BITS[kind]


def pack(values: np.ndarray, kind: str) -> bytes:
    """Elements as they lie in memory."""
    if kind == "s4":
        nibbles = values.reshape(-1, 2).astype(np.int64) & 15
        return (nibbles[:, 0] | nibbles[:, 1] << 4).astype(np.uint8).tobytes()
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    names = {"f16": "<f2", "f32": "<f4", "s8": "i1", "u8": "u1", "u16": "<u2", "u32": "<u4", "s32": "<i4"}
    return values.astype(names[kind]).tobytes()


def random_matrix(rng: np.random.Generator, kind: str, rows: int, columns: int) -> np.ndarray:
    """Values that the element type holds exactly."""
    if kind == "s4":
        return rng.integers(-8, 8, (rows, columns))
    if kind in ("s8", "u8"):
        return rng.integers(-128 if kind == "s8" else 0, 128, (rows, columns))
    if kind in ("f16", "bf16"):
        return rng.integers(-128, 128, (rows, columns)) / 16
    if kind == "f32":
        return rng.normal(0, 3, (rows, columns)).astype(np.float32).astype(np.float64)
    return rng.integers(0, 1 << BITS[kind], (rows, columns))


def left_fractals(matrix: np.ndarray, kind: str, blocks: int | None = None) -> np.ndarray:
    """A matrix as L0A holds it: fractals row by row (Zz)."""
    width = per_row(kind)
    rows, columns = matrix.shape
    down = -(-rows // ROWS)
    across = -(-columns // width) if blocks is None else blocks
    result = np.zeros((down, across, ROWS, width), matrix.dtype)
    for i in range(rows):
        for j in range(columns):
            result[i // ROWS, j // width, i % ROWS, j % width] = matrix[i, j]
    return result.reshape(-1)


def right_fractals(matrix: np.ndarray, kind: str) -> np.ndarray:
    """A matrix as L0B holds it: fractals row by row, each column by column (Zn)."""
    width = per_row(kind)
    rows, columns = matrix.shape
    result = np.zeros((-(-rows // width), -(-columns // ROWS), ROWS, width), matrix.dtype)
    for i in range(rows):
        for j in range(columns):
            result[i // width, j // ROWS, j % ROWS, i % width] = matrix[i, j]
    return result.reshape(-1)


def result_place(row: int, column: int, rows: int) -> int:
    """Where L0C holds an element, in elements: 16x16 column by column (Nz)."""
    return (column // ROWS * (-(-rows // ROWS)) * ROWS + row) * ROWS + column % ROWS


def quantisation_word(scale: float, offset: int = 0, signed: bool = True, shift: int | None = None) -> int:
    """What tells the fixpipe how to convert a column."""
    bits = struct.unpack("<I", struct.pack("<f", scale))[0]
    word = bits | (offset & 0x1FF) << 37 | int(signed) << 46
    return word if shift is None else word | (shift - 1) << 32 | 1 << 36


def quantised(value: float, mode: str, word: int, relu: bool) -> float:
    """One element, as the description of the fixpipe says."""
    value = float(value)
    if mode in ("none", "f16", "bf16"):
        return max(value, 0) if relu else value
    scale = struct.unpack("<f", struct.pack("<I", word & 0xFFFFE000))[0]
    if mode in ("req8", "deqf16") and word >> 36 & 1:
        value = min(max(int(value) >> ((word >> 32 & 15) + 1), -32768), 32767)
    value = float(np.float32(value))
    value = 0.0 if relu and value < 0 else float(np.float32(value) * np.float32(scale))
    if mode == "deqf16":
        return value
    offset = (word >> 37 & 0x1FF) ^ 0x100
    value = min(max(round(value), -256), 255) + offset - 0x100
    return min(max(value, -128), 127) if word >> 46 & 1 else min(max(value, 0), 255)


class Bench:
    """A core, and copies of its memories that the model works on."""

    def __init__(self, seed: int, *random: str) -> None:
        self.rng = np.random.default_rng(seed)
        self.core = Core(GLOBAL)
        self.copies = {name: np.zeros(size, np.uint8) for name, size in SIZES.items()}
        for name in random:
            self.write(name, 0, self.rng.integers(0, 256, SIZES[name], dtype=np.uint8).tobytes())

    def write(self, name: str, offset: int, data: bytes) -> None:
        self.core.write(name, offset, data)
        self.copies[name][offset : offset + len(data)] = np.frombuffer(data, np.uint8)

    def at(self, name: str, offset: int = 0) -> int:
        return self.core.address(name) + offset

    def view(self, name: str, dtype: str) -> np.ndarray:
        """The model's copy; writing to it is what the model expects."""
        return self.copies[name].view(dtype)

    def read(self, name: str, dtype: str) -> np.ndarray:
        return np.frombuffer(self.core.read(name, 0, SIZES[name]), dtype)

    def check(self, *names: str) -> None:
        for name in names or SIZES:
            np.testing.assert_array_equal(self.read(name, "u1"), self.copies[name], err_msg=name)
