"""What generated kernels make every core do, against a second derivation of the same rules.

The kernels are compiled against a header that records actions (tests/actions/recorder) and run once per core; the
expectation comes from tests/actions/reference.py, which shares nothing with the compiler but the plan's facts.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest
import superkernel

sys.path.insert(0, str(Path(__file__).parents[2] / "actions"))

from cases import Maker, write_objects
from reference import cross_edges
from run import difference, expected, facts, observe
from shape import all_cores

CASES = int(os.environ.get("SUPERKERNEL_ACTION_CASES", "60"))
BATCH = 20
CHIPS = {"Ascend910_93": 2201, "Ascend950": 3510}


@pytest.mark.parametrize("soc", CHIPS)
@pytest.mark.parametrize("batch", range(CASES // BATCH))
def test_every_core_does_what_the_rules_say(soc: str, batch: int, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.ERROR, logger="superkernel")
    several = compare(soc, range(batch * BATCH, (batch + 1) * BATCH), tmp_path, count=None)
    assert 0 < several < BATCH, "the batch must cover both forms"


def test_long_kernels_do_too(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Entries that are cut into several functions."""
    caplog.set_level(logging.ERROR, logger="superkernel")
    assert 0 < compare("Ascend910_93", range(500, 506), tmp_path, count=120) < 6


def compare(soc: str, seeds: range, folder: Path, count: int | None) -> int:
    """Compares every core of the kernels of these seeds; how many of the kernels had several streams."""
    write_objects(folder)
    kernels, several = [], 0
    with superkernel.configure(soc=soc):
        for seed in seeds:
            maker = Maker(seed, folder, soc)
            infos, options = maker.make(count)
            plan = superkernel.plan(infos, f"sk{seed}")
            source = superkernel.generate(infos, f"sk{seed}")
            kernels.append((maker.kernel(plan, options), source))
            several += plan["two_streams"]
    traces = observe(kernels, folder, CHIPS[soc])
    for number, (kernel, source) in enumerate(kernels):
        for core in all_cores(kernel):
            got = traces[number, core.kind, core.block, core.sub]
            apart = difference(expected(kernel, core), got)
            assert not apart, f"{core}\n{apart}\n{facts(kernel.plan)}\n{kernel.options}\n{source}"
    return several


def test_cross_edges_are_those_of_the_rules(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.ERROR, logger="superkernel")
    write_objects(tmp_path)
    compared = 0
    for seed in range(1000, 1400):
        maker = Maker(seed, tmp_path, "Ascend910_93")
        infos, options = maker.make()
        plan = superkernel.plan(infos, "sk")
        if not plan["two_streams"]:
            continue
        kernel = maker.kernel(plan, options)
        position = {op.plan["index"]: op.position for op in kernel.ops}
        for direction, want in cross_edges(kernel).items():
            got = sorted((position[e["from"]], position[e["to"]]) for e in plan["edges"] if e[direction])
            assert got == want, f"seed {seed} {direction}\n{facts(plan)}"
            compared += len(want)
    assert compared > 100
