"""Who tells and waits for outer events, and who polls and clears the locks of dynamic ops.

With ``sync=contract`` as the replaced software does it, mended; with ``sync=proven`` without the barriers that nobody
needs ([D25] and the rule for outer waits).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shape import Kernel, Op, order_edges


def waiting_kind(op: Op) -> str:
    """The kind that waits for outer events, as a rule."""
    return "aic" if op.cls == "aic" else "aiv"


def releasing_kind(op: Op) -> str:
    """The kind that clears a dynamic op's lock right after the call."""
    return "aiv" if op.cls == "aiv" else "aic"


def notifying_kind(sender: Op, following: Op | None) -> str:
    """The kind that tells outer events."""
    return "aic" if sender.cls == "aic" or (sender.cls == "mix" and following and following.cls == "aic") else "aiv"


KINDS = {"aic": ("aic",), "aiv": ("aiv",), "mix": ("aic", "aiv")}


def polls_early(kernel: Kernel, op: Op) -> bool:
    """[D25] (a): the switch stands before the synchronisation with the op before."""
    previous = kernel.before(op)
    if not (op.dynamic and kernel.proven) or kernel.plan["two_streams"] or previous is None or kernel.sends(previous):
        return False
    return not kernel.early or (not previous.sets and all(previous.runs_on(kind) for kind in KINDS[op.cls]))


def clears_late(kernel: Kernel, op: Op) -> str | None:
    """[D25] (b): the kind that clears the lock behind the synchronisation after the op."""
    following = kernel.behind(op)
    if not (op.dynamic and kernel.proven) or following is None or polls_early(kernel, op):
        return None
    teller = notifying_kind(op, following) if kernel.sends(op) else None
    if kernel.plan["two_streams"]:
        kind = teller if op.cls == "mix" else op.cls if side_meets(kernel, op, op.cls) else None
        # Two vector cores of a block: the flag of one may be counted for the other.
        return None if kind == "aiv" and kernel.subs == 2 and leaving(kernel, op, kind) else kind
    if polls_early(kernel, following):
        return None
    busy = None
    if kernel.early:
        if following.waits and not has_fresh_round(kernel, following):
            return None
        events = events_of(kernel, following)
        busy = events.kind if kernel.receives(following) and events.early else None
    elif kernel.receives(following) and teller is None:
        return None
    usual = releasing_kind(op)
    for kind in (usual, "aic" if usual == "aiv" else "aiv"):
        if following.runs_on(kind) and kind != busy and teller in (None, kind):
            return kind
    return None


@dataclass
class Events:
    """How an op's outer events are waited for."""

    kind: str
    early: bool
    meeting: str | None


def events_of(kernel: Kernel, op: Op) -> Events:
    """One poller; who meets behind it."""
    usual, previous = waiting_kind(op), kernel.before(op)
    several = kernel.plan["two_streams"]
    if not kernel.proven:
        return Events(usual, False, op.cls if several else kernel.cls)
    meets = op.dynamic and not polls_early(kernel, op) and clears_late(kernel, op) is None
    behind_switch = Events(usual, False, None if meets else op.cls)
    if several or previous is None:
        return behind_switch
    set_by = usual if previous.runs_on(usual) else KINDS[previous.cls][0]
    if kernel.early:
        if hand_over_carries_events(kernel, op):
            return Events(set_by, True, None)
        if has_fresh_round(kernel, op):
            return Events(set_by, False, None)
    elif not kernel.sends(previous):
        return Events(usual, False, kernel.cls)
    return behind_switch


def hand_over_carries_events(kernel: Kernel, op: Op) -> bool:
    """With early start: nothing has to be told before, and the poller sets after it has polled."""
    previous = kernel.before(op)
    return bool(kernel.proven and kernel.early and previous and not kernel.sends(previous) and not previous.sets)


def has_fresh_round(kernel: Kernel, op: Op) -> bool:
    """Its own wait gets a round of its own, because something is done behind the hand-over."""
    previous = kernel.before(op)
    if previous is None or not op.waits:
        return False
    waits = kernel.receives(op) and not hand_over_carries_events(kernel, op)
    return bool(kernel.sends(previous) or waits or (kernel.on("debug-sync-all") and previous.sets))


def leaving(kernel: Kernel, op: Op, kind: str) -> list[dict[str, Any]]:
    """Cross edges that a side sends after an op."""
    direction = "cube_to_vec" if kind == "aic" else "vec_to_cube"
    return [edge for edge in kernel.plan["edges"] if edge["from"] == op.plan["index"] and edge[direction]]


def side_meets(kernel: Kernel, op: Op, kind: str) -> bool:
    """Does the side's barrier stand in the send code of an op?"""
    own = any(receiver.runs_on(kind) for sender, receiver in order_edges(kernel) if sender is op)
    tells = kernel.sends(op) and notifying_kind(op, kernel.behind(op)) == kind
    return bool(leaving(kernel, op, kind) or own or tells)
