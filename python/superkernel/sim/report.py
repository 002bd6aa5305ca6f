"""What a launch tells about itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from superkernel import _core, _files
from superkernel._errors import make_error
from superkernel.sim._arguments import integer, refuse
from superkernel.sim.profiling import ProfilingRecord

__all__ = ["CoreReport", "Event", "Finding", "Hazard", "Instruction", "Report"]

# What a run that ended with this status is called, and what to do about it.
_ERRORS: dict[str, tuple[str, str]] = {
    "deadlock": ("SK0910", "set the flag or the word that the report names on every core that has to"),
    "overflow": ("SK0911", "wait for the flag before it is set again"),
    "leak": ("SK0912", "give every set of a flag its wait on every path of every core"),
    "trap": ("SK0913", "look why the kernel gave up at that line"),
    "assert": ("SK0914", "look why the assertion failed"),
    "api": ("SK0915", "keep the rule that the report names"),
    "null-call": ("SK0916", "look where the function pointer comes from: a tiling key that was never selected?"),
    "crash": ("SK0917", "look at the address and the operator; debug with isolation='in-process' under a debugger"),
    "step-limit": ("SK0918", "raise step_limit, or look for a loop that never ends"),
    "hazard": ("SK0919", "order the two operators by an event or a barrier, two cores of one by SyncAll or a flag"),
    "agent": ("SK0920", "check the word that the agent waits for"),
    "timeout": ("SK0921", "raise timeout, or look for a loop without any call of the device interface"),
    "overrun": ("SK0922", "keep the kernel's writes inside its buffers"),
    "pipe": ("SK0928", "put in what the report says is missing between the two instructions"),
    "cache": ("SK0929", "call dcci where the report says: after the write, before the read"),
}


#: One entry of the timeline.
Event = _core.Event
#: Two operators, or two cores of one, that share memory without an order between them.
Hazard = _core.Hazard
#: One instruction, with the time a model gives it.
Instruction = _core.Instruction
#: A mistake inside a core that did no harm in this order.
Finding = _core.Finding
#: Where one core was when the run ended.
CoreReport = _core.CoreReport


@dataclass(frozen=True, repr=False)
class Report:
    """The outcome of one launch."""

    #: ``ok``, or what went wrong: ``deadlock``, ``leak``, ``crash``, ``hazard``, ...
    status: str
    #: What went wrong, in a few lines; empty if nothing.
    message: str
    steps: int = 0
    switches: int = 0
    #: Sums over all cores: sets, waits, sync_all, dcci, ...
    counts: Mapping[str, int] = field(default_factory=dict)
    cores: tuple[CoreReport, ...] = ()
    events: tuple[Event, ...] = ()
    events_dropped: int = 0
    hazards: tuple[Hazard, ...] = ()
    #: Mistakes inside a core: missing order between its pipes, events and queues used wrongly.
    findings: tuple[Finding, ...] = ()
    #: How the pipes of a core worked: ``in-order``, ``checked``, ``reordered``.
    pipes: str = "in-order"
    #: What was not checked, and why.
    unchecked: tuple[str, ...] = ()
    #: What scalar accesses to global memory met: ``coherent`` or ``strict``.
    cache: str = "coherent"
    #: With ``events="instructions"``: every instruction, its pipe, bytes and the cycles a rough model gives it.
    instructions: tuple[Instruction, ...] = ()
    warnings: tuple[str, ...] = ()
    #: Lines printed by the kernel, each with its core in front.
    output: tuple[str, ...] = ()
    #: How often each agent acted.
    agents: Mapping[str, int] = field(default_factory=dict)
    #: Core, operator, text, file and line of the first failure.
    failure: Mapping[str, Any] | None = None
    #: What the cores recorded, if the kernel has a profiling slot that nobody filled.
    profiling: tuple[ProfilingRecord, ...] = ()
    #: The kernel that ran.
    kernel: str = ""
    _native: _core.SimReport | None = field(default=None, repr=False, compare=False)
    _description: _core.KernelDescription | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether everything went well."""
        return self.status == "ok"

    @property
    def error_id(self) -> str:
        """The id of what went wrong first: ``superkernel explain`` knows it."""
        return self._first_mistake.id if self._first_mistake is not None else _ERRORS[self.status][0]

    @property
    def tool(self) -> str:
        """The tool that looks for what went wrong first."""
        if self._first_mistake is not None:
            return self._first_mistake.tool
        return "bounds" if self.status in ("api", "crash", "overrun", "null-call") else "order"

    @property
    def _first_mistake(self) -> Hazard | Finding | None:
        """What did not end the run by itself, if that is what it failed by."""
        if self.status == "hazard" and self.hazards:
            return self.hazards[0]
        return self.findings[0] if self.status in ("pipe", "cache") and self.findings else None

    def core(self, name: str) -> CoreReport:
        """The report of one core, by its name (``AIC0``)."""
        for report in self.cores:
            if report.core == name:
                return report
        raise KeyError(name)

    def timeline(self, core: str) -> tuple[Event, ...]:
        """The events of one core, in order."""
        return tuple(event for event in self.events if event.core == core)

    @property
    def came_back(self) -> bool:
        """Whether the run ended by itself, whatever it found; only then its events are known."""
        return self._native is not None

    def traces(self) -> _core.Traces:
        """What every core did when, in steps of the simulator.

        Waits and barriers, with their reasons, are there with ``events="sync"``, the pipes of the cores with
        ``events="instructions"``.
        """
        if self._native is None:
            raise refuse("this run left no events: it did not come back", "see its status and message")
        return self._native.trace(self.kernel or "kernel", self._description)

    def save_trace(self, path: str | os.PathLike[str]) -> list[str]:
        """Writes the timeline for https://ui.perfetto.dev or ``chrome://tracing``.

        Says what a reader must know: the time axis, and what is missing, assumed or merged.
        """
        return _files.write_traces(path, self.traces())

    def gantt(self, width: int = 100) -> str:
        """The timeline as a chart of text."""
        return self.traces().gantt(integer("width", width, 0, 10_000))

    def raise_for_status(self) -> Report:
        """Raises :class:`superkernel.SuperKernelError` unless everything went well; returns itself otherwise."""
        if self.ok:
            return self
        solution = _ERRORS[self.status][1]
        of = f" of `{self.kernel}`" if self.kernel else ""
        raise make_error(self.error_id, f"the simulated run{of} ended with `{self.status}`: {self.message}", solution)

    @property
    def _head(self) -> str:
        of = f"{self.kernel}: " if self.kernel else ""
        head = f"{of}{self.status}, {len(self.cores)} cores, {self.steps} steps, {self.switches} switches"
        return f"{head}; not checked: {', '.join(self.unchecked)}" if self.unchecked else head

    def __str__(self) -> str:
        lines = [self._head, *filter(None, [self.message]), *(f"warning: {text}" for text in self.warnings)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        why = self.message.partition("\n")[0]
        why = f": {why[:120]}…" if len(why) > 120 else f": {why}" if why else ""
        more = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"<Report {self._head}{more}{why}>"

    def _repr_html_(self) -> str:
        """For notebooks: the text, and a row for every core that did not finish."""
        from html import escape

        parts = [f"<b>{escape(self._head)}</b>"]
        if self.message:
            parts.append(f"<pre>{escape(self.message)}</pre>")
        parts += [f"<p>warning: {escape(text)}</p>" for text in self.warnings]
        stuck = [core for core in self.cores if core.state != "finished"]
        if stuck:
            rows = "".join(
                "<tr>"
                + "".join(f"<td>{escape(cell or '')}</td>" for cell in (core.core, core.state, core.op, core.why))
                + "</tr>"
                for core in stuck
            )
            head = "".join(f"<th>{title}</th>" for title in ("core", "state", "op", "why"))
            parts.append(f"<table><tr>{head}</tr>{rows}</table>")
        return "\n".join(parts)


def from_native(native: _core.SimReport) -> Report:
    """The report the native core made."""
    return Report(
        status=native.status,
        message=native.message,
        steps=native.steps,
        switches=native.switches,
        counts=native.counts,
        cores=tuple(native.cores),
        events=tuple(native.events),
        events_dropped=native.events_dropped,
        hazards=tuple(native.hazards),
        findings=tuple(native.findings),
        pipes=native.pipes,
        unchecked=tuple(native.unchecked),
        cache=native.cache,
        instructions=tuple(native.instructions),
        warnings=tuple(native.warnings),
        output=tuple(native.output),
        agents=native.agents,
        failure=native.failure,
        _native=native,
    )
