"""Intrinsics as kernels write them: the C++ side issues what the core understands, and reports name the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sim_kernels
from superkernel.sim import Device, Report


def run(device: Device, folder: Path, body: str, data: np.ndarray) -> tuple[Report, np.ndarray]:
    """`body` works on UB: `data` lies at byte 0, what comes back is taken from byte 65536."""
    source = f"""
static void body() {{
    copy_gm_to_ubuf((uint8_t *)0, (uint8_t *)slot(0), 0, 1, {data.nbytes // 32}, 0, 0);
    {body}
    copy_ubuf_to_gm((uint8_t *)slot(1), (uint8_t *)65536, 0, 1, {data.nbytes // 32}, 0, 0);
}}
"""
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    output = device.buffer(np.zeros_like(data))
    report = kernel.launch([device.buffer(data), output], block_dim=1)
    return report, output.numpy()


def test_a_masked_addition(device: Device, folder: Path) -> None:
    data = np.arange(256, dtype=np.float32)
    body = """
    float *in = (float *)0, *out = (float *)65536;
    vector_dup(out, 7, 4, 1, 1, 8, 0);
    set_vector_mask(0, 0xff);
    vadd(out, in, in, 4, 1, 1, 1, 8, 8, 8);
    set_mask_count();
    set_vector_mask(0, 70);
    vmuls(out, out, 2, 0, 1, 1, 8, 8);
    """
    report, found = run(device, folder, body, data)
    report.raise_for_status()
    expected = np.full((4, 64), 7, np.float32)
    expected[:, :8] = 2 * data.reshape(4, 64)[:, :8]
    expected = expected.ravel()
    expected[:70] *= 2
    np.testing.assert_array_equal(found, expected)


def test_a_broken_rule_names_instruction_and_line(device: Device, folder: Path) -> None:
    report, _ = run(device, folder, "vabs((float *)196512, (float *)0, 1, 1, 1, 8, 8);", np.zeros(64, np.float32))
    assert report.status == "api"
    assert "vabs: dst covers bytes 196512 to 196768 of UB, which has 196608" in str(report.failure)
    assert report.failure is not None
    # A line of the kernel, not one of a header.
    assert report.failure["file"] == "kernel.cpp"
    assert report.failure["line"] > 1
