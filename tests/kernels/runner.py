"""Builds the campaign's programs and runs them, fused and one operator at a time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import superkernel
from superkernel.sim import Agent, Buffer, BuiltOp, Device, Kernel, ProfilingBuffer, Report, aicpu_tiling

from kernels.layout import Layout, layout_of
from kernels.library import SOCS, Library
from kernels.programs import AIC_NUM, AIV_NUM, DATA_BUFFERS, Program

NAME = "te_superkernel_campaign"


@contextmanager
def platform(chip: str) -> Iterator[None]:
    """A small chip."""
    with superkernel.configure(soc=SOCS[chip], aic_num=AIC_NUM, aiv_num=AIV_NUM):
        yield


class Workshop:
    """The library for every chip and split mode, and one device per chip."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._libraries: dict[tuple[str, int], Library] = {}
        self._devices: dict[str, Device] = {}

    def library(self, chip: str, split: int | None = None) -> Library:
        key = (chip, split or 0)
        if key not in self._libraries:
            options = {} if split is None else {"split_mode": split}
            self._libraries[key] = Library(chip, self.directory / f"{chip}-split{split or 0}", **options)
        return self._libraries[key]

    def unfused_library(self, chip: str) -> Library:
        """The same operators without early start: alone, there is nobody to start or to wait for."""
        key = (chip, -1)
        if key not in self._libraries:
            self._libraries[key] = Library(chip, self.directory / f"{chip}-unfused", early_start=False)
        return self._libraries[key]

    def device(self, chip: str) -> Device:
        if chip not in self._devices:
            self._devices[chip] = Device(SOCS[chip], timeout=120)
        return self._devices[chip]

    def close(self) -> None:
        for device in self._devices.values():
            device.close()

    def kernel_infos(self, program: Program) -> dict[str, object]:
        """What the graph engine would pass."""
        ops = self.library(program.chip, program.built_split)
        entries: list[dict[str, object]] = [
            ops[step.kernel.name].entry(stream_id=step.stream, send_events=step.sends, recv_events=step.receives)
            for step in program.steps
        ]
        for place in program.holes:
            entries.insert(place, {"stream_id": 0})
        return {"op_list": entries, "super_kernel_options": program.option_text}

    def compile(self, program: Program, directory: Path) -> Path:
        """Fuses the program; the JSON of the super kernel."""
        with platform(program.chip), superkernel.configure(toolchain="host", kernel_meta_parent_dir=directory):
            superkernel.compile(self.kernel_infos(program), NAME)
        return directory / "kernel_meta" / f"{NAME}.json"


@dataclass
class Run:
    """One launch and what it left in memory."""

    report: Report
    data: list[np.ndarray]
    problems: list[str]


