"""Compiles generated kernels against the recorder and returns what every core did."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from shape import Core, Kernel, all_cores

HERE = Path(__file__).parent
TASK_ID = 77


def functions_of(kernel: Kernel) -> list[str]:
    """Every function the kernel can call, copies included."""
    names: list[str] = []
    for op in kernel.ops:
        for function in op.plan["functions"]:
            names += [function[key] for key in ("name", "aic", "aiv") if key in function]
    suffixes = ["", *(f"_split{copy}" for copy in range(1, kernel.plan["split_mode"]))]
    return [name + suffix for name in dict.fromkeys(names) for suffix in suffixes]


def driver(kernels: list[tuple[Kernel, str]]) -> str:
    """One program that runs every core of every kernel and prints its actions."""
    out = ['#include "driver.h"']
    for function in dict.fromkeys(name for kernel, _ in kernels for name in functions_of(kernel)):
        out.append(f'extern "C" void {function}(uint64_t at) {{ recorder::act("call {function} %d", (int)at); }}')
    for number, (kernel, _) in enumerate(kernels):
        out += include_kernel(number, kernel) + run_function(number, kernel)
    out.append("int main() {")
    for number, (kernel, _) in enumerate(kernels):
        for core in all_cores(kernel):
            registers = (
                int(core.kind == "aic"),
                core.block,
                core.sub,
                core.subs,
                kernel.plan["block_num"],
                core.number,
            )
            entry = f"p{number}_{core.kind}::{kernel.plan['kernel_name']}_mix_{core.kind}"
            out.append(f"run{number}({{{', '.join(map(str, registers))}, 0, 0}}, {entry});")
    return "\n".join([*out, "}", ""])


def include_kernel(number: int, kernel: Kernel) -> list[str]:
    """The kernel's source once per core kind, each in a namespace of its own."""
    out = []
    for kind, macro in (("aic", "__DAV_CUBE__"), ("aiv", "__DAV_VEC__")):
        if kernel.cores(kind):
            name = kernel.plan["kernel_name"]
            out += [f"#define {macro} 1", f"#define auto_gen_{name}_kernel {name}_mix_{kind}"]
            out += [f"namespace p{number}_{kind} {{", f'#include "kernel{number}.cpp"', "}"]
            out += [f"#undef {macro}", f"#undef auto_gen_{name}_kernel"]
    return out


def run_function(number: int, kernel: Kernel) -> list[str]:
    """The function that runs one core of one kernel."""
    values: dict[str, int] = {}
    polled: set[str] = set()
    for op in kernel.ops:
        polled |= {lock for _, lock in kernel.receives(op)}
        if op.dynamic and op.key is not None:
            index = op.plan["index"]
            values |= {f"__ac_dynamic_tiling_key_{index}": op.key, f"__ac_dynamic_block_num_{index}": op.run_blocks}
            polled.add(f"__ac_wait_lock_{index}")
    fixed = {"ffts_addr": "0x1234", "task_id": f"0xabcd00000000ull | {TASK_ID}"}
    fixed |= {"workspace": "(uint64_t)recorder::workspace", "profiling": "(uint64_t)recorder::profile"}
    slots = kernel.plan["slots"]
    out = [f"static void run{number}(recorder::Core core, void (*entry)()) {{", f"recorder::start(core, {len(slots)});"]
    for slot in slots:
        at, name = slot["slot"], slot["name"]
        if name in fixed:
            out.append(f"recorder::slots[{at}] = {fixed[name]};")
        else:
            marks = f"{int('_lock_' in name)}, {int(name in polled)}"
            # Neither set nor clear at first: a core that has not polled a word may be the one to clear it.
            value = values.get(name, 7 if name in polled else 0)
            out.append(f'recorder::word({at}, "{name}", {value}ull, {marks});')
    out += [f'recorder::names[(const void*){function}] = "{function}";' for function in functions_of(kernel)]
    return [*out, f"recorder::run({number}, entry);", "}"]


def observe(kernels: list[tuple[Kernel, str]], folder: Path, arch: int) -> dict[tuple[int, str, int, int], list[str]]:
    """Actions by (kernel number, kind, block, sub-block)."""
    for number, (_, source) in enumerate(kernels):
        (folder / f"kernel{number}.cpp").write_text(source)
    (folder / "driver.cpp").write_text(driver(kernels))
    command = ["g++", "-std=c++17", "-O0", "-w", f"-D__NPU_ARCH__={arch}", "-DTILING_KEY_VAR=0UL", "-DASCENDC_DUMP=0"]
    command += [f"-I{HERE / 'recorder'}", "driver.cpp", "-o", "driver"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    output = subprocess.run(["./driver"], cwd=folder, check=True, capture_output=True, text=True).stdout
    traces: dict[tuple[int, str, int, int], list[str]] = {}
    current: list[str] = []
    for line in output.splitlines():
        if line.startswith("# "):
            _, number, kind, block, sub = line.split()
            current = traces[int(number), kind, int(block), int(sub)] = []
        else:
            current.append(line)
    return {core: with_spins(lines) for core, lines in traces.items()}


def with_spins(lines: list[str]) -> list[str]:
    """Turns of polling become one line: how often a core looks is chance."""
    out: list[str] = []
    for line in lines:
        if line.startswith("dcci __ac_wait_lock"):
            lock = line.split()[1]
            if out and out[-1] == f"spin {lock}":
                continue
            if not (out and out[-1].startswith(f"write {lock} ")):
                line = f"spin {lock}"
        out.append(line)
    return out


def expected(kernel: Kernel, core: Core) -> list[str]:
    """What the rules say this core does."""
    from reference import Trace

    trace = Trace(kernel, core)
    trace.run()
    return [*trace.lines, *(f"record {record}" for record in trace.records)]


def difference(want: list[str], got: list[str]) -> str:
    """The first place where two traces part, with what surrounds it."""
    for at, (left, right) in enumerate(zip([*want, "(end)"], [*got, "(end)"])):
        if left != right:
            before = "\n".join(f"    {line}" for line in want[max(0, at - 6) : at])
            return f"at {at}:\n{before}\n  want {want[at : at + 6]}\n  got  {got[at : at + 6]}"
    return ""


def facts(plan: dict[str, Any]) -> str:
    """A plan in a few lines, for messages."""
    head = {key: plan[key] for key in ("chip", "kernel_type", "block_num", "split_mode", "two_streams")}
    keys = ("index", "kernel_type", "task_type", "stream_id", "block_num", "send_event_list", "recv_event_list")
    return "\n".join([str(head), *(str({key: op[key] for key in keys}) for op in plan["ops"])])
