"""A clock for simulated launches: the order of events is the simulator's, the times are a model (docs/cost-model.md).

The simulator runs kernels without a notion of time. It reports per core which operators it entered and left, which
flags it set and waited for, and how many bytes it moved and computed on. This module replays those events and charges
each a price. The prices are round numbers of the right order, not measurements: the result shows *where* time goes and
how it changes with fusion, not how long anything takes on a device.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from superkernel.sim import Report

KIB = 1024.0


@dataclass(frozen=True)
class Prices:
    """Microseconds."""

    #: Between the end of a task and the start of the next on one stream: scheduling, fetching the task.
    launch_gap: float = 1.4
    #: From the start of a task until its cores run: registers, stack, arguments.
    task_start: float = 0.9
    #: Fetching code that is not in the instruction cache, per 2 KiB.
    code_miss: float = 0.12
    #: The part of it that is left if the code was preloaded while the operator before ran.
    preloaded: float = 0.1
    #: Raising a cross-core flag.
    flag_set: float = 0.02
    #: Hearing of it on another core.
    flag_wait: float = 0.06
    #: Bytes between global and local memory, per KiB.
    move: float = 0.22
    #: Bytes through the vector unit, per KiB.
    vector: float = 0.12
    #: Multiply-adds of a cube core, per 1024.
    macs: float = 0.11


@dataclass(frozen=True)
class Work:
    """What one operator does on one core."""

    moved_bytes: int = 0
    vector_bytes: int = 0
    macs: int = 0

    def time(self, prices: Prices) -> float:
        """Without waiting for anybody."""
        return (
            prices.move * self.moved_bytes / KIB
            + prices.vector * self.vector_bytes / KIB
            + prices.macs * self.macs / KIB
        )


@dataclass
class Operator:
    """An operator as the clock sees it: its code and its work per core."""

    code_bytes: int
    work: Mapping[str, Work] = field(default_factory=dict)


def task_time(report: Report, operators: Mapping[str, Operator], prices: Prices) -> float:
    """How long a launch takes, from the start of the task to the end of its last core."""
    clock = Clock(report, operators, prices)
    for event in report.events:
        clock.event(event.core, event.what, event.op, event.detail or "")
    return max(clock.now.values(), default=prices.task_start)


class Clock:
    """One clock per core; a wait takes over the time of what it waited for."""

    def __init__(self, report: Report, operators: Mapping[str, Operator], prices: Prices) -> None:
        self.prices = prices
        self.operators = operators
        self.now = {core.core: prices.task_start for core in report.cores}
        self.kind = {core.core: core.kind for core in report.cores}
        self.block = {core.core: core.block for core in report.cores}
        self.preloads = {core.core: core.counts.get("preloads", 0) > 0 for core in report.cores}
        self.entered: dict[str, int] = defaultdict(int)
        #: Times at which a core set a flag in a mode, in order, and how often a core has waited for a flag.
        self.sets: dict[tuple[str, int, int], list[float]] = defaultdict(list)
        self.waits: dict[tuple[str, int], int] = defaultdict(int)
        #: Times at which a flag became visible on a core, in order.
        self.visible: dict[tuple[str, int], list[float]] = defaultdict(list)

    def event(self, core: str, what: str, op: str | None, detail: str) -> None:
        """Moves one core's clock."""
        if core not in self.now:
            return
        if what == "op-begin":
            self.fetch(core, op)
            if self.kind[core] == "aic":
                # A cube core computes first and tells its vector cores afterwards ...
                self.now[core] += self.work(core, op)
        elif what == "op-end":
            if self.kind[core] == "aiv":
                # ... which wait first and compute afterwards.
                self.now[core] += self.work(core, op)
        elif what == "set":
            mode, flag = (int(number) for number in re.findall(r"\d+", detail))
            self.now[core] += self.prices.flag_set
            self.raise_flag(core, mode, flag)
        elif what == "waited":
            flag = int(re.findall(r"\d+", detail)[-1])
            times = self.visible[core, flag]
            number = self.waits[core, flag]
            self.waits[core, flag] += 1
            heard = times[number] if number < len(times) else 0.0
            self.now[core] = max(self.now[core], heard + self.prices.flag_wait)

    def fetch(self, core: str, op: str | None) -> None:
        """The operator's code, unless it was preloaded during the one before."""
        first = self.entered[core] == 0
        self.entered[core] += 1
        operator = self.operators.get(op or "")
        if operator is None:
            return
        miss = self.prices.code_miss * -(-operator.code_bytes // 2048)
        hidden = self.preloads[core] and not first
        self.now[core] += miss * self.prices.preloaded if hidden else miss

    def work(self, core: str, op: str | None) -> float:
        """What the operator does on this core."""
        operator = self.operators.get(op or "")
        return 0.0 if operator is None else operator.work.get(core, Work()).time(self.prices)

    def raise_flag(self, core: str, mode: int, flag: int) -> None:
        """Mode 0: all cores of a kind meet; 1: the vector cores of a block; 2: the cube and the vectors of a block."""
        self.sets[core, mode, flag].append(self.now[core])
        same_block = [other for other in self.now if self.block[other] == self.block[core]]
        if mode == 0:
            group = hearers = [other for other in self.now if self.kind[other] == self.kind[core]]
        elif mode == 1:
            group = hearers = [other for other in same_block if self.kind[other] == "aiv"]
        else:
            group = [other for other in same_block if self.kind[other] == self.kind[core]]
            hearers = [other for other in same_block if self.kind[other] != self.kind[core]]
        # The last of the group to set its flag completes the round; then everybody else hears of it.
        rounds = [self.sets[other, mode, flag] for other in group]
        number = len(self.sets[core, mode, flag])
        if all(len(times) >= number for times in rounds):
            for hearer in hearers:
                self.visible[hearer, flag].append(max(times[number - 1] for times in rounds))
