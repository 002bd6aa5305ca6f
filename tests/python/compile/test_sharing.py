"""What all objects of a super kernel share: its operators read what it sets, on every core and in every copy."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel import elf
from superkernel.sim import Device
from superkernel.sim.op_builder import INCLUDE_DIR

CORES = 8
ALL_CORES = 48
BLOCKS = "g_super_kernel_dynamic_block_num"
CONFIG = "g_super_kernel_early_start_config"

ENTRY = """
extern "C" __aicore__ void {name}(uint64_t offset)
{{
    auto *slots = (uint64_t *)get_para_base();
    auto *y = (int32_t *)slots[offset];
    y[AscendC::GetBlockIdx()] = {value};
}}
"""


@pytest.fixture(autouse=True)
def host(tmp_path: Path):
    """Everything here is built for this machine, into a folder of the test."""
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(tmp_path), cache_dir=""):
        yield


def compiled(folder: Path, name: str, text: str, *flags: str) -> bytes:
    """An object as a compiler leaves it: nothing in it is made local."""
    source = folder / f"{name}.cpp"
    source.write_text(f'#include "kernel_operator.h"\n{text}')
    output = source.with_suffix(".o")
    compiler = shutil.which(os.environ.get("CXX", "c++")) or "c++"
    usual = ["-std=c++17", "-fPIC", "-O1", f"-I{INCLUDE_DIR}", "-D__NPU_ARCH__=2201", "-D__DAV_VEC__=1"]
    subprocess.run([compiler, *usual, *flags, "-c", str(source), "-o", str(output)], check=True)
    return output.read_bytes()


def described(folder: Path, name: str, content: bytes, **told: Any) -> dict[str, Any]:
    binary, description = folder / f"{name}.bin", folder / f"{name}.json"
    binary.write_bytes(content)
    usual = {
        "kernelName": name,
        "blockDim": CORES,
        "sub_operator_kernel_type": "KERNEL_TYPE_AIV_ONLY",
        "sub_operator_kernel_name": {"AiCore": {"func_name": name, "obj_files": f"{name}.o"}},
        "sub_operator_params": ["y"],
        "sub_operator_early_start_set_flag": False,
        "sub_operator_early_start_wait_flag": False,
    }
    description.write_text(json.dumps(usual | told))
    return {"json_path": str(description), "bin_path": str(binary)}


def dynamic(folder: Path, name: str, content: bytes) -> dict[str, Any]:
    functions = {"dynamic_func_names": {"7": {"kernel_type": "KERNEL_TYPE_AIV_ONLY", "AiCore": name}}}
    return described(folder, name, content, sub_operator_kernel_name=functions) | {"task_type": "dynamic"}


def asks_for_blocks(folder: Path, name: str) -> bytes:
    text = ENTRY.format(name=name, value="(int32_t)AscendC::GetBlockNum()")
    return compiled(folder, name, text, "-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__")


def launched(folder: Path, name: str, per_op: list[list[np.ndarray]]) -> list[list[int]]:
    """What the ops wrote; `per_op`: what stands in each op's buffers after its result."""
    with Device("Ascend910_93") as device:
        kernel = device.load(folder / "kernel_meta" / f"{name}.json")
        outputs = [device.buffer(np.zeros(ALL_CORES, np.int32)) for _ in per_op]
        arguments = [[output, *(device.buffer(words) for words in more)] for output, more in zip(outputs, per_op)]
        kernel.launch([buffer for op in arguments for buffer in op]).raise_for_status()
        return [list(np.frombuffer(output.read(), np.int32)) for output in outputs]


def words(blocks: int) -> list[np.ndarray]:
    """Tiling key, number of blocks, and the lock, which is open."""
    return [np.array([value], np.uint64) for value in (7, blocks, 1)]


