"""The child process that runs kernel code: whatever a kernel does to itself happens here.

Reads one JSON request per line and answers each with one line.
"""

from __future__ import annotations

import os
import signal

from superkernel import _core
from superkernel._children import end_with_parent

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Serves requests until the pipe is closed."""
    requests, answers, arena_file, arena_address, arena_size, parent = (int(value) for value in arguments)
    # The parent decides what an interrupt means; it closes the pipe or kills this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent, requests)
    _core.sim_arena_attach(arena_file, arena_address, arena_size)
    with os.fdopen(requests, encoding="utf-8") as lines, os.fdopen(answers, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(_core.SimWorkOrder(line).carry_out() + "\n")
            out.flush()
    return 0
