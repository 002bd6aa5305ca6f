"""Element-wise instructions against a numpy model: random types, masks, repeats and strides."""

import random

import numpy as np
import pytest
from core_model import ONCE, REPEAT, ROUNDS, Machine, Mask, Strided, random_data, random_mask, width

FLOATS = ["f16", "f32"]
NUMBERS = [*FLOATS, "s16", "s32"]

with np.errstate(all="ignore"):
    BINARY = {
        "vadd": (lambda a, b: a + b, NUMBERS),
        "vsub": (lambda a, b: a - b, NUMBERS),
        "vmul": (lambda a, b: a * b, NUMBERS),
        "vdiv": (lambda a, b: a / b, FLOATS),
        "vmax": (np.maximum, NUMBERS),
        "vmin": (np.minimum, NUMBERS),
        "vand": (lambda a, b: a & b, ["u16", "s16"]),
        "vor": (lambda a, b: a | b, ["u16", "s16"]),
        "vaddrelu": (lambda a, b: np.maximum(a + b, a.dtype.type(0)), [*FLOATS, "s16"]),
        "vsubrelu": (lambda a, b: np.maximum(a - b, a.dtype.type(0)), [*FLOATS, "s16"]),
    }


def exactly(function):
    """The function in double precision, rounded once."""
    return lambda a: function(a.astype(np.float64)).astype(a.dtype)


UNARY = {
    "vnot": (lambda a: ~a, ["u16", "s16"]),
    "vabs": (np.abs, FLOATS),
    "vexp": (exactly(np.exp), FLOATS),
    "vln": (exactly(np.log), FLOATS),
    "vsqrt": (exactly(np.sqrt), FLOATS),
    "vrsqrt": (exactly(lambda a: 1 / np.sqrt(a)), FLOATS),
    "vrec": (exactly(lambda a: 1 / a), FLOATS),
    "vrelu": (lambda a: np.maximum(a, a.dtype.type(0)), [*FLOATS, "s32"]),
    "vcopy": (lambda a: a, ["f16", "f32", "s16", "u16", "s32", "u32", "bf16"]),
}

SCALAR = {
    "vadds": (lambda a, s: a + s, NUMBERS),
    "vmuls": (lambda a, s: a * s, NUMBERS),
    "vmaxs": (np.maximum, NUMBERS),
    "vmins": (np.minimum, NUMBERS),
    "vlrelu": (lambda a, s: np.where(a < 0, a * s, a).astype(a.dtype), FLOATS),
}


def bits_of(value: np.generic) -> int:
    return int.from_bytes(value.tobytes(), "little")


