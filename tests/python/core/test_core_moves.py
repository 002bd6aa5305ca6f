"""Moves against a numpy model: bursts in blocks and in bytes, gaps, padding, atomic stores."""

from __future__ import annotations

import random

import numpy as np
import pytest
from core_model import BLOCK, NUMPY, ONCE, ROUNDS, Core, random_data, width

GLOBAL = 65_536


class Memories:
    """A core, and copies of its memories that the model works on."""

    def __init__(self, rng: random.Random, *names: str) -> None:
        self.core = Core(GLOBAL)
        self.copies = {}
        for name in names:
            data = random_data(rng, "u8", GLOBAL)
            self.core.write(name, 0, data.tobytes())
            self.copies[name] = data

    def address(self, name: str, offset: int) -> int:
        return self.core.address(name) + offset

    def check(self) -> None:
        for name, copy in self.copies.items():
            found = np.frombuffer(self.core.read(name, 0, GLOBAL), np.uint8)
            np.testing.assert_array_equal(found, copy, err_msg=name)


@pytest.mark.parametrize(
    ("op", "target", "source"),
    [
        ("copy_gm_to_ubuf", "UB", "GM"),
        ("copy_ubuf_to_gm", "GM", "UB"),
        ("copy_gm_to_cbuf", "L1", "GM"),
        ("copy_cbuf_to_gm", "GM", "L1"),
    ],
)
def test_blocks(op: str, target: str, source: str) -> None:
    rng = random.Random(op)
    for _ in range(max(4, ROUNDS // 5)):
        memories = Memories(rng, target, source)
        bursts, length = rng.randrange(6), rng.randrange(1, 20)
        source_gap, target_gap = rng.randrange(8), rng.randrange(8)
        start = {name: BLOCK * rng.randrange(100) for name in (target, source)}
        for burst in range(bursts):
            one = start[source] + BLOCK * burst * (length + source_gap)
            other = start[target] + BLOCK * burst * (length + target_gap)
            row = memories.copies[source][one : one + BLOCK * length]
            memories.copies[target][other : other + BLOCK * length] = row
        words = [memories.address(target, start[target]), memories.address(source, start[source])]
        memories.core.issue(op, [], [*words, 0, bursts, length, source_gap, target_gap])
        memories.check()


def test_blocks_within_ub() -> None:
    memories = Memories(random.Random(1), "UB")
    memories.copies["UB"][4096:4160] = memories.copies["UB"][64:128]
    memories.core.issue("copy_ubuf_to_ubuf", [], [4096, 64, 0, 1, 2, 0, 0])
    memories.check()


@pytest.mark.parametrize("kind", ["u8", "u16", "u32"])
def test_bytes_into_ub(kind: str) -> None:
    rng = random.Random(kind)
    size = width(kind)
    for _ in range(max(8, ROUNDS // 2)):
        memories = Memories(rng, "UB", "GM")
        bursts, count = rng.randrange(5), rng.randrange(1, 60)
        pads = rng.random() < 0.5
        left, right = (rng.randrange(BLOCK // size + 1) if pads else 0 for _ in range(2))
        source_gap, target_gap = rng.randrange(40), rng.randrange(3)
        value = int(random_data(rng, kind, 1)[0])
        memories.core.set_register("MOV_PAD_VAL", value)
        start = rng.randrange(1000)
        length = count * size
        row = -(-(left + count + right) * size // BLOCK) * BLOCK
        for burst in range(bursts):
            one = start + burst * (length + source_gap)
            other = 2048 + burst * (row + target_gap * BLOCK)
            data = memories.copies["GM"][one : one + length].copy().view(NUMPY[kind])
            line = np.full(row // size, value if left + right else data[0], NUMPY[kind])
            line[left : left + count] = data
            memories.copies["UB"][other : other + row] = line.view(np.uint8)
        words = [2048, memories.address("GM", start), 0, bursts, length, left, right, source_gap, target_gap]
        memories.core.issue("copy_gm_to_ubuf_align", [kind], words)
        memories.check()


def test_bytes_out_of_ub() -> None:
    rng = random.Random(3)
    for _ in range(max(8, ROUNDS // 4)):
        memories = Memories(rng, "UB", "GM")
        bursts, length = rng.randrange(5), rng.randrange(1, 200)
        source_gap, target_gap = rng.randrange(3), rng.randrange(40)
        start = rng.randrange(1000)
        for burst in range(bursts):
            one = 1024 + burst * (-(-length // BLOCK) + source_gap) * BLOCK
            other = start + burst * (length + target_gap)
            memories.copies["GM"][other : other + length] = memories.copies["UB"][one : one + length]
        words = [memories.address("GM", start), 1024, 0, bursts, length, 0, 0, source_gap, target_gap]
        memories.core.issue("copy_ubuf_to_gm_align", ["u8"], words)
        memories.check()


@pytest.mark.parametrize("operation", ["add", "max", "min"])
@pytest.mark.parametrize(("number", "kind"), [(1, "f32"), (2, "f16"), (3, "s16"), (4, "s32"), (5, "s8")])
def test_atomic_stores(operation: str, number: int, kind: str) -> None:
    rng = random.Random(f"{operation} {kind}")
    for _ in range(ONCE):
        memories = Memories(rng, "UB", "GM")
        count = 128 // width(kind)
        old, new = (random_data(rng, kind, count, special=False) for _ in range(2))
        for name, data in (("GM", old), ("UB", new)):
            memories.core.write(name, 0, data.tobytes())
            memories.copies[name][:128] = data.view(np.uint8)
        memories.core.set_register("CTRL", 1 << 48 | number << 6 | ["add", "max", "min"].index(operation) << 9)
        with np.errstate(over="ignore"):
            combine = {"add": np.add, "max": np.maximum, "min": np.minimum}[operation]
            memories.copies["GM"][:128] = combine(old, new).view(np.uint8)
        memories.core.issue("copy_ubuf_to_gm", [], [memories.address("GM", 0), 0, 0, 1, 4, 0, 0])
        memories.check()
        # Loads do not combine.
        memories.core.issue("copy_gm_to_ubuf", [], [256, memories.address("GM", 0), 0, 1, 4, 0, 0])
        assert memories.core.read("UB", 256, 128) == memories.copies["GM"][:128].tobytes()


@pytest.mark.parametrize(
    ("op", "words", "message"),
    [
        ("copy_gm_to_ubuf", [16, "GM", 0, 1, 1, 0, 0], "dst starts at byte 16 of UB, not a multiple of 32"),
        ("copy_gm_to_ubuf", [0, "GM", 0, 4096, 1, 0, 0], "bursts is 4096; at most 4095"),
        ("copy_gm_to_ubuf", [0, "GM", 0, 1, 4096, 0, 0], "src is not inside the global memory"),
        ("copy_gm_to_ubuf_align", [0, "GM", 0, 1, 4, 9, 0, 0, 0], "left padding of 36 bytes; at most 32"),
    ],
)
def test_broken_rules(op: str, words: list, message: str) -> None:
    core = Core(GLOBAL)
    with pytest.raises(ValueError, match=message):
        core.issue(op, ["u32"], [core.address("GM") if word == "GM" else word for word in words])
