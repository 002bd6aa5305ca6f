"""The data of the picture ``timeline``: traces of one run, or of two that are laid side by side.

They are read from the JSON form of traces, so that what was written for Perfetto before can be shown too.
"""

from __future__ import annotations

import gc
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from superkernel._errors import SuperKernelError, make_error

__all__ = ["Difference", "compared", "of_runs", "parsed"]

#: The end of a wait, from the set on that ended it: a slice of its own inside the wait.
_RELEASED = "released"
_OP = "op"
#: Numbers per slice: start, length, name, kind, arguments, depth.
FIELDS = 6
_CORE = re.compile(r"AI[CV]\d+")
#: Longer than any kernel runs; whole nanoseconds up to here are exact in every reader.
_LONGEST = 10**15


class Difference(NamedTuple):
    """One op in two runs: from its first start to its last end, in the unit of each."""

    op: str
    before: float | None
    after: float | None

    @property
    def change(self) -> float:
        """How much longer the second run takes for it; what is in one run only counts whole."""
        return (self.after or 0.0) - (self.before or 0.0)


def parsed(data: bytes, name: str) -> list[dict[str, Any]]:
    """The kernels of a trace, which came from ``name``: the JSON of ``--trace t.json``, or the page of ``t.html``."""
    if data.lstrip()[:15].lower() == b"<!doctype html>":
        found = re.search(rb'<script type="application/json" id="data">(.*?)</script>', data, re.DOTALL)
        page = _json(found.group(1) if found else b"null", name)
        if not isinstance(page, dict) or page.get("picture") != "timeline":
            raise _refuse(name, "it is a page, but no timeline")
        if len(page["runs"]) > 1:
            raise _refuse(name, "it is a page of two runs")
        kernels: list[dict[str, Any]] = page["kernels"]
        return kernels
    content = _json(data, name)
    events = content.get("traceEvents") if isinstance(content, dict) else content
    if not isinstance(events, list):
        raise _refuse(name, "it has no list `traceEvents`")
    try:
        return _kernels(events, content.get("otherData", {}) if isinstance(content, dict) else {})
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _refuse(name, f"an event is not as it should be: {type(error).__name__}: {error}") from None


def of_runs(runs: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> dict[str, Any]:
    """The data of the page: a run is its name and its kernels; of two runs also what differs, op by op."""
    kernels = [{**kernel, "run": number} for number, (_, found) in enumerate(runs) for kernel in found]
    pairs = []
    if len(runs) == 2:
        for first, second, differences in compared(runs[0][1], runs[1][1]):
            rows = [[row.op, row.before, row.after, row.change] for row in differences]
            pairs.append({"kernel": first["kernel"], "units": [first["unit"], second["unit"]], "rows": rows})
    return {"picture": "timeline", "runs": [name for name, _ in runs], "kernels": kernels, "pairs": pairs}


def compared(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any], list[Difference]]]:
    """Kernels of two runs with the same name, or one of each, and their ops; the largest differences first."""
    by_name = {kernel["kernel"]: kernel for kernel in after}
    pairs = [(one, by_name[one["kernel"]]) for one in before if one["kernel"] in by_name]
    if not pairs and len(before) == len(after) == 1:
        pairs = [(before[0], after[0])]
    found = []
    for one, other in pairs:
        times = [{op[0]: (op[2] - op[1]) / 1000 for op in kernel["ops"]} for kernel in (one, other)]
        rows = [Difference(op, times[0].get(op), times[1].get(op)) for op in {**times[0], **times[1]}]
        found.append((one, other, sorted(rows, key=lambda row: -abs(row.change))))
    return found


# -- reading the events ----------------------------------------------------------------------------------------------


def _json(data: bytes, name: str) -> Any:
    # A million new objects: looking for garbage among them again and again would take half of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _refuse(name, f"it is not JSON: {error}") from None
    finally:
        if collects:
            gc.enable()


