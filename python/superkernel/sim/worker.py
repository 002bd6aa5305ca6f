"""The child process that runs kernel code: whatever a kernel does to itself happens here.

Started as ``python -m superkernel.sim.worker``; reads one JSON request per line and answers each with one line.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading

from superkernel import _core

__all__ = ["main"]

#: Seconds by which the parent's own time limit comes first.
GRACE = 3.0


def main(arguments: list[str]) -> int:
    """Serves requests until the pipe is closed."""
    requests, answers, arena_file, arena_address, arena_size, parent = (int(value) for value in arguments)
    # The parent decides what an interrupt means; it closes the pipe or kills this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A kernel that never comes back must not outlive a parent that died without ending this process.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent, requests), daemon=True).start()
    _core.sim_arena_attach(arena_file, arena_address, arena_size)
    with os.fdopen(requests, encoding="utf-8") as lines, os.fdopen(answers, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(_serve(line) + "\n")
            out.flush()
    return 0


def _end_with(parent: int, requests: int) -> None:
    """Ends this process when its parent is gone, whatever the kernel does meanwhile and however long it may take.

    (The system's own signal for that follows the parent's *thread*, which may end earlier.)
    """
    poll = select.poll()
    # Hung up once nobody can ask any more.
    poll.register(requests, 0)
    # A process that is a copy of the parent keeps the pipe open; an old system has no other way to notice.
    with contextlib.suppress(AttributeError, OSError):
        poll.register(os.pidfd_open(parent), select.POLLIN)
    if os.getppid() == parent:
        poll.poll()
    os._exit(0)


def _serve(line: str) -> str:
    order = _core.SimWorkOrder(line)
    if order.timeout is not None:
        signal.setitimer(signal.ITIMER_REAL, order.timeout + GRACE)
    try:
        return order.carry_out()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
