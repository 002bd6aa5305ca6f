"""Tiles whose ends hold no data: what is computed of them does no harm until somebody uses it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Report

#: Of 128 floats at 0 of UB the first 64 are data; 4096 on is for results, 8192 on for bits.
SOURCE = """
using namespace AscendC;
static void body() {
    auto *to = (float *)slot(1);
    [[maybe_unused]] auto *in = (float *)0, *out = (float *)4096, *more = (float *)6144;
    [[maybe_unused]] auto *halves = (half *)4096;
    [[maybe_unused]] auto *bits = (uint8_t *)8192;
    copy_gm_to_ubuf(in, (float *)slot(0), 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
    COMPUTE; // line 10
    pipe_barrier(PIPE_ALL);
    USE; // line 12
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(to, out, 0, 1, 1, 0, 0);
}
"""


def run(device: Device, folder: Path, compute: str, use: str) -> Report:
    source = SOURCE.replace("COMPUTE", compute).replace("USE", use)
    kernel = sim_kernels.kernel(device, folder, source, "0:1", ("-g",))
    buffers = [device.buffer(np.arange(256, dtype=np.float32)), device.buffer(np.zeros(256, np.float32))]
    return kernel.launch(buffers, block_dim=1, pipes="checked", auto_sync=True)


SCALAR = "(void)LocalTensor<float>(TPosition::VECCALC, 4096, 128).GetValue(AT)"
ADD = "vadds(out, in, 1.f, 2, 1, 1, 8, 8)"
CHAIN = f"{ADD}; vmuls(more, out, 2.f, 2, 1, 1, 8, 8); vadd(out, more, in, 2, 1, 1, 1, 8, 8, 8)"
COPY = "copy_ubuf_to_ubuf(out, in, 0, 1, 16, 0, 0)"
NARROW = "vconv_f322f16(halves, in, 2, 1, 1, 4, 8)"
SELECT = "vcmpvs_gt(bits, in, 1.f, 2, 1, 1, 8, 8); vector_dup(more, 1.f, 2, 1, 1, 8, 0)"


@pytest.mark.parametrize("compute", [ADD, CHAIN, COPY])
def test_the_rest_of_a_tile_may_be_computed(device: Device, folder: Path, compute: str) -> None:
    """Only the data is used: by a move, by the scalar unit, by a sum."""
    first_half = "copy_ubuf_to_gm(to, out, 0, 1, 8, 0, 0)"
    for use in (first_half, SCALAR.replace("AT", "63"), "vcadd(more, out, 1, 1, 1, 8, 0)"):
        run(device, folder, compute, use).raise_for_status()


@pytest.mark.parametrize("compute", [ADD, CHAIN, COPY])
@pytest.mark.parametrize(
    ("use", "who"),
    [
        ("copy_ubuf_to_gm(to, out, 0, 1, 16, 0, 0)", "copy_ubuf_to_gm"),
        ("copy_ubuf_to_gm_align_b32(to, out, 0, 1, 292, 0, 0, 0, 0)", "copy_ubuf_to_gm_align"),
        (SCALAR.replace("AT", "64"), "a scalar access"),
        ("vcadd(more, out, 2, 1, 1, 8, 0)", "vcadd"),
        ("vcmax(more, out, 2, 1, 1, 8, VALUE_INDEX)", "vcmax"),
    ],
)
def test_who_uses_the_rest_of_a_tile_is_found(device: Device, folder: Path, compute: str, use: str, who: str) -> None:
    report = run(device, folder, compute, use)
    assert report.status == "pipe", report
    finding = report.findings[0]
    assert finding.kind == "never-written" and finding.second is not None
    # The report names who read first what nobody wrote, and who could not do with it.
    assert finding.second["line"] == 10 and f"and what comes of it reaches {who} (" in finding.text, finding.text
    assert "reads bytes 256 to 512 of UB" in finding.text


def test_other_sizes_of_elements(device: Device, folder: Path) -> None:
    run(device, folder, NARROW, "copy_ubuf_to_gm(to, out, 0, 1, 4, 0, 0)").raise_for_status()
    report = run(device, folder, NARROW, "copy_ubuf_to_gm(to, out, 0, 1, 8, 0, 0)")
    assert [finding.kind for finding in report.findings] == ["never-written"], report
    wide = f"{NARROW}; vconv_f162f32(more, halves, 2, 1, 1, 8, 4); vadds(out, more, 1.f, 2, 1, 1, 8, 8)"
    run(device, folder, wide, "copy_ubuf_to_gm(to, out, 0, 1, 8, 0, 0)").raise_for_status()
    report = run(device, folder, wide, "copy_ubuf_to_gm(to, out, 0, 1, 9, 0, 0)")
    assert [finding.kind for finding in report.findings] == ["never-written"], report


def test_bits_of_the_rest_choose_the_rest(device: Device, folder: Path) -> None:
    """A comparison of the whole tile is fine, and so is a selection by its bits, as far as its result is not used."""
    choose = f"{SELECT}; vsel(out, more, bits, 2, 1, 1, 1, 8, 8, 8, 1)"
    run(device, folder, choose, "copy_ubuf_to_gm(to, out, 0, 1, 8, 0, 0)").raise_for_status()
    report = run(device, folder, choose, "copy_ubuf_to_gm(to, out, 0, 1, 16, 0, 0)")
    assert [finding.kind for finding in report.findings] == ["never-written"], report
    assert "vcmpvs" in report.findings[0].text


def test_written_anew_is_written(device: Device, folder: Path) -> None:
    again = f"{ADD}; vector_dup(out + 64, 0.f, 1, 1, 1, 8, 0)"
    run(device, folder, again, "copy_ubuf_to_gm(to, out, 0, 1, 16, 0, 0)").raise_for_status()