def _refuse(name: str, problem: str) -> SuperKernelError:
    return make_error(
        "SK0970",
        f"`{name}` is no trace: {problem}",
        "give a file that `--trace t.json` or `--trace t.html` of plan, predict, run or profile wrote",
    )


class _Table:
    """Values that occur often, each kept once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[Any, int] = {}

    def place(self, key: Any, value: Any) -> int:
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]


def _kernels(events: Iterable[Mapping[str, Any]], other: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Kernel by kernel: a process of the file each."""
    processes: dict[Any, dict[str, list[Mapping[str, Any]]]] = {}
    for event in events:
        processes.setdefault(event["pid"], {}).setdefault(event["ph"], []).append(event)
    # In the file's order, which is that of `kernels`.
    ids = sorted(processes)
    described = other.get("kernels", [])
    known = list(described) if len(described) == len(ids) else [{} for _ in ids]
    return [_kernel(processes[process], about) for process, about in zip(ids, known)]


def _kernel(events: Mapping[str, list[Mapping[str, Any]]], about: Mapping[str, Any]) -> dict[str, Any]:
    words = {(event["name"], event["tid"]): event["args"] for event in events.get("M", ())}
    title = str(words.get(("process_name", 0), {}).get("name", "trace"))
    slices: dict[Any, list[Mapping[str, Any]]] = {}
    for event in events.get("X", ()):
        slices.setdefault(event["tid"], []).append(event)
    named = [thread for what, thread in words if what == "thread_name" and thread != 0]
    threads = [*named, *sorted(set(slices) - set(named))]
    names, kinds, notes = _Table(), _Table(), _Table()
    tracks: list[dict[str, Any]] = []
    ops: dict[str, list[Any]] = {}
    waits: dict[tuple[int, int], int] = {}
    for number, thread in enumerate(threads):
        own = slices.get(thread, [])
        # By start, of two that start at once the longer one first, as they stand in each other.
        rows = sorted((_nanos(event["ts"]), -_nanos(event.get("dur", 0)), place) for place, event in enumerate(own))
        name = str(words.get(("thread_name", thread), {}).get("name", thread))
        flat: list[int] = []
        # The slices around the present one: start and end.
        around: list[tuple[int, int]] = []
        for start, negative, place in rows:
            event, length = own[place], -negative
            while around and around[-1][1] <= start:
                around.pop()
            kind, label = str(event.get("cat", "")), str(event["name"])
            if kind == _RELEASED and around:
                waits[number, start] = around[-1][0]
            arguments = event.get("args") or {}
            told = tuple(arguments.items())
            flat += (start, length, names.place(label, label), kinds.place(kind, kind))
            flat += (notes.place(told, arguments), len(around))
            if kind == _OP:
                op = ops.setdefault(label, [label, start, start + length, 0, 0, number])
                if start < op[1]:
                    op[1], op[5] = start, number
                op[2], op[3], op[4] = max(op[2], start + length), op[3] + length, op[4] + 1
            around.append((start, start + length))
        tracks.append({"name": name, "core": bool(_CORE.fullmatch(name)), "slices": flat})
    arrows = _arrows(events, {thread: number for number, thread in enumerate(threads)})
    end = max((track["slices"][at] + track["slices"][at + 1] for track in tracks for at in _starts(track)), default=0)
    path = _critical_path(tracks, arrows, waits)
    along = _along(tracks, path)
    return {
        "run": 0,
        "kernel": str(about.get("kernel", title)),
        "axis": str(about.get("axis", "")),
        "unit": str(about.get("unit", "us")),
        "notes": [str(note) for note in about.get("notes", ())],
        "names": names.values,
        "kinds": kinds.values,
        "args": notes.values,
        "tracks": tracks,
        "arrows": [number for arrow in arrows for number in arrow],
        "ops": list(ops.values()),
        "path": [number for part in path for number in part],
        "along": along,
        "shares": _shares(along, names.values, kinds.values, path[0][2] if path else 0),
        "end": end,
    }


