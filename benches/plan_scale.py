"""How the time of ``superkernel.plan`` grows with the number of ops.

    python benches/plan_scale.py

Prints the best of several runs for each size, per op, and the ratio of 8,000 ops to 1,000.
"""

from __future__ import annotations

import json
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import superkernel

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
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        superkernel.plan(infos, "bench")
        times.append(time.perf_counter() - start)
    return min(times)


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
            print(f"{streams} stream(s): 8,000 ops take {seconds[8000] / seconds[1000]:.1f} x the time of 1,000")


if __name__ == "__main__":
    main()
