"""Fused equals unfused: random and directed programs over a fixed library of small operators, under many schedules.

``SUPERKERNEL_CAMPAIGN`` sets the number of random programs per chip, ``SUPERKERNEL_CAMPAIGN_SCHEDULES`` the number of
schedules each one runs under, ``SUPERKERNEL_CAMPAIGN_FIRST`` the number of the first program.
"""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path

import numpy as np
import pytest
from kernels.library import AIC, AIV, MIX
from kernels.programs import Program, chain, random_program
from kernels.runner import Fused, Workshop, run_unfused

PROGRAMS = int(os.environ.get("SUPERKERNEL_CAMPAIGN", "12"))
SCHEDULES = int(os.environ.get("SUPERKERNEL_CAMPAIGN_SCHEDULES", "8"))
FIRST = int(os.environ.get("SUPERKERNEL_CAMPAIGN_FIRST", "0"))
#: Programs per test: small enough to see where it is, large enough not to be all overhead.
BATCH = 6


def check(workshop: Workshop, program: Program, directory: Path, schedules: int = SCHEDULES) -> None:
    """Builds the program and runs it under several schedules; every run must be flawless."""
    try:
        fused = Fused(workshop, program, workshop.compile(program, directory))
    except Exception as error:
        raise AssertionError(f"cannot be built: {error}\n{program.describe()}") from error
    try:
        for number in range(schedules):
            policy = ("round-robin", "random", "skewed")[min(number, 1 + number % 2)]
            # Programs must be right under both ways of counting arrivals.
            arrivals = "summed" if number % 3 == 2 else "per-core"
            run = fused.launch(number, policy, arrivals=arrivals)
            if run.problems:
                text = "\n".join(run.problems)
                pytest.fail(f"schedule {policy} {number} {arrivals}:\n{text}\n{program.describe()}", pytrace=False)
    finally:
        fused.close()


# -- directed ----------------------------------------------------------------------------------------------------------

STEMS = {AIC: "cub2", AIV: "vec3", MIX: "mix2"}


def walk_over_all_pairs(flagged: bool) -> list[str]:
    """Kernels in an order in which every class follows every class, with every early-start half on either side."""
    flags = (False, True) if flagged else (False,)
    missing = set(itertools.product(STEMS, flags, STEMS, flags))
    rng = random.Random(1)
    # Class, does it wait itself, does it set itself.
    walk = [(AIV, False, False)]
    while missing:
        kind, _, sets = walk[-1]
        fresh = [pair for pair in sorted(missing) if pair[:2] == (kind, sets)]
        if fresh:
            _, _, following, waits = rng.choice(fresh)
            missing.discard((kind, sets, following, waits))
        else:
            following, waits = rng.choice(list(STEMS)), rng.choice(flags)
        # Leave with what is still missing from there.
        open_flags = [flag for flag in flags if any(pair[:2] == (following, flag) for pair in missing)]
        walk.append((following, waits, rng.choice(open_flags or list(flags))))
    return [STEMS[kind] + "s" * sets + "w" * waits for kind, waits, sets in walk]


def with_outer_events(program: Program, notifies: bool, waits: bool) -> Program:
    """Every operator but the last notifies somebody outside; every operator but the first waits, for an answer."""
    for number, step in enumerate(program.steps):
        if notifies and number < len(program.steps) - 1:
            step.sends.append(1000 + number)
            program.notifies[1000 + number] = number
        if waits and number > 0:
            step.receives.append(2000 + number)
            program.waits[2000 + number] = number
            if notifies:
                program.answers[2000 + number] = 1000 + number - 1
    return program


@pytest.mark.parametrize("chip", ["c220", "c310"])
@pytest.mark.parametrize("early_start", ["0", "1"])
@pytest.mark.parametrize("between", ["nothing", "notify", "wait", "notify and wait"])
@pytest.mark.parametrize("debug", ["0", "1"])
def test_every_class_after_every_class(
    workshop: Workshop, tmp_path: Path, chip: str, early_start: str, between: str, debug: str
) -> None:
    names = walk_over_all_pairs(flagged=early_start == "1")
    program = chain(chip, names, early_start=early_start, debug_sync_all=debug, split_mode="2")
    program = with_outer_events(program, "notify" in between, "wait" in between)
    check(workshop, program, tmp_path)


@pytest.mark.parametrize(
    "kernel", ["vec3", "vec3s", "vec3w", "vec3sw", "cub2sw", "mix2s", "mix2w", "mix2sw", "vec8meet"]
)
@pytest.mark.parametrize("position", ["alone", "first", "last"])
def test_one_operator_at_the_border(workshop: Workshop, tmp_path: Path, kernel: str, position: str) -> None:
    names = {"alone": [kernel], "first": [kernel, "vec1"], "last": ["cub1", kernel]}[position]
    check(workshop, chain("c220", names, feed_sync_all="1"), tmp_path, 4)


@pytest.mark.parametrize("split", ["1", "2", "3", "4", "5", "16"])
@pytest.mark.parametrize("built", [False, True], ids=["split-here", "split-by-the-builder"])
def test_split_modes(workshop: Workshop, tmp_path: Path, split: str, built: bool) -> None:
    program = chain("c220", ["vec3", "mix2", "cub2", "mix3sw", "vec8"], split_mode=split)
    if built:
        program.built_split = int(split)
    check(workshop, program, tmp_path, 4)


@pytest.mark.parametrize(
    ("names", "ratio"),
    [
        (["vec3", "vec8", "vec4sw"], "0:1"),
        (["cub2", "cub4", "cub1"], "1:0"),
        (["mix1", "mix3sw", "mix1"], "1:1"),
        (["cub4", "vec3", "mix1"], "1:1"),
        (["mix2", "cub4", "mix1"], "1:1"),
        (["mix4", "vec8", "cub2"], "1:2"),
        (["vec8", "cub1"], "1:2"),
    ],
)
@pytest.mark.parametrize("chip", ["c220", "c310"])
def test_every_type_of_super_kernel(
    workshop: Workshop, tmp_path: Path, chip: str, names: list[str], ratio: str
) -> None:
    program = chain(chip, names, profiling="1")
    fused = Fused(workshop, program, workshop.compile(program, tmp_path))
    assert fused.task_ration == ratio
    for seed in range(4):
        run = fused.launch(seed)
        assert not run.problems, "\n".join(run.problems)
    fused.close()


# -- random ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", ["c220", "c310"])
@pytest.mark.parametrize("batch", range((PROGRAMS + BATCH - 1) // BATCH))
def test_random_programs(workshop: Workshop, tmp_path: Path, chip: str, batch: int) -> None:
    first = FIRST + batch * BATCH
    for number in range(first, min(first + BATCH, FIRST + PROGRAMS)):
        program = random_program(number, chip)
        check(workshop, program, tmp_path / str(number))


@pytest.mark.parametrize("chip", ["c220", "c310"])
def test_one_by_one(workshop: Workshop, chip: str) -> None:
    """The model itself: operators launched alone compute what the formula says."""
    for number in range(6):
        program = random_program(1000 + number, chip)
        expected = program.expected(program.initial(number))
        found = run_unfused(workshop, program, number)
        assert all(map(np.array_equal, expected, found)), program.describe()
