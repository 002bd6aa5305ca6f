"""The cube unit against a numpy model: moves into fractals, loads, multiplication."""

from __future__ import annotations

import numpy as np
import pytest
from core_model import ONCE, ROUNDS
from cube_model import BITS, ROWS, Bench, left_fractals, pack, per_row, random_matrix, result_place, right_fractals

FRACTAL = 512
SOME = max(3, ROUNDS // 10)


@pytest.mark.parametrize("kind", ["u8", "u16", "u32"])
def test_matrices_into_fractals(kind: str) -> None:
    size = BITS[kind] // 8
    for seed in range(SOME):
        bench = Bench(seed, "GM", "L1")
        rng = bench.rng
        matrices, rows, columns = (int(rng.integers(1, most)) for most in (4, 20, 70))
        row_stride = columns + int(rng.integers(0, 9))
        matrix_stride = row_stride * rows + int(rng.integers(0, 9))
        row_step = int(rng.integers(1, 3))
        block_step = rows * row_step + int(rng.integers(0, 4))
        blocks = -(-columns * size // 32)
        matrix_step = (blocks * block_step + int(rng.integers(0, 3))) * 32 // size
        source = bench.view("GM", f"<u{size}")[3:].copy()
        width = per_row(kind)
        target = bench.view("L1", f"<u{size}")
        start = 64 // size
        for m in range(matrices):
            for i in range(rows):
                for j in range(blocks * width):
                    value = source[m * matrix_stride + i * row_stride + j] if j < columns else 0
                    place = m * matrix_step + (j // width * block_step + i * row_step) * width + j % width
                    target[start + place] = value
        words = [bench.at("L1", 64), bench.at("GM", 3 * size), 0, matrices, rows, columns]
        words += [matrix_stride, row_stride, block_step, row_step, matrix_step]
        bench.core.issue("copy_gm_to_cbuf_multi_nd2nz", [kind], words)
        bench.check()


@pytest.mark.parametrize(("name", "memory", "unit"), [("cbuf", "L1", 32), ("ca", "L0A", 512), ("cb", "L0B", 512)])
def test_fills(name: str, memory: str, unit: int) -> None:
    for seed in range(3 * ONCE):
        bench = Bench(seed, memory)
        size = (1, 2, 4)[seed % 3]
        value = int(bench.rng.integers(0, 1 << 8 * size))
        repeats, blocks, gap = (int(bench.rng.integers(low, 5)) for low in (0, 1, 0))
        copy = bench.copies[memory]
        for repeat in range(repeats):
            start = 1024 + repeat * (blocks + gap) * unit
            copy[start : start + blocks * unit] = np.frombuffer(
                value.to_bytes(size, "little") * (blocks * unit // size), "u1"
            )
        config = repeats | blocks << 16 | gap << 32
        bench.core.issue(f"create_{name}_matrix", [], [bench.at(memory, 1024), config, value, size])
        bench.check()


@pytest.mark.parametrize("target", ["ca", "cb"])
@pytest.mark.parametrize("transpose", [0, 1])
def test_fractals_into_l0(target: str, transpose: int) -> None:
    memory = {"ca": "L0A", "cb": "L0B"}[target]
    for seed in range(SOME):
        bench = Bench(seed, "L1", memory)
        start, repeats, stride, gap = (
            int(bench.rng.integers(low, high)) for low, high in ((0, 5), (0, 9), (0, 4), (0, 3))
        )
        source, copy = bench.view("L1", "<u2").reshape(-1, 16, 16), bench.view(memory, "<u2").reshape(-1, 16, 16)
        for repeat in range(repeats):
            fractal = source[start + repeat * stride]
            copy[repeat * (gap + 1)] = fractal.T if transpose else fractal
        words = [bench.at(memory), bench.at("L1"), start, repeats, stride, gap, 0, transpose, 0]
        bench.core.issue(f"load_cbuf_to_{target}", ["f16"], words)
        bench.check()


@pytest.mark.parametrize(("target", "memory"), [("ca", "L0A"), ("cb", "L0B"), ("cbuf", "L1")])
@pytest.mark.parametrize("downwards", [0, 1])
def test_fractals_from_global_memory(target: str, memory: str, downwards: int) -> None:
    for seed in range(ONCE):
        bench = Bench(seed, "GM", memory)
        repeats, stride, gap = (int(bench.rng.integers(low, high)) for low, high in ((1, 6), (0, 5), (0, 3)))
        start = 20 + int(bench.rng.integers(0, 9))
        source, copy = bench.view("GM", "u1").reshape(-1, FRACTAL), bench.view(memory, "u1").reshape(-1, FRACTAL)
        for repeat in range(repeats):
            copy[repeat * (gap + 1)] = source[start + (-stride if downwards else stride) * repeat]
        words = [bench.at(memory), bench.at("GM"), start, repeats, stride, gap, 0, 0, downwards]
        bench.core.issue(f"load_gm_to_{target}", ["s8"], words)
        bench.check()


@pytest.mark.parametrize(("target", "memory"), [("ca", "L0A"), ("cb", "L0B")])
@pytest.mark.parametrize("kind", ["f16", "s8", "f32", "s4"])
def test_transposed_squares(target: str, memory: str, kind: str) -> None:
    if kind == "s4" and target == "ca":
        pytest.skip("only L0B takes squares of 4-bit elements")
    width = per_row(kind)
    parts = {"f16": 1, "s8": 2, "f32": 2, "s4": 4}[kind]
    side = max(ROWS, width)
    for seed in range(SOME):
        bench = Bench(seed, "L1", memory)
        start, repeats, stride, gap, inner = (int(bench.rng.integers(0, most)) for most in (3, 5, 3, 9, 4))
        for repeat in range(repeats):
            first = (start + repeat * stride) * parts * FRACTAL
            raw = bench.copies["L1"][first : first + parts * FRACTAL]
            if kind == "s4":
                values = np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)
            else:
                values = raw.view(f"<u{BITS[kind] // 8}")
            fractals = values.reshape(parts, ROWS, width)
            square = np.hstack(list(fractals)) if kind == "f32" else np.vstack(list(fractals))
            assert square.shape == (side, side)
            turned = np.split(square.T, parts, axis=1 if kind == "f32" else 0)
            for part, piece in enumerate(turned):
                place = (repeat * (gap + 1) + part * (inner + 1)) * FRACTAL
                data = (
                    pack(np.ascontiguousarray(piece), "s4") if kind == "s4" else np.ascontiguousarray(piece).tobytes()
                )
                bench.copies[memory][place : place + FRACTAL] = np.frombuffer(data, "u1")
        words = [bench.at(memory), bench.at("L1"), start, repeats, stride, gap, 0, inner]
        bench.core.issue(f"load_cbuf_to_{target}_transpose", [kind], words)
        bench.check()


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "s8", "s4"])
def test_multiplication(kind: str) -> None:
    integers = kind in ("s8", "s4")
    dtype = "<i4" if integers else "<f4"
    for seed in range(2 * SOME):
        bench = Bench(seed, "L0C")
        rng = bench.rng
        m, k, n = (int(rng.integers(1, 50)) for _ in range(3))
        k, n = (k * 3, n) if seed % 2 else (k, n)
        if seed % 5 == 0:
            m = 1
        aligned = kind == "f32" and seed % 3 == 0
        left, right = random_matrix(rng, kind, m, k), random_matrix(rng, kind, k, n)
        # A single row is read as it is.
        padded = np.zeros((1, -(-k // per_row(kind)) * per_row(kind)))
        padded[0, :k] = left[0]
        blocks = -(-k // 16) * 2 if aligned else None
        bench.write("L0A", 0, pack(padded if m == 1 else left_fractals(left, kind, blocks), kind))
        bench.write("L0B", 0, pack(right_fractals(right, kind), kind))
        bias = rng.integers(-100, 100, 256).astype(dtype)
        bench.write("BT", 0, bias.tobytes())
        start = ["zero", "bias", "table", "old"][seed % 4]
        old = rng.integers(-1000, 1000, 32_768).astype(dtype)
        bench.write("L0C", 0, old.tobytes())
        expected = left @ right
        copy = bench.view("L0C", dtype)
        for i in range(m):
            for j in range(n):
                place = result_place(i, j, m)
                base = {"zero": 0, "old": old[place]}.get(start, bias[j])
                copy[place] = base + expected[i, j]
        flags = {"zero": (0, 1, 0), "bias": (1, 0, 1), "table": (1, 0, 0), "old": (0, 0, 0)}[start]
        address = bench.at("BT") if start == "bias" else 0
        words = [bench.at("L0C"), bench.at("L0A"), bench.at("L0B"), address, m, k, n, 0, int(aligned), *flags]
        bench.core.issue("mad", ["s32" if integers else "f32", kind, kind], words)
        found = bench.read("L0C", dtype)
        if integers:
            np.testing.assert_array_equal(found, copy)
        else:
            np.testing.assert_allclose(found, copy, rtol=1e-4, atol=1e-3)


def test_integer_sums_saturate() -> None:
    bench = Bench(1)
    bench.write("L0A", 0, pack(np.full(32, 100), "s8"))
    bench.write("L0B", 0, pack(right_fractals(np.full((32, 16), 100), "s8"), "s8"))
    bench.write("L0C", 0, np.full(256, 2**31 - 1000, "<i4").tobytes())
    bench.core.issue(
        "mad", ["s32", "s8", "s8"], [bench.at("L0C"), bench.at("L0A"), bench.at("L0B"), 0, 1, 32, 16, *[0] * 5]
    )
    assert bench.read("L0C", "<i4")[:16].tolist() == [2**31 - 1] * 16


def test_fewer_bits_of_single_precision() -> None:
    bench = Bench(1)
    value = 1 + 2**-11 + 2**-12
    bench.write("L0A", 0, pack(np.full(8, value), "f32"))
    bench.write("L0B", 0, pack(right_fractals(np.eye(8, 16), "f32"), "f32"))
    words = [bench.at("L0C"), bench.at("L0A"), bench.at("L0B"), 0, 1, 8, 16, 0, 0, 0, 1, 0]
    for control, expected in ((0, value), (1 << 46, 1 + 2**-10), (3 << 46, 1 + 2**-11)):
        bench.core.set_register("CTRL", control)
        bench.core.issue("mad", ["f32", "f32", "f32"], words)
        assert bench.read("L0C", "<f4")[0] == np.float32(expected)


def test_every_second_element_left_out() -> None:
    for seed in range(SOME):
        bench = Bench(seed, "L1")
        rng = bench.rng
        m, k, n = int(rng.integers(2, 40)), 64 * int(rng.integers(1, 3)), 16 * int(rng.integers(1, 3))
        left = random_matrix(rng, "s8", m, k)
        dense = random_matrix(rng, "s8", k // 2, n)
        indices = rng.integers(0, 3, (k // 2, n))
        right = np.zeros((k, n), np.int64)
        for at in range(k // 2):
            for column in range(n):
                right[at // 2 * 4 + at % 2 + indices[at, column], column] += dense[at, column]
        bench.write("L0A", 0, pack(left_fractals(left, "s8"), "s8"))
        bench.write("L1", FRACTAL, pack(right_fractals(dense, "s8"), "s8"))
        quarters = right_fractals(indices, "s8").reshape(-1, 4)
        packed = (quarters[:, 0] | quarters[:, 1] << 2 | quarters[:, 2] << 4 | quarters[:, 3] << 6).astype("u1")
        bench.write("L1", 65536 + 128, packed.tobytes())
        bench.core.set_register("INDEX_MATRIX", bench.at("L1", 65536))
        bench.core.issue(
            "load_cbuf_to_cb_sp", ["s8"], [bench.at("L0B", 1024), bench.at("L1"), 1, k // 2 * n // FRACTAL]
        )
        words = [bench.at("L0C"), bench.at("L0A"), bench.at("L0B", 1024), 0, m, k, n, 0, 0, 0, 1, 0]
        bench.core.issue("mad_sp", ["s32", "s8", "s8"], words)
        found = bench.read("L0C", "<i4")
        expected = left @ right
        for i in range(m):
            for j in range(n):
                assert found[result_place(i, j, m)] == expected[i, j], (seed, i, j)


@pytest.mark.parametrize("types", [("f16", "f16", "f16"), ("s32", "u8", "s8"), ("s32", "f16", "f16")])
def test_types_the_unit_does_not_have(types: tuple[str, ...]) -> None:
    bench = Bench(1)
    words = [bench.at("L0C"), bench.at("L0A"), bench.at("L0B"), 0, 16, 16, 16, *[0] * 5]
    with pytest.raises(ValueError, match="the chip has no form for"):
        bench.core.issue("mad", list(types), words)


@pytest.mark.parametrize(
    ("op", "words", "message"),
    [
        ("mad", ["L0C", "L0A", "L0B", 0, 4000, 16, 16, 0, 0, 0, 1, 0], "covers bytes 0 to"),
        ("mad", ["L0C+64", "L0A", "L0B", 0, 16, 16, 16, 0, 0, 0, 1, 0], "not a multiple of 1024"),
        ("mad", ["L0C", "L0B", "L0B", 0, 16, 16, 16, 0, 0, 0, 1, 0], "a is not in L0A"),
        ("mad", ["L0C", "L0A", "L0B", 0, 5000, 16, 16, 0, 0, 0, 1, 0], "m is 5000; at most 4095"),
        ("load_cbuf_to_ca", ["L0A+32", "L1", 0, 1, 1, 0, 0, 0, 0], "not a multiple of 512"),
        ("load_cbuf_to_ca", ["L0A", "L1", 0, 200, 1, 0, 0, 0, 0], "covers bytes 0 to 102400 of L0A"),
        ("copy_cbuf_to_bt", ["BT", "L1", 0, 1, 17, 0, 0], "covers bytes 0 to 1088 of BT"),
        ("copy_cbuf_to_fbuf", ["FB", "L1", 1, 57, 0, 0], "covers bytes 0 to 7296 of FB"),
    ],
)
def test_borders(op: str, words: list[str | int], message: str) -> None:
    bench = Bench(1)
    numbers = []
    for word in words:
        memory, _, offset = str(word).partition("+")
        numbers.append(bench.at(memory, int(offset or 0)) if isinstance(word, str) else word)
    with pytest.raises(ValueError, match=message):
        bench.core.issue(op, ["f32", "f16", "f16"], numbers)