def addresses(folder: Path, name: str, variable: str) -> set[tuple[int | None, int]]:
    symbols = elf.symbols((folder / "kernel_meta" / f"{name}.o").read_bytes())
    return {(symbol.section, symbol.value) for symbol in symbols if symbol.name == variable and symbol.is_defined}


@pytest.mark.parametrize("split", [1, 2, 4])
def test_every_copy_tells_every_copy_how_many_blocks_there_are(tmp_path: Path, split: int) -> None:
    entries = [dynamic(tmp_path, name, asks_for_blocks(tmp_path, name)) for name in ("first", "second")]
    superkernel.compile({"op_list": entries, "super_kernel_options": f"split-mode={split}"}, "blocks")
    first, second = launched(tmp_path, "blocks", [words(CORES), words(5)])
    assert first == [CORES] * ALL_CORES
    assert second == [5] * ALL_CORES
    assert len(addresses(tmp_path, "blocks", BLOCKS)) == 1


def test_a_variable_that_is_not_shared_changes_results(tmp_path: Path) -> None:
    """The simulator has one instance per core and object where a device has: a wrong object gives wrong numbers."""
    right = asks_for_blocks(tmp_path, "asks")
    wrong = elf.edit(right, localize=[BLOCKS], dissolve_groups=True)
    for content, expected in ((right, CORES), (wrong, 0)):
        entry = dynamic(tmp_path, "asks", content)
        superkernel.compile({"op_list": [entry], "super_kernel_options": "split-mode=4"}, "mistake")
        (found,) = launched(tmp_path, "mistake", [words(CORES)])
        assert found == [expected] * ALL_CORES


@pytest.mark.parametrize("split", [1, 4])
def test_an_operators_own_inline_variables_are_one_per_core_and_take_room_once(tmp_path: Path, split: int) -> None:
    text = "__BLOCK_LOCAL__ inline int32_t kept[64];\n"
    entries = []
    for number in range(20):
        name = f"op{number}"
        value = f"(kept[0] = kept[1] + {number}, kept[1] += {number}, kept[0])"
        entries.append(described(tmp_path, name, compiled(tmp_path, name, text + ENTRY.format(name=name, value=value))))
    superkernel.compile({"op_list": entries, "super_kernel_options": f"split-mode={split}"}, "room")
    # Each adds to what the one before left: on a device they are at one address, too.
    sums = [sum(range(number + 1)) for number in range(20)]
    found = launched(tmp_path, "room", [[] for _ in entries])
    assert [values[:CORES] for values in found] == [[total] * CORES for total in sums]
    content = (tmp_path / "kernel_meta" / "room.o").read_bytes()
    used = sum(section.size for section in elf.sections(content) if section.name.startswith(".bl.uninit"))
    assert 256 <= used < 300


