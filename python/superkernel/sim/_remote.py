"""Seeds of a check run by the workers of an executor, each with a device of its own.

A task carries everything: the kernel's files, the memory of the device with its addresses, the arguments of the launch.
A worker lays the memory out at the same addresses, so that a seed does there exactly what it does here, and tells what
it saw. What found something is run again here, where its report can be looked at.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from superkernel._errors import make_error
from superkernel._fork import new_lock
from superkernel._logging import logger
from superkernel._scratch import ScratchFolder
from superkernel.sim import _arguments as check
from superkernel.sim.checking import Seen, Trial
from superkernel.sim.memory import Buffer

if TYPE_CHECKING:
    from superkernel.sim.kernel import Kernel

__all__ = ["run_elsewhere", "run_seeds"]

#: Seeds of one task: a worker links the kernel and starts a process first.
_FEWEST, _MOST_TASKS = 8, 32
#: What a worker gets of a trial; it has a kernel and memory of its own.
_CARRIED = ("slots", "expected", "compared", "wanted", "tolerance", "tools", "agents", "options")
#: Two devices cannot have the same addresses in one process.
_one_device = new_lock()


class Glimpse(NamedTuple):
    """What a worker tells about a seed."""

    steps: int
    warnings: tuple[str, ...]
    unchecked: list[tuple[str, list[str]]]
    found: bool


def run_elsewhere(trial: Trial, seeds: range, executor: Executor) -> Iterator[Seen]:
    """What each seed shows, in their order. Tasks that no worker could carry out are carried out here."""
    each = max(_FEWEST, -(-len(seeds) // _MOST_TASKS))
    parts = [seeds[at : at + each] for at in range(0, len(seeds), each)]
    tasks: list[Future[list[Glimpse]] | None] = [None] * len(parts)
    try:
        packed = _sent(executor, _packed(trial))
        tasks = [executor.submit(run_seeds, packed, list(part)) for part in parts]
    except Exception as error:
        logger.warning("%s: seeds are run here: %r", trial.kernel.name, error)
    try:
        for part, task in zip(parts, tasks):
            yield from _shown(trial, part, task)
    finally:
        for task in tasks:
            if task is not None:
                task.cancel()


def _shown(trial: Trial, seeds: range, task: Future[list[Glimpse]] | None) -> Iterator[Seen]:
    glimpses: list[Glimpse | None] = [None] * len(seeds)
    if task is not None:
        try:
            answer = task.result()
        except Exception as error:
            logger.warning("%s: seeds %d to %d are run here: %r", trial.kernel.name, seeds[0], seeds[-1], error)
        else:
            glimpses = list(_whole(answer, seeds))
    for seed, glimpse in zip(seeds, glimpses):
        if glimpse is not None and not glimpse.found:
            yield Seen(glimpse.steps, glimpse.warnings, glimpse.unchecked, None, None)
            continue
        report, found = trial.run(seed)
        if glimpse is not None and found is None:
            logger.warning("%s: what a worker found with seed %d does not show here", trial.kernel.name, seed)
        yield Seen(report.steps, report.warnings, report.unchecked_by_tool, found, report)


def _whole(answer: Any, seeds: range) -> list[Glimpse]:
    """The answer of a task, which reports on each of its seeds. A shorter one would pass for seeds never run."""
    if not isinstance(answer, list) or len(answer) != len(seeds) or not all(isinstance(g, Glimpse) for g in answer):
        told = f"{len(answer)} seeds" if isinstance(answer, list) else f"an object of type {type(answer).__name__}"
        raise make_error(
            "SK0931",
            f"a worker was asked for {len(seeds)} seeds, from {seeds[0]} on, and answered with {told}",
            "give the workers the same version of superkernel as here, or check without `executor`",
        )
    return answer


def _sent(executor: Executor, data: bytes) -> Any:
    """With Dask it goes to each worker once."""
    client = getattr(executor, "_client", None)
    return data if client is None else client.scatter(data, hash=True)


# -- there and back ----------------------------------------------------------------------------------------------------


def _packed(trial: Trial) -> bytes:
    """Everything a worker needs, as bytes."""
    kernel, device = trial.kernel, trial.kernel.device
    origin = kernel._origin
    if origin is None:
        raise check.refuse("a kernel that was not loaded from its own files", "load it with `Device.load`")
    buffers = list(trial.before)
    stream = io.BytesIO()
    pickler = _Pickler(stream, trial, buffers)
    pickler.dump([getattr(trial, name) for name in _CARRIED])
    files = {path.name: path.read_bytes() for path in _files(kernel)}
    memory = [(buffer.name, buffer.address, trial.before[buffer], buffer.dtype) for buffer in buffers]
    place = (device.soc, device._arena.size, device._arena.address, device.timeout)
    return pickle.dumps((place, files, origin, memory, stream.getvalue()))


def _files(kernel: Kernel) -> list[Path]:
    """The kernel's object, and what stands beside it."""
    origin = kernel._origin
    assert origin is not None  # asked before
    stems = {Path(kernel.description.object), origin.path, *([origin.bin_path] if origin.bin_path else [])}
    found = {path.with_suffix(suffix) for path in stems for suffix in (".o", ".json", ".manifest.json")} | stems
    return sorted(path for path in found if path.is_file())


