"""The comparison sample: one model run with and without super kernels, on the simulator.

Runs everywhere, needs no device. Results of both runs are compared bit by bit; **times are simulated** by the cost
model of docs/cost-model.md, they are not measurements.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import superkernel
from cost_model import Operator, Prices, Work, task_time
from superkernel.compare import COLUMNS, FUSED, UNFUSED, compare, number
from superkernel.scope import ModelBuild, Piece
from superkernel.sim import Device, Report

from model import CUBE_BLOCKS, TOKENS, Builder, Model, Op, reference

FFTS_ADDRESS = 0x7FF75000
FOLDER = Path("localhost.localdomain_ascend_pt", "PROF_000001", "mindstudio_profiler_output")


class Runner:
    """Buffers of one run of the model, and its launches with their simulated times."""

    def __init__(self, device: Device, model: Model, prices: Prices) -> None:
        self.device = device
        self.model = model
        self.prices = prices
        self.buffers = {name: device.buffer(array, name) for name, array in model.tensors.items()}
        #: (op type, core type, microseconds) of every launch.
        self.tasks: list[tuple[str, str, float]] = []

    def arguments(self, op: Op) -> list[Any]:
        """The op's parameter slots; equal names are equal memory."""
        return [self.buffers[op.tensors[name]] if name in op.tensors else FFTS_ADDRESS for name in op.built.params]

    def alone(self, op: Op, operators: dict[str, Operator]) -> None:
        """One op as a task of its own. Also tells what it does on each core."""
        kernel = self.device.load(op.built.json_path, bin_path=op.built.bin_path)
        report = kernel.launch(self.arguments(op), events="sync").raise_for_status()
        if op.built.name not in operators:
            operators[op.built.name] = Operator(code_bytes(op), work_per_core(op, report))
        self.tasks.append((op.type, op.core_type, task_time(report, operators, self.prices)))

    def fused(self, piece: Piece, path: Path, ops: dict[str, Op], operators: dict[str, Operator]) -> None:
        """One super kernel as a task."""
        members = [ops[entry["name"]] for entry in piece.ops]
        kernel = self.device.load(path)
        arguments = [argument for op in members for argument in self.arguments(op)]
        report = kernel.launch(arguments, events="sync", event_limit=1_000_000).raise_for_status()
        core_type = "MIX_AIC" if any(op.core_type == "MIX_AIC" for op in members) else "MIX_AIV"
        self.tasks.append(("SuperKernel", core_type, task_time(report, operators, self.prices)))

    def results(self) -> dict[str, np.ndarray[Any, Any]]:
        """Everything the ops wrote."""
        written = [name for op in self.model.ops for name in op.outputs]
        return {name: read_back(self.buffers[name], self.model.tensors[name]) for name in written}

    def elapsed(self) -> float:
        """From the first task to the last on one stream, the gaps between tasks included."""
        return sum(time for _, _, time in self.tasks) + self.prices.launch_gap * (len(self.tasks) - 1)


