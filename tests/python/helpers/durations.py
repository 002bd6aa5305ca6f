"""What a run of every test costs, as recorded by ``make durations``: ``make quick`` leaves the dear ones out.

The figures are seconds of processor time of the test and of the programs it started, so that a busy machine records the
same. They are sums per test function, over all its parameters.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
RECORD = HERE / "durations.txt"

#: Seconds from which on a test function is slow.
LIMIT = 0.5

#: What compiles sub-kernels. A test that is not on record yet is slow if it uses one of these.
COMPILES = {"library", "host_library", "device_library", "workshop"}


def name_of(item: pytest.Item) -> str:
    """``sim/test_sim_order.py::test_it``, without parameters."""
    return f"{item.path.relative_to(HERE).as_posix()}::{getattr(item, 'originalname', item.name)}"


def recorded() -> dict[str, float]:
    """Seconds by test function."""
    lines = RECORD.read_text().splitlines() if RECORD.is_file() else []
    return {name: float(seconds) for seconds, name in (line.split() for line in lines)}


def is_slow(item: pytest.Item, record: dict[str, float]) -> bool:
    """Whether ``make quick`` leaves a test out."""
    if item.get_closest_marker("quick"):
        return False
    seconds = record.get(name_of(item))
    if seconds is None:
        return not COMPILES.isdisjoint(getattr(item, "fixturenames", ()))
    return seconds >= LIMIT


def _spent() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


_START = pytest.StashKey[float]()


def begin(item: pytest.Item) -> None:
    """A test is about to be set up."""
    item.stash[_START] = _spent()


def end(item: pytest.Item) -> None:
    """A test and what it used are gone: notes what it cost. The note travels with the test's last report."""
    item.user_properties.append(("seconds", (name_of(item), _spent() - item.stash[_START])))


def _exists(name: str) -> bool:
    file, _, function = name.partition("::")
    return (HERE / file).is_file() and f"def {function}(" in (HERE / file).read_text()


def write(reports: list[pytest.TestReport]) -> None:
    """Takes the notes of a run into the record, and what is gone out of it."""
    sums: dict[str, float] = {}
    for report in reports:
        for key, value in report.user_properties if report.when == "teardown" else ():
            if key == "seconds":
                name, seconds = value
                sums[name] = sums.get(name, 0.0) + seconds
    known = {name: seconds for name, seconds in recorded().items() if _exists(name)}
    lines = [f"{seconds:.1f} {name}" for name, seconds in sorted(({**known, **sums}).items())]
    RECORD.write_text("\n".join(lines) + "\n")