class Fused:
    """A program as one super kernel, loaded, with memory of its own."""

    def __init__(self, workshop: Workshop, program: Program, json_path: Path) -> None:
        self.program = program
        self.device = workshop.device(program.chip)
        told = json.loads(json_path.read_text())
        size = sum(told.get("workspace", {}).get("size", [])) + int(told.get("debugBufSize", 0))
        self.layout: Layout = layout_of(program, max(64, size))
        self.kernel: Kernel = self.device.load(json_path)
        self.block_dim = int(told["blockDim"])
        self.task_ration = str(told["taskRation"])
        self.buffers: dict[str, Buffer] = {
            name: self.device.buffer(size, name)
            for name, size in self.layout.sizes.items()
            if name not in ("ffts", "profiling")
        }
        self.profiling = (
            ProfilingBuffer(self.device, cubes=AIC_NUM, vectors=AIV_NUM) if program.on("profiling") else None
        )

    def close(self) -> None:
        for buffer in self.buffers.values():
            buffer.free()
        if self.profiling:
            self.profiling.buffer.free()

    def launch(self, seed: int, schedule: str = "random", **options: object) -> Run:
        rng = random.Random(seed)
        program = self.program
        for name, buffer in self.buffers.items():
            # Nothing but lock words may be assumed to be zero.
            is_word = name.startswith(("key", "blocks", "lock", "send", "receive"))
            buffer.write(bytes(buffer.nbytes) if is_word else rng.randbytes(buffer.nbytes))
        data = program.initial(seed)
        for number, array in enumerate(data):
            self.buffers[f"data{number}"].write(array)
        if self.profiling:
            self.profiling.reset()
        report = self.kernel.launch(
            self._arguments(),
            seed=seed,
            schedule=schedule,
            agents=self._agents(rng),
            accesses=self._accesses(),
            first_vector_core_id=rng.choice([None, 24, 25, 26, 27]),
            **options,  # type: ignore[arg-type]
        )
        after = [self.buffers[f"data{number}"].numpy(np.uint32) for number in range(DATA_BUFFERS)]
        return Run(report, after, self._problems(report, program.expected(data), after))

    def _arguments(self) -> list[Buffer | int]:
        values: list[Buffer | int] = []
        for name in self.layout.slots:
            if name == "ffts":
                values.append(0x1000)
            elif name == "task_id":
                values.append(77)
            elif name == "profiling" and self.profiling:
                values.append(self.profiling.buffer)
            else:
                values.append(self.buffers[str(name)])
        # The device puts the scheduler's address in front.
        return values[1:] if self.program.chip == "c220" else values

    def _agents(self, rng: random.Random) -> list[Agent]:
        agents = []
        for number, step in enumerate(self.program.steps):
            if step.tiling:
                words = np.array(step.tiling.constants.words(), np.uint32)
                agents.append(
                    aicpu_tiling(
                        lock=self.buffers[f"lock{number}"],
                        key=(self.buffers[f"key{number}"], step.tiling.key),
                        block_num=(self.buffers[f"blocks{number}"], step.tiling.blocks),
                        tiling=(self.buffers[f"tiling{number}"], words.tobytes()),
                        delay=rng.choice([0, 10, 1000]),
                        name=f"tiling of {number}",
                    )
                )
        for event in self.program.waits:
            sent = self.program.answers.get(event)
            agents.append(
                Agent(
                    f"partner of {event}",
                    [(self.buffers[f"receive{event}"], 1)],
                    word=None if sent is None else self.buffers[f"send{sent}"],
                    delay=rng.choice([0, 5, 500]),
                    required=True,
                )
            )
        return agents

    def _accesses(self) -> dict[str | int, dict[str, list[Buffer]]]:
        found: dict[str | int, dict[str, list[Buffer]]] = {}
        for number, step in enumerate(self.program.steps):
            reads = [self.buffers[f"data{step.x1}"], self.buffers[f"data{step.x2}"]]
            writes = [self.buffers[f"data{step.y}"], self.buffers[f"workspace{step.workspace}"]]
            found[number] = {"reads": reads, "writes": writes}
        return found

    def _problems(self, report: Report, expected: list[np.ndarray], found: list[np.ndarray]) -> list[str]:
        problems = [] if report.ok else [str(report)]
        for number, (want, have) in enumerate(zip(expected, found)):
            if not np.array_equal(want, have):
                wrong = np.flatnonzero(want != have)
                problems.append(f"data{number}: {len(wrong)} elements are wrong, the first is {wrong[0]}")
        for event in self.program.notifies:
            if self.buffers[f"send{event}"].word() != 1:
                problems.append(f"event {event} was not sent")
        for event in self.program.waits:
            if self.buffers[f"receive{event}"].word() != 0:
                problems.append(f"the lock of event {event} was not cleared")
        for number, step in enumerate(self.program.steps):
            if step.tiling and self.buffers[f"lock{number}"].word() != 0:
                problems.append(f"the lock of dynamic operator {number} was not cleared")
        if self.profiling and report.ok:
            problems += self._profiling_problems()
        return problems

    def _profiling_problems(self) -> list[str]:
        """Every core opens and closes the super kernel and each operator of its side once, in order."""
        assert self.profiling is not None
        problems = []
        per_core: dict[str, list[tuple[str, int, bool]]] = {}
        for record in self.profiling.records():
            per_core.setdefault(record.core, []).append((record.kind, record.index, record.is_end))
        cubes, vectors = (int(part) * self.block_dim for part in self.task_ration.split(":"))
        if len(per_core) != cubes + vectors:
            problems.append(f"{len(per_core)} of {cubes + vectors} cores recorded")
        for core, records in per_core.items():
            if records[0] != ("start", 77, False):
                problems.append(f"{core} starts with {records[0]}")
            if records[1] != ("super-kernel", 0, False) or records[-1] != ("super-kernel", 0, True):
                problems.append(f"{core} does not frame the super kernel: {records[1]}, {records[-1]}")
            open_records = [(kind, index) for kind, index, is_end in records[2:-1] if not is_end]
            closed = [(kind, index) for kind, index, is_end in records[2:-1] if is_end]
            if open_records != closed:
                problems.append(f"{core} does not close what it opens")
            ops = [index for kind, index in open_records if kind == "op"]
            if ops != sorted(set(ops)):
                problems.append(f"{core} runs operators in the order {ops}")
        return problems


def run_unfused(workshop: Workshop, program: Program, seed: int) -> list[np.ndarray]:
    """The data after every operator was launched alone, one after another."""
    device = workshop.device(program.chip)
    ops = workshop.unfused_library(program.chip)
    data = [device.buffer(array, f"data{number}") for number, array in enumerate(program.initial(seed))]
    scratch = device.buffer(data[0].nbytes, "workspace")
    try:
        for number, step in enumerate(program.steps):
            kernel = _load_alone(device, ops[step.kernel.name], step.kernel.meets)
            arguments: list[Buffer] = [data[step.x1], data[step.x2], data[step.y], scratch]
            options: dict[str, int] = {}
            tiling = None
            if step.tiling:
                tiling = device.buffer(np.array(step.tiling.constants.words(), np.uint32), "tiling")
                arguments.append(tiling)
                options = {"tiling_key": step.tiling.key, "block_dim": step.tiling.blocks}
            report = kernel.launch(arguments, seed=seed + number, **options)  # type: ignore[arg-type]
            if tiling is not None:
                tiling.free()
            report.raise_for_status()
        return [buffer.numpy() for buffer in data]
    finally:
        for buffer in (*data, scratch):
            buffer.free()


def _load_alone(device: Device, op: BuiltOp, meets: bool) -> Kernel:
    """The operator as a kernel of its own. One that calls SyncAll needs a launch whose flags work."""
    if not meets or "MIX" in op.kernel_type:
        return device.load(op.json_path)
    kind = "aiv" if "AIV" in op.kernel_type else "aic"
    kernel_type = f"KERNEL_TYPE_MIX_{kind.upper()}_1_0"
    return device.load(op.bin_path, functions={kind: op.functions[0]}, kernel_type=kernel_type, block_dim=op.block_dim)
