"""How long a timeline of 1,160 ops on 72 cores takes to make and to write, and how large its file is.

    python benches/trace_scale.py

Limits that the project promises: under 3 s, under 60 MB. All three sources: predictions (one stream and two), a run of
the simulator with all its events, and the buffer that the same run recorded into.
"""

from __future__ import annotations

import functools
import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import superkernel
from plan_scale import op_list, write_kernels
from superkernel import _core, cost, profiling
from superkernel.sim import Device, ProfilingBuffer, build_op

OPS = 1160
SECONDS, MEGABYTES = 3.0, 60.0

SOURCE = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y) {
    const int core = (int)AscendC::GetBlockIdx() + (g_coreType == AscendC::AIC ? 64 : 0);
    ((__gm__ int *)y)[core * 16] = ((__gm__ int *)x)[core * 16] + 1;
}
"""


def told(source: str, make: Callable[[], _core.Traces]) -> None:
    """Prints what the picture costs, the best of three, and what it says about itself."""
    found = []
    for _ in range(3):
        started, clock = time.process_time(), time.perf_counter()
        data, described = make().written()
        found.append((time.process_time() - started, time.perf_counter() - clock, len(data) / 1e6))
    seconds, took, megabytes = min(found)
    kept = seconds < SECONDS and megabytes < MEGABYTES
    limits = f"{'within' if kept else 'OVER'} {SECONDS:.0f} s and {MEGABYTES:.0f} MB"
    print(f"{source}: {seconds:.2f} s of a processor ({took:.2f} s), {megabytes:.1f} MB ({limits})")
    for note in described[0][2]:
        print(f"  {note}")


def predicted(infos: dict[str, Any]) -> _core.Traces:
    """What the cost model expects."""
    return cost.trace(infos)[0]


def predictions(folder: Path) -> None:
    """Every op is taken to last the same."""
    # Blocks of every op: with one vector op of 48 blocks and MIX ops of 24 the launch has 24 + 48 cores.
    paths = write_kernels(folder, 25, blocks=24)
    for streams, options in ((1, ""), (1, "early-start=0:debug-dcci-all=1:profiling=1"), (2, "stream-fusion=1")):
        infos = {"op_list": op_list(paths, OPS, streams), "super_kernel_options": options}
        form = f"prediction, {streams} stream(s), {options or 'default options'}"
        told(form, functools.partial(predicted, infos))


def runs(folder: Path) -> None:
    """A kernel that records, run on the simulator: its events, and its records."""
    kinds = (("AIV_ONLY", 48), ("AIC_ONLY", 24), ("MIX_AIC_1_2", 24), ("AIV_ONLY", 20))
    built = [
        build_op(SOURCE.replace("NAME", f"op{at}"), f"op{at}", None, f"KERNEL_TYPE_{kind}", blocks, out_dir=folder)
        for at, (kind, blocks) in enumerate(kinds)
    ]
    entries: list[dict[str, Any]] = [built[at % len(built)].entry() for at in range(OPS)]
    for options in ("profiling=1", "profiling=1:early-start=0:debug-dcci-all=1"):
        name = f"te_superkernel_{len(options)}"
        with superkernel.configure(toolchain="host", kernel_meta_parent_dir=folder):
            superkernel.compile({"op_list": entries, "super_kernel_options": options}, name)
        path = folder / "kernel_meta" / f"{name}.json"
        with Device() as device:
            kernel = device.load(path)
            memory, records = device.buffer(128 * 64, "memory"), ProfilingBuffer(device, records=4 * OPS)
            values = {slot.name: memory for slot in kernel.parameters if slot.role == "parameter"}
            values["profiling"] = records.buffer
            report = kernel.launch(values, events="sync", event_limit=10_000_000)
            report.raise_for_status()
            dump = records.dump()
        told(f"run of the simulator, {len(report.events)} events, {options}", report.traces)
        told(f"its records, {len(dump) / 1e6:.0f} MB", functools.partial(recorded, dump, path))


def recorded(dump: bytes, path: Path) -> _core.Traces:
    """What a dump tells."""
    return profiling.decode(dump, path).traces()


def main() -> None:
    """Prints the tables."""
    logging.getLogger("superkernel").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, superkernel.configure(soc="Ascend910_93", aic_num=24, aiv_num=48):
        predictions(Path(folder))
        runs(Path(folder))


if __name__ == "__main__":
    main()
