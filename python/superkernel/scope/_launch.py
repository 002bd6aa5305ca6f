"""The argument array of a super kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from superkernel import _core


class LaunchEntry(NamedTuple):
    """The arguments of one op: its id in the planned list, its own items, its events."""

    id: int
    own: Sequence[str]
    send: Sequence[int] = ()
    recv: Sequence[int] = ()
    #: Of a tiling-sink op: the event its tiling task records.
    tiling_event: int | None = None


class EntrySlots(NamedTuple):
    """Slot numbers of one op."""

    param: int
    tiling_key: int | None
    notify: int
    wait: int


class LaunchLayout(NamedTuple):
    """Slot numbers of all ops, of the workspace, the number of slots and the format string."""

    entries: list[EntrySlots]
    workspace: int | None
    slots: int
    format: str


def launch_layout(entries: Sequence[LaunchEntry], *, ffts: bool = True, workspace: bool = False) -> LaunchLayout:
    """Lays out the flat array of 8-byte slots a super kernel is launched with."""
    rows = [(e.id, list(e.own), e.tiling_event, list(e.send), list(e.recv)) for e in entries]
    slots, workspace_slot, count, text = _core.scope_launch_layout(ffts, rows, workspace)
    return LaunchLayout([EntrySlots(*row) for row in slots], workspace_slot, count, text)
