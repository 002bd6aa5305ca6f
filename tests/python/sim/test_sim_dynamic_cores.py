"""Which cores enter an op that is tiled at run time: all of its kinds, or as many as it was tiled for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel.sim import Device, Report, build_op

AIV, AIC, MIX = "KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_2"
ROW = 16

# Every core writes its row, and none asks whether it is one of those it was tiled for.
ROWS = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void rows(GM_ADDR y, GM_ADDR tiling) {
    const int64_t core = CORE;
    for (int at = 0; at < 16; ++at) { ((volatile __gm__ int32_t *)y)[core * 16 + at] = 1 + (int32_t)core; }
}
"""


def launch(
    folder: Path, kernel_type: str, options: str, blocks: int, rows: int, sync_all: bool | None = False
) -> tuple[Report, np.ndarray[Any, Any]]:
    """A super kernel of all cores with one op that is tiled for ``blocks`` and has room for ``rows``."""
    core = "AscendC::GetBlockIdx()" if kernel_type != MIX else "get_block_idx()"
    with superkernel.configure(soc="Ascend910_93", toolchain="host", kernel_meta_parent_dir=folder, ascendc=""):
        op = build_op(
            ROWS.replace("CORE", core),
            "rows",
            ["y", "tiling"],
            kernel_type,
            4,
            op_type="Rows",
            out_dir=folder / "op",
            tiling_keys={7: kernel_type},
        )
        path = Path(op.json_path)
        described = json.loads(path.read_text())
        if sync_all is None:
            del described["sub_op_with_sync_all"]
        else:
            described["sub_op_with_sync_all"] = sync_all
        path.write_text(json.dumps(described))
        entry = {"bin_path": op.bin_path, "json_path": op.json_path, "task_type": "dynamic"}
        superkernel.compile({"op_list": [entry], "super_kernel_options": options}, "dynamic_cores")
    with Device("Ascend910_93") as device:
        kernel = device.load(folder / "kernel_meta" / "dynamic_cores.json")
        y = np.zeros((rows, ROW), np.int32)
        args = {"y_0": y, "tiling_0": np.zeros(8, np.int32)}
        return kernel.launch(args, tiling_key={0: (7, blocks)}, check_order=False), y


@pytest.mark.parametrize("kernel_type", [AIV, AIC, MIX])
def test_cores_that_an_op_was_not_tiled_for_stay_outside(tmp_path: Path, kernel_type: str) -> None:
    report, y = launch(tmp_path / "all", kernel_type, "", 2, 2)
    assert report.status == "overrun", report
    assert "was tiled at run time for 2 blocks" in report.message and "dynamic-cores=tiled" in report.message
    report, y = launch(tmp_path / "tiled", kernel_type, "dynamic-cores=tiled", 2, 2)
    report.raise_for_status()
    assert y[:, 0].tolist() == [1, 2] and y[:, -1].tolist() == [1, 2]


def test_an_op_that_may_call_sync_all_is_entered_by_all(tmp_path: Path) -> None:
    for number, sync_all in enumerate((True, None)):
        report, y = launch(tmp_path / str(number), AIV, "dynamic-cores=tiled", 2, 48, sync_all)
        report.raise_for_status()
        assert y[:, 0].tolist() == list(range(1, 49))


@pytest.mark.parametrize("options", ["", "dynamic-cores=tiled"])
def test_a_number_of_blocks_that_does_not_exist_traps(tmp_path: Path, options: str) -> None:
    for blocks in (0, 49):
        report, _ = launch(tmp_path / str(blocks), AIV, options, blocks, 48)
        assert report.status == "trap", report
    launch(tmp_path / "48", AIV, options, 48, 48)[0].raise_for_status()


def test_a_wrong_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(superkernel.SuperKernelError, match="one of `all`, `tiled`"):
        superkernel.compile({"op_list": [], "super_kernel_options": "dynamic-cores=some"}, "none")


def test_the_lock_of_a_dynamic_op_is_its_own(tmp_path: Path) -> None:
    with superkernel.configure(soc="Ascend910_93", toolchain="host", kernel_meta_parent_dir=tmp_path, ascendc=""):
        entries = []
        for name in ("one", "other"):
            source = ROWS.replace("CORE", "AscendC::GetBlockIdx()").replace("rows(", f"{name}(")
            op = build_op(
                source, name, ["y", "tiling"], AIV, 4, op_type="Rows", out_dir=tmp_path, tiling_keys={7: AIV}
            )  # fmt: skip
            entries.append({"bin_path": op.bin_path, "json_path": op.json_path, "task_type": "dynamic"})
        superkernel.compile({"op_list": entries, "super_kernel_options": ""}, "two_locks")
    with Device("Ascend910_93") as device:
        kernel = device.load(tmp_path / "kernel_meta" / "two_locks.json")
        args: dict[Any, Any] = {}
        for number in (0, 1):
            args[f"y_{number}"], args[f"tiling_{number}"] = np.zeros((48, ROW), np.int32), np.zeros(8, np.int32)
        keys = {0: (7, 4), 1: (7, 4)}
        kernel.launch(args, tiling_key=keys, check_order=False).raise_for_status()
        word = device.buffer(np.zeros(1, np.uint64))
        args.update({"__ac_wait_lock_0": word, "__ac_wait_lock_1": word})
        with pytest.raises(
            superkernel.SuperKernelError, match=r"`__ac_wait_lock_0` and `__ac_wait_lock_1` are one"
        ) as error:
            kernel.launch(args, tiling_key=keys, check_order=False)
    assert error.value.errorinfo["errId"] == "SK0902"
