"""Everything a build does except the compiler, against a process per step and against reading and writing alone.

    python benches/build_speed.py [--ops 1160] [--objcopy llvm-objcopy]

The op list has the shape of a large decoder model: 58 layers of 20 ops over 25 distinct kernels, split mode 4. Both
sides work on the same files, in one run:

* ours: the stages of a build (cold: nothing built before; warm: up to date), without the time of the compiler;
* the least there is to do: every file that is read or made, read, hashed (SHA-256) and written once;
* the baseline does the same with a process per step, as build scripts do: per op `objdump -h` for every core side,
  `ar x` for archives, `cp` and `objcopy` for every copy, and in the end one `objcopy` per function to make it local.

Also: peak memory, and how the time grows with the number of ops.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import superkernel
from ratios import ratio
from superkernel import _build, elf
from superkernel.sim import BuiltOp, build_op

LAYERS, OPS_PER_LAYER, KERNELS, SPLIT = 58, 20, 25, 4
TYPES = ("KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIC_1_2", "KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY")
#: Seconds after which a file counts as settled.
SETTLED = 3.5
#: Runs of which the best counts.
ROUNDS = 9
#: Stages that wait for external programs. Kernels for the host are linked in process.
EXTERNAL = {"compile"}
#: Ops of the comparison with reading and writing alone.
DISTINCT_OPS = 200

SOURCE = """
#include "kernel_operator.h"
{functions}
extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR y)
{{
    auto *in = (float *)x;
    auto *out = (float *)y;
    for (int64_t i = AscendC::GetBlockIdx(); i < 4096; i += AscendC::GetBlockNum()) {{
        float value = in[i];
        {calls}
        out[i] = value;
    }}
}}
"""
FUNCTION = """
__attribute__((noinline)) static float {name}_{number}(float v)
{{
    for (int k = 0; k < {number} + 3; ++k) {{ v = v * 1.0{number}f + k / (v * v + {number}.5f); }}
    return v;
}}
"""


def make_kernels(folder: Path) -> list[BuiltOp]:
    """The distinct kernels, of some 10 to 30 KB each."""
    kernels = []
    for number in range(KERNELS):
        name = f"kernel_{number}"
        parts = range(20 + number)
        functions = "".join(FUNCTION.format(name=name, number=part) for part in parts)
        calls = " ".join(f"value = {name}_{part}(value);" for part in parts)
        source = SOURCE.format(name=name, functions=functions, calls=calls)
        kernels.append(build_op(source, name, None, TYPES[number % len(TYPES)], 24, op_type=name, out_dir=folder))
    return kernels


def op_list(kernels: list[BuiltOp], count: int) -> dict[str, Any]:
    ops = [kernels[(layer * 7 + op) % len(kernels)].entry() for layer in range(LAYERS * 100) for op in range(20)]
    return {"op_list": ops[:count], "super_kernel_options": f"split-mode={SPLIT}"}


def many_counts(folder: Path, *, archives: bool) -> tuple[list[BuiltOp], dict[str, Any]]:
    """200 ops of three types with 20 different block counts; the copies ready in archives, or plain objects."""
    types = ("KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_2")
    kernels = []
    for number in range(60):
        name = f"{'archived' if archives else 'plain'}_{number}"
        parts = range(4 + number % 3)
        functions = "".join(FUNCTION.format(name=name, number=part) for part in parts)
        calls = " ".join(f"value = {name}_{part}(value);" for part in parts)
        source = SOURCE.format(name=name, functions=functions, calls=calls)
        copies = SPLIT if archives else None
        kernel_type, blocks = types[number % 3], 1 + number // 3
        kernels.append(
            build_op(source, name, None, kernel_type, blocks, op_type=name, out_dir=folder, split_mode=copies)
        )
    ops = [kernels[number % len(kernels)].entry() for number in range(200)]
    return kernels, {"op_list": ops, "super_kernel_options": f"split-mode={SPLIT}"}


LARGE_FUNCTION = """
__attribute__((noinline)) static int {name}_{number}(int v)
{{
    {lines}
    return v;
}}
"""


def distinct_ops(folder: Path) -> dict[str, Any]:
    """Ops of some 25 KB of code each, all of them different: one, compiled once, under many names."""
    name, parts = "large", range(8)
    lines = [" ".join(f"v = v * {2 * k + 3} + ({part} ^ (v >> {k % 29 + 1}));" for k in range(200)) for part in parts]
    functions = "".join(LARGE_FUNCTION.format(name=name, number=part, lines=lines[part]) for part in parts)
    calls = " ".join(f"value = {name}_{part}(value);" for part in parts)
    source = SOURCE.replace("float value", "int value").format(name=name, functions=functions, calls=calls)
    kernel = build_op(source, name, None, TYPES[0], 24, op_type=name, out_dir=folder)
    entry = kernel.entry()
    data, description = Path(entry["bin_path"]).read_bytes(), Path(entry["json_path"]).read_text()
    ops = []
    for number in range(DISTINCT_OPS):
        own = f"op{number:03}"
        paths = {"bin_path": str(folder / f"{own}.o"), "json_path": str(folder / f"{own}.json")}
        renamed = elf.edit(data, rename={function: function.replace(name, own) for function in kernel.functions})
        Path(paths["bin_path"]).write_bytes(renamed)
        told = {**json.loads(description.replace(name, own)), "sha256": hashlib.sha256(renamed).hexdigest()}
        Path(paths["json_path"]).write_text(json.dumps(told))
        ops.append({**entry, **paths})
    return {"op_list": ops, "super_kernel_options": f"split-mode={SPLIT}"}


def once(files: list[Path], folder: Path) -> float:
    """Seconds for reading, hashing and writing these files once, with nothing in between."""
    folder.mkdir(exist_ok=True)
    started = time.perf_counter()
    for number, path in enumerate(files):
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        (folder / str(number)).write_bytes(data)
    return time.perf_counter() - started


def against_once(folder: Path, name: str, infos: dict[str, Any], form: str) -> None:
    """The own stages of a cold build beside the least that there is to do with its files; both by turns."""
    runs = []
    for _ in range(ROUNDS):
        seconds, timings = ours(infos, name, rebuild=True)
        inputs = dict.fromkeys(op[key] for op in infos["op_list"] for key in ("bin_path", "json_path"))
        made = sorted((folder / "kernel_meta").glob(f"{name}.*"))
        files = [*map(Path, inputs), *made]
        runs.append((seconds, once(files, folder / "once"), timings))
    best, least = min(run[0] for run in runs), min(run[1] for run in runs)
    size = sum(path.stat().st_size for path in files)
    stages = ", ".join(f"{stage} {time:.1f}" for stage, time in min(runs, key=lambda run: run[0])[2].items())
    print(
        f"{form}: {best * 1000:.1f} ms; {len(files)} files of {size / 1e6:.1f} MB once {least * 1000:.1f} ms ({stages})"
    )
    ratio(f"own stages, 200 ops, {form} / reading, hashing and writing their files once", best / least, "lower")


def ours(infos: dict[str, Any], name: str, *, rebuild: bool) -> tuple[float, dict[str, float]]:
    """Seconds without the external programs, and the times of all stages."""
    report = _build.build(infos, name, rebuild=rebuild)
    timings = report["timings_ms"]
    return (timings["total"] - sum(timings.get(stage, 0) for stage in EXTERNAL)) / 1000, timings


def call_seconds(infos: dict[str, Any], name: str) -> float:
    """Seconds of the whole call for a kernel that is up to date."""
    started = time.perf_counter()
    report = _build.build(infos, name)
    elapsed = time.perf_counter() - started
    assert report["origin"] == "up to date", report["because"]
    return elapsed


class Baseline:
    """A process per step."""

    def __init__(self, folder: Path, objcopy: str) -> None:
        self.folder = folder
        self.objcopy = objcopy
        self.processes = 0

    def run(self, *command: object, cwd: Path | None = None) -> None:
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, cwd=cwd)
        self.processes += 1

    def prepare(self, infos: dict[str, Any]) -> None:
        """Sizes, objects and copies, op by op."""
        for index, op in enumerate(infos["op_list"]):
            description = json.loads(Path(op["json_path"]).read_text())
            place = self.folder / str(index)
            place.mkdir()
            archived = Path(op["bin_path"]).read_bytes().startswith(b"!<arch>")
            if archived:
                self.run("ar", "x", op["bin_path"], cwd=place)
            for side in description["sub_operator_kernel_name"].values():
                function = side["func_name"]
                source = place / os.path.basename(side["obj_files"]) if archived else Path(op["bin_path"])
                self.run("objdump", "-h", source)
                for copy in range(1, SPLIT):
                    target = place / f"{function}_split{copy}.o"
                    self.run("cp", source, target)
                    self.run(self.objcopy, "--redefine-sym", f"{function}={function}_split{copy}", target)

    def localize(self, linked: Path, functions: list[str]) -> None:
        """One call per function."""
        for function in functions:
            self.run(self.objcopy, f"--localize-symbol={function}", linked)


def process_per_step(folder: Path, name: str, infos: dict[str, Any], kernels: list[BuiltOp], objcopy: str) -> float:
    """Seconds that the baseline takes for the same inputs; its last step works on the same kernel."""
    place = folder / f"baseline_{name}"
    place.mkdir()
    baseline = Baseline(place, objcopy)
    started = time.perf_counter()
    baseline.prepare(infos)
    linked = place / "linked.o"
    shutil.copy(folder / "kernel_meta" / f"{name}.o", linked)
    distinct = dict.fromkeys(function for kernel in kernels for function in kernel.functions)
    baseline.localize(linked, [f"{name}_split{copy}" if copy else name for name in distinct for copy in range(SPLIT)])
    elapsed = time.perf_counter() - started
    print(f"a process per step ({objcopy}): {elapsed:.1f} s, {baseline.processes} processes")
    return elapsed


def peak_memory() -> float:
    """MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=LAYERS * OPS_PER_LAYER)
    parser.add_argument("--objcopy", default="objcopy", help="the tool of the baseline (default: %(default)s)")
    parser.add_argument("--growth", type=int, nargs="*", default=[100, 1000, 5000], help="sizes for the growth")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="superkernel-bench-")))
        stack.enter_context(superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(folder), cache_dir=""))
        # Nobody waits for good code here.
        stack.enter_context(superkernel.configure(op_debug_config=["ccec_O0"]))
        measure(folder, options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    kernels = make_kernels(folder / "ops")
    infos = op_list(kernels, options.ops)
    sizes = [Path(kernel.bin_path).stat().st_size for kernel in kernels]
    print(f"{options.ops} ops over {len(kernels)} kernels of {min(sizes) // 1024} to {max(sizes) // 1024} KiB")

    # Sub-kernels are older than a build, as a rule; what has just been written is read again (docs/cache.md).
    time.sleep(SETTLED)
    cold, timings = ours(infos, "bench", rebuild=True)
    again = min(ours(infos, "bench", rebuild=True)[0] for _ in range(2))
    cold = min(cold, again)
    warm = min(call_seconds(infos, "bench") for _ in range(5))
    stages = ", ".join(f"{stage} {time:.1f}" for stage, time in timings.items())
    print(f"ours: {cold * 1000:.1f} ms cold, {warm * 1000:.1f} ms warm (up to date); no processes but the compiler")
    print(f"  stages of the first build in ms: {stages}")
    print(f"  peak memory {peak_memory():.0f} MiB")

    if shutil.which(options.objcopy) is None:
        print(f"`{options.objcopy}` is missing: no baseline")
        return
    elapsed = process_per_step(folder, "bench", infos, kernels, options.objcopy)
    ratio("own stages of a cold build, process per step / ours", elapsed / cold)
    ratio("build that is up to date, process per step / ours", elapsed / warm)
    for archives in (True, False):
        kernels, infos = many_counts(folder / "counts", archives=archives)
        form = "archives" if archives else "plain objects"
        name = f"counts_{archives}".lower()
        runs = [ours(infos, name, rebuild=True) for _ in range(3)]
        best, timings = min(runs, key=lambda run: run[0])
        stages = ", ".join(f"{stage} {time:.1f}" for stage, time in timings.items() if stage not in EXTERNAL)
        print(f"200 ops, 20 block counts, {form}: {best * 1000:.1f} ms ({stages})")
        elapsed = process_per_step(folder, name, infos, kernels, options.objcopy)
        ratio(f"own stages, 200 ops of 20 block counts, {form}, process per step / ours", elapsed / best)

        against_once(folder, name, infos, form)
    infos = distinct_ops(folder / "distinct")
    time.sleep(SETTLED)
    against_once(folder, "distinct", infos, "200 distinct ops of 25 KB")

    for count in options.growth:
        seconds, _ = ours(op_list(kernels, count), f"growth_{count}", rebuild=True)
        print(f"growth: {count} ops {seconds * 1000:.1f} ms, {seconds / count * 1e6:.1f} us per op")


if __name__ == "__main__":
    main()
