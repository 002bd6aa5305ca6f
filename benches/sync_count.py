"""How much synchronisation a core does: ``sync=contract`` beside ``sync=proven``.

    python benches/sync_count.py

Over the random kernels of tests/actions (as their recorded style mixes ops, streams, events and options): full barriers
(over all cores of the kernel), barriers of one kind, waits for pipes, sets and waits between cores, per core; the share
of each reason; and full barriers per dynamic op and per outer event. The figures are counts, the same on every machine.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import superkernel
from ratios import ratio

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "actions"))

from cases import Maker, write_objects

KERNELS = 300
KINDS = ("full barrier", "barrier of one kind", "wait for pipes", "set", "wait", "early-start classes")


def kind_of(step: dict[str, Any], whole: str) -> str | None:
    """The row a step is counted in."""
    if step["action"] == "barrier":
        return "full barrier" if step["over"] == whole else "barrier of one kind"
    names = {
        "pipe-barrier": "wait for pipes",
        "set-flag": "set",
        "early-start-set": "set",
        "wait-flag": "wait",
        "early-start-wait": "wait",
        "early-start-config": "early-start classes",
    }
    return names.get(step["action"])


def share_of_cores(step: dict[str, Any], cores: dict[str, int]) -> float:
    """Cores that take a step, of all cores (an op's block count is a condition like any other: all of its kind)."""
    kind = step["cores"].split("[")[0]
    return 1.0 if kind == "every" else cores[kind] / sum(cores.values())


def count(mode: str, folder: Path) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Steps per core, by row and by reason; full barriers behind switches and around outer waits."""
    rows: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    around: Counter[str] = Counter()
    for seed in range(KERNELS):
        maker = Maker(seed, folder, "Ascend910_93")
        infos, options = maker.make(None)
        options = {**options, "sync": mode}
        infos["super_kernel_options"] = ":".join(f"{name}={value}" for name, value in options.items())
        plan = superkernel.plan(infos, "sk")
        ratio_of = {"KERNEL_TYPE_MIX_AIC_1_2": (1, 2), "KERNEL_TYPE_MIX_AIC_1_1": (1, 1)}
        aic, aiv = ratio_of.get(plan["kernel_type"], (1, 0) if "AIC" in plan["kernel_type"] else (0, 1))
        whole = "all" if aic and aiv else "aic" if aic else "aiv"
        inner = set(plan["inner_events"])
        around["dynamic ops"] += sum(op["task_type"] == "dynamic" for op in plan["ops"])
        around["outer events"] += sum(len(set(op["recv_event_list"]) - inner) for op in plan["ops"])
        for step in plan["steps"]:
            row = kind_of(step, whole)
            if row is None:
                continue
            share = share_of_cores(step, {"aic": aic, "aiv": aiv})
            rows[row] += share
            reason = str(step["reason"])
            reasons["stream or inner event" if reason.startswith(("same stream", "event")) else reason] += share
            if row == "full barrier" and step["reason"] in ("all have polled", "after outer wait"):
                around[str(step["reason"])] += share
    return rows, reasons, around


def main() -> None:
    """Counts both modes and prints them side by side."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as name, superkernel.configure(soc="Ascend910_93"):
        folder = Path(name)
        write_objects(folder)
        contract, proven = count("contract", folder), count("proven", folder)
    print(f"{KERNELS} kernels, steps per core\n{'':<26}{'contract':>10}{'proven':>10}")
    for row in KINDS:
        print(f"{row:<26}{contract[0][row]:>10.0f}{proven[0][row]:>10.0f}")
    print("\nby reason")
    for reason in sorted(contract[1], key=lambda name: -contract[1][name]):
        print(f"{reason:<26}{contract[1][reason]:>10.0f}{proven[1][reason]:>10.0f}")
    for what, reason in (("dynamic op", "all have polled"), ("outer event", "after outer wait")):
        counts = [around[reason] / around[f"{what}s"] for around in (contract[2], proven[2])]
        print(f"\nfull barriers per {what}: {counts[0]:.2f} contract, {counts[1]:.2f} proven")
        ratio(f"sync: full barriers per {what}, contract to proven", counts[0] / max(counts[1], 1e-9))
    ratio("sync: full barriers, contract to proven", contract[0]["full barrier"] / proven[0]["full barrier"])


if __name__ == "__main__":
    main()
