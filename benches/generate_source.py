"""How large generated sources are and how long they take: planning, printing, compiling on the host.

The source is compared with a copy in which every call, preload and hand-over is spelled out where it happens, as a
generator without helpers would print it: compile time and instruction bytes of one core kind, as the host toolchain
compiles it (``-O1``) and as a device's would (``-O3``). Run: ``python benches/generate_source.py [OPS]``.
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
from ratios import ratio

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
    """The same source with every call, preload and hand-over written where it happens, for the same core kind."""
    shapes: dict[str, str] = {}

    def shape(match: re.Match[str]) -> str:
        shapes[match[1]] = match[2]
        return ""

    def dispatch(use: str) -> str:
        cases = [f"case {copy}: {use.replace('@', f'_split{copy}')} break;" for copy in range(1, split)]
        return "\n".join(["switch (sk_copy()) {", *cases, f"default: {use.replace('@', '')} break;", "}"])

    def asked(index: str | None, count: str | None, code: str) -> str:
        return f"if ({index} < {count}) {{\n{code}\n}}" if index else code

    def call(match: re.Match[str]) -> str:
        index, count, name, position, offset = match.groups()
        called = f"SK_OP_BEGIN({position});\n{dispatch(f'{name}@({offset});')}\nSK_OP_END({position});"
        return asked(index, count, called)

    def preload(match: re.Match[str]) -> str:
        index, count, name, units = match.groups()
        return asked(index, count, dispatch(f"preload((const void *){name}@, {units});"))

    cores = r"(?:_below\((\w+), (\d+), |\()"
    # The shapes of one kind have the numbers of the other's: half by half.
    halves = re.split(r"(?=^#if defined\(__DAV_)", source, flags=re.M)
    for place, half in enumerate(halves):
        shapes.clear()
        half = re.sub(r"^SK_SHARED void (sk_between_\d+)\([^)]*\) \{\n(.*?)^\}\n", shape, half, flags=re.M | re.S)
        half = re.sub(r"(sk_between_\d+)\([^)]*\);", lambda match: shapes[match[1]], half)
        half = re.sub(r"^ *const uint64_t sk_code_\w+ = .*\n", "", half, flags=re.M)
        half = re.sub(rf"sk_call{cores}sk_code_(\w+), (\d+), (\d+)\);", call, half)
        half = re.sub(rf"sk_preload{cores}sk_code_(\w+), (\d+)\);", preload, half)
        halves[place] = half
    source = "".join(halves)
    copy = f"static inline uint32_t sk_copy() {{ return (uint8_t)get_coreid() % {split}u; }}\n"
    source = re.sub(r"SK_SHARED uint64_t sk_copy\(.*?\n\}\n", copy, source, flags=re.S)
    return source.replace("static __attribute__((noinline, unused)) __aicore__", "static inline")


def compiled(source: str, folder: Path, name: str, level: str) -> tuple[float, int]:
    """Processor time for one core kind, as the host toolchain compiles it, and the bytes of its instructions."""
    path = folder / f"{name}.cpp"
    path.write_text(source)
    defines = [
        "-D__SK_HOST__=1",
        "-D__DAV_VEC__=1",
        "-D__NPU_ARCH__=2201",
        "-D__MIX_CORE_MACRO__=1",
        "-DASCENDC_DUMP=0",
    ]
    early = ["-D__ASCENDC_ENABLE_SET_NEXT_TASK_START", "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END", "-DTILING_KEY_VAR=0UL"]
    flags = ["-std=c++17", "-fPIC", "-fno-strict-aliasing", level, "-c", f"-I{INCLUDE}", *defines, *early]
    # Processor time: the machine may be busy with other things.
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["g++", *flags, "-o", f"{path}.o", str(path)], check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started
    sections = superkernel.elf.sections(Path(f"{path}.o").read_bytes())
    return seconds, sum(section.size for section in sections if section.name.startswith(".text"))


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
        for level in ("-O1", "-O3"):
            ours, code = compiled(source, folder, "ours", level)
            theirs, spelled = compiled(inlined, folder, "spelled", level)
            print(f"  g++ {level}, vector cores: {ours:.2f} s of processor time; spelled out {theirs:.2f} s")
            print(f"  instructions per op: {code / count:.0f} bytes; spelled out {spelled / count:.0f} bytes")
            ratio(f"compile time of {count} distinct ops, spelled out / ours, {level}", theirs / ours)
            ratio(f"instruction bytes per op, spelled out / ours, {level}", spelled / code)
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
