"""The profiling buffer of a device, read back (docs/pictures.md).

A super kernel built with ``profiling=1`` writes records of every op and event into a buffer. :func:`decode` reads a
dump of it; of a damaged one what can be read, and says what cannot.
"""

from __future__ import annotations

import math
from typing import Any

from superkernel import _core, _files
from superkernel._errors import make_error
from superkernel._files import PathLike

__all__ = ["Profile", "decode"]

#: Columns of the table per op, in order.
COLUMNS = (
    "position",
    "name",
    "stream",
    "cores",
    "unfinished",
    "first_start",
    "last_end",
    "min",
    "avg",
    "max",
    "imbalance",
    "wait_share",
)


class Profile:
    """A decoded buffer. Times are cycles, or microseconds if the clock is known."""

    def __init__(self, decoded: _core.ProfilingDump, clock_mhz: float | None = None) -> None:
        self._decoded = decoded
        self._clock_mhz = _checked_clock(clock_mhz)
        self._data: dict[str, Any] = decoded.to_dict(self._clock_mhz)

    @property
    def kernel(self) -> str:
        """The super kernel."""
        return str(self._data["kernel"])

    @property
    def unit(self) -> str:
        """``us`` or ``cycles``."""
        return str(self._data["figures_in"])

    @property
    def launches(self) -> list[dict[str, Any]]:
        """Per launch: ``task``, ``duration``, and the lists ``ops``, ``events`` and ``gaps``."""
        launches: list[dict[str, Any]] = self._data["launches"]
        return launches

    @property
    def problems(self) -> list[str]:
        """What could not be read, is missing, or was never ended."""
        problems: list[str] = self._data["problems"]
        return problems

    def with_clock(self, clock_mhz: float) -> Profile:
        """The same in microseconds."""
        return Profile(self._decoded, clock_mhz)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: a profile as ``superkernel calibrate`` and ``predict`` read it, and the figures."""
        return self._data

    def to_csv(self) -> str:
        """The table per op."""
        import csv
        import io

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("task", *COLUMNS))
        for launch in self.launches:
            writer.writerows([launch["task"], *(op[column] for column in COLUMNS)] for op in launch["ops"])
        return text.getvalue()

    def traces(self) -> _core.Traces:
        """The launches as traces."""
        return self._decoded.traces(self._clock_mhz)

    def save_trace(self, path: PathLike) -> list[str]:
        """Writes the timeline: ``t.html``, a page, or ``t.json`` for https://ui.perfetto.dev or ``chrome://tracing``.

        Says what a reader must know: the time axis, and what is missing, assumed or merged.
        """
        return _files.write_traces(path, self.traces())


def decode(dump: PathLike | bytes, kernel: PathLike, *, clock_mhz: float | None = None) -> Profile:
    """Reads a dump of the buffer, a file or its bytes; ``kernel`` is the JSON that the build wrote."""
    if isinstance(dump, bytes):
        name, data = "dump", dump
    else:
        name = _files.checked_path(dump, "dump")
        data = _files.read(name)
    return Profile(_core.profiling_decode(data, name, _files.checked_path(kernel, "kernel")), clock_mhz)


def _checked_clock(clock_mhz: float | None) -> float | None:
    if clock_mhz is not None and not (math.isfinite(clock_mhz) and clock_mhz > 0):
        raise make_error("SK0941", f"a clock of {clock_mhz} MHz", "give the cycles per microsecond, such as 50")
    return clock_mhz
