"""Comparison, selection, reduction, gathering, sorting and transposition against a numpy model."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest
from core_model import BLOCK, NUMPY, ONCE, REPEAT, ROUNDS, Machine, Mask, Strided, random_data, random_mask, width

FLOATS = ["f16", "f32"]
RELATIONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def few_values(rng: random.Random, kind: str, count: int) -> np.ndarray:
    """Data with many equal elements."""
    values = random_data(rng, kind, 5)
    return np.array([values[rng.randrange(5)] for _ in range(count)])


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("scalar", [False, True])
def test_comparison_into_bits(number: int, kind: str, scalar: bool) -> None:
    rng = random.Random(f"{number} {kind} {scalar}")
    for _ in range(max(1, ROUNDS // 20)):
        machine = Machine()
        lanes = REPEAT // width(kind)
        repeats = rng.randrange(0, 5)
        # The mask must not matter.
        random_mask(rng, width(kind), repeats).apply(machine.core)
        machine.fill(0, few_values(rng, kind, 5 * lanes))
        machine.fill(8192, few_values(rng, kind, 5 * lanes))
        machine.fill(16384, random_data(rng, "u8", 256))
        value = few_values(rng, kind, 1)[0]
        one, two = Strided(0, 1, 8, kind), Strided(8192, 1, rng.choice([8, 0]), kind)
        bits = []
        for repeat in range(repeats):
            for lane in range(lanes):
                other = value if scalar else machine.load(two.at(repeat, lane), kind)
                bits.append(bool(RELATIONS[number](machine.load(one.at(repeat, lane), kind), other)))
        packed = np.packbits(np.array(bits, bool), bitorder="little")
        machine.ub[16384 : 16384 + packed.size] = packed
        if scalar:
            word = int.from_bytes(value.tobytes(), "little")
            machine.core.issue("vcmpvs", ["u8", kind], [16384, 0, word, repeats, 1, 1, 8, 8, number])
        else:
            words = [16384, 0, 8192, repeats, 1, 1, 1, 8, 8, two.repeat, number]
            machine.core.issue("vcmpv", ["u8", kind, kind], words)
        machine.check("comparison")


def test_integers_compare_for_equality_only() -> None:
    machine = Machine()
    machine.fill(0, np.arange(64, dtype=np.int32) % 3)
    machine.core.issue("vcmpv", ["u8", "s32", "s32"], [1024, 0, 0, 1, 1, 1, 1, 8, 8, 8, 0])
    assert machine.core.read("UB", 1024, 8) == b"\xff" * 8
    with pytest.raises(ValueError, match="the chip has no form"):
        machine.core.issue("vcmpv", ["u8", "s32", "s32"], [1024, 0, 0, 1, 1, 1, 1, 8, 8, 8, 2])


@pytest.mark.parametrize("kind", FLOATS)
def test_comparison_into_the_register_and_selection_by_it(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(ROUNDS // 4):
        machine = Machine()
        core = machine.core
        lanes = REPEAT // width(kind)
        machine.fill(0, few_values(rng, kind, 4 * lanes))
        machine.fill(4096, few_values(rng, kind, 4 * lanes))
        machine.fill(8192, random_data(rng, kind, 4 * lanes))
        number = rng.randrange(6)
        mask = random_mask(rng, width(kind), 1)
        if mask.count is not None:
            mask.count = min(mask.count, lanes)
        mask.apply(core)
        core.issue("vcmp", ["none", kind, kind], [0, 4096, 1, 1, 1, 1, 8, 8, 8, number])
        register = 0
        for lane in (mask.lanes(1, width(kind)) or [[]])[0]:
            a, b = (machine.load(base + lane * width(kind), kind) for base in (0, 4096))
            register |= int(bool(RELATIONS[number](a, b))) << lane
        found = core.get_register("CMPMASK_LOW") | core.get_register("CMPMASK_HIGH") << 64
        assert found == register
        repeats = rng.randrange(1, 4)
        mask = random_mask(rng, width(kind), repeats)
        mask.apply(core)
        for repeat, active in enumerate(mask.lanes(repeats, width(kind))):
            for lane in active:
                base = 0 if register >> lane & 1 else 4096
                value = machine.load(base + repeat * REPEAT + lane * width(kind), kind)
                machine.store(8192 + repeat * REPEAT + lane * width(kind), kind, value)
        core.issue("vsel", [kind] * 3, [8192, 0, 4096, repeats, 1, 1, 1, 8, 8, 8, 0])
        machine.check("vsel by register")


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("kind", FLOATS)
def test_selection_by_a_tensor(mode: int, kind: str) -> None:
    rng = random.Random(f"{mode} {kind}")
    for _ in range(ROUNDS // 4):
        machine = Machine()
        core = machine.core
        lanes = REPEAT // width(kind)
        for base in (0, 4096, 8192):
            machine.fill(base, random_data(rng, kind, 4 * lanes))
        machine.fill(16384, random_data(rng, "u8", 64))
        scalar = random_data(rng, kind, 1)[0]
        # The register is loaded with the scalar, or with the address of the bits.
        content = np.zeros(2, np.uint64)
        content[0] = int.from_bytes(scalar.tobytes(), "little") if mode == 1 else core.address("UB") + 16384
        machine.fill(20480, content)
        core.issue("set_cmpmask", [], [20480])
        repeats = rng.randrange(1, 5)
        mask = random_mask(rng, width(kind), repeats)
        mask.apply(core)
        for repeat, active in enumerate(mask.lanes(repeats, width(kind))):
            for lane in active:
                number = repeat * lanes + lane
                chosen = int(machine.ub[16384 + number // 8]) >> (number % 8) & 1
                other = scalar if mode == 1 else machine.load(4096 + repeat * REPEAT + lane * width(kind), kind)
                value = machine.load(repeat * REPEAT + lane * width(kind), kind) if chosen else other
                machine.store(8192 + repeat * REPEAT + lane * width(kind), kind, value)
        second = 16384 if mode == 1 else 4096
        core.issue("vsel", [kind] * 3, [8192, 0, second, repeats, 1, 1, 1, 8, 8, 8, mode])
        machine.check(f"vsel mode {mode}")


def test_the_register_goes_to_memory_and_back() -> None:
    core = Machine().core
    core.write("UB", 64, bytes(range(16)))
    core.issue("set_cmpmask", [], [64])
    core.issue("get_cmpmask", [], [128])
    assert core.read("UB", 128, 16) == bytes(range(16))


def tree(values: list, enabled: list) -> object:
    """Neighbours first; what is not enabled is left out."""
    row = [value if on else None for value, on in zip(values, enabled)]
    while len(row) > 1:
        pairs = zip(row[::2], row[1::2])
        row = [b if a is None else a if b is None else a + b for a, b in pairs]
    return row[0]


def extreme(values: list, enabled: list, largest: bool) -> tuple | None:
    found = [(value, lane) for lane, (value, on) in enumerate(zip(values, enabled)) if on]
    if not found:
        return None
    nans = [entry for entry in found if np.isnan(entry[0])]
    if nans:
        return nans[0]
    best = (max if largest else min)(value for value, _ in found)
    return next(entry for entry in found if entry[0] == best)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("op", ["vcadd", "vcmax", "vcmin", "vcgadd", "vcgmax", "vcgmin", "vcpadd"])
def test_reduction(op: str, kind: str) -> None:
    rng = random.Random(f"{op} {kind}")
    size = width(kind)
    lanes = REPEAT // size
    for _ in range(max(4, ROUNDS // 5)):
        machine = Machine()
        machine.fill(
            0,
            few_values(rng, kind, 6 * lanes)
            if rng.random() < 0.5
            else random_data(rng, kind, 6 * lanes, special=False),
        )
        machine.fill(65536, random_data(rng, "u8", 8192))
        repeats = rng.randrange(0, 6)
        mask = random_mask(rng, size, repeats)
        mask.apply(machine.core)
        src = Strided(0, rng.choice([1, 2]), rng.choice([8, 0, 3]), kind)
        if src.extent(6, lanes) > 6 * REPEAT * 2:
            src.block = 1
        step = rng.randrange(1, 4)
        order = rng.randrange(4) if op in ("vcmax", "vcmin") else 0
        unit = {"vcadd": size, "vcpadd": 128}.get(op, 8 * size)
        if op in ("vcmax", "vcmin"):
            unit = [2 * size, 2 * size, size, 4][order]
        overall = None
        with np.errstate(all="ignore"):
            for repeat, active in enumerate(mask.lanes(repeats, size)):
                on = [lane in set(active) for lane in range(lanes)]
                values = [machine.load(src.at(repeat, lane), kind) for lane in range(lanes)]
                target = 65536 + repeat * step * unit
                if op == "vcadd":
                    result = tree(values, on)
                    if result is not None:
                        machine.store(target, kind, result)
                elif op in ("vcmax", "vcmin"):
                    found = extreme(values, on, op == "vcmax")
                    if found is None:
                        continue
                    value, lane = found
                    index = np.array([lane], {2: np.uint16, 4: np.uint32}[size]).view(np.uint8)
                    if order in (0, 1):
                        machine.store(target + size * order, kind, value)
                        machine.ub[target + size * (1 - order) : target + size * (2 - order)] = index
                    elif order == 2:
                        machine.store(target, kind, value)
                    else:
                        machine.ub[target : target + 4] = np.array([lane], np.uint32).view(np.uint8)
                    if overall is None or extreme([overall[0], value], [True, True], op == "vcmax")[1] == 1:
                        overall = (value, repeat * lanes + lane)
                else:
                    group = 2 if op == "vcpadd" else BLOCK // size
                    for at in range(lanes // group):
                        part = slice(at * group, (at + 1) * group)
                        if op in ("vcgadd", "vcpadd"):
                            result = tree(values[part], on[part])
                        else:
                            found = extreme(values[part], on[part], op == "vcgmax")
                            result = None if found is None else found[0]
                        if result is not None:
                            machine.store(target + at * size, kind, result)
        machine.core.issue(op, [kind, kind], [65536, 0, repeats, step, src.block, src.repeat, order])
        found = np.frombuffer(machine.core.read("UB", 65536, 8192), np.uint8).copy()
        expected = machine.ub[65536 : 65536 + 8192].copy()
        unify_nans(found, kind)
        unify_nans(expected, kind)
        np.testing.assert_array_equal(found, expected)
        if overall is not None:
            register = machine.core.get_register("MAX_MIN_CNT")
            assert register >> 32 == overall[1]


def unify_nans(area: np.ndarray, kind: str) -> None:
    bits = area.view({2: np.uint16, 4: np.uint32}[width(kind)])
    with np.errstate(invalid="ignore"):
        bits[np.isnan(area.view(NUMPY[kind]))] = 0x7E00 if width(kind) == 2 else 0x7FC00000
    bits[area.view(NUMPY[kind]) == 0] = 0


@pytest.mark.parametrize("kind", FLOATS)
def test_sum_of_everything(kind: str) -> None:
    machine = Machine()
    data = np.arange(300).astype(NUMPY[kind])
    machine.fill(0, data)
    Mask(count=300).apply(machine.core)
    machine.core.issue("vcadd", [kind, kind], [65536, 0, 1, 1, 1, 8, 1])
    lanes = REPEAT // width(kind)
    total = None
    for start in range(0, 300, lanes):
        part = list(data[start : start + lanes])
        on = [True] * len(part) + [False] * (lanes - len(part))
        result = tree(part + [NUMPY[kind](0)] * (lanes - len(part)), on)
        total = result if total is None else total + result
    assert machine.core.get_register("ACC_VAL") == int.from_bytes(np.array([total], NUMPY[kind]).tobytes(), "little")
    assert machine.core.read("UB", 65536, 4) == bytes(4)


@pytest.mark.parametrize("kind", ["u16", "u32"])
def test_gather(kind: str) -> None:
    rng = random.Random(kind)
    size = width(kind)
    lanes = REPEAT // size
    for _ in range(ROUNDS // 5):
        machine = Machine()
        machine.fill(0, random_data(rng, kind, 1024))
        repeats = rng.randrange(0, 4)
        offsets = np.array([size * rng.randrange(900) for _ in range(4 * lanes)], np.uint32)
        machine.fill(32768, offsets)
        base = size * 16 * rng.randrange(4)
        mask = random_mask(rng, size, repeats)
        mask.apply(machine.core)
        step = rng.choice([8, 9])
        for repeat, active in enumerate(mask.lanes(repeats, size)):
            for lane in active:
                value = machine.load(base + int(offsets[repeat * lanes + lane]), kind)
                machine.store(65536 + repeat * step * BLOCK + lane * size, kind, value)
        address = machine.core.address("UB") + base & 0xFFFFFFFF
        machine.core.issue("vgather", [kind, "u32"], [65536, 32768, address, step, repeats])
        machine.check("vgather")


def test_gather_outside() -> None:
    machine = Machine()
    machine.fill(0, np.array([0, 4, 196_608, 8] * 16, np.uint32))
    with pytest.raises(ValueError, match="vgather: element 2 wants byte 196608 of UB"):
        machine.core.issue("vgather", ["u32", "u32"], [65536, 0, machine.core.address("UB") & 0xFFFFFFFF, 8, 1])


def test_gather_blocks() -> None:
    rng = random.Random(1)
    for _ in range(ONCE):
        machine = Machine()
        machine.fill(0, random_data(rng, "u32", 2048))
        offsets = np.array([BLOCK * rng.randrange(200) for _ in range(24)], np.uint32)
        machine.fill(32768, offsets)
        for number, offset in enumerate(offsets):
            target = 65536 + BLOCK * (number // 8 * 16 + number % 8 * 2)
            machine.ub[target : target + BLOCK] = machine.ub[int(offset) : int(offset) + BLOCK]
        machine.core.issue(
            "vgatherb", ["u32", "u32"], [65536, 32768, machine.core.address("UB") & 0xFFFFFFFF, 16, 2, 3]
        )
        machine.check("vgatherb")


@pytest.mark.parametrize("kind", ["u16", "u32", "f32"])
@pytest.mark.parametrize("pattern", range(8))
def test_packing(pattern: int, kind: str) -> None:
    rng = random.Random(f"{pattern} {kind}")
    size = width(kind)
    for _ in range(max(2, ROUNDS // 20)):
        machine = Machine()
        lanes = REPEAT // size
        mask = Mask(count=rng.randrange(0, 3 * lanes)) if rng.random() < 0.5 else Mask(bits=rng.getrandbits(128))
        if mask.count is not None:
            lanes = mask.count
        mask.apply(machine.core)
        machine.fill(0, random_data(rng, kind, 8192))
        machine.fill(49152, random_data(rng, "u8", 4096))
        repeats = rng.randrange(0, 4)
        src = Strided(0, rng.choice([1, 2]), rng.choice([8, 24, 0]), kind)
        chosen_step = rng.choice([0, 1, 3])
        kept = []
        for repeat in range(repeats):
            for lane in range(lanes):
                if pattern == 0:
                    take = machine.ub[49152 + repeat * chosen_step * BLOCK + lane // 8] >> (lane % 8) & 1
                else:
                    take = {1: lane % 2 == 0, 2: lane % 2 == 1, 7: True}.get(pattern, lane % 4 == pattern - 3)
                if take:
                    kept.append(machine.load(src.at(repeat, lane), kind))
        for number, value in enumerate(kept):
            machine.store(98304 + number * size, kind, value)
        words = [98304, 0, 49152, repeats, src.block, pattern, src.repeat, chosen_step]
        machine.core.issue("vreducev2", [kind, kind], words)
        assert machine.core.get_register("RSVD_CNT") == len(kept)
        machine.check("vreducev2")


@pytest.mark.parametrize("kind", ["u16", "u32"])
def test_broadcast(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(ONCE):
        machine = Machine()
        data = random_data(rng, kind, 24)
        machine.fill(0, data)
        for number, value in enumerate(data):
            for at in range(BLOCK // width(kind)):
                machine.store(1024 + BLOCK * (number // 8 * 20 + number % 8 * 2) + at * width(kind), kind, value)
        machine.core.issue("vbrcb", [kind, kind], [1024, 0, 2, 20, 3])
        machine.check("vbrcb")


def record_bytes(score: np.generic, index: int) -> bytes:
    return score.tobytes().ljust(4, b"\0") + index.to_bytes(4, "little")


@pytest.mark.parametrize("kind", FLOATS)
def test_sorting(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(ONCE):
        machine = Machine()
        scores = np.array([rng.choice([1, 2, 3, -1.5, 0.25]) for _ in range(96)], NUMPY[kind])
        indices = np.array([rng.getrandbits(32) for _ in range(96)], np.uint32)
        machine.fill(0, scores)
        machine.fill(4096, indices)
        machine.core.issue("vbitsort", [kind, kind, "u32"], [8192, 0, 4096, 3])
        expected = b""
        for repeat in range(3):
            order = sorted(range(32 * repeat, 32 * repeat + 32), key=lambda at: -float(scores[at]))
            expected += b"".join(record_bytes(scores[at], int(indices[at])) for at in order)
        assert machine.core.read("UB", 8192, 96 * 8) == expected


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("lists", [2, 3, 4])
@pytest.mark.parametrize("stops", [False, True])
def test_merging(kind: str, lists: int, stops: bool) -> None:
    rng = random.Random(f"{kind} {lists} {stops}")
    for _ in range(ONCE):
        machine = Machine()
        columns = []
        for number in range(lists):
            scores = sorted((rng.choice([0.5, 1, 2, 3, 4, 7]) for _ in range(rng.randrange(1, 40))), reverse=True)
            column = [(np.array(score, NUMPY[kind]), number * 1000 + at) for at, score in enumerate(scores)]
            columns.append(column)
            machine.fill(number * 4096, np.frombuffer(b"".join(record_bytes(*entry) for entry in column), np.uint8))
        taken = [0] * 4
        merged = b""
        while any(taken[number] < len(column) for number, column in enumerate(columns)):
            open_lists = [number for number, column in enumerate(columns) if taken[number] < len(column)]
            best = max(open_lists, key=lambda number: (float(columns[number][taken[number]][0]), -number))
            merged += record_bytes(*columns[best][taken[best]])
            taken[best] += 1
            if stops and taken[best] == len(columns[best]):
                break
        lengths = sum(len(column) << (16 * number) for number, column in enumerate(columns))
        config = 1 | ((1 << lists) - 1) << 8 | int(stops) << 12
        machine.core.issue("vmrgsort4", [kind], [65536, 0, 4096, 8192, 12288, lengths, config])
        assert machine.core.read("UB", 65536, len(merged)) == merged
        assert machine.core.get_register("VMS4_SR") == sum(count << (16 * number) for number, count in enumerate(taken))


def test_merging_repeatedly() -> None:
    machine = Machine()
    records = []
    for number in range(8):
        records += [(np.float32(score), number * 100 + score) for score in (9, 5, number)]
    for number in range(8):
        part = sorted(records[3 * number : 3 * number + 3], key=lambda entry: -float(entry[0]))
        records[3 * number : 3 * number + 3] = part
    machine.fill(0, np.frombuffer(b"".join(record_bytes(*entry) for entry in records), np.uint8))
    lengths = sum(3 << (16 * number) for number in range(4))
    machine.core.issue("vmrgsort4", ["f32"], [65536, 0, 24, 48, 72, lengths, 2 | 15 << 8])
    expected = b""
    for half in range(2):
        part = sorted(records[12 * half : 12 * half + 12], key=lambda entry: -float(entry[0]))
        expected += b"".join(record_bytes(*entry) for entry in part)
    assert machine.core.read("UB", 65536, len(expected)) == expected
    with pytest.raises(ValueError, match="repeats need four equal lists"):
        machine.core.issue("vmrgsort4", ["f32"], [65536, 0, 32, 48, 72, lengths, 2 | 15 << 8])


def test_transposing_16_by_16() -> None:
    machine = Machine()
    data = np.arange(256, dtype=np.uint16).reshape(16, 16)
    machine.fill(0, data)
    machine.core.issue("vtranspose", ["u16", "u16"], [1024, 0])
    found = np.frombuffer(machine.core.read("UB", 1024, 512), np.uint16).reshape(16, 16)
    np.testing.assert_array_equal(found, data.T)


@pytest.mark.parametrize(("kind", "high"), [("u8", 0), ("u8", 1), ("u8", 2), ("u8", 3), ("u16", 0), ("u32", 0)])
@pytest.mark.parametrize("repeats", [1, 3])
def test_transposing_scattered_rows(kind: str, high: int, repeats: int) -> None:
    rng = random.Random(f"{kind} {high} {repeats}")
    for _ in range(ONCE):
        machine = Machine()
        core = machine.core
        machine.fill(0, random_data(rng, "u8", 98304))
        places = rng.sample(range(0, 1000), 32)
        source = [BLOCK * place for place in places[:16]]
        target = [98304 + BLOCK * place * 2 for place in places[16:]]
        for number, address in enumerate(target + source):
            # Half of them as offsets, half as addresses.
            core.set_register("VA", address if number % 2 else core.address("UB") + address, number)
        source_step, target_step = (0, 0) if repeats == 1 else (4, 2000 // 4)
        target_high, source_high = high >> 1, high & 1
        before = machine.ub.copy()
        for repeat in range(repeats):
            size = width(kind)
            rows = [before[at + repeat * source_step * BLOCK :][:BLOCK].view(NUMPY[kind]) for at in source]
            for number, at in enumerate(target):
                at += repeat * target_step * BLOCK
                if kind == "u8":
                    row = [rows[other][16 * source_high + number] for other in range(16)]
                    at += 16 * target_high
                elif kind == "u16":
                    row = [rows[other][number] for other in range(16)]
                else:
                    row = [rows[number % 2 * 8 + other][number // 2] for other in range(8)]
                raw = np.array(row, NUMPY[kind]).view(np.uint8)
                assert raw.size == 16 * size if size < 4 else BLOCK
                machine.ub[at : at + raw.size] = raw
        words = [0, 2, repeats, target_step, source_step, target_high, source_high]
        core.issue("scatter_vnchwconv", [kind, kind], words)
        machine.check("scatter_vnchwconv")
