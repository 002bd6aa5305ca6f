"""What a check found out, and what it could not look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from superkernel._errors import make_error
from superkernel.sim.report import Report
from superkernel.sim.variation import DEFAULT_TOOLS, Tool, Variation, resting

__all__ = ["FailedSeed", "Verdict"]

#: Results differ from those of the ops alone.
DIFFERENT = "different"
#: Results differ from those that were expected.
UNEXPECTED = "unexpected"
_OF_RESULTS = {
    DIFFERENT: ("SK0925", "look for memory that two ops share without an order"),
    UNEXPECTED: ("SK0943", "look into the op that computes it, or correct what is expected"),
}


@dataclass(frozen=True)
class FailedSeed:
    """What one seed found."""

    variation: Variation
    #: The status of the run; ``different``: it ended well, and with other results than the ops alone; ``unexpected``:
    #: with other results than given with ``expect``.
    status: str
    message: str
    report: Report
    #: Whether a seed found it; otherwise an op that ran alone.
    repeatable: bool = True
    #: Tools with which the seed is known to find it again; none: those of the whole check.
    again_with: tuple[Tool, ...] = ()

    @property
    def id(self) -> str:
        """The id of what was found: ``superkernel explain`` knows it."""
        return _OF_RESULTS[self.status][0] if self.status in _OF_RESULTS else self.report.error_id

    @property
    def tool(self) -> Tool:
        """The tool that found it."""
        if len(self.again_with) == 1:
            return self.again_with[0]
        return Tool.ORDER if self.status in _OF_RESULTS else Tool(self.report.tool)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        where = self.report.failure or {}
        return {
            "id": self.id,
            "tool": str(self.tool),
            "status": self.status,
            "message": self.message,
            "seed": self.variation.seed if self.repeatable else None,
            "tools": [str(tool) for tool in self.again_with],
            "variation": str(self.variation),
            **{key: where.get(key) for key in ("core", "op", "file", "line")},
        }

    def __str__(self) -> str:
        where = self.variation if self.repeatable else "an op alone"
        return f"{where}: [{self.id}] {self.status}\n{self.message}"


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
    #: What was looked for.
    tools: frozenset[Tool] = DEFAULT_TOOLS
    #: What of it could not be checked, and why, by tool; ``results``: nothing was there to compare them with.
    unchecked: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing was found. What could not be checked is in :attr:`unchecked`."""
        return not self.findings

    @property
    def resting(self) -> frozenset[Tool]:
        """Tools that do not look in the one seed that was run; several seeds name them in :attr:`unchecked`."""
        return frozenset(resting(self.seeds, self.tools)) if len(self.seeds) == 1 else frozenset()

    def not_allowed(self, allowed: frozenset[str] = frozenset()) -> dict[str, str]:
        """What could not be checked and is not accepted."""
        return {what: why for what, why in self.unchecked.items() if what not in allowed}

    def raise_for_status(self) -> Verdict:
        """Raises the first finding; returns itself if there is none."""
        for finding in self.findings:
            if finding.status in _OF_RESULTS:
                raise make_error(finding.id, str(finding), _OF_RESULTS[finding.status][1])
            finding.report.raise_for_status()
        return self

    def raise_for_unchecked(self, allowed: frozenset[str] = frozenset()) -> Verdict:
        """Raises an error if something could not be checked that is not in ``allowed``; returns itself otherwise."""
        rest = self.not_allowed(allowed)
        if rest:
            told = "; ".join(f"{what}: {why}" for what, why in rest.items())
            raise make_error("SK0944", f"`{self.kernel}` was not checked for {told}", "do that, or allow it unchecked")
        return self

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "kernel": self.kernel,
            "ok": self.ok,
            "seeds": len(self.seeds),
            "steps": self.steps,
            "tools": sorted(map(str, self.tools)),
            "compared": self.compared,
            "unchecked": dict(self.unchecked),
            "findings": [finding.to_dict() for finding in self.findings],
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        runs = f"{len(self.seeds)} seeds, {self.steps} steps"
        beside = "results equal those of the ops alone" if self.compared else "not compared with the ops alone"
        looked = f"checks: {', '.join(str(tool) for tool in Tool if tool in self.tools - self.resting)}"
        if self.resting:
            looked += f" ({', '.join(map(str, sorted(self.resting)))} in other seeds)"
        by_reason: dict[str, list[str]] = {}
        for what, why in self.unchecked.items():
            by_reason.setdefault(why, []).append(what)
        rest = [f"not checked: {', '.join(what)}: {why}" for why, what in by_reason.items()]
        rest += [f"warning: {text}" for text in self.warnings]
        if self.ok:
            return "\n".join([f"{self.kernel}: ok, {runs}, {beside}, {looked}", *rest])
        found = f"{self.kernel}: {len(self.findings)} of {len(self.seeds)} seeds found something"
        if not self.seeds:
            found = f"{self.kernel}: not run, its ops alone are at fault"
        return "\n".join([found, *map(str, self.findings), *rest])

    def _repr_html_(self) -> str:
        from superkernel._html import section

        rows = [("found", finding.id, finding.tool, finding.variation, finding.message) for finding in self.findings]
        rest = [("not checked", "SK0944", what, "", why) for what, why in self.unchecked.items()]
        rest += [("warning", "", "", "", text) for text in self.warnings]
        title = str(self).partition("\n")[0]
        return section(title, ("", "id", "tool", "seed", "what"), [*rows, *rest], bad="found")

    def __repr__(self) -> str:
        return f"Verdict({self.kernel!r}, ok={self.ok}, {len(self.seeds)} seeds, {len(self.findings)} findings)"
