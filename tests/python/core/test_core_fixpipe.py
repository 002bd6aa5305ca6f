"""The small tables beside the cube unit, pictures as matrices, and the way out of L0C, against a numpy model."""

from __future__ import annotations

import numpy as np
import pytest
from core_model import ROUNDS
from cube_model import (
    BITS,
    ROWS,
    Bench,
    left_fractals,
    pack,
    per_row,
    quantisation_word,
    quantised,
    right_fractals,
)

SOME = max(3, ROUNDS // 10)


def test_bias_table() -> None:
    for seed in range(SOME):
        bench = Bench(seed, "L1", "BT")
        bursts, length = int(bench.rng.integers(0, 3)), int(bench.rng.integers(1, 3))
        gaps = [int(bench.rng.integers(0, 3)) for _ in range(2)]
        for burst in range(bursts):
            one, other = 32 + burst * (64 * length + 32 * gaps[0]), 64 + burst * 64 * (length + gaps[1])
            bench.copies["BT"][other : other + 64 * length] = bench.copies["L1"][one : one + 64 * length]
        words = [bench.at("BT", 64), bench.at("L1", 32), 0, bursts, length, *gaps]
        bench.core.issue("copy_cbuf_to_bt", [], words)
        bench.check()


def test_bias_table_of_halves() -> None:
    bench = Bench(2, "BT")
    halves = bench.rng.normal(0, 9, 96).astype("<f2")
    bench.write("L1", 0, halves.tobytes())
    bench.view("BT", "<f4")[:96] = halves
    bench.core.issue("copy_cbuf_to_bt", [], [bench.at("BT"), bench.at("L1"), 1, 1, 3, 0, 0])
    bench.check()


def test_tables_of_the_fixpipe_and_results_from_l1() -> None:
    bench = Bench(3, "L1", "FB", "L0C")
    for burst in range(2):
        bench.copies["FB"][128 + burst * 512 :][:256] = bench.copies["L1"][burst * (256 + 64) :][:256]
    bench.core.issue("copy_cbuf_to_fbuf", [], [bench.at("FB", 128), bench.at("L1"), 2, 2, 2, 2])
    for burst in range(2):
        bench.copies["L0C"][1024 + burst * 3072 :][:2048] = bench.copies["L1"][burst * (2048 + 96) :][:2048]
    bench.core.issue("copy_matrix_cbuf_to_cc", ["f32"], [bench.at("L0C", 1024), bench.at("L1"), 2, 2, 3, 1])
    bench.check()


@pytest.mark.parametrize("kind", ["f16", "s8", "f32", "s4"])
@pytest.mark.parametrize("layout", ["rows", "columns", "right"])
def test_pictures(kind: str, layout: str) -> None:
    if layout == "columns" and BITS[kind] < 16:
        pytest.skip("no such form")
    width = per_row(kind)
    for seed in range(SOME):
        bench = Bench(seed, "L1", "L0A", "L0B")
        rng = bench.rng
        high, wide = (int(value) for value in rng.integers(3, 9, 2))
        pads = [int(value) for value in rng.integers(0, 3, 4)]
        filters = [int(value) for value in rng.integers(1, 4, 2)]
        strides = [int(value) for value in rng.integers(1, 3, 2)]
        dilations = [int(value) for value in rng.integers(1, 3, 2)]
        across = (wide + pads[0] + pads[1] - (filters[0] - 1) * dilations[0] - 1) // strides[0] + 1
        down = (high + pads[2] + pads[3] - (filters[1] - 1) * dilations[1] - 1) // strides[1] + 1
        if across < 1 or down < 1:
            continue
        blocks = int(rng.integers(1, 3))
        raw = bench.copies["L1"][: blocks * high * wide * 32]
        values = (
            np.stack([raw & 15, raw >> 4], axis=1).reshape(-1) if kind == "s4" else raw.view(f"<u{BITS[kind] // 8}")
        )
        picture = values.reshape(blocks, high, wide, width)
        padding = int(rng.integers(0, 8))
        taps = filters[0] * filters[1]
        matrix = np.zeros((down * across, blocks * taps * width), np.int64)
        filler = padding if kind != "s4" else None
        for row in range(down * across):
            for piece in range(blocks * taps):
                block, tap = divmod(piece, taps)
                line = row // across * strides[1] + tap // filters[0] * dilations[1] - pads[2]
                point = row % across * strides[0] + tap % filters[0] * dilations[0] - pads[0]
                inside = 0 <= line < high and 0 <= point < wide
                for c in range(width):
                    pad = filler if filler is not None else (padding >> 4 * (c % 2)) & 15
                    matrix[row, piece * width + c] = picture[block, line, point, c] if inside else pad
        row_unit, column_unit = (ROWS, width) if layout == "rows" else (width, ROWS)
        first_row = int(rng.integers(0, down * across))
        first_column = width * int(rng.integers(0, blocks * taps))
        rows, columns = row_unit * int(rng.integers(1, 3)), max(column_unit, width) * int(rng.integers(1, 3))
        repeats = int(rng.integers(1, 3))
        along = int(rng.integers(0, 2))
        memory = "L0B" if layout == "right" else "L0A"
        place = 0
        for repeat in range(repeats):
            top = first_row + (0 if along else repeat * 2 * ROWS)
            begin = first_column + (repeat * 2 * width if along else 0)
            block = np.zeros((rows, columns), np.int64)
            part = matrix[top : top + rows, begin : begin + columns]
            block[: part.shape[0], : part.shape[1]] = part
            if layout == "rows":
                fractals = left_fractals(block, kind)
            elif layout == "columns":
                fractals = left_fractals(np.ascontiguousarray(block.T), kind)
            else:
                fractals = right_fractals(block, kind)
            data = pack(fractals, {"f16": "u16", "f32": "u32", "s8": "u8", "s4": "s4"}[kind])
            bench.copies[memory][place : place + len(data)] = np.frombuffer(data, "u1")
            place += len(data)
        fmatrix = wide | high << 16 | pads[0] << 32 | pads[1] << 40 | pads[2] << 48 | pads[3] << 56
        second = int(rng.integers(0, 2))
        bench.core.set_register("FMATRIX_B" if second else "FMATRIX", fmatrix)
        bench.core.set_register("PADDING", padding)
        bench.core.set_register("L3D_RPT", 2 | repeats << 16 | along << 24)
        # Higher bits of packed words do not count.
        words = [bench.at(memory), bench.at("L1"), columns | 7 << 16, rows, first_column, first_row]
        words += [*strides, *filters, *dilations, 0, 0, int(layout == "columns"), second, blocks * width]
        bench.core.issue(f"img2colv2_cbuf_to_{'cb' if layout == 'right' else 'ca'}", [kind], words)
        bench.check(memory)


MODES = {
    # name: (number of the scalar form, source, target)
    "none": (0, "<f4", "<f4"),
    "f16": (1, "<f4", "<f2"),
    "bf16": (2, "<f4", "bf16"),
    "qf322b8": (3, "<f4", "u1"),
    "req8": (5, "<i4", "u1"),
    "deqf16": (7, "<i4", "<f2"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", ["rows", "blocks", "l1"])
def test_way_out(mode: str, layout: str) -> None:
    number, source_type, target_type = MODES[mode]
    if layout == "l1" and mode == "none":
        pytest.skip("4-byte elements do not go to L1")
    memory = "L1" if layout == "l1" else "GM"
    for seed in range(SOME):
        bench = Bench(seed, "GM", "L1")
        rng = bench.rng
        m, n = int(rng.integers(1, 40)), int(rng.integers(1, 60)) if layout == "rows" else 16 * int(rng.integers(1, 5))
        values = rng.normal(0, 60, 32_768)
        bench.write("L0C", 0, (values.round() * 50 if source_type == "<i4" else values).astype(source_type).tobytes())
        results = bench.view("L0C", source_type)
        table = seed % 2 == 1 and number >= 3
        words = []
        for _ in range(n if table else 1):
            shift = int(rng.integers(1, 5)) if mode in ("req8", "deqf16") and rng.random() < 0.5 else None
            words.append(
                quantisation_word(
                    float(rng.uniform(0.01, 1)), int(rng.integers(-20, 20)), bool(rng.random() < 0.5), shift
                )
            )
        if table:
            bench.write("FB", 256, np.array(words, "<u8").tobytes())
            base = bench.at("FB", 256)
            bench.core.set_register("FPC", (base >> 7) << 8)
        bench.core.set_register("QUANT_PRE", words[0])
        relu = seed % 3 == 0
        source_step = -(-m // 16) * 16 + int(rng.integers(0, 3)) * 16
        size = 2 if target_type == "bf16" else np.dtype(target_type).itemsize
        count = int(rng.integers(1, 3)) if layout == "rows" else 1
        matrix_step = (n // 16 + 1) * source_step // 16 + 1
        target_step = n + int(rng.integers(0, 5)) if layout == "rows" else -(-m * max(32, 16 * size) // 32)
        target_matrix = target_step * m
        bench.core.set_register("ND_PARA", count | matrix_step << 16 | target_matrix << 32)
        start = 32
        columns = max(16, 32 // size)
        for t in range(count):
            for i in range(m):
                for j in range(n):
                    value = results[t * matrix_step * 256 + j // 16 * source_step * 16 + i * 16 + j % 16]
                    out = quantised(value, mode, words[j if table else 0], relu)
                    if target_type == "bf16":
                        bits = int(np.float32(out).view(np.uint32))
                        data = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")
                    else:
                        data = np.array([int(out) & 255 if target_type == "u1" else out]).astype(target_type).tobytes()
                    if layout == "rows":
                        place = start + (t * target_matrix + i * target_step + j) * size
                    else:
                        place = start + j // columns * target_step * 32 + (i * columns + j % columns) * size
                    bench.copies[memory][place : place + size] = np.frombuffer(data, "u1")
        kinds = ["f32" if mode == "none" else "f16", "s32" if source_type == "<i4" else "f32"]
        arguments = [bench.at(memory, start), bench.at("L0C"), 0, n, m, target_step, source_step, 0]
        arguments += [number + int(table), int(relu), 0, int(layout == "rows")]
        bench.core.issue(f"copy_matrix_cc_to_{'cbuf' if layout == 'l1' else 'gm'}", kinds, arguments)
        bench.check(memory)


@pytest.mark.parametrize("unit_flags", [0, 3])
def test_channels_are_split(unit_flags: int) -> None:
    bench = Bench(4, "GM", "L0C")
    m, n = 20, 40
    results, copy = bench.view("L0C", "<u4"), bench.view("GM", "<u4")
    for i in range(m):
        for j in range(n):
            copy[j // 8 * (m * 8 + 8) + i * 8 + j % 8] = results[j // 16 * 32 * 16 + i * 16 + j % 16]
    words = [bench.at("GM"), bench.at("L0C"), 0, n, m, m + 1, 32, unit_flags, 0, 0, 1, 0]
    bench.core.issue("copy_matrix_cc_to_gm", ["f32", "f32"], words)
    bench.check("GM")


def test_results_are_added_to_what_is_there() -> None:
    bench = Bench(6)
    old, new = bench.rng.normal(0, 1, 16 * 16).astype("<f4"), bench.rng.normal(0, 1, 16 * 16).astype("<f4")
    bench.write("GM", 0, old.tobytes())
    bench.write("L0C", 0, new.tobytes())
    bench.core.set_register("CTRL", 1 << 6)
    bench.core.set_register("ND_PARA", 1)
    bench.core.issue(
        "copy_matrix_cc_to_gm", ["f32", "f32"], [bench.at("GM"), bench.at("L0C"), 0, 16, 16, 16, 16, 0, 0, 0, 0, 1]
    )
    np.testing.assert_array_equal(bench.read("GM", "<f4")[:256], old + new)


@pytest.mark.parametrize(
    ("words", "types", "message"),
    [
        ([0, 16, 16, 16, 16, 0, 19, 0, 0, 1], ["f16", "f32"], "does not have this conversion"),
        ([0, 16, 16, 16, 16, 0, 7, 0, 0, 1], ["f16", "f32"], "the chip has no form for"),
        ([0, 300, 16, 300, 16, 0, 4, 0, 0, 1], ["s8", "f32"], "300 columns; at most 256"),
        ([0, 16, 16, 16, 16, 0, 1, 0, 1, 0], ["f16", "f32"], "channels are split for 4-byte elements"),
    ],
)
def test_what_the_fixpipe_does_not_do(words: list[int], types: list[str], message: str) -> None:
    bench = Bench(7)
    bench.core.set_register("ND_PARA", 1)
    with pytest.raises(ValueError, match=message):
        bench.core.issue("copy_matrix_cc_to_gm", types, [bench.at("GM"), bench.at("L0C"), *words])


def test_four_bytes_do_not_go_to_l1() -> None:
    bench = Bench(8)
    with pytest.raises(ValueError, match="choose a conversion"):
        words = [bench.at("L1"), bench.at("L0C"), 0, 16, 16, 16, 16, 0, 0, 0, 0, 0]
        bench.core.issue("copy_matrix_cc_to_cbuf", ["f32", "f32"], words)
