"""Documented rules of AscendC that are easily got wrong: conversions, padding, limits, element types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Report

COUNT = 64


def run(
    device: Device, folder: Path, body: str, data: np.ndarray, result: type, ratio: str = "0:1"
) -> tuple[Report, np.ndarray]:
    """`body` works on tensors `at<T>(byte)` in UB, where `data` lies at 0; the result is taken from byte 4096."""
    bytes_out = COUNT * np.dtype(result).itemsize
    source = f"""
using namespace AscendC;
template <class T> static LocalTensor<T> at(uint32_t byte, uint32_t count = {COUNT}) {{
    return LocalTensor<T>(TPosition::VECCALC, (T *)(sk_rt_core()->unifiedBuffer + byte), count);
}}
static void body() {{
    if ASCEND_IS_AIV {{
        copy_gm_to_ubuf((uint8_t *)0, (uint8_t *)slot(0), 0, 1, {max(1, data.nbytes // 32)}, 0, 0);
        {body}
        copy_ubuf_to_gm((uint8_t *)slot(1), (uint8_t *)4096, 0, 1, {bytes_out // 32}, 0, 0);
    }}
}}
"""
    kernel = sim_kernels.kernel(device, folder, source, ratio)
    output = device.buffer(np.zeros(COUNT, result))
    report = kernel.launch([device.buffer(data), output], block_dim=1)
    return report, output.numpy()


def test_none_rounds_to_nearest_even_where_something_is_lost(device: Device, folder: Path) -> None:
    data = np.array([1.5, 2.5, -0.5, 200.0] * 16, np.float16)
    body = "Cast(at<int8_t>(4096), at<half>(0), RoundMode::CAST_NONE, 64u);"
    report, found = run(device, folder, body, data, np.int8)
    report.raise_for_status()
    assert found[:4].tolist() == [2, 2, 0, 127]


@pytest.mark.parametrize(("wide", "narrow"), [(np.int32, np.int16), (np.int64, np.int32)])
def test_narrower_integers_saturate(device: Device, folder: Path, wide: type, narrow: type) -> None:
    limits = np.iinfo(narrow)
    data = np.array([limits.max + 1, limits.min - 1, 7, -7] * 16, wide)
    types = {np.int16: "int16_t", np.int32: "int32_t", np.int64: "int64_t"}
    body = f"Cast(at<{types[narrow]}>(4096), at<{types[wide]}>(0), RoundMode::CAST_NONE, 64u);"
    report, found = run(device, folder, body, data, narrow)
    report.raise_for_status()
    assert found[:4].tolist() == [limits.max, limits.min, 7, -7]


def test_integers_become_halves_by_a_scale(device: Device, folder: Path) -> None:
    data = np.arange(-32, 32, dtype=np.int32) * 1001
    body = "SetDeqScale(half(0.125f)); Cast(at<half>(4096), at<int32_t>(0), RoundMode::CAST_NONE, 64u);"
    report, found = run(device, folder, body, data, np.float16)
    report.raise_for_status()
    np.testing.assert_array_equal(found, (data * 0.125).astype(np.float16))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("RINT", 16777216), ("ROUND", 16777218), ("FLOOR", 16777216), ("CEIL", 16777218), ("TRUNC", 16777216)],
)
def test_integers_become_floats_by_the_rounding_mode(device: Device, folder: Path, mode: str, expected: int) -> None:
    data = np.full(COUNT, 16777217, np.int32)
    body = f"Cast(at<float>(4096), at<int32_t>(0), RoundMode::CAST_{mode}, 64u);"
    report, found = run(device, folder, body, data, np.float32)
    report.raise_for_status()
    assert found[0] == expected


PAD = """
GlobalTensor<float> gm;
gm.SetGlobalBuffer((__gm__ float *)slot(0), 64);
Duplicate(at<float>(4096), -1.0f, 64);
DataCopyPad(at<float>(4096), gm, DataCopyExtParams{1, 12, 0, 0, 0}, DataCopyPadExtParams<float>{%s});
"""


def test_a_row_without_padding_is_filled_with_its_first_element(device: Device, folder: Path) -> None:
    data = np.arange(3, 3 + COUNT, dtype=np.float32)
    report, found = run(device, folder, PAD % "false, 0, 0, 0.0f", data, np.float32)
    report.raise_for_status()
    assert found[:9].tolist() == [3, 4, 5, 3, 3, 3, 3, 3, -1]


def test_padding_of_a_block_on_either_side(device: Device, folder: Path) -> None:
    data = np.arange(3, 3 + COUNT, dtype=np.float32)
    report, found = run(device, folder, PAD % "true, 8, 8, 9.0f", data, np.float32)
    report.raise_for_status()
    assert found[:25].tolist() == [9] * 8 + [3, 4, 5] + [9] * 13 + [-1]
    report, _ = run(device, folder, PAD % "true, 9, 0, 9.0f", data, np.float32)
    assert report.status == "api"
    assert "left padding of 36 bytes; at most 32" in report.message


def test_overlap_within_a_repeat_does_not_chain(device: Device, folder: Path) -> None:
    data = np.ones(COUNT, np.float32)
    body = "Adds(at<float>(4096), at<float>(0), 0.0f, 64); Adds(at<float>(4128, 56), at<float>(4096), 1.0f, 56);"
    report, found = run(device, folder, body, data, np.float32)
    report.raise_for_status()
    assert found.tolist() == [1.0] * 8 + [2.0] * 56


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("CrossCoreSetFlag<0, PIPE_MTE3>(20);", "flag id 20; ids are 0 to 15"),
        ("CrossCoreWaitFlag(16);", "flag id 16; ids are 0 to 15"),
        ("SetFlag<HardEvent::V_MTE3>(8);", "event id 8; ids are 0 to 7"),
        (
            "TPipe pipe; TQue<TPosition::VECIN, 1> all[9]; for (auto &queue : all) pipe.InitBuffer(queue, 8, 32);",
            "72 buffers in all; a pipe has at most 64",
        ),
        ("Cast(at<half>(4096), at<int8_t>(0), RoundMode::CAST_CEIL, 64u);", "vconv"),
    ],
)
def test_limits(device: Device, folder: Path, body: str, message: str) -> None:
    report, _ = run(device, folder, body, np.zeros(COUNT, np.float32), np.float32)
    assert report.status == "api"
    assert message in report.message


def test_the_bias_table_has_1_kib(device: Device, folder: Path) -> None:
    source = """
using namespace AscendC;
static void body() {
    if ASCEND_IS_AIC {
        TPipe pipe;
        TQue<TPosition::C2, 1> queue;
        pipe.InitBuffer(queue, 1, 1056);
    }
}
"""
    kernel = sim_kernels.kernel(device, folder, source, "1:0")
    report = kernel.launch([device.buffer(np.zeros(8, np.float32))], block_dim=1)
    assert report.status == "api"
    assert "1056 bytes of BT wanted, 0 of 1024 are in use" in report.message


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("Add(at<T>(0), at<T>(0), at<T>(0), 8);", "int8_t"),
        ("Add(at<T>(0), at<T>(0), at<T>(0), 8);", "int64_t"),
        ("Add(at<T>(0), at<T>(0), at<T>(0), 8);", "bfloat16_t"),
        ("Add(at<T>(0), at<T>(0), at<T>(0), 8);", "double"),
        ("Exp(at<T>(0), at<T>(0), 8);", "int32_t"),
        ("Div(at<T>(0), at<T>(0), at<T>(0), 8);", "int32_t"),
    ],
)
def test_forms_the_chip_does_not_have_do_not_compile(device: Device, folder: Path, call: str, kind: str) -> None:
    with pytest.raises(AssertionError, match="the chip has no form for this element type"):
        run(device, folder, f"using T = {kind}; {call}", np.zeros(COUNT, np.float32), np.float32)
