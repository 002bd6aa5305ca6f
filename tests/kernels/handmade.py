"""Super kernels written by hand: the ones the generator must never write."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from superkernel import elf
from superkernel.sim import BuiltOp
from superkernel.sim.op_builder import INCLUDE_DIR

from kernels.library import SOCS, SOURCES

RATIOS = {"AIC": ("1:0", "aic"), "AIV": ("0:1", "aiv"), "MIX11": ("1:1", "aic aiv"), "MIX12": ("1:2", "aic aiv")}
DEFINES = [
    "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START",
    "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END",
    "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2",
    "-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__",
    "-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__",
]


def objects_of(op: BuiltOp) -> list[bytes]:
    content = Path(op.bin_path).read_bytes()
    return [member for _, member in elf.read_archive(content)] if elf.is_archive(content) else [content]


def function_of(op: BuiltOp, kind: str) -> str:
    """The symbol that runs on cores of `kind` (`aic`, `aiv`)."""
    mixed = [name for name in op.functions if name.endswith(f"_mix_{kind}")]
    return mixed[0] if mixed else op.functions[0]


def build_by_hand(
    directory: Path,
    body: str,
    ops: list[BuiltOp],
    *,
    ratio: str,
    blocks: int,
    offsets: list[int],
    slots: dict[str, int] | None = None,
    chip: str = "c220",
    name: str = "by_hand",
) -> Path:
    """Builds the super kernel whose entry runs `body`, and returns its JSON.

    In `body`, `CALL(n)` runs operator n on this core, and the names in `slots` are slot numbers.
    """
    sources = {
        kind: _source(body, ops, offsets, slots or {}, f"{name}_mix_{kind}", kind) for kind in RATIOS[ratio][1].split()
    }
    return build_sources(directory, sources, ops, ratio=ratio, blocks=blocks, offsets=offsets, chip=chip, name=name)


def build_sources(
    directory: Path,
    sources: dict[str, str],
    ops: list[BuiltOp],
    *,
    ratio: str,
    blocks: int,
    offsets: list[int],
    chip: str = "c220",
    name: str = "by_hand",
    defines: list[str] | None = None,
    workspace: int = 0,
) -> Path:
    """Builds a super kernel from one C++ text per core kind, and returns its JSON."""
    directory.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which(os.environ.get("CXX", "c++")) or "c++"
    objects = []
    for kind, text in sources.items():
        source = directory / f"{name}_{kind}.cpp"
        source.write_text(text)
        output = source.with_suffix(".o")
        arch = "2201" if chip == "c220" else "3510"
        macro = "CUBE" if kind == "aic" else "VEC"
        flags = ["-std=c++17", "-fPIC", "-O0", f"-I{INCLUDE_DIR}", f"-I{SOURCES}", f"-D__NPU_ARCH__={arch}"]
        chosen = DEFINES if defines is None else defines
        command = [compiler, *flags, f"-D__DAV_{macro}__=1", *chosen, "-c", str(source), "-o", str(output)]
        subprocess.run(command, check=True)
        objects.append(output)
    contents = {hashlib.sha256(member).hexdigest(): member for op in ops for member in objects_of(op)}
    for digest, member in contents.items():
        path = directory / f"{digest[:16]}.o"
        path.write_bytes(member)
        objects.append(path)
    result = directory / f"{name}.o"
    subprocess.run(["ld", "-r", *map(str, objects), "-o", str(result)], check=True)
    json_path = _description(directory, name, RATIOS[ratio][0], blocks, ops, offsets, chip)
    if workspace:
        told = json.loads(json_path.read_text())
        told["workspace"] = {"num": 1, "size": [workspace], "type": [0]}
        json_path.write_text(json.dumps(told))
    return json_path


def _source(body: str, ops: list[BuiltOp], offsets: list[int], slots: dict[str, int], entry: str, kind: str) -> str:
    declared = dict.fromkeys(symbol for op in ops for symbol in op.functions)
    lines = ['#include "handmade.h"', "using namespace handmade;"]
    lines += [f'extern "C" __aicore__ void {symbol}(uint64_t args_offset);' for symbol in declared]
    lines += [f"#define CALL_{n}() {function_of(op, kind)}({offsets[n]})" for n, op in enumerate(ops)]
    lines += [f"#define {name} {slot}" for name, slot in slots.items()]
    lines += ["#define CALL(n) CALL_##n()", f'extern "C" __global__ __aicore__ void {entry}(void)', "{"]
    return "\n".join([*lines, body, "}", ""])


def _description(
    directory: Path, name: str, ratio: str, blocks: int, ops: list[BuiltOp], offsets: list[int], chip: str
) -> Path:
    entries = []
    for op, offset in zip(ops, offsets):
        told = json.loads(Path(op.json_path).read_text())
        entries.append(
            {
                "func_name": told["kernelName"],
                "split_mode": 1,
                "blockDim": told["blockDim"],
                "blockNum": told["blockDim"],
                "sub_operator_op_type": told["sub_operator_op_type"],
                "sub_operator_kernel_type": told["sub_operator_kernel_type"],
                "sub_operator_early_start_set_flag": told["sub_operator_early_start_set_flag"],
                "sub_operator_early_start_wait_flag": told["sub_operator_early_start_wait_flag"],
                "streamid": -1,
                "send_event_list": [],
                "recv_event_list": [],
                "arg_list": {"param_offset": offset, "notify_param_offset": None, "wait_param_offset": None},
            }
        )
    result = {
        "binFileName": name,
        "kernelName": name,
        "binFileSuffix": ".o",
        "blockDim": blocks,
        "coreType": "MIX",
        "intercoreSync": 1,
        "magic": "RT_DEV_BINARY_MAGIC_ELF",
        "opParaSize": 8,
        "sha256": hashlib.sha256((directory / f"{name}.o").read_bytes()).hexdigest(),
        "taskRation": ratio,
        "supportSuperKernel": 1,
        "toolchain": "host",
        "soc": SOCS[chip],
        "SuperkernelInfo": {"kernelList": {"aicore": entries}},
    }
    path = directory / f"{name}.json"
    path.write_text(json.dumps(result, indent=1))
    return path
