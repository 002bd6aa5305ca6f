"""Scratch memory: what it holds at the beginning differs by seed, and a read of what nobody wrote is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from superkernel.sim import Device, Kernel, build_op

# y becomes 64 floats of the workspace, written before or not.
SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    __gm__ float *scratch = (__gm__ float *)workspace;
    __ubuf__ float *row = (__ubuf__ float *)0;
    copy_gm_to_ubuf(row, (__gm__ float *)x, 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
#if WRITES
    copy_ubuf_to_gm(scratch, row, 0, 1, WRITES, 0, 0);
    pipe_barrier(PIPE_ALL);
#endif
#if SCALAR
    scratch[64] = SCALAR == 2 ? 1.0f : scratch[65];
    scratch[64] += 1; // SCALAR
#endif
#if COMBINES
    set_atomic_f32();
    set_atomic_add();
    copy_ubuf_to_gm(scratch, row, 0, 1, 8, 0, 0); // COMBINES
    set_atomic_none();
    pipe_barrier(PIPE_ALL);
#endif
    copy_gm_to_ubuf(row, scratch, 0, 1, 8, 0, 0); // READ
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm((__gm__ float *)y, row, 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
}
"""
X = np.arange(64, dtype=np.float32)


def scratching(device: Device, folder: Path, writes: int = 8, scalar: int = 0, combines: int = 0) -> Kernel:
    name = f"scratch_{writes}_{scalar}_{combines}"
    defines = (f"#define WRITES {writes}", f"#define SCALAR {scalar}", f"#define COMBINES {combines}")
    source = folder / f"{name}.cpp"
    source.write_text("\n".join((*defines, "#line 1", SOURCE.replace("NAME", name))))
    params = ["x", "y", "workspace"]
    op = build_op(
        source, name, params, "KERNEL_TYPE_AIV_ONLY", 1, op_type="Scratch", out_dir=folder, compile_options=["-g"]
    )
    return device.load(op.json_path)


def arguments() -> dict[str, np.ndarray]:
    return {"x": X, "y": np.zeros_like(X), "workspace": np.zeros(1024, np.float32)}


def line(mark: str) -> int:
    return 1 + SOURCE.split(f"// {mark}")[0].count("\n")


def test_what_was_written_is_no_finding(device: Device, folder: Path) -> None:
    for kernel in (
        scratching(device, folder),
        scratching(device, folder, scalar=2),
        scratching(device, folder, 8, 0, 1),
    ):
        args = arguments()
        kernel.launch(args, pipes="checked").raise_for_status()
        assert args["y"][3] in (3, 6)
        kernel.check(arguments(), seeds=4).raise_for_status()


@pytest.mark.parametrize(
    ("writes", "scalar", "combines", "mark"),
    [(0, 0, 0, "READ"), (7, 0, 0, "READ"), (8, 1, 0, "SCALAR"), (0, 0, 1, "COMBINES")],
)
def test_a_read_of_what_nobody_wrote_is_found(
    device: Device, folder: Path, writes: int, scalar: int, combines: int, mark: str
) -> None:
    kernel = scratching(device, folder, writes, scalar, combines)
    for seed in range(3):
        report = kernel.launch(arguments(), pipes="checked", seed=seed)
        assert report.status == "pipe", report
        finding = next(finding for finding in report.findings if finding.kind == "never-written")
        assert "scratch memory which nothing has written since the launch began" in finding.text
        expected = line(mark) - (mark == "SCALAR")
        assert finding.second is not None and finding.second["line"] == expected, finding
        assert "`workspace`" in finding.text


def test_what_it_holds_at_first_differs_by_seed(device: Device, folder: Path) -> None:
    kernel = scratching(device, folder, 0)

    def found(seed: int, poison: bool) -> bytes:
        args = arguments()
        kernel.launch(args, seed=seed, poison_local_memory=poison).raise_for_status()
        return args["y"].tobytes()

    assert found(1, False) == bytes(256), "only on request: memory is as it was given"
    contents = [found(seed, True) for seed in range(4)]
    assert len(set(contents)) == 4 and contents[1] == found(1, True)
    verdict = kernel.check(arguments(), seeds=4)
    assert not verdict.ok


def test_memory_that_is_given_as_data_too_is_data(device: Device, folder: Path) -> None:
    kernel = scratching(device, folder, 0)
    both = np.ones(1024, np.float32)
    y = np.zeros_like(X)
    kernel.launch({"x": both, "y": y, "workspace": both}, pipes="checked").raise_for_status()
    assert (y == 1).all()
