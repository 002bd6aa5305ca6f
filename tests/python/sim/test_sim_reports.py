"""Reports: a crash names parameter, function and line, an overrun op and core, a trap op and key; all forms read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import superkernel
from superkernel import SuperKernelError
from superkernel.sim import Device, Kernel, Report, build_op

SOC = "Ascend910_93"

SOURCE = """#include "kernel_operator.h"
static __attribute__((noinline)) void store(int32_t *out, int value) {
    *out = value;  // line 3
}
extern "C" __global__ __aicore__ void store_one(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    const int block = (int)AscendC::GetBlockIdx();
    const int at = block == 3 ? ((int32_t *)x)[0] : block;
    store((int32_t *)y + at, block);
    store((int32_t *)workspace + block, 1);
}
"""

TILED = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void tiled(GM_ADDR x) { ((volatile int32_t *)x)[0] = TILING_KEY_VAR; }
"""


@pytest.fixture(scope="module", params=["process", "in-process"])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with Device(SOC, isolation=request.param) as device:
        yield device


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two super kernels: `stores` has two static ops with debug information, `tiled` a dynamic one."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "store_one.cpp").write_text(SOURCE)
    op = build_op(
        folder / "store_one.cpp", "store_one", block_dim=4, soc=SOC, out_dir=folder / "ops", compile_options=["-g"]
    )
    dynamic = build_op(TILED, "tiled", tiling_keys=[7], soc=SOC, out_dir=folder / "ops", name="tiled")
    with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=folder):
        superkernel.compile({"op_list": [op.entry(), op.entry()]}, "te_superkernel_stores")
        superkernel.compile({"op_list": [op.entry(), dynamic.entry()]}, "te_superkernel_tiled")
    return folder


@pytest.fixture(scope="module")
def kernel(device: Device, folder: Path) -> Kernel:
    return device.load(folder / "kernel_meta" / "te_superkernel_stores.json")


def _arguments(at: int = 3) -> list[np.ndarray]:
    """The last block stores at `at`."""
    one = [np.full(4, at, np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)]
    return [*one, np.full(4, 3, np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)]


def test_a_crash_names_the_null_parameter_the_function_and_the_line(kernel: Kernel) -> None:
    report = kernel.launch([*_arguments()[:5], 0])
    assert report.status == "crash", report
    assert "parameter workspace of op 1 is 0" in report.message
    assert "in op 1 `store_one" in report.message
    assert "in `store`" in report.message and "store_one.cpp:3)" in report.message
    assert report.failure is not None and report.failure["line"] == 3


def test_an_overrun_names_op_and_core(kernel: Kernel) -> None:
    report = kernel.launch(_arguments(at=5))
    assert report.status == "overrun", report
    name = kernel.description.ops[0].name
    assert f"AIV3 in op 0 `{name}`: something was written 4 bytes past the end of buffer `y_0`" in report.message
    # The next launch starts with whole guards.
    assert kernel.launch(_arguments()).ok


def test_an_overrun_far_behind_is_found_at_the_end(kernel: Kernel) -> None:
    report = kernel.launch(_arguments(at=500))
    assert report.status == "overrun" and "1984 bytes past the end of buffer `y_0`" in report.message


def test_an_unknown_tiling_key_names_op_and_key(device: Device, folder: Path) -> None:
    kernel = device.load(folder / "kernel_meta" / "te_superkernel_tiled.json")
    x = np.zeros(4, np.int32)
    report = kernel.launch([*_arguments()[:3], x], tiling_key={1: 99})
    assert report.status == "trap"
    assert "op 1 `tiled` has no function for tiling key 99" in report.message
    assert kernel.launch([*_arguments()[:3], x], tiling_key={"tiled": 7}).ok and x[0] == 7


def test_one_line_a_readable_text_and_a_table(kernel: Kernel) -> None:
    good = kernel.launch(_arguments())
    assert repr(good).startswith("<Report te_superkernel_stores: ok, 4 cores, ") and "\n" not in repr(good)
    bad = Report(status="deadlock", message="first <line>\nsecond", warnings=["take & care"], kernel="k")
    assert "\n" not in repr(bad) and "first <line>" in repr(bad) and "1 warnings" in repr(bad)
    assert str(bad).splitlines()[1:] == ["first <line>", "second", "warning: take & care"]
    html = bad._repr_html_()
    assert "first &lt;line&gt;" in html and "take &amp; care" in html
    stuck = kernel.launch([*_arguments()[:5], 0])
    assert "</td><td>failed</td><td>op 1" in stuck._repr_html_()
    with pytest.raises(SuperKernelError, match="of `te_superkernel_stores` ended with `crash`"):
        stuck.raise_for_status()


def test_errors_name_the_kernel_and_no_temporary_file(kernel: Kernel) -> None:
    for options in ({"block_dim": 5000}, {"delays": {"AIV99": 3}}):
        with pytest.raises(SuperKernelError) as caught:
            kernel.launch(_arguments(), **options)
        assert "launch of `te_superkernel_stores`" in str(caught.value) and ".so" not in str(caught.value)
