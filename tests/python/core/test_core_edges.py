"""Single rules of the core's instructions that random tests do not single out: borders, empty work, special values."""

from __future__ import annotations

import random

import numpy as np
import pytest
from core_model import REPEAT, Machine, Mask, random_data
from cube_model import Bench, left_fractals, pack, right_fractals

NORMAL = 1 << 48


def bits(value: float, kind: type = np.float32) -> int:
    return int.from_bytes(kind(value).tobytes(), "little")


def halves(machine: Machine, offset: int, count: int) -> np.ndarray:
    return np.frombuffer(machine.core.read("UB", offset, 2 * count), np.float16)


def singles(machine: Machine, offset: int, count: int) -> np.ndarray:
    return np.frombuffer(machine.core.read("UB", offset, 4 * count), np.float32)


# Vector instructions.


@pytest.mark.parametrize("mask", [Mask(bits=0), Mask(count=0)], ids=["no bit", "no element"])
def test_a_mask_without_elements_does_nothing(mask: Mask) -> None:
    machine = Machine()
    before = random_data(random.Random(1), "f32", 256)
    machine.fill(0, before)
    mask.apply(machine.core)
    machine.core.issue("vadds", ["f32"] * 2, [0, 512, bits(1), 2, 1, 1, 8, 8])
    machine.core.issue("vcadd", ["f32"] * 2, [0, 512, 2, 1, 1, 8, 0])
    machine.core.issue("vconv", ["f16", "f32"], [0, 512, 2, 1, 1, 4, 8, 1])
    machine.check("nothing enabled")
    assert machine.core.operands() == [], "and nothing counts as touched"


@pytest.mark.parametrize("op", ["vcadd", "vcmax", "vcgadd", "vadds"])
def test_a_count_that_would_take_for_ever_is_refused(op: str) -> None:
    """With strides of zero it stays inside UB."""
    machine = Machine()
    Mask(count=2**64 - 1).apply(machine.core)
    words = [0, 512, bits(1), 1, 1, 1, 0, 0] if op == "vadds" else [0, 512, 1, 0, 1, 0, 1 if op == "vcadd" else 0]
    with pytest.raises(Exception, match=f"{op}.* covers [0-9]+ pieces of [0-9]+ bytes: more than"):
        machine.core.issue(op, ["f32"] * 2, words)


def test_single_precision_keeps_denormals() -> None:
    machine = Machine()
    machine.fill(0, np.array([1e-45, 3e-39, -2e-40, 1e-38], np.float32))
    Mask(count=4).apply(machine.core)
    machine.core.issue("vmuls", ["f32"] * 2, [256, 0, bits(0.5), 1, 1, 1, 8, 8])
    expected = np.array([1e-45, 3e-39, -2e-40, 1e-38], np.float32) * np.float32(0.5)
    np.testing.assert_array_equal(singles(machine, 256, 4), expected)
    machine.fill(512, np.array([6e-8, 6e-5], np.float16))
    Mask(count=2).apply(machine.core)
    machine.core.issue("vadd", ["f16"] * 3, [768, 512, 512, 1, 1, 1, 1, 8, 8, 8])
    np.testing.assert_array_equal(halves(machine, 768, 2), np.array([6e-8, 6e-5], np.float16) * 2)


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        ("vexp", [-np.inf, np.inf, 0.0], [0.0, np.inf, 1.0]),
        ("vln", [0.0, -0.0, -1.0, 1.0], [-np.inf, -np.inf, np.nan, 0.0]),
        ("vrsqrt", [-0.0, 0.0, 4.0, -1.0], [-np.inf, np.inf, 0.5, np.nan]),
        ("vrec", [0.0, -0.0, np.inf], [np.inf, -np.inf, 0.0]),
        ("vsqrt", [-1.0, -0.0], [np.nan, -0.0]),
    ],
)
def test_special_values_of_functions(op: str, kind: str, values: list[float], expected: list[float]) -> None:
    machine = Machine()
    dtype = {"f16": np.float16, "f32": np.float32}[kind]
    machine.fill(0, np.array(values, dtype))
    Mask(count=len(values)).apply(machine.core)
    machine.core.issue(op, [kind] * 2, [256, 0, 1, 1, 1, 8, 8])
    found = np.frombuffer(machine.core.read("UB", 256, len(values) * dtype().itemsize), dtype)
    np.testing.assert_array_equal(found, np.array(expected, dtype))
    assert np.signbit(found[~np.isnan(found)]).tolist() == [np.signbit(x) for x in expected if x == x]


