"""Op lists for tests that need no objects: sub-kernel JSONs in a folder and ``kernel_infos`` over them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AIV = "KERNEL_TYPE_AIV_ONLY"
AIC = "KERNEL_TYPE_AIC_ONLY"
MIX_1_1 = "KERNEL_TYPE_MIX_AIC_1_1"
MIX_1_2 = "KERNEL_TYPE_MIX_AIC_1_2"

REMOVE = object()
_ENTRY_KEYS = {"json_path", "bin_path", "stream_id", "task_type", "send_event_list", "recv_event_list"}


class OpList:
    """Grows op by op: ``OpList(folder).op(AIV, 32).op(MIX_1_2, 20, stream_id=1).infos()``."""

    def __init__(self, folder: Path, chip: str = "c220") -> None:
        self.folder = folder
        self.chip = chip
        self.ops: list[Any] = []

    def op(self, kernel_type: str = AIV, blocks: Any = 8, **changes: Any) -> OpList:
        """One op; ``changes`` are keys of its entry or of its JSON, ``REMOVE`` takes a key away."""
        index = len(self.ops)
        path = self.folder / f"k{index}.json"
        entry: dict[str, Any] = {"json_path": str(path), "bin_path": str(self.folder / f"k{index}.o"), "stream_id": 0}
        kernel: dict[str, Any] = {
            "kernelName": f"k{index}",
            "blockDim": blocks,
            "sub_operator_kernel_type": kernel_type,
            "sub_operator_kernel_name": self.functions(kernel_type, index),
            "sub_operator_params": ["x", "y"],
            "sub_operator_early_start_set_flag": False,
            "sub_operator_early_start_wait_flag": False,
        }
        for key, value in changes.items():
            target = entry if key in _ENTRY_KEYS else kernel
            if value is REMOVE:
                del target[key]
            else:
                target[key] = value
        path.write_text(json.dumps(kernel))
        self.ops.append(entry)
        return self

    def dynamic(self, kernel_type: str = MIX_1_2, table: Any = None, **changes: Any) -> OpList:
        """A tiling-sink op."""
        default = {"7": {"kernel_type": AIV, "AiCore": "f_7"}}
        names = {"dynamic_func_names": default if table is None else table}
        return self.op(kernel_type, 1, task_type="dynamic", sub_operator_kernel_name=names, **changes)

    def functions(self, kernel_type: str, index: int) -> dict[str, Any]:
        """``sub_operator_kernel_name`` of a static op."""
        if kernel_type in (AIV, AIC):
            return {"AiCore": {"func_name": f"f{index}", "obj_files": f"f{index}.o"}}
        return {
            f"dav-{self.chip}-{unit}": {"func_name": f"f{index}_{kind}", "obj_files": f"f{index}_{kind}.o"}
            for unit, kind in (("cube", "aic"), ("vec", "aiv"))
        }

    def infos(self, options: Any = "") -> dict[str, Any]:
        """``kernel_infos``."""
        return {"op_list": self.ops, "super_kernel_options": options}

    def write(self, options: Any = "") -> Path:
        """``kernel_infos`` as a file."""
        path = self.folder / "kernel_infos.json"
        path.write_text(json.dumps(self.infos(options)))
        return path
