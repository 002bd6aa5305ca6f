"""Fixtures that several files of this folder share."""

from __future__ import annotations

import pytest
from kernels.programs import Composer, chain
from kernels.runner import Workshop
from traced_runs import NAMES, Ran


@pytest.fixture(scope="session")
def ran(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    program = chain("c220", NAMES, profiling="1", debug_dcci_all="1")
    return Ran(workshop, tmp_path_factory.mktemp("traced"), program)


@pytest.fixture(scope="session")
def streams(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Several streams, a dynamic op, outer events, feed-sync-all, flushes, profiling."""
    program = Composer(331, "c310").program()
    assert program.waits and program.notifies and program.on("profiling") and program.on("feed-sync-all")
    return Ran(workshop, tmp_path_factory.mktemp("streams"), program)