def test_special_values_of_arithmetic() -> None:
    machine = Machine()
    machine.fill(0, np.array([1, -1, 0, np.inf, np.nan, 1], np.float32))
    machine.fill(256, np.array([0, 0, 0, 0, 1, np.nan], np.float32))
    Mask(count=6).apply(machine.core)
    for op, expected in (
        ("vdiv", [np.inf, -np.inf, np.nan, np.inf, np.nan, np.nan]),
        ("vmul", [0, -0.0, 0, np.nan, np.nan, np.nan]),
        ("vmax", [1, 0, 0, np.inf, np.nan, np.nan]),
        ("vmin", [0, -1, 0, 0, np.nan, np.nan]),
    ):
        machine.core.issue(op, ["f32"] * 3, [512, 0, 256, 1, 1, 1, 1, 8, 8, 8])
        np.testing.assert_array_equal(singles(machine, 512, 6), np.array(expected, np.float32), err_msg=op)


@pytest.mark.parametrize(
    ("op", "words", "message"),
    [
        ("vadd", [0, 0, 0, 1, 1, 1, 1, 256, 8, 8], "the repeat stride of dst is 256; at most 255"),
        ("vadd", [0, 0, 0, 1, 1, 1, 1, 8, 8, 300], "the repeat stride of src1 is 300; at most 255"),
        ("vadds", [0, 0, 0, 1, 1, 1, 8, 256], "the repeat stride of src0 is 256; at most 255"),
        ("vector_dup", [0, 0, 1, 1, 1, 65_536, 0], "the repeat stride of dst is 65536; at most 65535"),
        ("vcadd", [0, 0, 1, 65_536, 1, 8, 0], "the repeat stride of dst is 65536; at most 65535"),
        ("vaddreluconv", [0, 0, 0, 1, 1, 1, 1, 4, 8, 8, 1], "results in the high halves are not emulated"),
        ("vmrgsort4", [0, 8, 16, 24, 32, 4096, 1 | 15 << 8], "a list has 4096 records; at most 4095"),
        ("vmrgsort4", [65_536, 4, 64, 128, 192, 1 | 1 << 16, 1 | 3 << 8], "not a multiple of 8"),
        ("vmrgsort4", [0, 8, 16, 24, 32, 1, 1 | 1 << 8], "two, three or four can be merged"),
    ],
)
def test_fields_have_limits(op: str, words: list[int], message: str) -> None:
    kinds = {"vaddreluconv": ["s8", "f16", "f16"]}.get(op, ["f32"] * 3)
    with pytest.raises(ValueError, match=message):
        Machine().core.issue(op, kinds, words)


def test_wide_repeat_strides_of_fills_and_copies() -> None:
    machine = Machine()
    machine.core.issue("vector_dup", ["f32"], [0, bits(3), 2, 1, 1, 3000, 0])
    machine.core.issue("vcopy", ["f32"] * 2, [512, 0, 2, 1, 1, 300, 3000])
    for offset in (0, 96_000, 512, 512 + 9600):
        assert singles(machine, offset, 64).tolist() == [3] * 64


def test_a_block_stride_of_0_means_1_where_blocks_are_placed() -> None:
    machine = Machine()
    machine.fill(0, np.arange(8, dtype=np.uint32))
    machine.fill(1024, np.arange(0, 256, 32, dtype=np.uint32))
    machine.core.issue("vbrcb", ["u32", "u32"], [4096, 0, 0, 8, 1])
    found = np.frombuffer(machine.core.read("UB", 4096, REPEAT), np.uint32)
    np.testing.assert_array_equal(found, np.repeat(np.arange(8), 8))
    base = machine.core.address("UB") & 0xFFFFFFFF
    machine.core.issue("vgatherb", ["u32", "u32"], [8192, 1024, base, 8, 0, 1])
    assert machine.core.read("UB", 8192, REPEAT) == machine.core.read("UB", 0, REPEAT)


