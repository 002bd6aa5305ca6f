"""The comparison sample: one model run with and without super kernels, on the simulator.

Runs everywhere, needs no device. Results of both runs are compared bit by bit; **times are predicted** by the cost
model of docs/cost-model.md from what the simulated cores moved and computed, they are not measurements.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import superkernel
from superkernel import cost
from superkernel.compare import COLUMNS, FUSED, UNFUSED, compare, number
from superkernel.scope import ModelBuild, Piece
from superkernel.sim import Device, Report
from superkernel.sim.durations import simulated_profile

from model import CUBE_BLOCKS, TOKENS, Builder, Model, Op, reference

FFTS_ADDRESS = 0x7FF75000
FOLDER = Path("localhost.localdomain_ascend_pt", "PROF_000001", "mindstudio_profiler_output")


class Runner:
    """Buffers of one run of the model, and its launches."""

    def __init__(self, device: Device, model: Model) -> None:
        self.device = device
        self.model = model
        self.buffers = {name: device.buffer(array, name) for name, array in model.tensors.items()}

    def arguments(self, op: Op) -> list[Any]:
        """The op's parameter slots; equal names are equal memory."""
        return [self.buffers[op.tensors[name]] if name in op.tensors else FFTS_ADDRESS for name in op.built.params]

    def alone(self, op: Op) -> Report:
        """One op as a task of its own."""
        kernel = self.device.load(op.built.json_path, bin_path=op.built.bin_path)
        return kernel.launch(self.arguments(op)).raise_for_status()

    def fused(self, piece: Piece, path: Path, ops: dict[str, Op]) -> None:
        """One super kernel as a task."""
        arguments = [argument for entry in piece.ops for argument in self.arguments(ops[entry["name"]])]
        self.device.load(path).launch(arguments).raise_for_status()

    def results(self) -> dict[str, np.ndarray[Any, Any]]:
        """Everything the ops wrote."""
        written = [name for op in self.model.ops for name in op.outputs]
        return {name: read_back(self.buffers[name], self.model.tensors[name]) for name in written}


def read_back(buffer: Any, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The content of a buffer in the form of the tensor it was made from."""
    return np.frombuffer(buffer.read(), like.dtype).reshape(like.shape).copy()


#: (op type, core type, microseconds) of a launch.
Task = tuple[str, str, float]


def write_profile(model: Model, reports: dict[str, Report], path: Path) -> None:
    """The durations of the ops, for predictions. Multiply-adds come from the shape, as plain loops count as nothing."""
    macs = {}
    for op in model.ops:
        for core in reports[op.built.name].cores:
            rows = len(range(core.block, TOKENS, CUBE_BLOCKS)) if core.kind == "aic" else 0
            macs[op.built.name, core.core] = rows * op.macs_per_row
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(simulated_profile(reports.items(), macs=macs)))


def predicted_tasks(model: Model, pieces: list[Piece], profile: Path) -> tuple[list[Task], list[Task]]:
    """The tasks of both runs with their predicted times."""
    alone: dict[str, float] = {}
    for op in model.ops:
        if op.built.name not in alone:
            (kernel,) = cost.predict({"op_list": [op.built.entry()]}, profile)["kernels"]
            alone[op.built.name] = kernel["unfused"]["us"]
    fused = {kernel["name"]: kernel["fused"]["us"] for kernel in cost.predict(model.graph, profile)["kernels"]}
    starts = {piece.members[0]: piece for piece in pieces}
    inside = {name for piece in pieces for name in piece.members}
    types = {op.name: op.core_type for op in model.ops}
    before = [(op.type, op.core_type, alone[op.built.name]) for op in model.ops]
    after = []
    for task, op in zip(before, model.ops):
        if op.name in starts:
            piece = starts[op.name]
            is_mix = any(types[member] == "MIX_AIC" for member in piece.members)
            after.append(("SuperKernel", "MIX_AIC" if is_mix else "MIX_AIV", fused[piece.name]))
        elif op.name not in inside:
            after.append(task)
    return before, after


def elapsed(tasks: list[Task]) -> float:
    """From the first task to the last on one stream, the gaps between tasks included."""
    gap = {price.name: price.us for price in cost.prices()}["launch_gap"]
    return sum(time for _, _, time in tasks) + gap * (len(tasks) - 1)


def write_statistic(folder: Path, model_name: str, tasks: list[Task]) -> Path:
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

    ops = {op.name: op for op in model.ops}
    pieces = built.plan.pieces
    reports: dict[str, Report] = {}
    with Device() as device:
        unfused = Runner(device, model)
        for op in model.ops:
            reports[op.built.name] = unfused.alone(op)
        fused = Runner(device, model)
        starts = {piece.members[0]: piece for piece in pieces}
        inside = {name for piece in pieces for name in piece.members}
        for op in model.ops:
            if op.name in starts:
                piece = starts[op.name]
                fused.fused(piece, out_dir / "kernel_meta" / f"{piece.kernel_name}.json", ops)
            elif op.name not in inside:
                fused.alone(op)
        check(unfused.results(), fused.results(), model)

    profile = out_dir / "profile.json"
    write_profile(model, reports, profile)
    before, after = predicted_tasks(model, pieces, profile)
    write_statistic(results, UNFUSED, before)
    write_statistic(results, FUSED, after)
    print("\nAll times below are PREDICTED by the cost model of docs/cost-model.md; no device was measured.\n")
    comparison = compare(results)
    print(comparison)
    gain = 100 * (1 - elapsed(after) / elapsed(before))
    print(
        f"with the gaps between tasks: {len(before)} tasks in {elapsed(before):.2f} us -> "
        f"{len(after)} tasks in {elapsed(after):.2f} us ({gain:.2f} %)"
    )
    print(f"time in tasks: {number(comparison.unfused.total)} us -> {number(comparison.fused.total)} us (predicted)")
    print("\nexecute sample success")


if __name__ == "__main__":
    main()
