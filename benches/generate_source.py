"""How large generated sources are and how long they take: planning, printing, compiling on the host.

The source is compared with a copy in which every call and every preload is spelled out where it happens, as a
generator without helpers would print it. Run: ``python benches/generate_source.py [OPS]``.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import superkernel

INCLUDE = Path(superkernel.__file__).parent / "include"
TYPES = ("AIV_ONLY", "AIC_ONLY", "MIX_AIC_1_2", "AIV_ONLY")


def write_kernels(folder: Path, count: int) -> list[dict[str, object]]:
    """Sub-kernels of all classes; the functions of one object each."""
    names = []
    ops: list[dict[str, object]] = []
    for number in range(count):
        kernel_type = TYPES[number % len(TYPES)]
        archs = {"MIX_AIC_1_2": ("dav-c220-cube", "dav-c220-vec")}.get(kernel_type, ("AiCore",))
        functions = {arch: f"kernel_{number}_{place}" for place, arch in enumerate(archs)}
        names += functions.values()
        described = {
            "kernelName": f"kernel_{number}",
            "blockDim": 8 + number % 3 * 8,
            "sub_operator_kernel_type": f"KERNEL_TYPE_{kernel_type}",
            "sub_operator_kernel_name": {
                arch: {"func_name": name, "obj_files": ""} for arch, name in functions.items()
            },
            "sub_operator_params": ["x", "y"],
            "sub_operator_early_start_set_flag": number % 5 == 0,
            "sub_operator_early_start_wait_flag": number % 7 == 0,
        }
        path = folder / f"kernel_{number}.json"
        path.write_text(json.dumps(described))
        ops.append({"json_path": str(path), "bin_path": str(folder / "kernels.o"), "stream_id": 0})
    lines = [".text", *(f".globl {name}\n{name}:" for name in names), ".zero 9000", ""]
    subprocess.run(["as", "-o", folder / "kernels.o", "-"], input="\n".join(lines), text=True, check=True)
    return ops


def spelled_out(source: str, split: int) -> str:
    """The same source without the helpers that pick a code copy."""
    source = re.sub(r"#define SK_FUNCTION\(name\)(.*\\\n)+.*\n", "", source)
    source = source.replace("static __attribute__((noinline, unused))", "static inline")

    def declare(match: re.Match[str]) -> str:
        suffixes = ["", *(f"_split{copy}" for copy in range(1, split))]
        return "".join(f'extern "C" __aicore__ void {match[1]}{suffix}(uint64_t at);\n' for suffix in suffixes)

    source = re.sub(r"^SK_FUNCTION\((\w+)\)\n", declare, source, flags=re.M)

    def dispatch(use: str) -> str:
        cases = [f"case {copy}: {use.replace('@', f'_split{copy}')} break;" for copy in range(1, split)]
        return "\n".join(["switch (sk_copy()) {", *cases, f"default: {use.replace('@', '')} break;", "}"])

    def call(match: re.Match[str]) -> str:
        name, position, offset = match.groups()
        return f"SK_OP_BEGIN({position});\n{dispatch(f'{name}@({offset});')}\nSK_OP_END({position});"

    def preload(match: re.Match[str]) -> str:
        name, units = match.groups()
        return dispatch(f"preload((const void *){name}@, {units});")

    source = re.sub(r"sk_call_(\w+)\((\d+), (\d+)\);", call, source)
    return re.sub(r"sk_preload\(sk_address_(\w+)\(\), (\d+)\);", preload, source)


def compile_seconds(source: str, folder: Path, name: str) -> float:
    """Time for one core kind, as the host toolchain compiles it."""
    path = folder / f"{name}.cpp"
    path.write_text(source)
    defines = ["-D__DAV_VEC__", "-D__NPU_ARCH__=2201", "-D__MIX_CORE_MACRO__=1", "-DASCENDC_DUMP=0"]
    early = ["-D__ASCENDC_ENABLE_SET_NEXT_TASK_START", "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END"]
    command = ["g++", "-std=c++17", "-O2", "-c", f"-I{INCLUDE}", *defines, *early, "-o", f"{path}.o", str(path)]
    # Processor time: the machine may be busy with other things.
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started


def two_streams(ops: list[dict[str, object]]) -> dict[str, object]:
    """Cube and vector ops on streams of their own, an event between every two neighbours of different streams."""
    listed, kinds = [], {1: 1, 2: 2}
    for number, op in enumerate(ops):
        stream = kinds.get(number % len(TYPES), 0)
        listed.append({**op, "stream_id": stream, "send_event_list": [], "recv_event_list": []})
    for number in range(0, len(listed) - 3, 2):
        sender, receiver = listed[number], listed[number + 3]
        if sender["stream_id"] != receiver["stream_id"]:
            sender["send_event_list"].append(number)
            receiver["recv_event_list"].append(number)
    return {"op_list": listed, "super_kernel_options": "stream-fusion=1"}


def main() -> None:
    """Prints the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1160
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ops = write_kernels(folder, count)
        infos = {"op_list": ops, "super_kernel_options": "early-start=1"}
        started = time.perf_counter()
        source = superkernel.generate(infos, "bench")
        print(f"{count} ops: generated in {time.perf_counter() - started:.2f} s, {len(source):,} bytes")
        inlined = spelled_out(source, 4)
        print(f"  spelled out: {len(inlined):,} bytes ({len(inlined) / len(source):.1f} times)")
        with_helpers = compile_seconds(source, folder, "helpers")
        without = compile_seconds(inlined, folder, "inlined")
        print(f"  g++ -O2, one core kind: {with_helpers:.1f} s of processor time; spelled out {without:.1f} s")
        for item in ops:  # own sets and waits need one stream
            path = Path(str(item["json_path"]))
            path.write_text(path.read_text().replace("true", "false"))
        infos = two_streams(ops)
        events = sum(len(op["send_event_list"]) for op in infos["op_list"])
        started = time.perf_counter()
        source = superkernel.generate(infos, "bench")
        seconds = time.perf_counter() - started
        print(f"{count} ops on three streams, {events} events: generated in {seconds:.2f} s, {len(source):,} bytes")


if __name__ == "__main__":
    main()
