"""Scalar instructions that a core executes per op of a super kernel: its calls, and what stands between them.

    python benches/scalar_instructions.py

Device functions are a single instruction each and sub-kernels return at once, so what is left is the super kernel's own
work. A process runs the entry of one core step by step and counts, for a list of 30 ops and one of 84; the difference
is what an op costs. Compared with the same source in which every call and preload asks again whom it is for, in a
function of its own, as a generator does that prints op by op.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

import superkernel
from ratios import ratio

FUNCTIONS, CORES, SHORT, LONG = 6, 8, 30, 84

HEADER = r"""
#pragma once
#include <cstdint>
#define __aicore__
#define __global__
#define __gm__
#define TURN asm volatile("" ::: "memory")
#define GM_ADDR __gm__ uint8_t *
extern volatile int64_t number;
extern uint64_t slots[];
static inline int64_t get_block_idx() { return number; }
static inline int64_t get_coreid() { return number; }
static inline int64_t get_para_base() { return (int64_t)slots; }
static inline void set_ffts_base_addr(uint64_t) { TURN; }
static inline void pipe_barrier(int) { TURN; }
static inline void preload(const void *code, int64_t units) { asm volatile("" ::"r"(code), "r"(units) : "memory"); }
static volatile uint32_t g_super_kernel_early_start_config;
namespace AscendC {
static inline int64_t GetBlockIdx() { return number; }
template <bool all = true> static inline void SyncAll() { TURN; }
static inline void SetNextTaskStart() { TURN; }
template <int8_t config = -1> static inline void WaitPreTaskEndImpl() { TURN; }
}
"""
DRIVER = r"""
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int64_t number;
uint64_t slots[100000];
@functions@
extern "C" void auto_gen_bench_kernel();
int main(int, char **arguments) {
    number = atoi(arguments[1]);
    pid_t core = fork();
    if (core == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(1);
        raise(SIGSTOP);
        auto_gen_bench_kernel();
        _exit(0);
    }
    int status = 0;
    long instructions = 0;
    for (waitpid(core, &status, 0); !WIFEXITED(status); waitpid(core, &status, 0)) {
        ptrace(PTRACE_SINGLESTEP, core, 0, 0);
        ++instructions;
    }
    printf("%ld\n", WEXITSTATUS(status) == 0 ? instructions : -1);
}
"""


def op_list(folder: Path, count: int, blocks: list[int]) -> dict[str, object]:
    """Ops that use a few functions in turn."""
    names = [f"kernel_{number}" for number in range(FUNCTIONS)]
    lines = [".text", *(f".globl {name}\n{name}: ret" for name in names), ""]
    subprocess.run(["as", "-o", folder / "kernels.o", "-"], input="\n".join(lines), text=True, check=True)
    for name, cores in zip(names, blocks):
        described = {
            "kernelName": name,
            "blockDim": cores,
            "sub_operator_kernel_type": "KERNEL_TYPE_AIV_ONLY",
            "sub_operator_kernel_name": {"AiCore": {"func_name": name, "obj_files": ""}},
            "sub_operator_params": ["x", "y"],
            "sub_operator_early_start_set_flag": False,
            "sub_operator_early_start_wait_flag": False,
        }
        (folder / f"{name}.json").write_text(json.dumps(described))
    places = [folder / f"{names[number % FUNCTIONS]}.json" for number in range(count)]
    ops = [{"json_path": str(path), "bin_path": str(folder / "kernels.o"), "stream_id": 0} for path in places]
    return {"op_list": ops, "super_kernel_options": "early-start=1"}


def asking_again(source: str) -> str:
    """The source with every call and preload told whom it is for, in functions of their own."""

    def told(text: str, cores: str) -> str:
        return re.sub(r"sk_(call|preload)\(sk_code", rf"sk_\1_below({cores}, sk_code", text)

    piece = r"^( *)if \((core_index) < (\d+)\) \{\n(.*?)^\1\}(?: else \{\n.*?^\1\})?\n"
    head, entry = source.split("    [[maybe_unused]] GM_ADDR *param_base", 1)
    straight = re.compile(piece, re.M | re.S)
    entry = straight.sub(lambda found: told(found[4], f"{found[2]}, {found[3]}"), entry)
    entry = told(entry, f"core_index, {CORES}")
    if "core_index = " not in head:
        head += "    const int64_t core_index = AscendC::GetBlockIdx();\n"
    head = re.sub(r"SK_HELPER void sk_(call|preload)_below", r"SK_SHARED void sk_\1_below", head)
    return f"{head}    GM_ADDR *param_base{entry}"


def instructions(source: str, core: int) -> int:
    """What a core executes from the entry of the kernel to its end, and the process around it."""
    names = [f"kernel_{number}{copy}" for number in range(FUNCTIONS) for copy in ("", "_split1", "_split2", "_split3")]
    functions = "\n".join(f'extern "C" void {name}(uint64_t) {{}}' for name in names)
    flags = ["-std=c++17", "-O3", "-w", "-D__DAV_VEC__=1", "-D__NPU_ARCH__=2201", "-fcf-protection=none", "-I."]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kernel_operator.h").write_text(HEADER)
        (folder / "kernel.cpp").write_text(source)
        (folder / "driver.cpp").write_text(DRIVER.replace("@functions@", functions))
        subprocess.run(["g++", *flags, "kernel.cpp", "driver.cpp", "-o", "driver"], cwd=folder, check=True)
        done = subprocess.run(["./driver", str(core)], cwd=folder, check=True, capture_output=True, text=True)
    if int(done.stdout) < 0:
        raise SystemExit("this machine does not let a process run another one step by step (ptrace)")
    return int(done.stdout)


def per_op(sources: list[str], core: int) -> float:
    """The difference that ops make."""
    short, long = (instructions(source, core) for source in sources)
    return (long - short) / (LONG - SHORT)


def main() -> None:
    """Prints the figures for cores that run all ops, and for one that runs few."""
    mixes = {"on all cores": [CORES] * 6, "on half of them": [4] * 5 + [CORES], "in turn": [CORES, 4] * 3}
    for mix, blocks in mixes.items():
        sources = []
        for count in (SHORT, LONG):
            with tempfile.TemporaryDirectory() as name, superkernel.configure(soc="Ascend910_93"):
                source = superkernel.generate(op_list(Path(name), count, blocks), "bench")
                sources.append(source.split("#if TILING_KEY_VAR")[0] + "#endif\n")
        before = [asking_again(source) for source in sources]
        for core, who in ((0, "a core that runs all"), (CORES - 1, "the last core")):
            ours, theirs = per_op(sources, core), per_op(before, core)
            print(f"ops {mix}, {who}: {ours:.1f} instructions per op; asked op by op {theirs:.1f}")
            ratio(f"instructions per op {mix}, {who}, op by op / ours", theirs / ours)


if __name__ == "__main__":
    main()
