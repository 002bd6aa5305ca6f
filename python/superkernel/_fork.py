"""Work that a fork must not fall into the middle of.

Only the thread that forks lives on in the child. A module that another thread was importing would stay half imported
there, and whoever needs it would wait for ever. So imports on the way of a call that happen late are made under a lock
that a fork takes too.
"""

from __future__ import annotations

import os
from _thread import RLock

__all__ = ["undivided"]

#: ``with undivided:`` no fork happens meanwhile.
undivided = RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=undivided.acquire, after_in_parent=undivided.release, after_in_child=undivided.release)