def test_one_name_of_two_sizes_is_two_variables(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    entries = []
    for name, room in (("small", 1), ("large", 4)):
        text = f"__BLOCK_LOCAL__ inline int32_t kept[{room}];\n"
        value = f"(kept[{room - 1}] += {room * 10}, kept[{room - 1}])"
        entries.append(described(tmp_path, name, compiled(tmp_path, name, text + ENTRY.format(name=name, value=value))))
    superkernel.compile({"op_list": entries}, "sizes")
    found = launched(tmp_path, "sizes", [[], []])
    assert [values[:CORES] for values in found] == [[10] * CORES, [40] * CORES]
    assert "block-local variable `kept` has 4 bytes in" in caplog.text


def test_what_the_super_kernel_sets_has_one_size(tmp_path: Path) -> None:
    content = asks_for_blocks(tmp_path, "asks")
    other = bytearray(content)
    section = next(section for section in elf.sections(content) if section.name == ".symtab")
    names = next(section for section in elf.sections(content) if section.name == ".strtab")
    for at in range(section.offset, section.offset + section.size, 24):
        (name,) = struct.unpack_from("<I", content, at)
        if content[names.offset + name :].startswith(BLOCKS.encode() + b"\0"):
            struct.pack_into("<Q", other, at + 16, 8)
    entries = [
        dynamic(tmp_path, "asks", content),
        dynamic(tmp_path, "other", elf.rename_symbols(bytes(other), {"asks": "other"})),
    ]
    with pytest.raises(
        superkernel.SuperKernelError, match="`g_super_kernel_dynamic_block_num` has 4 bytes in"
    ) as raised:
        superkernel.compile({"op_list": entries}, "sizes")
    assert raised.value.errorinfo["errId"] == "SK0227"
    assert "asks.bin" in str(raised.value) and "other.bin" in str(raised.value)
    # A single op of that size contradicts the super kernel's own code.
    with pytest.raises(superkernel.SuperKernelError, match="the super kernel's own code") as raised:
        superkernel.compile({"op_list": entries[1:]}, "sizes")
    assert raised.value.errorinfo["errId"] == "SK0227"


def test_more_block_local_memory_than_a_core_has_is_refused(tmp_path: Path) -> None:
    entries = []
    for name, bytes_ in (("modest", 100), ("greedy", 500)):
        text = f"static __BLOCK_LOCAL__ char kept[{bytes_}];\n"
        value = "(kept[get_block_idx()] += 1, kept[get_block_idx()])"
        entries.append(described(tmp_path, name, compiled(tmp_path, name, text + ENTRY.format(name=name, value=value))))
    # Twice 600 bytes fit, and so do the variables that the super kernel needs.
    superkernel.compile({"op_list": entries, "super_kernel_options": "split-mode=2"}, "few")
    infos = {"op_list": entries, "super_kernel_options": "split-mode=8"}
    with pytest.raises(superkernel.SuperKernelError) as raised:
        superkernel.compile(infos, "many")
    assert raised.value.errorinfo["errId"] == "SK0228"
    text = str(raised.value)
    assert "take 4800 bytes, and a core has 4096" in text
    assert text.index("greedy.bin") < text.index("modest.bin")


def test_the_simulator_has_no_more_block_local_memory_than_a_core(tmp_path: Path) -> None:
    source = """
    static __BLOCK_LOCAL__ char kept[4097];
    extern "C" __global__ __aicore__ void entry(void) { kept[get_block_idx()] += 1; }
    """
    path = tmp_path / "large.o"
    path.write_bytes(compiled(tmp_path, "large", source))
    with (
        Device("Ascend910_93") as device,
        pytest.raises(superkernel.SuperKernelError, match=r"block-local variables.* 4097, above the limit of 4096"),
    ):
        device.load(path, functions={"aiv": "entry"}, kernel_type="KERNEL_TYPE_MIX_AIV_1_0")


def test_what_the_loader_fills_in_is_one_variable(tmp_path: Path) -> None:
    """Whether sub-kernels define it weakly, for themselves, or only refer to it."""
    forms = {
        "weak": "__attribute__((weak)) uint64_t g_sysPrintFifoSpace;",
        "only": "uint64_t g_sysPrintFifoSpace;",
        "another": "uint64_t g_sysPrintFifoSpace;",
        "refers": "extern uint64_t g_sysPrintFifoSpace;",
    }
    entries = []
    for name, text in forms.items():
        value = "(g_sysPrintFifoSpace += AscendC::GetBlockIdx() == 0, (int32_t)g_sysPrintFifoSpace)"
        text = f'extern "C" {{ {text} }}\n' + ENTRY.format(name=name, value=value)
        entries.append(described(tmp_path, name, compiled(tmp_path, name, text), blockDim=1))
    superkernel.compile({"op_list": entries, "super_kernel_options": "split-mode=4"}, "filled")
    assert len(addresses(tmp_path, "filled", "g_sysPrintFifoSpace")) == 1
    found = launched(tmp_path, "filled", [[] for _ in entries])
    assert [values[0] for values in found] == [1, 2, 3, 4]