def test_floats_too_large_for_an_integer_keep_their_low_bits_if_asked() -> None:
    machine = Machine()
    machine.fill(0, np.array([300, -129, 70_000, 5.5], np.float32))
    machine.fill(256, np.array([300, -129, 5.5, 255], np.float16))
    Mask(count=4).apply(machine.core)
    for ctrl, words, bytes_ in (
        (NORMAL, [300, -129, 32_767, 6], [127, -128, 6, 127]),
        (NORMAL | 1 << 59, [300, -129, 70_000 - 65_536, 6], [44, 127, 6, -1]),
    ):
        machine.core.set_register("CTRL", ctrl)
        machine.core.issue("vconv", ["s16", "f32"], [512, 0, 1, 1, 1, 4, 8, 1])
        assert np.frombuffer(machine.core.read("UB", 512, 8), np.int16).tolist() == words
        machine.core.issue("vconv", ["s8", "f16"], [768, 256, 1, 1, 1, 4, 8, 1])
        assert np.frombuffer(machine.core.read("UB", 768, 4), np.int8).tolist() == bytes_


def test_two_elements_of_4_bits_share_a_byte_the_first_in_its_low_half() -> None:
    machine = Machine()
    machine.fill(0, np.array([1, -2, 9, -9], np.float16))
    machine.fill(512, np.full(32, 0x55, np.uint8))
    Mask(count=3).apply(machine.core)
    machine.core.issue("vconv", ["s4", "f16"], [512, 0, 1, 1, 1, 2, 8, 1])
    # 1, -2, 7 (saturated), and the fourth as it was.
    assert machine.core.read("UB", 512, 3) == bytes([0xE1, 0x57, 0x55])


def test_where_the_bits_of_comparisons_go_does_not_depend_on_strides() -> None:
    machine = Machine()
    machine.fill(0, np.arange(128, dtype=np.float32))
    machine.core.issue("vcmpvs", ["u8", "f32"], [4096, 0, bits(100), 2, 5, 1, 77, 8, 2])
    found = np.unpackbits(np.frombuffer(machine.core.read("UB", 4096, 16), np.uint8), bitorder="little")
    np.testing.assert_array_equal(found, np.arange(128) < 100)


def test_a_selection_takes_the_address_of_its_mask_from_when_the_register_was_loaded() -> None:
    machine = Machine()
    core = machine.core
    machine.fill(0, np.full(64, 1, np.float32))
    machine.fill(256, np.full(64, 2, np.float32))
    machine.fill(1024, np.full(8, 0x0F, np.uint8))
    machine.fill(2048, np.array([core.address("UB") + 1024, 0], np.uint64))
    core.issue("set_cmpmask", [], [2048])
    machine.fill(2048, np.zeros(2, np.uint64))
    core.issue("vsel", ["f32"] * 3, [4096, 0, 256, 1, 1, 1, 1, 8, 8, 8, 2])
    np.testing.assert_array_equal(singles(machine, 4096, 64), np.tile([1, 1, 1, 1, 2, 2, 2, 2], 8))


def test_single_precision_never_saturates() -> None:
    machine = Machine()
    machine.fill(0, np.array([3e38, np.inf, np.nan], np.float32))
    Mask(count=3).apply(machine.core)
    for ctrl in (NORMAL, 0):
        machine.core.set_register("CTRL", ctrl)
        machine.core.issue("vadd", ["f32"] * 3, [256, 0, 0, 1, 1, 1, 1, 8, 8, 8])
        np.testing.assert_array_equal(singles(machine, 256, 3), np.array([np.inf, np.inf, np.nan], np.float32))


def test_every_node_of_a_sum_saturates() -> None:
    machine = Machine()
    machine.fill(0, np.array([60_000, 60_000, -60_000, 0], np.float16))
    Mask(count=4).apply(machine.core)
    for ctrl, expected in ((NORMAL, np.inf), (0, 5504)):
        machine.core.set_register("CTRL", ctrl)
        machine.core.issue("vcadd", ["f16"] * 2, [512, 0, 1, 1, 1, 8, 0])
        assert halves(machine, 512, 1)[0] == expected


def test_extremes_leave_value_and_index_in_a_register() -> None:
    machine = Machine()
    data = np.zeros(256, np.float16)
    data[200], data[250] = 7, 7
    machine.fill(0, data)
    machine.core.issue("vcmax", ["f16"] * 2, [1024, 0, 2, 1, 1, 8, 0])
    register = machine.core.get_register("MAX_MIN_CNT")
    assert (register & 0xFFFF, register >> 32) == (bits(7, np.float16), 200), "of two that are equal the first"


