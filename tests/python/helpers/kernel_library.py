"""A few small sub-kernels, compiled once per test run and shared by all tests that build super kernels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import device_objects
from superkernel import elf
from superkernel.sim import BuiltOp, build_op

AIV = "KERNEL_TYPE_AIV_ONLY"
AIC = "KERNEL_TYPE_AIC_ONLY"
MIX_AIV = "KERNEL_TYPE_MIX_AIV_1_0"
MIX_AIC = "KERNEL_TYPE_MIX_AIC_1_0"
MIX_1_1 = "KERNEL_TYPE_MIX_AIC_1_1"
MIX_1_2 = "KERNEL_TYPE_MIX_AIC_1_2"

SOURCE = """\
#include "kernel_operator.h"
static int counter_{name} = {seed};
extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR y)
{{
    for (int64_t line = AscendC::GetBlockIdx(); line < 4; line += AscendC::GetBlockNum()) {{
        for (int64_t i = 16 * line; i < 16 * (line + 1); ++i) {{
            ((int32_t *)y)[i] = ((int32_t *)x)[i] + counter_{name} + {seed};
        }}
    }}
}}
"""


class KernelLibrary:
    """Builds sub-kernels on demand, each once."""

    def __init__(self, folder: Path, *, for_device: bool = False) -> None:
        self.folder = folder
        self.for_device = for_device
        self._built: dict[tuple[Any, ...], BuiltOp] = {}

    def op(
        self, name: str = "one", kernel_type: str = AIV, block_dim: int = 2, *, soc: str = "Ascend910_93", **more: Any
    ) -> BuiltOp:
        """The sub-kernel called ``name``."""
        key = (name, kernel_type, block_dim, soc, repr(sorted(more.items())))
        if key not in self._built:
            seed = sum(name.encode()) % 97
            source = SOURCE.format(name=name, seed=seed)
            folder = self.folder / soc
            self._built[key] = build_op(
                source, name, None, kernel_type, block_dim, op_type=name.title(), soc=soc, out_dir=folder, **more
            )
            if self.for_device:
                _into_device_shape(self._built[key], "c310" if soc == "Ascend950" else "c220")
        return self._built[key]

    def infos(self, *ops: BuiltOp | dict[str, Any], options: str = "") -> dict[str, Any]:
        """``kernel_infos`` over these ops."""
        return {
            "op_list": [op if isinstance(op, dict) else op.entry() for op in ops],
            "super_kernel_options": options,
        }


def _into_device_shape(op: BuiltOp, chip: str) -> None:
    """Makes the operator one for a device, as far as a linker can tell."""

    def shaped(name: str, content: bytes) -> bytes:
        cube = "_aic" in name or json.loads(told)["sub_operator_kernel_type"] in (AIC, MIX_AIC)
        return device_objects.from_host(content, chip, "cube" if cube else "vec")

    description, binary = Path(op.json_path), Path(op.bin_path)
    told, content = description.read_text(), binary.read_bytes()
    if elf.is_archive(content):
        members = [(name, shaped(name, bytes(member))) for name, member in elf.read_archive(content)]
        made = bytes(elf.write_archive(members))
    else:
        made = shaped(binary.name, content)
    binary.write_bytes(made)
    description.write_text(json.dumps(json.loads(told) | {"sha256": hashlib.sha256(made).hexdigest()}))


def functions_of(ops: Sequence[BuiltOp], split: int) -> list[str]:
    """Every function a super kernel of these ops has inside, copies included."""
    names = [function for op in ops for function in op.functions]
    return [name if copy == 0 else f"{name}_split{copy}" for name in dict.fromkeys(names) for copy in range(split)]
