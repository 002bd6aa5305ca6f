"""Sub-kernels that define symbols of the same name: each must run with its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel import elf
from superkernel.sim import Device
from superkernel.sim.op_builder import INCLUDE_DIR

AIV = "KERNEL_TYPE_AIV_ONLY"
MIX = "KERNEL_TYPE_MIX_AIC_1_1"
CORES = 8

# Every way in which two objects can define one name and a linker keeps one of them. {n} differs between the ops.
CLASHES = {
    "inline function": "__attribute__((noinline)) inline int helper() { return {n}; }\n"
    "static int value() { return helper(); }",
    "template": "template <class T> __attribute__((noinline)) T helper() { return {n}; }\n"
    "static int value() { return helper<int>(); }",
    "static of an inline function": "inline int &helper() { static int kept = {n}; return kept; }\n"
    "static int value() { return helper(); }",
    "weak function": "__attribute__((weak, noinline)) int helper() { return {n}; }\n"
    "static int value() { return helper(); }",
    "weak data": "__attribute__((weak)) int helper = {n};\nstatic int value() { return helper; }",
    "inline variable": "inline int helper[2] = {{n}, {n}};\nstatic int value() { return helper[1]; }",
    "thread-local": "inline thread_local int helper = {n};\nstatic int value() { return helper; }",
    "virtual table": "struct Helper { virtual int get() { return {n}; } };\n"
    "static int value() { Helper helper; Helper *volatile at = &helper; return at->get(); }",
    "global function": "int helper() { return {n}; }\nstatic int value() { return helper(); }",
    "common data": 'extern "C" { __attribute__((common)) int helper_common; }\n'
    "static int value() { helper_common = {n}; return helper_common; }",
}

ENTRY = """
extern "C" __aicore__ void {name}(uint64_t offset)
{{
    auto *slots = (uint64_t *)get_para_base();
    auto *y = (int32_t *)slots[offset];
    y[AscendC::GetBlockIdx()] = value();
}}
"""


@pytest.fixture(autouse=True)
def host(tmp_path):
    """Everything here is built for this machine, into a folder of the test."""
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(tmp_path), cache_dir=""):
        yield


def compiled(folder: Path, name: str, text: str, kind: str = "VEC") -> bytes:
    """An object as another compiler of sub-kernels might leave it: nothing in it is made local."""
    source = folder / f"{name}.cpp"
    source.write_text(f'#include "kernel_operator.h"\n{text}')
    output = source.with_suffix(".o")
    compiler = shutil.which(os.environ.get("CXX", "c++")) or "c++"
    flags = ["-std=c++17", "-fPIC", "-O0", f"-I{INCLUDE_DIR}", "-D__NPU_ARCH__=2201", f"-D__DAV_{kind}__=1"]
    subprocess.run([compiler, *flags, "-c", str(source), "-o", str(output)], check=True)
    return output.read_bytes()


def described(folder: Path, name: str, content: bytes, kernel_type: str, functions: dict[str, Any]) -> dict[str, Any]:
    binary, description = folder / f"{name}.bin", folder / f"{name}.json"
    binary.write_bytes(content)
    told = {
        "kernelName": name,
        "blockDim": CORES,
        "sub_operator_kernel_type": kernel_type,
        "sub_operator_kernel_name": functions,
        "sub_operator_params": ["y"],
        "sub_operator_early_start_set_flag": False,
        "sub_operator_early_start_wait_flag": False,
    }
    description.write_text(json.dumps(told))
    return {"json_path": str(description), "bin_path": str(binary)}


def values(tmp_path: Path, name: str, arguments: int) -> list[list[int]]:
    """What the ops of a kernel wrote."""
    with Device("Ascend910_93") as device:
        kernel = device.load(tmp_path / "kernel_meta" / f"{name}.json")
        buffers = [device.buffer(np.zeros(2 * CORES, np.int32)) for _ in range(arguments)]
        kernel.launch(buffers).raise_for_status()
        return [list(np.frombuffer(buffer.read(), np.int32)) for buffer in buffers]


@pytest.mark.parametrize("split", [1, 4])
@pytest.mark.parametrize("clash", CLASHES)
def test_every_op_runs_with_its_own(tmp_path: Path, clash: str, split: int):
    entries = []
    for number, name in ((11, "first"), (22, "second")):
        text = CLASHES[clash].replace("{n}", str(number)) + ENTRY.format(name=name)
        functions = {"AiCore": {"func_name": name, "obj_files": f"{name}.o"}}
        entries.append(described(tmp_path, name, compiled(tmp_path, name, text), AIV, functions))
    superkernel.compile({"op_list": entries, "super_kernel_options": f"split-mode={split}"}, "clash")
    first, second = values(tmp_path, "clash", 2)
    assert first[:CORES] == [11] * CORES
    assert second[:CORES] == [22] * CORES


def test_copies_that_come_ready_are_kept_apart_too(tmp_path: Path):
    entries = []
    for number, name in ((11, "first"), (22, "second")):
        text = CLASHES["inline function"].replace("{n}", str(number)) + ENTRY.format(name=name)
        content = compiled(tmp_path, name, text)
        members = [(f"{name}.o", content)]
        members += [(f"{name}_split{i}.o", elf.rename_symbols(content, {name: f"{name}_split{i}"})) for i in (1, 2, 3)]
        functions = {"AiCore": {"func_name": name, "obj_files": f"{name}.o"}}
        entries.append(described(tmp_path, name, elf.write_archive(members), AIV, functions))
    superkernel.compile({"op_list": entries, "super_kernel_options": "split-mode=4"}, "ready")
    first, second = values(tmp_path, "ready", 2)
    assert (first[:CORES], second[:CORES]) == ([11] * CORES, [22] * CORES)


@pytest.mark.parametrize("split", [1, 4])
def test_the_halves_of_one_op_share_what_only_one_defines(tmp_path: Path, split: int):
    """The vector half needs data and a function of the cube half; another op brings its own of the same names."""
    entries = []
    for number, name in ((11, "first"), (22, "second")):
        cube = f"int shared_data = {number};\nint shared_function() {{ return shared_data; }}\n"
        cube += "static int value() { return shared_data; }" + ENTRY.format(name=f"{name}_mix_aic").replace(
            "y[AscendC::GetBlockIdx()]", "y[get_block_idx()]"
        )
        vector = "extern int shared_data;\nint shared_function();\n"
        vector += "static int value() { return shared_data + shared_function(); }"
        vector += ENTRY.format(name=f"{name}_mix_aiv").replace(
            "y[AscendC::GetBlockIdx()]", f"y[{CORES} + get_block_idx()]"
        )
        members = [
            (f"{name}_aic.o", compiled(tmp_path, f"{name}_aic", cube, "CUBE")),
            (f"{name}_aiv.o", compiled(tmp_path, f"{name}_aiv", vector)),
        ]
        functions = {
            "dav-c220-cube": {"func_name": f"{name}_mix_aic", "obj_files": f"{name}_aic.o"},
            "dav-c220-vec": {"func_name": f"{name}_mix_aiv", "obj_files": f"{name}_aiv.o"},
        }
        entries.append(described(tmp_path, name, elf.write_archive(members), MIX, functions))
    superkernel.compile({"op_list": entries, "super_kernel_options": f"split-mode={split}"}, "halves")
    for found, number in zip(values(tmp_path, "halves", 2), (11, 22)):
        assert found == [number] * CORES + [2 * number] * CORES