def test_a_single_repeat_of_a_scattered_transposition_moves_on_by_its_stride() -> None:
    machine = Machine()
    machine.fill(0, np.arange(1024, dtype=np.uint16))
    for row in range(16):
        machine.core.set_register("VA", 8192 + 32 * row, row)
        machine.core.set_register("VA", 32 * row, 16 + row)
    machine.core.issue("scatter_vnchwconv", ["u16", "u16"], [0, 2, 1, 32, 16])
    found = np.frombuffer(machine.core.read("UB", 8192 + 1024, 512), np.uint16).reshape(16, 16)
    np.testing.assert_array_equal(found, np.arange(256, 512).reshape(16, 16).T)


def test_address_registers_are_loaded_from_lists_in_ub() -> None:
    rng = random.Random(7)
    machine = Machine()
    lists = np.array([rng.randrange(1 << 63) for _ in range(64)], np.uint64)
    machine.fill(4096, lists)
    numbers = rng.sample(range(8), 8)
    for at, number in enumerate(numbers):
        machine.core.issue("vld_va_reg", ["u64"], [number, 4096 + 128 * (at // 2), at % 2])
    for at, number in enumerate(numbers):
        found = [machine.core.get_register("VA", 8 * number + entry) for entry in range(8)]
        assert found == lists[8 * at : 8 * at + 8].tolist()
    machine.check("registers alone change")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([8, 0, 0], "the address register is 8; at most 7"),
        ([0, 0, 2], "the half of the list is 2; at most 1"),
        ([0, 8, 0], "src starts at byte 8 of UB, not a multiple of 32"),
        ([0, 196_608 - 64, 1], "src"),
    ],
)
def test_lists_of_addresses_have_a_place(words: list[int], message: str) -> None:
    machine = Machine()
    if words[1] > 8:
        words = [words[0], machine.core.address("UB") + words[1], words[2]]
    with pytest.raises(ValueError, match=message):
        machine.core.issue("vld_va_reg", ["u64"], words)


def test_a_merge_that_repeats_never_leaves_its_counts_alone() -> None:
    core = Machine().core
    core.set_register("VMS4_SR", 9)
    core.issue("vmrgsort4", ["f32"], [65_536, 0, 8, 16, 24, 1, 15 << 8])
    assert core.get_register("VMS4_SR") == 9
    assert core.operands() == []


# Moves.


@pytest.mark.parametrize(
    ("op", "kinds", "words"),
    [
        ("copy_gm_to_ubuf", [], ["UB", "GM", 0, 0, 1, 0, 0]),
        ("copy_gm_to_ubuf", [], ["UB", "GM", 0, 1, 0, 0, 0]),
        ("copy_gm_to_ubuf_align", ["u8"], ["UB", "GM", 0, 1, 0, 4, 4, 0, 0]),
        ("copy_ubuf_to_gm_align", ["u8"], ["GM", "UB", 0, 0, 9, 0, 0, 0, 0]),
        ("copy_gm_to_cbuf_multi_nd2nz", ["u16"], ["L1", "GM", 0, 1, 0, 16, 0, 16, 16, 1, 0]),
        ("copy_cbuf_to_bt", [], ["BT", "L1", 0, 1, 0, 0, 0]),
        ("create_cbuf_matrix", [], ["L1", 0, 7, 2]),
        ("load_cbuf_to_ca", ["f16"], ["L0A", "L1", 0, 0, 1, 0, 0, 0, 0]),
        ("mad", ["f32", "f16", "f16"], ["L0C", "L0A", "L0B", 0, 0, 16, 16, 0, 0, 0, 1, 0]),
        ("mad", ["f32", "f16", "f16"], ["L0C", "L0A", "L0B", 0, 16, 0, 16, 0, 0, 0, 1, 0]),
        ("mad", ["f32", "f16", "f16"], ["L0C", "L0A", "L0B", 0, 16, 16, 0, 0, 0, 0, 1, 0]),
        ("copy_matrix_cc_to_gm", ["f32", "f32"], ["GM", "L0C", 0, 16, 16, 16, 16, 0, 0, 0, 0, 1]),
        ("img2colv2_cbuf_to_ca", ["f16"], ["L0A", "L1", 16, 16, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 16]),
    ],
)
def test_nothing_to_move_or_to_multiply_is_no_operation(op: str, kinds: list[str], words: list[str | int]) -> None:
    bench = Bench(1, "GM", "L1", "L0A", "L0B", "L0C", "BT")
    numbers = [word if isinstance(word, int) else bench.core.address(word) for word in words]
    # No matrices to move out (ND_PARA), and no picture (FMATRIX) either.
    bench.core.issue(op, kinds, numbers)
    bench.check()
    assert bench.core.operands() == []


def test_the_stream_number_of_a_move_is_ignored() -> None:
    bench = Bench(1, "GM")
    bench.core.issue("copy_gm_to_cbuf", [], [bench.at("L1"), bench.at("GM"), 5, 1, 4, 0, 0, 0])
    assert bench.core.read("L1", 0, 128) == bench.core.read("GM", 0, 128)


@pytest.mark.parametrize(
    ("op", "kinds", "words", "message"),
    [
        ("copy_gm_to_cbuf", [], ["L1", "GM", 0, 1, 1, 0, 0, 1], "padding modes that expand small channels"),
        ("copy_gm_to_ubuf_align", ["u8"], ["UB", "GM", 0, 1, 2_097_152, 0, 0, 0, 0], "at most 2097151"),
        ("copy_gm_to_cbuf", [], ["L1+16", "GM", 0, 1, 1, 0, 0, 0], "byte 16 of L1, not a multiple of 32"),
        ("copy_gm_to_cbuf", [], ["L1", "GM", 0, 1, 16_385, 0, 0, 0], "of L1, which has 524288"),
        ("copy_gm_to_cbuf", ["f32", "f32"], ["L1", "GM+2", 0, 1, 1, 0, 0, 0], "not a multiple of 4"),
        ("load_cbuf_to_cb", ["f16"], ["L0B+256", "L1", 0, 1, 1, 0, 0, 0, 0], "of L0B, not a multiple of 512"),
        ("load_cbuf_to_cb", ["s8"], ["L0B", "L1", 0, 1, 1, 0, 0, 1, 0], "only elements of 2 bytes are transposed"),
        ("load_cbuf_to_ca", ["f16"], ["L0A", "L1", 1, 3, 1, 0, 0, 0, 1], "is below the start"),
        ("copy_cbuf_to_bt", [], ["BT+32", "L1", 0, 1, 1, 0, 0], "of BT, not a multiple of 64"),
        ("copy_cbuf_to_fbuf", [], ["FB+32", "L1", 1, 1, 0, 0], "of FB, not a multiple of 64"),
        ("copy_matrix_cbuf_to_cc", ["f32"], ["L0C+32", "L1", 1, 1, 0, 0], "of L0C, not a multiple of 64"),
        ("load_image_to_cbuf", [], ["L1"], "Convert the picture on the host and move the result into L1"),
    ],
)
def test_borders_of_moves(op: str, kinds: list[str], words: list[str | int], message: str) -> None:
    bench = Bench(1)
    numbers = []
    for word in words:
        memory, _, offset = str(word).partition("+")
        place = bench.core.address(memory) if isinstance(word, str) else 0
        numbers.append(place + int(offset or 0) if isinstance(word, str) else word)
    with pytest.raises(ValueError, match=message):
        bench.core.issue(op, kinds, numbers)


def test_fractals_can_be_taken_downwards() -> None:
    bench = Bench(2, "L1")
    source, copy = (bench.view(name, "u1").reshape(-1, 512) for name in ("L1", "L0A"))
    for repeat in range(4):
        copy[repeat] = source[9 - 2 * repeat]
    bench.core.issue("load_cbuf_to_ca", ["f16"], [bench.at("L0A"), bench.at("L1"), 9, 4, 2, 0, 0, 0, 1])
    bench.check()


def test_results_of_2_bytes_move_into_l0c_by_half_fractals() -> None:
    bench = Bench(3, "L1", "L0C")
    for burst in range(2):
        bench.copies["L0C"][burst * 1536 :][:1024] = bench.copies["L1"][burst * (1024 + 64) :][:1024]
    bench.core.issue("copy_matrix_cbuf_to_cc", ["f16"], [bench.at("L0C"), bench.at("L1"), 2, 2, 2, 1])
    bench.check()


def test_stores_from_l1_combine_too_and_so_does_bfloat16() -> None:
    bench = Bench(4)
    bench.write("L1", 0, pack(np.arange(16) / 4, "bf16"))
    bench.write("GM", 0, pack(np.full(16, 2.5), "bf16"))
    for ctrl, expected in ((6 << 6, np.arange(16) / 4 + 2.5), (6 << 6 | 1 << 9, np.maximum(np.arange(16) / 4, 2.5))):
        bench.write("GM", 0, pack(np.full(16, 2.5), "bf16"))
        bench.core.set_register("CTRL", NORMAL | ctrl)
        bench.core.issue("copy_cbuf_to_gm", [], [bench.at("GM"), bench.at("L1"), 0, 1, 1, 0, 0])
        assert bench.core.read("GM", 0, 32) == pack(expected, "bf16")


# Cube unit.


def multiply(bench: Bench, bias: int, flags: tuple[int, int, int]) -> np.ndarray:
    words = [bench.at("L0C"), bench.at("L0A"), bench.at("L0B"), bias, 16, 16, 16, 0, 0, *flags]
    bench.core.issue("mad", ["f32", "f16", "f16"], words)
    return bench.read("L0C", "<f4")[:256].reshape(16, 16)


def test_a_product_may_start_from_other_results_and_in_any_order() -> None:
    bench = Bench(5)
    left, right = np.arange(256).reshape(16, 16) % 7, np.eye(16)
    bench.write("L0A", 0, pack(left_fractals(left, "f16"), "f16"))
    bench.write("L0B", 0, pack(right_fractals(right, "f16"), "f16"))
    start = np.arange(256, dtype="<f4")
    bench.write("L0C", 2048, start.tobytes())
    # With an address that is not one of the bias table's: results lie there.
    found = multiply(bench, bench.at("L0C", 2048), (0, 0, 1))
    np.testing.assert_array_equal(found, left + start.reshape(16, 16))
    bench.core.set_register("CTRL", NORMAL | 1 << 51)
    np.testing.assert_array_equal(multiply(bench, 0, (0, 1, 0)), left)


def test_a_picture_at_the_end_of_its_part_of_l1_goes_on_at_the_start() -> None:
    bench = Bench(6, "L1")
    # 4 lines of 4 points of 16 channels; L1 ends, for pictures, behind the second line.
    bench.core.set_register("FMATRIX", 4 | 4 << 16)
    for size in (0, 65_536 + 256):
        bench.core.set_register("L1_3D_SIZE", size)
        words = [bench.at("L0A"), bench.at("L1", 65_536), 16, 16, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 16]
        bench.core.issue("img2colv2_cbuf_to_ca", ["f16"], words)
        lines = [bench.copies["L1"][65_536 + 128 * line :][:128] for line in range(4)]
        if size:
            lines[2:] = [bench.copies["L1"][128 * line :][:128] for line in range(2)]
        assert bench.core.read("L0A", 0, 512) == np.concatenate(lines).tobytes()
    for size, message in ((65_536 + 272, "not a multiple of 32"), (600_000, "of L1, which has 524288")):
        bench.core.set_register("L1_3D_SIZE", size)
        with pytest.raises(ValueError, match=message):
            bench.core.issue("img2colv2_cbuf_to_ca", ["f16"], [words[0], bench.at("L1", 524_288 - 128), *words[2:]])


def test_wide_filters() -> None:
    bench = Bench(7, "L1")
    # One line of 300 points and a filter of 258: 43 positions. The last of its columns are the points behind.
    bench.core.set_register("FMATRIX", 300 | 1 << 16)
    words = [bench.at("L0A"), bench.at("L1"), 16, 16, 257 * 16, 0, 1, 1, 2, 1, 1, 1, 1, 0, 0, 0, 16]
    bench.core.issue("img2colv2_cbuf_to_ca", ["f16"], words)
    points = bench.copies["L1"].reshape(-1, 32)
    assert bench.core.read("L0A", 0, 512) == points[257 : 257 + 16].tobytes()


def test_quantisation_words_start_at_a_multiple_of_128() -> None:
    bench = Bench(9)
    bench.core.set_register("FPC", ((bench.at("FB", 128) >> 7) << 8))
    bench.core.set_register("ND_PARA", 1)
    words = [bench.at("GM"), bench.at("L0C"), 0, 16, 16, 16, 16, 0, 4, 0, 0, 1]
    bench.core.issue("copy_matrix_cc_to_gm", ["s8", "f32"], words)
    tables = [pieces for name, memory, _, pieces, _ in bench.core.operands() if memory == "FB"]
    assert tables == [[128]]
