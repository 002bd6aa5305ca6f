"""Conversions against exact fractions: every pair of types, every rounding mode, random masks and strides."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from core_model import BLOCK, ONCE, REPEAT, ROUNDS, SPECIAL, Machine, Mask, random_data, random_mask

MODES = {"none": 0, "r": 1, "a": 2, "f": 3, "c": 4, "z": 5, "o": 6}
BITS = {"f32": 32, "f16": 16, "bf16": 16, "s4": 4, "s8": 8, "u8": 8, "s16": 16, "s32": 32, "s64": 64}
# Bits of precision, smallest exponent of a normal number, largest exponent.
FLOATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127)}
RANGES = {"s4": (-8, 7), "s8": (-128, 127), "u8": (0, 255), "s16": (-(2**15), 2**15 - 1), "s32": (-(2**31), 2**31 - 1)}
RANGES["s64"] = (-(2**63), 2**63 - 1)

ROUNDED = ["r", "a", "f", "c", "z"]
# Rounding modes of every pair, as "source target, source target: modes".
_TABLE = {
    "f32 f16": ["none", *ROUNDED, "o"],
    "f32 f32, f32 bf16, f32 s16, f32 s32, f32 s64, f16 s16, f16 s32, s64 f32, bf16 s32": ROUNDED,
    "f16 s4, f16 s8, f16 u8, s16 f16, s32 f32": ["none", *ROUNDED],
    "f16 f32, bf16 f32, s16 f32, s8 f16, u8 f16, s4 f16, s32 s16, s32 s64, s64 s32": ["none"],
}
PAIRS = {tuple(pair.split()): modes for pairs, modes in _TABLE.items() for pair in pairs.split(", ")}
CASES = [(source, target, mode) for (source, target), modes in PAIRS.items() for mode in modes]


def whole(value: Fraction, mode: str) -> int:
    """A fraction as an integer."""
    down = math.floor(value)
    rest = value - down
    if rest == 0:
        return down
    if mode in ("none", "r"):
        return down + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2 == 1))
    if mode == "a":
        return down + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0))
    if mode == "f":
        return down
    if mode == "c":
        return down + 1
    toward_zero = down if value > 0 else down + 1
    if mode == "z":
        return toward_zero
    odd = abs(toward_zero) | 1
    return odd if value > 0 else -odd


def exactly(bits: int, kind: str) -> Fraction | float:
    """The value of a bit pattern: a fraction, or infinity, NaN or minus zero as a float."""
    if kind not in FLOATS:
        signed = kind.startswith("s") and bits >> (BITS[kind] - 1) & 1
        return Fraction(bits - (1 << BITS[kind]) if signed else bits)
    if kind == "bf16":
        value = float(np.array([bits << 16], np.uint32).view(np.float32)[0])
    else:
        value = float(np.array([bits], f"u{BITS[kind] // 8}").view(f"f{BITS[kind] // 8}")[0])
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        return value
    return Fraction(value)


def float_bits(value: float, kind: str) -> int:
    if kind == "bf16":
        return int(np.array([value], np.float32).view(np.uint32)[0]) >> 16
    with np.errstate(over="ignore"):
        return int(np.array([value], f"f{BITS[kind] // 8}").view(f"u{BITS[kind] // 8}")[0])


def as_float(value: Fraction, kind: str, mode: str, saturates: bool) -> int:
    """A fraction as the bits of a float."""
    precision, smallest, largest = FLOATS[kind]
    if value == 0:
        return 0
    exponent = max(math.floor(math.log2(abs(value))) - 1, smallest)
    while exponent < 400 and abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    quantum = Fraction(2) ** (exponent - precision + 1)
    rounded = whole(value / quantum, mode) * quantum
    limit = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** largest
    if abs(rounded) > limit:
        stops = {"f": value > 0, "c": value < 0, "z": True, "o": True}.get(mode, False)
        magnitude = limit if saturates or stops else math.inf
        return float_bits(math.copysign(float(magnitude), value), kind)
    return float_bits(math.copysign(float(rounded), value), kind)


def converted(
    bits: int, source: str, target: str, mode: str, *, saturates: bool = False, truncates: bool = False
) -> int:
    """What the chip makes of a bit pattern."""
    value = exactly(bits, source)
    if isinstance(value, Fraction) and target not in FLOATS:
        number = whole(value, mode)
    elif isinstance(value, Fraction):
        if source == target:
            integer = whole(value, mode)
            return float_bits(float(integer) if integer else math.copysign(0.0, value), target)
        return as_float(value, target, mode, saturates and target != "f32")
    elif target in FLOATS:
        if math.isnan(value):
            return 0 if saturates and target != "f32" else float_bits(math.nan, target)
        if math.isinf(value) and saturates and target != "f32":
            precision, _, largest = FLOATS[target]
            return float_bits(math.copysign((2 - 2.0 ** (1 - precision)) * 2.0**largest, value), target)
        return float_bits(value, target)
    elif math.isnan(value) or value == 0:
        return 0
    else:
        return RANGES[target][value > 0] & ((1 << BITS[target]) - 1)
    if not truncates:
        low, high = RANGES[target]
        number = min(max(number, low), high)
    return number & ((1 << BITS[target]) - 1)


def inputs(rng: random.Random, kind: str, count: int) -> np.ndarray:
    """Random elements, as bytes."""
    if kind == "s4":
        return random_data(rng, "u8", count // 2)
    if kind == "bf16":
        floats = random_data(rng, "f32", count)
        return (floats.view(np.uint32) >> 16).astype(np.uint16)
    data = random_data(rng, kind, count)
    if kind in ("f16", "f32"):
        # Many halves: ties.
        ties = (np.arange(count) - count // 2).astype(np.float64) / 2
        places = np.random.default_rng(rng.getrandbits(32)).random(count) < 0.3
        data[places] = ties[places].astype(data.dtype)
    return data


def element(memory: np.ndarray, place: int, kind: str) -> int:
    """The bits at a place counted in half bytes."""
    if kind == "s4":
        return int(memory[place // 2]) >> (4 * (place % 2)) & 15
    return int.from_bytes(memory[place // 2 : place // 2 + BITS[kind] // 8].tobytes(), "little")


def put(memory: np.ndarray, place: int, kind: str, bits: int) -> None:
    if kind == "s4":
        shift = 4 * (place % 2)
        memory[place // 2] = int(memory[place // 2]) & ~(15 << shift) & 255 | bits << shift
        return
    memory[place // 2 : place // 2 + BITS[kind] // 8] = np.frombuffer(
        bits.to_bytes(BITS[kind] // 8, "little"), np.uint8
    )


def place_of(base: int, repeat: int, lane: int, block_stride: int, repeat_stride: int, kind: str) -> int:
    per_block = BLOCK * 8 // BITS[kind]
    byte = base + BLOCK * (repeat * repeat_stride + lane // per_block * block_stride)
    return 2 * byte + lane % per_block * BITS[kind] // 4


def run(source: str, target: str, mode: str, seed: int, ctrl: int = 1 << 48) -> None:
    rng = random.Random(f"{source} {target} {mode} {seed}")
    machine = Machine()
    machine.core.set_register("CTRL", ctrl)
    widest = max(BITS[source], BITS[target])
    repeats = rng.randrange(0, 5)
    mask = random_mask(rng, widest // 8, repeats)
    machine.fill(0, inputs(rng, source, 4096))
    machine.fill(65536, random_data(rng, "u8", 8192))
    lanes = REPEAT * 8 // widest
    used = {kind: -(-lanes * BITS[kind] // 8 // BLOCK) for kind in (source, target)}
    source_block, target_block = rng.choice([1, 2]), rng.choice([1, 2])
    source_repeat = rng.choice([used[source] * source_block, 8, 0])
    target_repeat = used[target] * target_block + rng.choice([0, 3])
    mask.apply(machine.core)
    for repeat, active in enumerate(mask.lanes(repeats, widest // 8)):
        for lane in active:
            bits = element(machine.ub, place_of(0, repeat, lane, source_block, source_repeat, source), source)
            result = converted(bits, source, target, mode, saturates=not ctrl >> 48 & 1, truncates=bool(ctrl >> 59 & 1))
            put(machine.ub, place_of(65536, repeat, lane, target_block, target_repeat, target), target, result)
    words = [65536, 0, repeats, target_block, source_block, target_repeat, source_repeat, MODES[mode]]
    machine.core.issue("vconv", [target, source], words)
    machine.check(f"{source} to {target} {mode} seed {seed}")


@pytest.mark.parametrize(("source", "target", "mode"), CASES)
def test_conversion(source: str, target: str, mode: str) -> None:
    for seed in range(max(1, ROUNDS // 20)):
        run(source, target, mode, seed)


@pytest.mark.parametrize(("source", "target"), [("f32", "f16"), ("f32", "bf16"), ("s16", "f16")])
def test_saturating_floats(source: str, target: str) -> None:
    for seed in range(max(1, ROUNDS // 20)):
        run(source, target, "r", seed, ctrl=0)


@pytest.mark.parametrize(("source", "target"), [("s32", "s16"), ("s64", "s32")])
def test_truncating_integers(source: str, target: str) -> None:
    for seed in range(max(1, ROUNDS // 20)):
        run(source, target, "none", seed, ctrl=1 << 48 | 1 << 59)


def test_every_name_exists_and_nothing_else() -> None:
    kinds = list(BITS)
    core = Machine().core
    for source in kinds:
        for target in kinds:
            for mode, number in MODES.items():
                words = [65536, 0, 0, 1, 1, 8, 8, number]
                if mode in PAIRS.get((source, target), []):
                    core.issue("vconv", [target, source], words)
                else:
                    with pytest.raises(ValueError, match="the chip has no form for"):
                        core.issue("vconv", [target, source], words)


def test_special_values_become_integers() -> None:
    machine = Machine()
    machine.fill(0, np.array(SPECIAL, np.float32))
    Mask(count=len(SPECIAL)).apply(machine.core)
    machine.core.issue("vconv", ["s32", "f32"], [1024, 0, 1, 1, 1, 8, 8, MODES["r"]])
    found = np.frombuffer(machine.core.read("UB", 1024, 4 * len(SPECIAL)), np.int32)
    expected = [0, 0, 1, -1, 0, 2, 2, -2, 2**31 - 1, -(2**31), 0, 65504, -65504, 0, 128, -128]
    assert found.tolist() == expected


def test_integers_scaled_to_halves() -> None:
    machine = Machine()
    data = np.array([1, -3, 1000, 123456, -(2**31), 7, 0, 2**31 - 1], np.int32)
    machine.fill(0, data)
    Mask(count=8).apply(machine.core)
    scale = np.float16(0.37)
    machine.core.set_register("DEQSCALE", int(scale.view(np.uint16)))
    machine.core.issue("vconv_deq", ["f16", "s32"], [1024, 0, 1, 1, 1, 4, 8])
    found = np.frombuffer(machine.core.read("UB", 1024, 16), np.float16)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, (data.astype(np.float64) * np.float64(scale)).astype(np.float16))


@pytest.mark.parametrize("high", [0, 1])
@pytest.mark.parametrize("vector", [False, True])
def test_dequantised_bytes(high: int, vector: bool) -> None:
    rng = random.Random(f"{high} {vector}")
    for _ in range(max(2, ROUNDS // 10)):
        machine = Machine()
        machine.fill(0, random_data(rng, "s16", 256))
        machine.fill(8192, random_data(rng, "u8", 4096))
        words = []
        for _ in range(16):
            scale = int(np.array([rng.uniform(-0.1, 0.1)], np.float32).view(np.uint32)[0])
            words.append(scale | rng.randrange(512) << 37 | rng.randrange(2) << 46)
        machine.fill(4096, np.array(words, np.uint64))
        machine.core.set_register("DEQSCALE", 4096 if vector else words[0])
        mask = random_mask(rng, 2, 2)
        mask.apply(machine.core)
        for repeat, active in enumerate(mask.lanes(2, 2)):
            for lane in active:
                word = words[lane % 16] if vector else words[0]
                value = int(machine.load(2 * (repeat * 128 + lane), "s16"))
                scale = Fraction(float(np.array([word & 0xFFFFE000], np.uint32).view(np.float32)[0]))
                offset = (word >> 37 & 511) - (512 if word >> 45 & 1 else 0)
                result = whole(value * scale, "r") + offset
                low, limit = (-128, 127) if word >> 46 & 1 else (0, 255)
                place = 8192 + repeat * 256 + lane // 16 * 32 + 16 * high + lane % 16
                machine.ub[place] = min(max(result, low), limit) & 255
        op = "vconv_vdeqs162b8" if vector else "vconv_deqs162b8"
        machine.core.issue(op, ["s8", "s16"], [8192, 0, 2, 1, 1, 8, 8, high])
        machine.check(op)


@pytest.mark.parametrize(
    ("op", "source", "target"),
    [(op, *pair) for op in ("vaddreluconv", "vsubreluconv") for pair in (("f16", "s8"), ("f32", "f16"), ("s16", "s8"))]
    + [("vmulconv", "f16", "s8"), ("vmulconv", "f16", "u8")],
)
def test_conversion_behind_an_operation(op: str, source: str, target: str) -> None:
    rng = random.Random(f"{op} {source} {target}")
    lanes = REPEAT * 8 // BITS[source]
    for _ in range(ONCE):
        machine = Machine()
        a, b = (random_data(rng, source, lanes, special=False) for _ in range(2))
        machine.fill(0, a)
        machine.fill(1024, b)
        machine.core.issue(op, [target, source, source], [2048, 0, 1024, 1, 1, 1, 1, 4, 8, 8, 0])
        for lane in range(lanes):
            x, y = Fraction(float(a[lane])), Fraction(float(b[lane]))
            value = {"vaddreluconv": x + y, "vsubreluconv": x - y, "vmulconv": x * y}[op]
            if source == "s16":
                value = Fraction((int(value) + 2**15) % 2**16 - 2**15)
            if op != "vmulconv":
                value = max(value, Fraction(0))
            if target == "f16":
                bits = as_float(Fraction(float(np.float32(float(value)))), "f16", "r", False)
            else:
                low, high = RANGES[target]
                bits = min(max(whole(value, "r"), low), high) & 255
            put(machine.ub, 2 * 2048 + lane * BITS[target] // 4, target, bits)
        machine.check(op)
