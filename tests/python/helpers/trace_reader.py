"""A strict reader of the trace files: whatever a viewer could take amiss is an error here."""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from typing import Any, NamedTuple

AXES = {"predicted us", "not to scale", "simulator steps", "device cycles", "us (device cycles"}


PIPES = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"}


class Slice(NamedTuple):
    """One slice; times in whole nanoseconds."""

    track: str
    start: int
    end: int
    name: str
    kind: str
    arguments: dict[str, Any]


class Process(NamedTuple):
    """One kernel."""

    name: str
    tracks: list[str]
    slices: list[Slice]
    #: Pairs of the slices that arrows go between: a set, or what ended with it, and the wait that it ended.
    arrows: list[tuple[Slice, Slice]]
    #: The same as viewers bind them: to a mark in the set's slice, if that needs one, and to the end of the wait.
    bound: list[tuple[Slice, Slice]]
    #: Numbers of busy cores, by kind, over time.
    busy: list[tuple[int, dict[str, int]]]
    notes: list[str]

    def ops(self) -> dict[tuple[int, str], list[Slice]]:
        """The slices of ops, by op and track."""
        found: dict[tuple[int, str], list[Slice]] = defaultdict(list)
        for slice in self.slices:
            if slice.kind == "op":
                found[slice.arguments["op"], slice.track].append(slice)
        return found

    def of_kind(self, kind: str) -> list[Slice]:
        return [slice for slice in self.slices if slice.kind == kind]


def read(data: bytes) -> list[Process]:
    """The kernels of a trace file."""
    document = json.loads(data, parse_constant=_no_constant)
    assert set(document) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert document["displayTimeUnit"] in ("ms", "ns")
    events = document["traceEvents"]
    described = document["otherData"]["kernels"]
    pids = sorted({event["pid"] for event in events})
    assert pids == list(range(1, len(described) + 1))
    return [_process([event for event in events if event["pid"] == pid], described[pid - 1]) for pid in pids]


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def _process(events: list[dict[str, Any]], described: dict[str, Any]) -> Process:
    (name,) = (event["args"]["name"] for event in events if event["name"] == "process_name")
    # The axis is told on screen and in the file.
    assert described["axis"] in name and any(described["axis"].startswith(axis) for axis in AXES), name
    tracks: dict[int, str] = {}
    for event in events:
        assert event["ph"] in "MXsfC", event
        if event["name"] == "thread_name":
            assert event["tid"] not in tracks
            tracks[event["tid"]] = event["args"]["name"]
    assert len(set(tracks.values())) == len(tracks)
    slices = [_slice(event, tracks) for event in events if event["ph"] == "X"]
    by_track: dict[str, list[Slice]] = defaultdict(list)
    for slice in slices:
        by_track[slice.track].append(slice)
    for track in by_track.values():
        _check_nesting(track)
    _check_pipes(list(tracks.values()), by_track)
    arrows, bound = _arrows(events, tracks, by_track)
    return Process(name, list(tracks.values()), slices, arrows, bound, _busy(events), described["notes"])


def _time(value: Any) -> int:
    assert isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0, value
    nanos = round(value * 1000)
    assert abs(nanos - value * 1000) < 1e-3, value
    return nanos


def _slice(event: dict[str, Any], tracks: dict[int, str]) -> Slice:
    assert set(event) - {"args"} == {"ph", "pid", "tid", "ts", "dur", "name", "cat"}, event
    assert event["name"] and event["cat"]
    start = _time(event["ts"])
    return Slice(
        tracks[event["tid"]], start, start + _time(event["dur"]), event["name"], event["cat"], event.get("args", {})
    )


def _check_nesting(slices: list[Slice]) -> None:
    """Slices of a track come by start, and follow each other or stand inside each other."""
    assert [slice.start for slice in slices] == sorted(slice.start for slice in slices)
    open_until: list[int] = []
    for slice in slices:
        while open_until and open_until[-1] <= slice.start:
            open_until.pop()
        assert not open_until or slice.end <= open_until[-1], f"{slice} overlaps"
        open_until.append(slice.end)


def _check_pipes(tracks: list[str], slices: dict[str, list[Slice]]) -> None:
    """A pipe's track (``AIV0 MTE2``) stands below its core's, and has nothing but instructions, one after another."""
    above = ""
    for track in tracks:
        core, _, pipe = track.partition(" ")
        kinds = {slice.kind for slice in slices[track]}
        if pipe not in PIPES:
            above = track
            assert "instruction" not in kinds, track
            continue
        assert above == core, f"{track} stands below {above}"
        assert kinds <= {"instruction", "short steps"}, kinds
        for before, after in zip(slices[track], slices[track][1:]):
            assert before.end <= after.start, f"{before} overlaps {after}"


def _arrows(
    events: list[dict[str, Any]], tracks: dict[int, str], slices: dict[str, list[Slice]]
) -> tuple[list[tuple[Slice, Slice]], list[tuple[Slice, Slice]]]:
    ends: dict[int, dict[str, tuple[int, list[Slice]]]] = defaultdict(dict)
    starts = {track: [slice.start for slice in own] for track, own in slices.items()}
    for event in events:
        if event["ph"] not in "sf":
            continue
        assert event["ph"] not in ends[event["id"]], f"{event} is there twice"
        at = _time(event["ts"])
        track = tracks[event["tid"]]
        opened = slices[track][: bisect.bisect_right(starts[track], at)]
        inside = [slice for slice in opened[-64:] if at < slice.end]
        # Perfetto binds it to what was opened last, also if that has ended.
        assert inside and inside[-1] is opened[-1], f"{event} is not in {opened[-1:]}"
        assert event["ph"] == "s" or event["bp"] == "e"
        ends[event["id"]][event["ph"]] = (at, inside)
    found: list[tuple[Slice, Slice]] = []
    bound: list[tuple[Slice, Slice]] = []
    for number, pair in ends.items():
        assert set(pair) == {"s", "f"}, f"arrow {number} has one end"
        assert pair["s"][0] <= pair["f"][0], f"arrow {number} goes back in time"
        *outer, source = pair["s"][1]
        *around, release = pair["f"][1]
        assert release.kind == "released" and release.name == f"released by {source.track}", release
        # Perfetto would turn it round otherwise.
        assert source.start <= release.start, f"arrow {number} from {source} to {release}"
        assert around and around[-1].end == release.end and around[-1].kind not in ("op", "released"), around
        bound.append((source, release))
        # A moment that no slice tells has a mark.
        found.append((outer[-1] if source.kind == "sets" else source, around[-1]))
    return found, bound


def _busy(events: list[dict[str, Any]]) -> list[tuple[int, dict[str, int]]]:
    found = [(_time(event["ts"]), event["args"]) for event in events if event["ph"] == "C"]
    assert [at for at, _ in found] == sorted(at for at, _ in found)
    assert all(set(counts) <= {"aic", "aiv"} and min(counts.values()) >= 0 for _, counts in found)
    assert not found or not any(found[-1][1].values()), "nobody is busy in the end"
    return found