def place(rng: random.Random, kind: str, repeats: int, lanes: int, base: int, limit: int, source: bool) -> Strided:
    """An operand inside [base, base + limit) with random strides that stay inside."""
    operand = Strided(base, rng.choice([1, 1, 1, 2, 3] + [0] * source), rng.choice([8, 8, 8, 9, 4, 16, 0]), kind)
    if not source and operand.repeat < 8 * operand.block:
        operand.repeat = 8 * operand.block
    if operand.extent(repeats, lanes) > limit:
        operand.block, operand.repeat = 1, 8
    operand.offset += BLOCK_STEP * rng.randrange((limit - operand.extent(repeats, lanes)) // BLOCK_STEP + 1)
    return operand


BLOCK_STEP = 32
AREA = 65_536


def same_bits(machine: Machine, dst: Strided) -> None:
    """Any NaN is as good as another: make them one."""
    for view in (machine.ub, found := np.frombuffer(machine.core.read("UB", 0, machine.ub.size), np.uint8).copy()):
        area = view[dst.offset // 32 * 32 : 3 * AREA].view({2: np.uint16, 4: np.uint32}[width(dst.kind)])
        values = area.view({2: np.float16, 4: np.float32}[width(dst.kind)])
        area[np.isnan(values)] = 0x7E00 if width(dst.kind) == 2 else 0x7FC00000
        area[values == 0] = 0
    np.testing.assert_array_equal(found, machine.ub)


def run(op: str, kind: str, apply, operands: int, seed: int, *, scalar: bool = False, flags: int = 0) -> None:
    rng = random.Random(f"{op} {kind} {seed}")
    lanes = REPEAT // width(kind)
    repeats = rng.randrange(0, 12)
    mask = random_mask(rng, width(kind), repeats)
    enabled = mask.lanes(repeats, width(kind))
    if op == "vcopy" and mask.count is not None:
        # The count is that of each repeat, whose blocks go on behind the eighth.
        enabled = [list(range(mask.count))] * repeats
        lanes = max(mask.count, 1)
    machine = Machine()
    count = AREA // width(kind)
    for area in range(3):
        machine.fill(area * AREA, random_data(rng, kind, count))
    sources = [place(rng, kind, len(enabled), lanes, area * AREA, AREA, True) for area in range(operands)]
    dst = place(rng, kind, len(enabled), lanes, 2 * AREA, AREA, False)
    if rng.random() < 0.2 and operands:
        sources[0] = dst
    value = random_data(rng, kind, 1)[0]
    mask.apply(machine.core)
    words = [dst.offset, *(source.offset for source in sources)]
    words += [bits_of(value)] if scalar else []
    words += [repeats, dst.block, *(source.block for source in sources)]
    words += [dst.repeat, *(source.repeat for source in sources)]
    with np.errstate(all="ignore"):
        for repeat, active in enumerate(enabled):
            values = []
            for source in sources:
                values.append(np.array([machine.load(source.at(repeat, lane), kind) for lane in active]))
            if scalar:
                values.append(np.full(len(active), value))
            if active:
                for lane, result in zip(active, apply(*values)):
                    machine.store(dst.at(repeat, lane), kind, result)
    machine.core.issue(op, [kind] * (operands + 1), words + [0] * flags)
    if kind in FLOATS:
        same_bits(machine, dst)
    else:
        machine.check(f"{op} {kind} seed {seed}")


@pytest.mark.parametrize(("op", "kind"), [(op, kind) for op, (_, kinds) in BINARY.items() for kind in kinds])
def test_binary(op: str, kind: str) -> None:
    for seed in range(max(1, ROUNDS // 10)):
        run(op, kind, BINARY[op][0], 2, seed)


@pytest.mark.parametrize(("op", "kind"), [(op, kind) for op, (_, kinds) in UNARY.items() for kind in kinds])
def test_unary(op: str, kind: str) -> None:
    for seed in range(max(1, ROUNDS // 10)):
        run(op, kind, UNARY[op][0], 1, seed)


def test_copy_counts_in_every_repeat() -> None:
    # Rows of 18 words, 3 times: a column of blocks from each; then one block over and over, as a broadcast does.
    for source, rows, count in ((Strided(0, 8, 0, "s32"), 1, 144), (Strided(0, 0, 1, "s32"), 3, 200)):
        machine = Machine()
        machine.fill(0, np.arange(18 * 64, dtype=np.int32))
        dst = Strided(2 * AREA, 1, -(-count // 8), "s32")
        for row in range(rows):
            for lane in range(count):
                machine.store(dst.at(row, lane), "s32", machine.load(source.at(row, lane), "s32"))
        Mask(count=count).apply(machine.core)
        words = [dst.offset, source.offset, rows, dst.block, source.block, dst.repeat, source.repeat]
        machine.core.issue("vcopy", ["s32"] * 2, words)
        machine.check(f"{rows} repeats of {count}")


@pytest.mark.parametrize(("op", "kind"), [(op, kind) for op, (_, kinds) in SCALAR.items() for kind in kinds])
def test_scalar(op: str, kind: str) -> None:
    for seed in range(max(1, ROUNDS // 10)):
        run(op, kind, SCALAR[op][0], 1, seed, scalar=True)


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32"])
def test_shifts(kind: str) -> None:
    bits = 8 * width(kind)
    for seed in range(ROUNDS // 2):
        rng = random.Random(seed)
        machine = Machine()
        data = random_data(rng, kind, 64)
        distance = rng.randrange(bits + 1)
        rounds = rng.randrange(2)
        machine.fill(0, data)
        machine.core.issue("vshl", [kind, kind], [1024, 0, distance, 1, 1, 1, 8, 8])
        machine.core.issue("vshr", [kind, kind], [2048, 0, distance, 1, 1, 1, 8, 8, rounds])
        left = np.frombuffer(machine.core.read("UB", 1024, 64 * width(kind)), data.dtype)
        right = np.frombuffer(machine.core.read("UB", 2048, 64 * width(kind)), data.dtype)
        wide = [int(value) for value in data]
        signed = kind.startswith("s")
        carry = [value >> (distance - 1) & 1 if rounds and signed and distance else 0 for value in wide]
        expected = [(value >> distance) + bit for value, bit in zip(wide, carry)]
        assert [int(value) for value in right] == expected, (distance, rounds)
        modulus = 1 << bits
        assert [int(value) % modulus for value in left] == [(value << distance) % modulus for value in wide]


@pytest.mark.parametrize("kind", ["f16", "f32", "s16", "u16", "s32", "u32", "bf16"])
def test_fill(kind: str) -> None:
    for seed in range(max(1, ROUNDS // 10)):
        rng = random.Random(seed)
        machine = Machine()
        repeats = rng.randrange(0, 10)
        mask = random_mask(rng, width(kind), repeats)
        mask.apply(machine.core)
        value = random_data(rng, kind, 1, special=False)[0]
        dst = Strided(0, rng.choice([1, 2]), 16, kind)
        for repeat, active in enumerate(mask.lanes(repeats, width(kind))):
            for lane in active:
                machine.store(dst.at(repeat, lane), kind, value)
        machine.core.issue("vector_dup", [kind], [0, bits_of(value), repeats, dst.block, 1, dst.repeat, 0])
        machine.check(f"vector_dup {kind} seed {seed}")


@pytest.mark.parametrize(("op", "order"), [("vmla", "a*b+d"), ("vmadd", "a*d+b"), ("vmaddrelu", "relu a*d+b")])
@pytest.mark.parametrize("kind", FLOATS)
def test_fused(op: str, order: str, kind: str) -> None:
    rng = random.Random(f"{op} {kind}")
    lanes = REPEAT // width(kind)
    for _ in range(ONCE):
        machine = Machine()
        a, b, d = (random_data(rng, kind, lanes, special=False) for _ in range(3))
        for area, data in enumerate((a, b, d)):
            machine.fill(area * 1024, data)
        machine.core.issue(op, [kind] * 3, [2048, 0, 1024, 1, 1, 1, 1, 8, 8, 8])
        found = np.frombuffer(machine.core.read("UB", 2048, REPEAT), a.dtype)
        factor, term = (b, d) if op == "vmla" else (d, b)
        # Extended precision holds product and sum without a second rounding that matters.
        exact = a.astype(np.longdouble) * factor.astype(np.longdouble) + term.astype(np.longdouble)
        expected = np.maximum(exact, 0) if op == "vmaddrelu" else exact
        np.testing.assert_array_equal(found, expected.astype(a.dtype))


def test_accumulating_halves_in_floats() -> None:
    for seed in range(ONCE):
        machine = Machine()
        rng = random.Random(4 + seed)
        a, b = random_data(rng, "f16", 64, special=False), random_data(rng, "f16", 64, special=False)
        d = random_data(rng, "f32", 64, special=False)
        for offset, data in ((0, a), (1024, b), (2048, d)):
            machine.fill(offset, data)
        # Half of a repeat's blocks hold the narrow elements.
        machine.core.issue("vmla", ["f32", "f16", "f16"], [2048, 0, 1024, 1, 1, 1, 1, 8, 4, 4])
        found = np.frombuffer(machine.core.read("UB", 2048, REPEAT), np.float32)
        expected = (a.astype(np.float64) * b.astype(np.float64) + d.astype(np.float64)).astype(np.float32)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("target", "source"), [("f16", "f16"), ("f32", "f32"), ("f32", "f16")])
def test_accumulating_by_a_scalar(target: str, source: str) -> None:
    rng = random.Random(f"{target} {source}")
    lanes = REPEAT // width(target)
    for _ in range(ONCE):
        machine = Machine()
        a, d = random_data(rng, source, lanes, special=False), random_data(rng, target, lanes, special=False)
        machine.fill(0, a)
        machine.fill(1024, d)
        scalar = a.dtype.type(0.3)
        words = [1024, 0, bits_of(scalar), 1, 1, 1, 8, 8 * width(source) // width(target)]
        machine.core.issue("vaxpy", [target, source], words)
        found = np.frombuffer(machine.core.read("UB", 1024, REPEAT), d.dtype)
        # Extended precision holds product and sum without a second rounding that matters.
        exact = a.astype(np.longdouble) * np.longdouble(scalar) + d.astype(np.longdouble)
        np.testing.assert_array_equal(found, exact.astype(d.dtype))


def test_a_destination_that_stands_still_accumulates() -> None:
    machine = Machine()
    data = np.arange(64 * 5, dtype=np.float32)
    machine.fill(1024, data)
    machine.core.issue("vadd", ["f32"] * 3, [0, 0, 1024, 5, 1, 1, 1, 0, 0, 8])
    found = np.frombuffer(machine.core.read("UB", 0, REPEAT), np.float32)
    np.testing.assert_array_equal(found, data.reshape(5, 64).sum(axis=0))


def test_partial_overlap_does_not_chain() -> None:
    machine = Machine()
    data = np.arange(72, dtype=np.float32)
    machine.fill(0, data)
    machine.core.issue("vadds", ["f32", "f32"], [32, 0, bits_of(np.float32(1)), 1, 1, 1, 8, 8])
    found = np.frombuffer(machine.core.read("UB", 32, REPEAT), np.float32)
    np.testing.assert_array_equal(found, data[:64] + 1)


def test_saturation_follows_the_control_register() -> None:
    machine = Machine()
    core = machine.core
    machine.fill(0, np.full(16, 32767, np.int16))
    machine.fill(1024, np.array([60000, np.inf, np.nan, -60000] * 4, np.float16))
    Mask(count=16).apply(core)
    for ctrl, integer, floats in (
        (1 << 48, -2, [np.inf, np.inf, np.nan, -np.inf]),
        (1 << 53, 32767, [65504, 65504, 0, -65504]),
    ):
        core.set_register("CTRL", ctrl)
        core.issue("vadd", ["s16"] * 3, [512, 0, 0, 1, 1, 1, 1, 8, 8, 8])
        assert np.frombuffer(core.read("UB", 512, 2), np.int16)[0] == integer
        core.issue("vadd", ["f16"] * 3, [1536, 1024, 1024, 1, 1, 1, 1, 8, 8, 8])
        np.testing.assert_array_equal(np.frombuffer(core.read("UB", 1536, 8), np.float16), np.array(floats, np.float16))


@pytest.mark.parametrize(
    ("op", "kinds"),
    [
        ("vadd", "s8"),
        ("vadd", "s64"),
        ("vadd", "bf16"),
        ("vexp", "s32"),
        ("vdiv", "s32"),
        ("vand", "f32"),
        ("vshl", "s8"),
    ],
)
def test_forms_the_chip_does_not_have(op: str, kinds: str) -> None:
    with pytest.raises(ValueError, match=f"{op}: the chip has no form for"):
        Machine().core.issue(op, [kinds] * 3, [0, 0, 0, 1, 1, 1, 1, 8, 8, 8])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([16, 0, 0, 1, 1, 1, 1, 8, 8, 8], "starts at byte 16 of UB, not a multiple of 32"),
        ([196_608 - 128, 0, 0, 1, 1, 1, 1, 8, 8, 8], "covers bytes 196480 to 196736 of UB, which has 196608"),
        ([1 << 60, 0, 0, 1, 1, 1, 1, 8, 8, 8], "dst is not in UB"),
        ([0, 0, 0, 256, 1, 1, 1, 8, 8, 8], "repeat is 256; at most 255"),
        ([0, 0, 0, 1, 0, 1, 1, 8, 8, 8], "block stride is 0"),
    ],
)
def test_broken_rules(words: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Machine().core.issue("vadd", ["f32"] * 3, words)


def test_operands_are_declared_exactly() -> None:
    """Whatever an instruction writes, it declared; whatever it did not declare to read, it does not depend on."""
    for seed in range(ROUNDS):
        rng = random.Random(seed)
        kind = rng.choice(["f16", "f32", "s16", "s32"])
        core = Machine().core
        repeats = rng.randrange(1, 6)
        random_mask(rng, width(kind), repeats).apply(core)
        zero = bytes(AREA)
        core.write("UB", 0, zero)
        words = [0, 16384, bits_of(random_data(rng, kind, 1, special=False)[0]) | 1, repeats]
        words += [rng.choice([1, 2]), rng.choice([0, 1, 3]), 16, rng.choice([0, 4, 8])]
        core.issue("vadds", [kind, kind], words)
        written = np.zeros(AREA, bool)
        for name, memory, writes, pieces, size in core.operands():
            assert memory == "UB"
            assert name in ("dst", "src0")
            if writes:
                for piece in pieces:
                    written[piece : piece + size] = True
        changed = np.frombuffer(core.read("UB", 0, AREA), np.uint8) != 0
        assert not np.any(changed & ~written), f"seed {seed}"
