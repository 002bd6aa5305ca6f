"""Whether a kernel is right: many schedules, both arrival rules, late cores; beside it the ops one after another."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from superkernel._errors import make_error
from superkernel.sim._slots import FFTS_ADDRESS, Slots
from superkernel.sim.agents import Agent
from superkernel.sim.memory import Buffer
from superkernel.sim.report import Report
from superkernel.types import Arrivals, Schedule

if TYPE_CHECKING:
    from superkernel.sim.kernel import Kernel

__all__ = ["FailedSeed", "Variation", "Verdict", "check_kernel"]

#: Steps by which a core may start later than others, or an outer event arrive later than the launch.
_LATEST = 2000


@dataclass(frozen=True)
class Variation:
    """How one seed runs a kernel. Eight seeds in a row have every combination."""

    seed: int
    schedule: Schedule
    arrivals: Arrivals
    #: Cores start at different times.
    skewed_start: bool

    @classmethod
    def of(cls, seed: int) -> Variation:
        """The variation of a seed: the same for ever."""
        return cls(
            seed,
            schedule=("random", "skewed")[seed % 2],
            arrivals=("per-core", "summed")[seed // 2 % 2],
            skewed_start=bool(seed // 4 % 2),
        )

    def delays(self, cores: Iterable[str]) -> dict[str, int]:
        """By how many steps each core is late."""
        if not self.skewed_start:
            return {}
        # Some far behind, most not at all: it is the stragglers that show what was not waited for.
        generator = random.Random(self.seed)
        return {core: generator.randrange(_LATEST) for core in cores if generator.random() < 0.3}

    def __str__(self) -> str:
        late = ", late cores" if self.skewed_start else ""
        return f"seed {self.seed} ({self.schedule}, arrivals {self.arrivals}{late})"


@dataclass(frozen=True)
class FailedSeed:
    """What one seed found."""

    variation: Variation
    #: The status of the run, or ``different``: it ended well, and with other results than the ops alone.
    status: str
    message: str
    report: Report
    #: Whether a seed found it; otherwise an op that ran alone.
    repeatable: bool = True

    def __str__(self) -> str:
        return f"{self.variation if self.repeatable else 'an op alone'}: {self.status}\n{self.message}"


@dataclass(frozen=True)
class Verdict:
    """What :meth:`superkernel.sim.Kernel.check` found out."""

    kernel: str
    #: Seeds that were run.
    seeds: tuple[int, ...]
    #: Whether results were compared with those of the ops one after another.
    compared: bool
    findings: tuple[FailedSeed, ...]
    #: Steps of all runs.
    steps: int
    #: What runs that ended well had to say.
    warnings: tuple[str, ...] = ()
    #: The last run of the super kernel.
    last: Report | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def raise_for_status(self) -> Verdict:
        """Raises the first finding; returns itself if there is none."""
        for finding in self.findings:
            if finding.status == "different":
                raise make_error("SK0925", str(finding), "look for memory that two ops share without an order")
            finding.report.raise_for_status()
        return self

    def __str__(self) -> str:
        runs = f"{len(self.seeds)} seeds, {self.steps} steps"
        beside = "results as those of the ops alone" if self.compared else "not compared with the ops alone"
        if self.ok:
            return "\n".join([f"{self.kernel}: ok, {runs}, {beside}", *(f"warning: {text}" for text in self.warnings)])
        found = f"{self.kernel}: {len(self.findings)} of {len(self.seeds)} seeds found something"
        if not self.seeds:
            found = f"{self.kernel}: not run, its ops alone are at fault"
        return "\n".join([found, *map(str, self.findings)])

    def __repr__(self) -> str:
        return f"Verdict({self.kernel!r}, ok={self.ok}, {len(self.seeds)} seeds, {len(self.findings)} findings)"


@dataclass(frozen=True)
class Trial:
    """A kernel whose memory is laid out, ready to be run seed by seed."""

    kernel: Kernel
    slots: Slots
    #: What all memory holds before every run.
    before: Mapping[Buffer, bytes]
    #: What it holds after the ops ran alone, if that is known.
    expected: Mapping[Buffer, bytes] | None
    #: What of it must be the same, by name.
    compared: Mapping[str, Buffer]
    tolerance: tuple[float, float]
    agents: Sequence[Agent]
    #: Other arguments of :meth:`superkernel.sim.Kernel.launch`.
    options: Mapping[str, Any]

    def run(self, seed: int) -> tuple[Report, FailedSeed | None]:
        """Runs one seed; what it found, if it did."""
        _restore(self.before)
        variation = Variation.of(seed)
        cores = self.kernel.core_names(self.options.get("block_dim")) if variation.skewed_start else ()
        report = self.kernel.launch(
            self.slots,
            schedule=variation.schedule,
            seed=seed,
            arrivals=variation.arrivals,
            delays=variation.delays(cores),
            agents=[*_partners(self.slots, seed), *self.agents],
            **self.options,
        )
        if not report.ok:
            return report, FailedSeed(variation, report.status, report.message, report)
        if self.expected is not None:
            different = "\n".join(_differences(self.compared, self.expected, self.tolerance))
            if different:
                return report, FailedSeed(variation, "different", different, report)
        return report, None


@dataclass(frozen=True)
class Seen:
    """What is kept of one seed."""

    steps: int
    warnings: tuple[str, ...]
    found: FailedSeed | None
    #: Of a seed that was run in this process.
    report: Report | None


def check_kernel(
    kernel: Kernel,
    args: Any,
    *,
    seeds: int,
    first_seed: int,
    most_findings: int,
    tolerance: tuple[float, float],
    ignore: Iterable[str],
    tiling_key: Mapping[Any, Any],
    options: Mapping[str, Any],
    executor: Executor | None,
) -> Verdict:
    """See :meth:`superkernel.sim.Kernel.check`."""
    # Between two seeds all memory is as it was: what another thread did with it would be undone.
    with kernel.device._alone():
        return _check_kernel(
            kernel,
            args,
            range(first_seed, first_seed + seeds),
            most_findings,
            tolerance,
            ignore,
            tiling_key,
            options,
            executor,
        )


def _check_kernel(
    kernel: Kernel,
    args: Any,
    run: range,
    most_findings: int,
    tolerance: tuple[float, float],
    ignore: Iterable[str],
    tiling_key: Mapping[Any, Any],
    options: Mapping[str, Any],
    executor: Executor | None,
) -> Verdict:
    device = kernel.device
    slots = Slots(device, kernel.description, args, FFTS_ADDRESS, tiling_key)
    before = {buffer: buffer.read() for buffer in device.buffers}
    agents = list(options.get("agents", ()))
    rest = {key: value for key, value in options.items() if key != "agents"}
    findings: list[FailedSeed] = []
    warnings: dict[str, None] = {}
    steps, tried = 0, 0
    last: Report | None = None
    try:
        expected = _alone(kernel, slots, tiling_key, rest)
        if isinstance(expected, FailedSeed):
            return Verdict(kernel.name, (), True, (expected,), expected.report.steps)
        if expected is None:
            warnings["the files do not say which ops it was made of: results are not compared with theirs"] = None
        compared = _compared(kernel, slots, set(ignore))
        trial = Trial(kernel, slots, before, expected, compared, tolerance, agents, rest)
        for seen in _seen(trial, run, executor):
            tried, steps, last = tried + 1, steps + seen.steps, seen.report or last
            warnings.update(dict.fromkeys(seen.warnings))
            if seen.found is not None:
                findings.append(seen.found)
            if len(findings) >= most_findings:
                break
    finally:
        _restore(before)
        slots.free()
    ran = tuple(run[:tried])
    return Verdict(kernel.name, ran, expected is not None, tuple(findings), steps, tuple(warnings), last)


def _seen(trial: Trial, seeds: range, executor: Executor | None) -> Iterator[Seen]:
    """What each seed shows, in their order."""
    if executor is not None:
        from superkernel.sim._remote import run_elsewhere

        yield from run_elsewhere(trial, seeds, executor)
        return
    for seed in seeds:
        report, found = trial.run(seed)
        yield Seen(report.steps, report.warnings, found, report)


def _restore(contents: Mapping[Buffer, bytes]) -> None:
    for buffer, content in contents.items():
        buffer.write(content)


def _compared(kernel: Kernel, slots: Slots, ignored: set[str]) -> dict[str, Buffer]:
    """Memory that has the same content however the ops ran, by the first name it goes by."""
    by_address = {buffer.address: buffer for buffer in kernel.device.buffers}
    found: dict[Buffer, str] = {}
    for parameter in kernel.parameters:
        buffer = by_address.get(slots.values[parameter.slot])
        # What an op leaves in its scratch memory is nobody's business.
        if buffer is None or parameter.hidden or parameter.own_name == "workspace":
            continue
        if parameter.name not in ignored and parameter.own_name not in ignored:
            found.setdefault(buffer, parameter.name)
    return {name: buffer for buffer, name in found.items()}


def _alone(
    kernel: Kernel, slots: Slots, tiling_key: Mapping[Any, Any], options: Mapping[str, Any]
) -> dict[Buffer, bytes] | FailedSeed | None:
    """What the memory holds after the ops ran one after another, each as a kernel of its own; a lone op: once."""
    description = kernel.description
    timeout = options.get("timeout")
    if not description.ops:
        # Of a super kernel without its JSON nobody knows the ops. A lone op that fails here is found by a seed.
        alone = {name: options.get(name) for name in ("block_dim", "step_limit", "timeout", "tiling_key")}
        if description.is_super_kernel or not kernel.launch(slots, **alone).ok:
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
        report = loaded[key].launch(values, block_dim=blocks, tiling_key=tiling, timeout=timeout)
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
        agents.append(Agent(f"sender of {lock.name}", [(lock, 1)], delay=generator.randrange(_LATEST)))
    return agents


def _differences(
    compared: Mapping[str, Buffer], expected: Mapping[Buffer, bytes], tolerance: tuple[float, float]
) -> Iterator[str]:
    for name, buffer in compared.items():
        found, wanted = buffer.read(), expected[buffer]
        if found == wanted:
            continue
        import numpy

        kind = numpy.dtype(numpy.uint8) if buffer.dtype is None else buffer.dtype
        left, right = (numpy.frombuffer(data, kind) for data in (found, wanted))
        bits = numpy.dtype(f"V{kind.itemsize}")
        # Bit by bit: two equal NaNs are equal.
        close = left.view(bits) == right.view(bits)
        if kind.kind == "f" and any(tolerance):
            close |= numpy.isclose(left, right, *tolerance, equal_nan=True)
        wrong = numpy.flatnonzero(~close)
        if wrong.size:
            at = int(wrong[0])
            yield (
                f"`{name}` differs from the ops alone in {wrong.size} of {left.size} elements ({kind}); "
                f"element {at} is {left[at]} instead of {right[at]}"
            )
