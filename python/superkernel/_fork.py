"""Imports and locks that a fork in another thread does no harm to.

Only the thread that forks lives on in the child. A module that another thread was importing would stay half imported
there, a lock that another thread held would stay locked, and code that needs one of them would wait for ever. So
imports that happen late, during a call, are made like this::

    with undivided():
        import ctypes

A thread waits for no other thread there, only for a fork that is under way; a fork waits for all who are inside. And
locks are made by ``new_lock``.
"""

from __future__ import annotations

import os
import sys
import time
import weakref
from _thread import RLock, get_ident
from types import ModuleType

__all__ = ["imported", "new_lock", "undivided"]

#: How long a fork waits for the others, in seconds. Somebody who is inside may in turn wait for the thread that forks
#: (an import that forks); then the fork goes ahead as it would without us.
_PATIENCE = 10.0

#: By thread: what it holds while it is inside. Numbers of threads that have ended are used again.
_locks: dict[int, RLock] = {}
#: Held while a thread gets its lock for the first time, and by who forks.
_gate = RLock()
#: What the fork that is under way holds.
_held: list[RLock] = []
_free_in_child: weakref.WeakSet[RLock] = weakref.WeakSet()


def new_lock() -> RLock:
    """A lock that may be taken several times by one thread, and that no thread left behind by a fork holds."""
    lock = RLock()
    _free_in_child.add(lock)
    return lock


def undivided() -> RLock:
    """No fork happens inside ``with undivided():``, whichever thread forks."""
    # Entered and left by the interpreter in one step, which no signal can split.
    me = get_ident()
    if me not in _locks:
        with _gate:
            _locks[me] = RLock()
    return _locks[me]


def imported(name: str) -> ModuleType:
    """The module ``name``, imported if it is not yet.

    One that is there costs no lock. ``importlib.import_module`` takes some in older Pythons, and an interrupt that
    meets it there leaves them locked.
    """
    with undivided():
        __import__(name)
    return sys.modules[name]


def _before() -> None:
    _gate.acquire()
    deadline = time.monotonic() + _PATIENCE
    for lock in _locks.values():
        if lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            _held.append(lock)


def _after() -> None:
    while _held:
        _held.pop().release()
    _gate.release()


def _after_in_child() -> None:
    # The other threads are gone; what they hold, if the fork did not wait for them, stays held.
    me = get_ident()
    for other in [thread for thread in _locks if thread != me]:
        del _locks[other]
    for lock in _free_in_child:
        # The methods that Python's own modules have for this.
        if not lock._is_owned():  # type: ignore[attr-defined]
            lock._at_fork_reinit()  # type: ignore[attr-defined]
    _after()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
