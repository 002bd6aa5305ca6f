"""Durations for predictions from runs on the simulator: modelled from what each core moved and computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from superkernel.sim.report import CoreReport, Report

__all__ = ["WorkPrices", "simulated_profile"]

KIB = 1024.0


@dataclass(frozen=True)
class WorkPrices:
    """Microseconds. Round numbers of a plausible order, not measurements."""

    #: Bytes between global and local memory, per KiB.
    move: float = 0.22
    #: Bytes through the vector unit, per KiB.
    vector: float = 0.12
    #: Multiply-adds of a cube core, per 1024.
    macs: float = 0.11


def simulated_profile(
    runs: Iterable[tuple[str, Report]],
    *,
    macs: Mapping[tuple[str, str], int] | None = None,
    prices: WorkPrices | None = None,
    kernel: str = "",
) -> dict[str, Any]:
    """A profile that :mod:`superkernel.cost` reads, from ops that ran alone on the simulator.

    ``runs`` are names of ops (in the graph, or of their kernels) with the report of a launch. ``macs`` tells the
    multiply-adds of a core, by op and core: plain loops count as nothing on the simulator. Where an op runs on both
    kinds, the vector cores are taken to work after their cube core: how the halves overlap, the simulator cannot tell.
    """
    priced = prices or WorkPrices()
    ops = []
    for position, (name, report) in enumerate(runs):
        own = {core.core: _work(name, core, macs or {}, priced) for core in report.cores}
        cube = {core.block: own[core.core] for core in report.cores if core.kind == "aic"}
        cores = []
        for core in report.cores:
            before = cube.get(core.block, 0.0) if core.kind == "aiv" else 0.0
            number = int(core.core.lstrip("ACIV"))
            cores.append({"kind": core.kind, "number": number, "start": 0.0, "end": before + own[core.core]})
        ops.append({"position": position, "name": name, "cores": cores})
    return {"format": "superkernel-profile-1", "kernel": kernel, "source": "simulator", "unit": "us", "ops": ops}


def _work(name: str, core: CoreReport, macs: Mapping[tuple[str, str], int], prices: WorkPrices) -> float:
    return (
        prices.move * core.counts.get("moved_bytes", 0) / KIB
        + prices.vector * core.counts.get("vector_bytes", 0) / KIB
        + prices.macs * macs.get((name, core.core), 0) / KIB
    )
