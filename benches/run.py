"""Runs the benchmarks one after the other and compares their ratios with those on record.

    python benches/run.py [--record] [NAME ...]

Fails if a benchmark fails, or if a ratio got worse by more than a third. ``--record`` writes the ratios of this run to
``benches/recorded.json`` instead (read the diff). Times differ from machine to machine, ratios within one run hardly.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORD = HERE / "recorded.json"
#: Not benchmarks.
PARTS = {"run", "ratios"}
#: So much of a ratio on record may be lost: a third.
KEPT = 2 / 3


def scripts(wanted: list[str]) -> list[Path]:
    """The benchmarks to run."""
    found = sorted(path for path in HERE.glob("*.py") if path.stem not in PARTS)
    unknown = set(wanted) - {path.stem for path in found}
    if unknown:
        raise SystemExit(f"no such benchmark: {', '.join(sorted(unknown))}")
    return [path for path in found if not wanted or path.stem in wanted]


def run(script: Path, place: str) -> tuple[list[dict[str, Any]], bool]:
    """The ratios of one benchmark, and whether it ran to its end."""
    with tempfile.NamedTemporaryFile("r", prefix="superkernel-ratios-") as collected:
        started = time.perf_counter()
        print(f"== {place} {script.name}", flush=True)
        done = subprocess.run([sys.executable, str(script)], env={**os.environ, "SUPERKERNEL_RATIOS": collected.name})
        print(f"== {place} {script.name}: {time.perf_counter() - started:.0f} s", flush=True)
        return [json.loads(line) for line in collected], done.returncode == 0


def worse(recorded: dict[str, Any], measured: dict[str, Any]) -> bool:
    """Did the ratio lose more than a third?"""
    before, now = recorded["value"], measured["value"]
    return bool(now < before * KEPT if recorded["better"] == "higher" else now > before / KEPT)


def main() -> int:
    """0 if nothing got worse."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true", help="put the ratios of this run on record")
    options = parser.parse_args()
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    measured: dict[str, dict[str, Any]] = {}
    failed = []
    wanted = scripts(options.names)
    started = time.perf_counter()
    for number, script in enumerate(wanted, 1):
        ratios, ended = run(script, f"[{number}/{len(wanted)}]")
        measured |= {found.pop("name"): found for found in ratios}
        failed += [] if ended else [script.name]
    print(f"== {len(measured)} ratios in {time.perf_counter() - started:.0f} s")
    if options.record and not failed:
        RECORD.write_text(json.dumps({**recorded, **measured}, indent=2, sort_keys=True) + "\n")
        return 0
    slower = []
    for name, found in measured.items():
        before = recorded.get(name)
        print(f"{name}: {found['value']:.3g}, on record {before['value']:.3g}" if before else f"{name}: not on record")
        if before and worse(before, found):
            slower.append(name)
    for name in slower:
        print(f"worse by more than a third: {name}")
    for name in failed:
        print(f"failed: {name}")
    return 1 if slower or failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