class _Pickler(pickle.Pickler):
    """Stores what a worker has of its own by name: device, kernel, buffers."""

    def __init__(self, stream: io.BytesIO, trial: Trial, buffers: list[Buffer]) -> None:
        super().__init__(stream)
        self._kernel, self._parameters = trial.kernel, trial.slots._parameters
        self._numbers = {buffer: number for number, buffer in enumerate(buffers)}

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, Buffer):
            return self._numbers[obj]
        if obj is self._kernel.device:
            return "device"
        if obj is self._kernel.description:
            return "description"
        return "parameters" if obj is self._parameters else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, kernel: Kernel, buffers: list[Buffer]) -> None:
        super().__init__(io.BytesIO(data))
        self._buffers = buffers
        self._own: Mapping[str, Any] = {
            "device": kernel.device,
            "description": kernel.description,
            "parameters": kernel.parameters,
        }

    def persistent_load(self, key: Any) -> Any:
        return self._buffers[key] if isinstance(key, int) else self._own[key]


def run_seeds(packed: bytes, seeds: list[int]) -> list[Glimpse]:
    """On a worker: runs seeds of a check, and tells what each showed."""
    from superkernel.sim.device import Device

    (soc, size, address, timeout), files, origin, memory, rest = pickle.loads(packed)
    with (
        _one_device,
        ScratchFolder("check") as folder,
        Device(soc, memory=size, timeout=timeout, _address=address) as device,
    ):
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        kernel = device.load(
            Path(folder) / origin.path.name,
            bin_path=None if origin.bin_path is None else Path(folder) / origin.bin_path.name,
            functions=origin.functions,
            kernel_type=origin.kernel_type,
            block_dim=origin.block_dim,
        )
        buffers = [
            device.buffer(_typed(content, kind), name, _address=address) for name, address, content, kind in memory
        ]
        carried = dict(zip(_CARRIED, _Unpickler(rest, kernel, buffers).load()))
        before = {buffer: content for buffer, (_, _, content, _) in zip(buffers, memory)}
        trial = Trial(kernel=kernel, before=before, **carried)
        shown = []
        for seed in seeds:
            report, found = trial.run(seed)
            shown.append(Glimpse(report.steps, report.warnings, report.unchecked_by_tool, found is not None))
        return shown


def _typed(content: bytes, kind: Any) -> Any:
    """With the element type that differences are reported in."""
    if kind is None:
        return content
    import numpy

    return numpy.frombuffer(content, kind)
