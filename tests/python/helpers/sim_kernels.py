"""Small kernels written by hand, in the shape of super kernels, for the tests of the simulator."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from superkernel.sim import INCLUDE_DIR, Device, Kernel

RATIOS = {"1:0": (1, 0), "0:1": (0, 1), "1:1": (1, 1), "1:2": (1, 2)}

# The frame of a super kernel: `body` runs on every core, the meta section says which cores there are.
_FRAME = """
#include "kernel_operator.h"
#if __NPU_ARCH__ == 3510
#define WAIT(flag) wait_flag_dev(PIPE_S, flag)
#else
#define WAIT(flag) wait_flag_dev(flag)
#endif
#define SET(mode, flag) ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(mode, flag))
#define FLUSH(address) dcci(address, 0, 2)
static uint64_t *slot(int number) {{ return ((uint64_t **)get_para_base())[number + FIRST]; }}
static inline void begin() {{
#if FIRST
    set_ffts_base_addr(((uint64_t *)get_para_base())[0]);
#endif
}}
#define KERNEL_META(function, c, v) static const struct FunLevelMixCoreType function##_section \\
    __attribute__((used, section(".ascend.meta." #function))) = \\
    {{ {{{{F_TYPE_KTYPE, sizeof(unsigned int)}}, c ? K_TYPE_MIX_AIC_MAIN : K_TYPE_MIX_AIV_MAIN}}, \\
      {{{{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}}, c, v}} }};
#line 1 "kernel.cpp"
{source}
#line 1 "frame.cpp"
extern "C" void test_mix_aic(void) {{ begin(); body(); }}
extern "C" void test_mix_aiv(void) {{ begin(); body(); }}
#if CUBES
KERNEL_META(test_mix_aic, CUBES, VECTORS)
#endif
#if VECTORS
KERNEL_META(test_mix_aiv, CUBES, VECTORS)
#endif
"""

EARLY_START = (
    "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START",
    "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END",
    "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2",
)
FEED_SYNC_ALL = ("-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__",)


@cache
def compiler() -> str:
    named = os.environ.get("CXX", "").split()
    found = next((path for name in (*named[:1], "g++", "clang++", "c++") if (path := shutil.which(name))), None)
    assert found is not None, "the tests need a C++ compiler"
    return found


def hooks() -> tuple[str, ...]:
    """Arguments by which every load and store tells the simulator, as operators are built."""
    both = ("-fsanitize=thread", "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset")
    both += ("-fno-omit-frame-pointer",)
    if "clang" in subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout:
        return (*both, "-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", "-tsan-instrument-func-entry-exit=0")
    parameters = ("tsan-distinguish-volatile=1", "tsan-instrument-func-entry-exit=0")
    return (*both, *(f"--param={parameter}" for parameter in parameters), "-fno-tree-loop-distribute-patterns")


def compile_object(folder: Path, text: str, flags: tuple[str, ...] = ()) -> Path:
    """Compiles C++ against the emulation header; equal sources are compiled once per folder."""
    key = hashlib.sha256("\0".join((text, *flags)).encode()).hexdigest()[:16]
    output = folder / f"{key}.o"
    if not output.exists():
        source = folder / f"{key}.cpp"
        source.write_text(text)
        command = [compiler(), "-std=c++17", "-O1", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE_DIR}"]
        done = subprocess.run(
            [*command, *flags, "-c", str(source), "-o", str(output)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return output


def kernel(device: Device, folder: Path, source: str, ratio: str = "1:2", flags: tuple[str, ...] = ()) -> Kernel:
    """A super kernel whose cores all run ``void body()`` of ``source``; ``slot(n)`` is argument number n."""
    cubes, vectors = RATIOS[ratio]
    arch = 2201 if device.has_ffts_slot else 3510
    defines = (
        f"-DCUBES={cubes}",
        f"-DVECTORS={vectors}",
        f"-DFIRST={int(device.has_ffts_slot)}",
        f"-D__NPU_ARCH__={arch}",
        "-Wno-unused-function",
        "-Wno-unused-const-variable",
    )
    return device.load(compile_object(folder, _FRAME.format(source=source), (*defines, *flags)))


def with_ops(device: Device, kernel: Kernel, folder: Path, ratio: str, **offsets: int) -> Kernel:
    """The same kernel with a JSON that names its vector operators and the slots of their first parameters."""
    entry = {"sub_operator_kernel_type": "KERNEL_TYPE_AIV_ONLY"}
    ops = [{"func_name": name, "arg_list": {"param_offset": at}, **entry} for name, at in offsets.items()]
    told = {
        "kernelName": kernel.name,
        "blockDim": 1,
        "taskRation": ratio,
        "SuperkernelInfo": {"kernelList": {"aicore": ops}},
    }
    path = folder / "named.json"
    path.write_text(json.dumps(told))
    return device.load(path, bin_path=kernel.description.object)