def read_back(buffer: Any, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The content of a buffer in the form of the tensor it was made from."""
    return np.frombuffer(buffer.read(), like.dtype).reshape(like.shape).copy()


def work_per_core(op: Op, report: Report) -> dict[str, Work]:
    """Bytes as the simulator counted them; multiply-adds from the shape, as plain loops count as nothing."""
    work = {}
    for core in report.cores:
        rows = len(range(core.block, TOKENS, CUBE_BLOCKS)) if core.kind == "aic" else 0
        counts = core.counts
        work[core.core] = Work(counts["moved_bytes"], counts["vector_bytes"], rows * op.macs_per_row)
    return work


def code_bytes(op: Op) -> int:
    """Size of the op's largest function."""
    plan = superkernel.plan({"op_list": [op.built.entry()]}, "size")
    functions = plan["ops"][0]["functions"]
    return max((function["text_size"] or 0 for function in functions), default=0)


def write_statistic(folder: Path, model_name: str, tasks: list[tuple[str, str, float]]) -> Path:
    """``op_statistic.csv`` in the profiler's columns, the largest total first."""
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for op_type, core_type, time in tasks:
        groups[op_type, core_type].append(round(time, 2))
    total = sum(map(sum, groups.values()))
    path = folder / model_name / FOLDER / "op_statistic.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for (op_type, core_type), times in sorted(groups.items(), key=lambda entry: -sum(entry[1])):
            figures = [sum(times), min(times), sum(times) / len(times), max(times), 100 * sum(times) / total]
            row = [f"{figure:.3f}".rstrip("0").rstrip(".") for figure in figures]
            writer.writerow(["0", model_name, op_type, core_type, len(times), *row])
    return path


def check(unfused: dict[str, np.ndarray[Any, Any]], fused: dict[str, np.ndarray[Any, Any]], model: Model) -> None:
    """Both runs bit for bit, and the values against numpy."""
    for name, values in unfused.items():
        if values.tobytes() != fused[name].tobytes():
            raise SystemExit(f"`{name}` differs between the two runs")
    print(f"results: {len(unfused)} tensors, bit-equal with and without super kernels")
    worst = 0.0
    for name, expected in reference(model.tensors).items():
        worst = max(worst, float(np.abs(unfused[name] - expected).max()))
    print(f"largest difference to numpy in double precision: {worst:.1e}")
    # One step of the 8-bit rounding may fall to the other side.
    if worst > 0.05:
        raise SystemExit("the operators do not compute what numpy does")


def build(model: Model, out_dir: Path, jobs: int | None) -> ModelBuild:
    """All super kernels of the model."""
    model.graph.write(out_dir / "graph.json")
    print(f"graph: {out_dir / 'graph.json'} (explained by `superkernel scope`)\n")
    with superkernel.configure(kernel_meta_parent_dir=str(out_dir)):
        print(superkernel.scope.plan(model.graph))
        built = superkernel.compile_graph(
            model.graph, jobs=jobs, progress=lambda done, total, result: print(f"[{done}/{total}] {result}")
        )
    print(f"{built}\n")
    return built


def main() -> None:
    """Builds, runs twice, compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("build/compare"), help="where kernels go (default: %(default)s)"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("prof_result"),
        help="where the profiler's tables go (default: %(default)s)",
    )
    parser.add_argument("-j", type=int, dest="jobs", help="super kernels built at the same time")
    options = parser.parse_args()
    out_dir: Path = options.out
    results: Path = options.results
    shutil.rmtree(results, ignore_errors=True)
    out_dir.mkdir(parents=True, exist_ok=True)

    model = Builder(out_dir / "ops").build()
    built = build(model, out_dir, options.jobs)

    prices = Prices()
    operators: dict[str, Operator] = {}
    ops = {op.name: op for op in model.ops}
    with Device() as device:
        unfused = Runner(device, model, prices)
        for op in model.ops:
            unfused.alone(op, operators)
        fused = Runner(device, model, prices)
        starts = {piece.members[0]: piece for piece in built.plan.pieces}
        inside = {name for piece in built.plan.pieces for name in piece.members}
        for op in model.ops:
            if op.name in starts:
                piece = starts[op.name]
                fused.fused(piece, out_dir / "kernel_meta" / f"{piece.kernel_name}.json", ops, operators)
            elif op.name not in inside:
                fused.alone(op, operators)
        check(unfused.results(), fused.results(), model)

    write_statistic(results, UNFUSED, unfused.tasks)
    write_statistic(results, FUSED, fused.tasks)
    print("\nAll times below are SIMULATED by the cost model of docs/cost-model.md; no device was measured.\n")
    comparison = compare(results)
    print(comparison)
    gain = 100 * (1 - fused.elapsed() / unfused.elapsed())
    print(
        f"with the gaps between tasks: {len(unfused.tasks)} tasks in {unfused.elapsed():.2f} us -> "
        f"{len(fused.tasks)} tasks in {fused.elapsed():.2f} us ({gain:.2f} %)"
    )
    print(f"time in tasks: {number(comparison.unfused.total)} us -> {number(comparison.fused.total)} us (simulated)")
    print("\nexecute sample success")


if __name__ == "__main__":
    main()
