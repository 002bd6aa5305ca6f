"""How busy compilers keep the cores while a whole model is built.

    python benches/model_build.py [--scopes 60] [--jobs N]

A model of 60 scopes of 20 ops over 40 distinct sub-kernels, no two scopes alike, split mode 4. Prints which part of the
cores' time compilers were running from the call until the last of them started, as the tool runner noted their starts
and ends; and the processor time of everything but the tools per kernel: in the model, where sub-kernels are read,
hashed and copied once, and where each kernel is built by itself.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import superkernel
from build_speed import FUNCTION, SOURCE
from ratios import ratio
from superkernel import _build
from superkernel.scope import Graph, ModelBuild, kernels
from superkernel.sim import BuiltOp, build_op

OPS, KERNELS = 20, 40
TYPES = ("KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_2", "KERNEL_TYPE_AIV_ONLY")
#: Kernels that are built by themselves, for comparison.
ALONE = 5


def make_kernels(folder: Path) -> list[BuiltOp]:
    """The distinct sub-kernels."""
    built = []
    for number in range(KERNELS):
        name = f"op_{number}"
        parts = range(4 + number % 5)
        functions = "".join(FUNCTION.format(name=name, number=part) for part in parts)
        calls = " ".join(f"value = {name}_{part}(value);" for part in parts)
        source = SOURCE.format(name=name, functions=functions, calls=calls)
        built.append(build_op(source, name, None, TYPES[number % len(TYPES)], 8, op_type=name, out_dir=folder))
    return built


def model(built: list[BuiltOp], scopes: int) -> Graph:
    """Scopes of 20 ops, each with a choice and an order of its own."""
    graph = Graph("model")
    for scope in range(scopes):
        for place, op in enumerate(random.Random(scope).sample(built, OPS)):
            files = {"kernel_name": op.name, "bin_path": op.bin_path, "json_path": op.json_path}
            graph.op(f"s{scope}_{place}", "Op", stream=0, scope=f"s{scope}", support=1, options="split-mode=4", **files)
    return graph


def utilisation(reports: list[dict[str, Any]], started: float, cores: int) -> tuple[float, float, int]:
    """Which part of the cores compilers kept busy until the last one started; seconds until then; their number."""
    runs = [tool for report in reports for tool in report.get("tools", ()) if tool["stage"] == "compile"]
    last = max(run["began"] for run in runs)
    busy = sum(min(run["began"] + run["seconds"], last) - run["began"] for run in runs)
    return busy / (cores * (last - started)), last - started, len(runs)


def built_together(graph: Graph, folder: Path, jobs: int) -> tuple[ModelBuild, list[dict[str, Any]], float, float]:
    """The model, the reports of all builds, when they started, and our own processor time."""
    reports: list[dict[str, Any]] = []
    kernels.clear()
    token = _build.reports.set(reports)
    started, processor = time.time(), time.process_time()
    try:
        with superkernel.configure(kernel_meta_parent_dir=folder):
            done = superkernel.compile_graph(graph, jobs=jobs)
    finally:
        _build.reports.reset(token)
    if done.counts()["compiled"] != len(done.results):
        raise SystemExit(f"not all were compiled: {done}")
    return done, reports, started, time.process_time() - processor


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scopes", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="superkernel-bench-")))
        stack.enter_context(superkernel.configure(toolchain="host", cache_dir=""))
        graph = model(make_kernels(folder / "ops"), options.scopes)
        built, reports, started, own = built_together(graph, folder / "together", options.jobs)
        seconds = built.milliseconds / 1000
        part, until, compilers = utilisation(reports, started, options.jobs)
        print(f"{options.scopes} scopes x {OPS} ops, {options.jobs} jobs: {seconds:.1f} s, {compilers} compiler runs")
        print(f"compilers kept {part:.1%} of the cores busy until the last of them started, after {until:.1f} s")
        ratio("compiler utilisation of the cores, whole model", part)
        together, pieces = own / len(built.results), built.plan.pieces[:ALONE]
        processor = time.process_time()
        with superkernel.configure(kernel_meta_parent_dir=folder / "alone"):
            for piece in pieces:
                _build.build(piece.normalized_infos, piece.kernel_name)
        alone = (time.process_time() - processor) / len(pieces)
        print(
            f"processor time without tools: {together * 1e3:.1f} ms per kernel, {alone * 1e3:.1f} ms for one by itself"
        )
        ratio("own processor time, kernel by itself / in a model", alone / together)


if __name__ == "__main__":
    main()
