"""Arguments by name, arrays in and out, hidden slots that fill themselves; every wrong number or name is told."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel import SuperKernelError
from superkernel.sim import Device, Kernel, build_op

SOC = "Ascend910_93"
LENGTH = 96

SCALE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    const int n = 96 / (int)AscendC::GetBlockNum();
    int32_t *in = (int32_t *)x + n * AscendC::GetBlockIdx(), *out = (int32_t *)y + n * AscendC::GetBlockIdx();
    for (int i = 0; i < n; ++i) { out[i] = in[i] * 3; }
    ((volatile uint8_t *)workspace)[AscendC::GetBlockIdx()] = 1;
}
"""

TILED = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void tiled(GM_ADDR x, GM_ADDR y) {
    if (AscendC::GetBlockIdx() == 0) {
        for (int i = 0; i < 96; ++i) { ((int32_t *)y)[i] = ((int32_t *)x)[i] + TILING_KEY_VAR; }
    }
}
"""


def _fused(device: Device, folder: Path, entries: list[dict[str, Any]], options: str, name: str) -> Kernel:
    with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=folder):
        superkernel.compile({"op_list": entries, "super_kernel_options": options}, name)
    return device.load(folder / "kernel_meta" / f"{name}.json")


@pytest.fixture(scope="module")
def kernel(device: Device, folder: Path) -> Kernel:
    """Two ops; the first sends an event, the second waits for one, both outer; profiling on."""
    op = build_op(SCALE, "scale", block_dim=4, soc=SOC, out_dir=folder / "ops")
    entries = [op.entry(send_events=[5]), op.entry(recv_events=[6])]
    return _fused(device, folder, entries, "profiling=1", "te_superkernel_arguments")


@pytest.fixture(scope="module")
def tiled(device: Device, folder: Path) -> Kernel:
    op = build_op(TILED, "tiled", block_dim=4, tiling_keys=[7, 9], soc=SOC, out_dir=folder / "ops")
    return _fused(device, folder, [op.entry()], "", "te_superkernel_tiled")


def _error(kernel: Kernel, args: Any, **options: Any) -> SuperKernelError:
    with pytest.raises(SuperKernelError) as caught:
        kernel.launch(args, **options)
    assert caught.value.errorinfo["errId"] == "SK0902"
    return caught.value


def _arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(LENGTH, dtype=np.int32), np.zeros(LENGTH, np.int32), np.zeros(LENGTH, np.int32)


def test_every_slot_is_listed(kernel: Kernel) -> None:
    shown = [(p.slot, p.name, p.op, p.op_name, p.role, p.hidden, p.direction) for p in kernel.parameters]
    name = kernel.description.ops[0].name
    assert shown == [
        (0, "ffts_addr", None, None, "ffts-address", True, "in"),
        (1, "x_0", 0, name, "parameter", False, None),
        (2, "y_0", 0, name, "parameter", False, None),
        (3, "workspace_0", 0, name, "parameter", False, None),
        (4, "__ac_notify_lock_0_0", 0, name, "notify-lock", True, "out"),
        (5, "x_1", 1, name, "parameter", False, None),
        (6, "y_1", 1, name, "parameter", False, None),
        (7, "workspace_1", 1, name, "parameter", False, None),
        (8, "__ac_wait_lock_1_0", 1, name, "wait-lock", True, "inout"),
        (9, "profiling", None, None, "profiling", True, "inout"),
        (10, "task_id", None, None, "task-id", True, "in"),
    ]


def test_a_dict_by_name_is_all_a_launch_needs(device: Device, kernel: Kernel) -> None:
    x, y, z = _arrays()
    live = len(device._live_buffers())
    args = {"x_0": x, "y_0": y, "workspace_0": np.zeros(8, np.uint8), "x_1": y, (1, "y"): z, (1, "workspace"): bytes(8)}
    report = kernel.launch(args, seed=3).raise_for_status()
    assert np.array_equal(y, 3 * x) and np.array_equal(z, 9 * x)
    # Profiling filled itself, and what was made for the launch is gone.
    assert {record.index for record in report.profiling if record.kind == "op"} == {0, 1}
    assert len(device._live_buffers()) == live


def test_a_list_has_all_slots_or_the_visible_ones(device: Device, kernel: Kernel) -> None:
    x, y, z = _arrays()
    kernel.launch([x, y, bytes(8), y, z, bytes(8)]).raise_for_status()
    assert np.array_equal(z, 9 * x)
    lock = device.buffer((1).to_bytes(64, "little"), "lock")
    notify, out = device.buffer(64), device.buffer(np.zeros(LENGTH, np.int32))
    profiling = superkernel.sim.ProfilingBuffer(device)
    full = [x, out, bytes(8), notify, out, z, bytes(8), lock, profiling.buffer, 77]
    kernel.launch(full).raise_for_status()
    assert notify.word() == 1 and lock.word() == 0
    assert {record.index for record in profiling.records() if record.kind == "start"} == {77}


@pytest.mark.parametrize(
    ("count", "missing"), [(0, "x_0, y_0, workspace_0, x_1"), (5, "workspace_1"), (9, "task_id"), (100, None)]
)
def test_any_other_length_names_what_is_missing(kernel: Kernel, count: int, missing: str | None) -> None:
    message = _error(kernel, [0] * count).errorinfo["message"]
    assert "takes 6 arguments (x_0, y_0, workspace_0, x_1, y_1, workspace_1), or 10" in message
    assert f"{count} given" in message and "te_superkernel_arguments" in message
    assert (f"missing: {missing}" in message) if missing else message.endswith("100 given")


def test_wrong_names_and_types_are_told(kernel: Kernel) -> None:
    x, y, _ = _arrays()
    assert "missing: y_0, workspace_0, x_1, y_1, workspace_1" in str(_error(kernel, {"x_0": x}))
    assert "did you mean" in str(_error(kernel, {"x0": x}))
    assert "no parameter `z` of op 1" in str(_error(kernel, {(1, "z"): x}))
    assert "`x_0` of kernel `te_superkernel_arguments` is given twice" in str(_error(kernel, {"x_0": x, (0, "x"): x}))
    assert "several ops" in str(_error(kernel, {(kernel.description.ops[0].name, "x"): x}))
    assert "no such op" in str(_error(kernel, {("scale", "x"): x}))
    for wrong in (1.5, None, "text", [1], object()):
        error = _error(kernel, [x, y, wrong, y, x, 0])
        assert "`workspace_0` of kernel `te_superkernel_arguments` cannot be" in error.errorinfo["message"]


def test_arrays_that_overlap_are_refused(kernel: Kernel) -> None:
    both = np.zeros(2 * LENGTH, np.int32)
    error = _error(kernel, [both[:LENGTH], both[1 : LENGTH + 1], bytes(8), both[LENGTH:], both[LENGTH:], bytes(8)])
    assert "`y_0` and `x_0` are arrays that share a part of their memory" in error.errorinfo["message"]


def test_read_only_arrays_stay_and_others_come_back_in_their_own_form(kernel: Kernel) -> None:
    x, _, _ = _arrays()
    x.flags.writeable = False
    matrix = np.zeros((2 * LENGTH // 6, 6), np.int32)
    strided = matrix[::2]
    swapped = np.zeros(LENGTH, ">i4")
    kernel.launch([x, strided, bytes(8), strided, swapped, bytes(8)]).raise_for_status()
    assert np.array_equal(strided.ravel(), 3 * x) and not matrix[1::2].any()
    assert np.array_equal(swapped, 9 * x)


def test_a_dynamic_op_asks_for_its_key(tiled: Kernel) -> None:
    x, y, _ = _arrays()
    error = _error(tiled, {"x_0": x, "y_0": y})
    assert "is tiled at run time" in str(error) and "tiling_key={0: KEY}" in str(error)
    for key in (7, (9, 2)):
        tiled.launch({"x_0": x, "y_0": y}, tiling_key={0: key}).raise_for_status()
        assert np.array_equal(y, x + (key if isinstance(key, int) else key[0]))


def test_accesses_take_arrays_and_names_of_slots(kernel: Kernel) -> None:
    x, y, z = _arrays()
    args = [x, y, bytes(8), y, z, bytes(8)]
    accesses = {0: {"reads": [x], "writes": ["y_0"]}, 1: {"reads": ["x_1"], "writes": [z]}}
    assert kernel.launch(args, accesses=accesses).ok
    with pytest.raises(SuperKernelError, match="no argument of this launch"):
        kernel.launch(args, accesses={0: {"reads": [np.zeros(4)]}})
    with pytest.raises(SuperKernelError, match="has no parameter `y_00`"):
        kernel.launch(args, accesses={0: {"reads": ["y_00"]}})


#: What no argument of `build_op` takes.
_NONSENSE: tuple[Any, ...] = (object(), b"x", 2.5, [None], [1, "x"], {"a": 1}, "\ud800", lambda: 1)


@pytest.mark.parametrize("name", [name for name in inspect.signature(build_op).parameters if name != "watch_accesses"])
def test_what_an_operator_cannot_be_built_with(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) {}'
    for value in _NONSENSE:
        if name == "tiling_data" and isinstance(value, bytes):
            continue
        with pytest.raises(SuperKernelError) as caught:
            build_op(**{"source": source, "kernel": "k", "out_dir": tmp_path, name: value})
        assert len(str(caught.value)) < 600
    assert not [*tmp_path.rglob("*.o")], "what is refused leaves no operator behind, wherever it was to go"


def test_what_a_check_cannot_be_asked(tmp_path: Path) -> None:
    source = '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {}'
    with Device() as device:
        kernel = device.load(build_op(source, "k", out_dir=tmp_path).json_path)
        for more in ({"executor": 5}, {"progress": "x"}, {"expect": {"x": 1.5}}, {"expect": {"x": 5}}, {"time": "x"}):
            with pytest.raises(SuperKernelError, match="SK0902"):
                kernel.check([bytes(16)], seeds=1, **more)  # type: ignore[arg-type]