def _nanos(micros: float) -> int:
    nanos = round(micros * 1000)
    if not -_LONGEST < nanos < _LONGEST:
        raise ValueError(f"a time of {micros} us")
    return nanos


def _starts(track: Mapping[str, Any]) -> range:
    """Where each slice of a track begins in its list."""
    return range(0, len(track["slices"]), FIELDS)


def _arrows(
    events: Mapping[str, list[Mapping[str, Any]]], places: Mapping[Any, int]
) -> list[tuple[int, int, int, int]]:
    """From track, at, to track, at: of every flow that has both its ends."""
    begun = {event["id"]: event for event in events.get("s", ())}
    found = []
    for event in events.get("f", ()):
        source = begun.get(event["id"])
        if source is not None and source["tid"] in places and event["tid"] in places:
            ends = (places[source["tid"]], _nanos(source["ts"]), places[event["tid"]], _nanos(event["ts"]))
            found.append(ends)
    return found


# -- the critical path -----------------------------------------------------------------------------------------------


def _critical_path(
    tracks: Sequence[Mapping[str, Any]],
    arrows: Iterable[tuple[int, int, int, int]],
    waits: Mapping[tuple[int, int], int],
) -> list[tuple[int, int, int]]:
    """What the end had to wait for, from the end back to the start: track, from, to.

    On a core until the last wait there that a set of another core ended, then on that core from its set back, and so
    on. Without arrows, as in a device's records, nothing is known of it.
    """
    arrivals: list[list[tuple[int, int, int]]] = [[] for _ in tracks]
    for source, at, target, lands in arrows:
        # A set that was there before the wait began has not held it up.
        if at > waits.get((target, lands), -1):
            arrivals[target].append((lands, at, source))
    if not any(arrivals):
        return []
    for own in arrivals:
        own.sort()
    lands_at = [[lands for lands, _, _ in own] for own in arrivals]
    left = [len(own) for own in arrivals]
    ends = [
        (track["slices"][at] + track["slices"][at + 1], number)
        for number, track in enumerate(tracks)
        if track["core"]
        for at in _starts(track)
    ]
    time, track = max(ends, default=(0, 0))
    path = []
    while True:
        # Each arrow once: at one moment several cores may set for each other.
        place = bisect_right(lands_at[track], time, 0, left[track]) - 1
        if place < 0:
            path.append((track, 0, time))
            return path
        left[track] = place
        lands, at, source = arrivals[track][place]
        path.append((track, lands, time))
        track, time = source, at


def _along(tracks: Sequence[Mapping[str, Any]], path: Iterable[tuple[int, int, int]]) -> list[int]:
    """What is done along a path: the slices of its cores that stand in no other, cut to it, as those of one track."""
    outer: dict[int, list[tuple[int, ...]]] = {}
    found = []
    for track, begin, end in path:
        if track not in outer:
            flat = tracks[track]["slices"]
            outer[track] = [tuple(flat[at : at + FIELDS]) for at in _starts(tracks[track]) if flat[at + 5] == 0]
        rows = outer[track]
        for start, length, *told in rows[max(0, bisect_right(rows, (begin,)) - 1) :]:
            if start >= end:
                break
            cut = (max(start, begin), min(start + length, end))
            if cut[0] < cut[1]:
                found.append((cut[0], cut[1] - cut[0], *told))
    return [number for row in sorted(found) for number in row]


def _shares(along: Sequence[int], names: Sequence[str], kinds: Sequence[str], whole: int) -> list[list[Any]]:
    """What a path spends its time in: ops by name, all else by its kind, the largest first; then the rest."""
    spent: dict[str, int] = {}
    for at in range(0, len(along), FIELDS):
        _, length, name, kind = along[at : at + 4]
        label = names[name] if kinds[kind] == _OP else kinds[kind] or names[name]
        spent[label] = spent.get(label, 0) + length
    shares = [[label, nanos] for label, nanos in sorted(spent.items(), key=lambda item: -item[1])]
    rest = whole - sum(spent.values())
    return [*shares, ["nothing recorded", rest]] if rest > 0 else shares
