"""How the time of ``superkernel.plan`` grows with the number of ops.

    python benches/plan_scale.py

Prints the best of several runs for each size, per op, and the ratio of 8,000 ops to 1,000; how long it takes to turn
the device program into Python data, which happens when it is asked for; and the memory of planning and checking.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import superkernel
from ratios import ratio

KINDS = ("KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_1", "KERNEL_TYPE_MIX_AIC_1_2")
SIZES = (100, 1000, 1160, 8000, 10000)


def write_kernels(folder: Path, count: int, blocks: int = 20) -> list[Path]:
    """Writes the JSONs of ``count`` distinct sub-kernels."""
    paths = []
    for number in range(count):
        kernel_type = KINDS[number % len(KINDS)]
        names: dict[str, Any] = {"AiCore": {"func_name": f"k{number}"}}
        if "MIX" in kernel_type:
            names = {f"dav-c220-{kind}": {"func_name": f"k{number}_{kind}"} for kind in ("cube", "vec")}
        description = {
            "kernelName": f"k{number}",
            "blockDim": blocks,
            "sub_operator_kernel_type": kernel_type,
            "sub_operator_kernel_name": names,
            "sub_operator_params": ["x", "y", "z", "workspace"],
            "sub_operator_early_start_set_flag": False,
            "sub_operator_early_start_wait_flag": False,
        }
        path = folder / f"k{number}.json"
        path.write_text(json.dumps(description))
        paths.append(path)
    return paths


def with_counts(folder: Path, counts: int) -> dict[str, Any]:
    """200 ops of three types with so many different block counts, some of which set or wait themselves."""
    ops = []
    for number in range(60):
        kind = ("AIV_ONLY", "AIC_ONLY", "MIX_AIC_1_2")[number % 3]
        names: dict[str, Any] = {"AiCore": {"func_name": f"c{number}"}}
        if kind.startswith("MIX"):
            names = {f"dav-c220-{unit}": {"func_name": f"c{number}_{unit}"} for unit in ("cube", "vec")}
        description = {
            "kernelName": f"c{number}",
            "blockDim": 20 - number // 3 % counts,
            "sub_operator_kernel_type": f"KERNEL_TYPE_{kind}",
            "sub_operator_kernel_name": names,
            "sub_operator_params": ["x", "y"],
            "sub_operator_early_start_set_flag": number % 5 == 0,
            "sub_operator_early_start_wait_flag": number % 7 == 0,
        }
        path = folder / f"c{counts}_{number}.json"
        path.write_text(json.dumps(description))
        ops.append({"json_path": str(path), "stream_id": 0})
    return {"op_list": [ops[number % len(ops)] for number in range(200)], "super_kernel_options": "early-start=1"}


def op_list(paths: list[Path], count: int, streams: int) -> list[dict[str, Any]]:
    """``count`` ops over the kernels, dealt out to the streams; every fourth op sends to the third one after it."""
    ops: list[dict[str, Any]] = []
    for number in range(count):
        op: dict[str, Any] = {"json_path": str(paths[number % len(paths)]), "stream_id": number % streams}
        if streams > 1:
            op["send_event_list"] = [number] if number % 4 == 0 and number + 3 < count else []
            op["recv_event_list"] = [number - 3] if number % 4 == 3 else []
        ops.append(op)
    return ops


def best(infos: dict[str, Any], rounds: int = 5) -> float:
    """The shortest of some runs, in seconds of processor time: the machine may be busy."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        superkernel.plan(infos, "bench")
        times.append(time.process_time() - start)
    return min(times)


def memory_per_op(paths: list[Path], count: int, streams: int, options: str) -> float:
    """KB at the peak of planning and checking, in a process of its own, beyond what it takes without ops."""
    script = (
        "import json, logging, re, sys, superkernel\n"
        "logging.disable(logging.ERROR)\n"
        "def kib(what): return int(re.search(what + r':\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "infos = json.load(sys.stdin)\n"
        "superkernel.plan({**infos, 'op_list': infos['op_list'][:2]}, 'bench')\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"  # forget the peak so far
        "before = kib('VmRSS')\n"
        "superkernel.plan(infos, 'bench')\n"
        "print(kib('VmHWM') - before)\n"
    )
    infos = {"op_list": op_list(paths, count, streams), "super_kernel_options": options}
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(infos), stdout=subprocess.PIPE, text=True, check=True
    )
    return int(done.stdout) * 1.024 / count


def main() -> None:
    """Prints the table."""
    logging.getLogger("superkernel").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_kernels(Path(folder), 25)
        for streams, options in ((1, ""), (2, "stream-fusion=1")):
            seconds = {}
            for size in SIZES:
                infos = {"op_list": op_list(paths, size, streams), "super_kernel_options": options}
                seconds[size] = best(infos)
                milliseconds, each = seconds[size] * 1e3, seconds[size] / size * 1e6
                print(f"{streams} stream(s), {size:6d} ops: {milliseconds:9.2f} ms, {each:7.2f} us per op")
            ratio(f"plan of 8,000 ops / of 1,000, {streams} stream(s)", seconds[8000] / seconds[1000], "lower")
            memory = memory_per_op(paths, 8000, streams, options)
            print(f"{streams} stream(s): {memory:.2f} KB per op at the peak, beyond the inputs")
        one, many = (best(with_counts(Path(folder), counts), 7) for counts in (1, 20))
        print(f"200 ops: {one * 1e3:.2f} ms with one block count, {many * 1e3:.2f} ms with 20")
        ratio("plan and check 200 ops with 20 block counts / with one", many / one, "lower")
        infos = {"op_list": op_list(paths, 8000, 1), "super_kernel_options": ""}
        started = time.process_time()
        steps = superkernel.plan(infos, "bench")["steps"]
        print(f"8,000 ops with all {len(steps)} steps as Python data: {time.process_time() - started:.2f} s")


if __name__ == "__main__":
    main()
