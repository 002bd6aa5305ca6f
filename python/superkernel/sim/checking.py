"""Whether a kernel is right: many orders, in the strong modes of the simulator; beside it the ops one after another."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from superkernel.sim import _arguments as check
from superkernel.sim._sharing import alone_in_memory
from superkernel.sim._slots import FFTS_ADDRESS, Slots
from superkernel.sim.agents import Agent
from superkernel.sim.memory import Buffer
from superkernel.sim.report import Report
from superkernel.sim.variation import DEFAULT_TOOLS, LATEST, Tool, Variation, resting
from superkernel.sim.verdict import DIFFERENT, UNEXPECTED, FailedSeed, Verdict

if TYPE_CHECKING:
    from superkernel.sim.kernel import Kernel

__all__ = ["Request", "Trial", "check_kernel"]

#: How much further apart than two orders of the ops alone a float may be that is combined by several cores.
_SPREAD = 16
#: Seeds that workers get at a time if there is a limit of time.
_AT_A_TIME = 64


@dataclass(frozen=True)
class Request:
    """What a check is asked to do. See :meth:`superkernel.sim.Kernel.check`."""

    seeds: range
    tools: frozenset[Tool]
    most_findings: int
    tolerance: tuple[float, float]
    ignore: frozenset[str]
    #: Contents of parameters at the end, by name.
    expect: Mapping[str, Any]
    tiling_key: Mapping[Any, Any]
    #: Other arguments of :meth:`superkernel.sim.Kernel.launch`.
    options: Mapping[str, Any]
    executor: Executor | None
    #: Seconds after which no further seed begins.
    budget: float | None
    #: Gets how many seeds have run, and how many will at most.
    progress: Callable[[int, int], None] | None


@dataclass(frozen=True)
class Trial:
    """A kernel whose memory is laid out, ready to be run seed by seed."""

    kernel: Kernel
    slots: Slots
    #: What all memory holds before every run.
    before: Mapping[Buffer, bytes]
    #: What it holds after the ops ran alone, if that is known; the same in another order of their cores.
    expected: tuple[Mapping[Buffer, bytes], Mapping[Buffer, bytes]] | None
    #: What of it must be the same, by name.
    compared: Mapping[str, Buffer]
    #: What parameters must hold, whatever the ops alone compute.
    wanted: Mapping[str, tuple[Buffer, bytes]]
    tolerance: tuple[float, float]
    tools: frozenset[Tool]
    agents: Sequence[Agent]
    #: Other arguments of :meth:`superkernel.sim.Kernel.launch`.
    options: Mapping[str, Any]

    def run(self, seed: int) -> tuple[Report, FailedSeed | None]:
        """Runs one seed; what it found, if it did."""
        _restore(self.before)
        variation = Variation.of(seed, self.tools)
        cores = self.kernel.core_names(self.options.get("block_dim")) if variation.skewed_start else ()
        options = dict(self.options)
        poisons = options.pop("poison_local_memory", True) and variation.poisoned
        report = self.kernel.launch(
            self.slots,
            schedule=variation.schedule,
            seed=seed,
            arrivals=variation.arrivals,
            delays=variation.delays(cores),
            agents=[*_partners(self.slots, seed), *self.agents],
            pipes=variation.pipes,
            cache=variation.cache,
            auto_sync=variation.auto_sync,
            poison_local_memory=poisons,
            tools=self.tools,
            **options,
        )
        if not report.ok:
            return report, FailedSeed(variation, report.status, report.message, report)
        told = _unexpected(self.wanted, self.tolerance)
        if told:
            return report, FailedSeed(variation, UNEXPECTED, told, report)
        told = "" if self.expected is None else _different(self.compared, *self.expected, self.tolerance)
        if told:
            return report, FailedSeed(variation, DIFFERENT, told, report)
        return report, None

    def shortened(self, found: FailedSeed) -> FailedSeed:
        """The same finding, with one tool if its seed shows it with that one alone.

        Wrong results say only that something is wrong: the tool whose mode is enough to show them is where to look.
        """
        first = [found.tool] if found.status not in (DIFFERENT, UNEXPECTED) else []
        for tool in dict.fromkeys([*first, Tool.ORDER, Tool.PIPE, Tool.CACHE, Tool.INIT, Tool.AUTOSYNC]):
            if tool not in self.tools and tool not in first:
                continue
            _, again = dataclasses.replace(self, tools=frozenset({tool})).run(found.variation.seed)
            if again is not None and again.id == found.id:
                return dataclasses.replace(found, again_with=(tool,))
        if self.tools == DEFAULT_TOOLS:
            return found
        return dataclasses.replace(found, again_with=tuple(tool for tool in Tool if tool in self.tools))


@dataclass(frozen=True)
class Seen:
    """What is kept of one seed."""

    steps: int
    warnings: tuple[str, ...]
    #: By tool.
    unchecked: list[tuple[str, list[str]]]
    found: FailedSeed | None
    #: Of a seed that was run in this process.
    report: Report | None


def check_kernel(kernel: Kernel, args: Any, request: Request) -> Verdict:
    """See :meth:`superkernel.sim.Kernel.check`."""
    # Between two seeds all memory is as it was: what another thread did with it would be undone.
    with kernel.device._alone():
        return _check_kernel(kernel, args, request)


def _check_kernel(kernel: Kernel, args: Any, request: Request) -> Verdict:
    begun = time.monotonic()
    device = kernel.device
    slots = Slots(device, kernel.description, args, FFTS_ADDRESS, request.tiling_key)
    before = {buffer: buffer.read() for buffer in device.buffers}
    agents = list(request.options.get("agents", ()))
    rest = {key: value for key, value in request.options.items() if key != "agents"}
    findings: list[FailedSeed] = []
    warnings: dict[str, None] = {}
    unchecked: dict[str, str] = {}
    steps, tried = 0, 0
    last: Report | None = None
    try:
        expected = _expected(kernel, slots, before, request.tiling_key, rest)
        if isinstance(expected, FailedSeed):
            return Verdict(kernel.name, (), True, (expected,), expected.report.steps, tools=request.tools)
        if expected is None:
            unchecked["results"] = "the files do not say which ops it was made of, nothing to compare with"
        why = alone_in_memory(kernel, slots) if Tool.ORDER in request.tools else None
        if why is not None:
            unchecked["order"] = why
        compared = _compared(kernel, slots, request.ignore)
        wanted = _wanted(kernel, slots, request.expect)
        trial = Trial(kernel, slots, before, expected, compared, wanted, request.tolerance, request.tools, agents, rest)
        for seen in _seen(trial, request):
            tried, steps, last = tried + 1, steps + seen.steps, seen.report or last
            warnings.update(dict.fromkeys(seen.warnings))
            _note_unchecked(unchecked, seen.unchecked, request.tools)
            if seen.found is not None:
                findings.append(trial.shortened(seen.found))
            if request.progress is not None:
                request.progress(tried, len(request.seeds))
            if len(findings) >= request.most_findings:
                break
            if request.budget is not None and time.monotonic() - begun >= request.budget:
                break
        if tried and not findings:
            _note_resting(unchecked, request, request.seeds[:tried])
    finally:
        _restore(before)
        slots.free()
    ran = tuple(request.seeds[:tried])
    is_compared = expected is not None
    return Verdict(
        kernel.name, ran, is_compared, tuple(findings), steps, tuple(warnings), last, request.tools, unchecked
    )


def _note_unchecked(unchecked: dict[str, str], told: Iterable[tuple[str, list[str]]], tools: frozenset[Tool]) -> None:
    """What a run says it has not seen."""
    for tool, texts in told:
        if Tool(tool) in tools:
            unchecked.setdefault(tool, "; ".join(texts))


def _note_resting(unchecked: dict[str, str], request: Request, ran: Sequence[int]) -> None:
    """Tools whose mode rests in all of several seeds. Who repeats a single one knows what for."""
    for tool in resting(ran, request.tools) if len(request.seeds) > 1 else ():
        told = f"it rests in seeds {ran[0]} to {ran[-1]}; take 30 in a row, or name the tool"
        unchecked.setdefault(tool.value, told)


def _seen(trial: Trial, request: Request) -> Iterator[Seen]:
    """What each seed shows, in their order."""
    if request.executor is not None:
        from superkernel.sim._remote import run_elsewhere

        # Nobody knows how many there will be where time is short: workers get some at a time.
        step = len(request.seeds) if request.budget is None else _AT_A_TIME
        for at in range(0, len(request.seeds), step):
            yield from run_elsewhere(trial, request.seeds[at : at + step], request.executor)
        return
    for seed in request.seeds:
        report, found = trial.run(seed)
        yield Seen(report.steps, report.warnings, report.unchecked_by_tool, found, report)


def _restore(contents: Mapping[Buffer, bytes]) -> None:
    for buffer, content in contents.items():
        buffer.write(content)


def _wanted(kernel: Kernel, slots: Slots, expect: Mapping[str, Any]) -> dict[str, tuple[Buffer, bytes]]:
    """What is expected of parameters, as the bytes their memory must hold in the end."""
    by_address = {buffer.address: buffer for buffer in kernel.device.buffers}
    found: dict[str, tuple[Buffer, bytes]] = {}
    for name, content in expect.items():
        buffer = by_address.get(slots.address("expect", name))
        if buffer is None:
            raise check.refuse(
                f"expect: `{name}` is no memory", "expect arrays of parameters that are arrays or buffers"
            )
        kind = getattr(content, "dtype", None)
        if kind is None and not isinstance(content, (bytes, bytearray, memoryview)):
            raise check.refuse(f"expect: `{name}` of type {type(content).__name__}", "expect arrays, or bytes")
        data = bytes(content if kind is None else content.tobytes())
        if len(data) != buffer.nbytes or (None not in (kind, buffer.dtype) and kind != buffer.dtype):
            raise check.refuse(
                f"expect: `{name}` of {len(data)} bytes ({kind}), the parameter has {buffer.nbytes} ({buffer.dtype})",
                "give an array of the parameter's type and size",
            )
        found[name] = buffer, data
    return found


def _compared(kernel: Kernel, slots: Slots, ignored: frozenset[str]) -> dict[str, Buffer]:
    """Memory that has the same content however the ops ran, by the first name it goes by."""
    by_address = {buffer.address: buffer for buffer in kernel.device.buffers}
    found: dict[Buffer, str] = {}
    for parameter in kernel.parameters:
        buffer = by_address.get(slots.values[parameter.slot])
        # What an op leaves in its scratch memory is of no interest.
        if buffer is None or parameter.hidden or parameter.own_name == "workspace":
            continue
        if parameter.name not in ignored and parameter.own_name not in ignored:
            found.setdefault(buffer, parameter.name)
    return {name: buffer for buffer, name in found.items()}


def _expected(
    kernel: Kernel,
    slots: Slots,
    before: Mapping[Buffer, bytes],
    tiling_key: Mapping[Any, Any],
    options: Mapping[str, Any],
) -> tuple[dict[Buffer, bytes], dict[Buffer, bytes]] | FailedSeed | None:
    """What the ops alone leave, in two orders of their cores: floats that cores combine are not the same in both."""
    first = _alone(kernel, slots, tiling_key, options, {})
    if first is None or isinstance(first, FailedSeed):
        return first
    _restore(before)
    second = _alone(kernel, slots, tiling_key, options, {"schedule": "random", "seed": 1})
    # What fails in another order is found by a seed, which can be repeated.
    return (first, second) if isinstance(second, dict) else (first, first)


def _alone(
    kernel: Kernel,
    slots: Slots,
    tiling_key: Mapping[Any, Any],
    options: Mapping[str, Any],
    order: Mapping[str, Any],
) -> dict[Buffer, bytes] | FailedSeed | None:
    """What the memory holds after the ops ran one after another, each as a kernel of its own; a lone op: once."""
    description = kernel.description
    timeout = options.get("timeout")
    if not description.ops:
        # Of a super kernel without its JSON the ops are not known. A lone op that fails here is found by a seed.
        alone: dict[str, Any] = {
            name: options.get(name) for name in ("block_dim", "step_limit", "timeout", "tiling_key")
        }
        if description.is_super_kernel or not kernel.launch(slots, **alone, **order).came_back:
            return None
        return {buffer: buffer.read() for buffer in kernel.device.buffers}
    loaded: dict[tuple[Any, Any], Kernel] = {}
    for position in description.sequential_order():
        op = description.ops[position]
        if op.json_path is None:
            return None
        key = (op.json_path, op.bin_path)
        if key not in loaded:
            loaded[key] = kernel.device.load_alone(*key)
        # Behind its parameters a dynamic op has slots that the super kernel reads, not the op.
        count = len(loaded[key].parameters) or op.param_count
        end = None if count is None else op.param_offset + count
        chosen = tiling_key.get(op.index, tiling_key.get(op.name))
        tiling, blocks = chosen if isinstance(chosen, tuple) else (chosen, op.blocks)
        values = slots.values[op.param_offset : end]
        report = loaded[key].launch(values, block_dim=blocks, tiling_key=tiling, timeout=timeout, **order)
        if not report.ok:
            message = f"op {op.index} `{op.name}` alone: {report.message}"
            return FailedSeed(Variation(0, "round-robin", "per-core", False), report.status, message, report, False)
    return {buffer: buffer.read() for buffer in kernel.device.buffers}


def _partners(slots: Slots, seed: int) -> list[Agent]:
    """Those outside that events are waited for from: sooner or later they come."""
    generator = random.Random(seed)
    agents = []
    for lock in slots.waits:
        lock.set_word(0)
        agents.append(Agent(f"sender of {lock.name}", [(lock, 1)], delay=generator.randrange(LATEST)))
    return agents


def _unexpected(wanted: Mapping[str, tuple[Buffer, bytes]], tolerance: tuple[float, float]) -> str:
    """What does not hold what was expected."""
    lines = []
    for name, (buffer, content) in wanted.items():
        told = _difference(buffer, content, content, tolerance)
        lines += [f"`{name}` is not as expected in {told}"] if told else []
    return "\n".join(lines)


def _different(
    compared: Mapping[str, Buffer],
    expected: Mapping[Buffer, bytes],
    again: Mapping[Buffer, bytes],
    tolerance: tuple[float, float],
) -> str:
    """What does not hold what the ops alone left there, in either order."""
    lines = []
    for name, buffer in compared.items():
        told = _difference(buffer, expected[buffer], again[buffer], tolerance)
        lines += [f"`{name}` differs from the ops alone in {told}"] if told else []
    return "\n".join(lines)


def _difference(buffer: Buffer, wanted: bytes, also: bytes, tolerance: tuple[float, float]) -> str | None:
    found = buffer.read()
    if found in (wanted, also):
        return None
    import numpy

    kind = numpy.dtype(numpy.uint8) if buffer.dtype is None else buffer.dtype
    left, right, other = (numpy.frombuffer(data, kind) for data in (found, wanted, also))
    bits = numpy.dtype(f"V{kind.itemsize}")
    # Bit by bit: two equal NaNs are equal.
    close = (left.view(bits) == right.view(bits)) | (left.view(bits) == other.view(bits))
    if kind.kind == "f":
        if any(tolerance):
            close |= numpy.isclose(left, right, *tolerance, equal_nan=True)
        with numpy.errstate(invalid="ignore", over="ignore"):
            spread = numpy.abs(right.astype(float) - other.astype(float))
            # Combined by several cores, in an order that is theirs: how far it goes is known from two orders.
            scale = numpy.finfo(kind).eps * numpy.maximum(numpy.abs(right), numpy.abs(other)).astype(float)
            close |= (spread.max(initial=0) > 0) & (
                numpy.abs(left.astype(float) - right.astype(float)) <= _SPREAD * numpy.maximum(spread, scale)
            )
    wrong = numpy.flatnonzero(~close)
    if not wrong.size:
        return None
    at = int(wrong[0])
    return f"{wrong.size} of {left.size} elements ({kind}); element {at} is {left[at]} instead of {right[at]}"
