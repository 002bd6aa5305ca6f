"""Kernels of this process: one build per kernel, however many ask for it at the same time.

=========================  ===========================================================================================
state of the kernel        a new request
=========================  ===========================================================================================
absent                     builds it; the kernel is *running* meanwhile
running                    waits, and shares the outcome of the build that runs
finished, this round       shares it; a failure is not kept, the next request builds again
finished, earlier round    builds it again, which finds out whether it is still what its inputs make
running, nobody waits      warns and builds: whoever ran it is gone
other content, same round  is refused: two kernels of one model cannot have one name
=========================  ===========================================================================================
"""

from __future__ import annotations

import enum
import os
import threading
from collections import OrderedDict
from collections.abc import Callable

from superkernel._errors import make_error
from superkernel._logging import logger


class Answer(enum.Enum):
    """Where a kernel came from; all but the last are what a build says about itself."""

    COMPILED = "compiled"
    UP_TO_DATE = "up to date"
    FROM_CACHE = "from cache"
    SHARED = "shared"


class _Entry:
    def __init__(self, content: str, round: object) -> None:
        self.content = content
        self.round = round
        self.done = threading.Event()
        self.error: BaseException | None = None
        #: The build itself and everybody who waits for it.
        self.waiters = 1


class KernelCache:
    """Finished and running kernels by name; the oldest finished ones are forgotten beyond ``limit``."""

    def __init__(self, limit: int = 4096) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def request(self, name: str, content: str, build: Callable[[], Answer], round: object = None) -> Answer:
        """Builds the kernel, or waits for the build that runs, or finds it finished.

        ``content`` is what the kernel is made from, as far as the model tells. ``round`` is the build of a model:
        within one, files do not change; for a kernel of an earlier one ``build`` is asked again.
        """
        with self._lock:
            entry = self._entries.get(name)
            if entry is not None and entry.content != content:
                if entry.round is round or not entry.done.is_set():
                    raise make_error(
                        "SK1019",
                        f"two different super kernels are called `{name}`",
                        "rename one of them, or report this if the names were made by the planner",
                    )
                entry = None
            if entry is not None and not entry.done.is_set() and entry.waiters == 0:
                logger.warning("%s: its build has no owner any more; building it again", name)
                entry = None
            if entry is not None and entry.done.is_set() and entry.round is not round:
                entry = None
            if entry is None:
                mine = self._entries[name] = _Entry(content, round)
                self._entries.move_to_end(name)
                self._forget_oldest()
            else:
                mine = None
                entry.waiters += 1
        if mine is not None:
            return self._build(name, mine, build)
        assert entry is not None  # set whenever `mine` is not
        entry.done.wait()
        with self._lock:
            entry.waiters -= 1
        if entry.error is not None:
            raise entry.error
        return Answer.SHARED

    def _build(self, name: str, entry: _Entry, build: Callable[[], Answer]) -> Answer:
        try:
            return build()
        except BaseException as error:
            entry.error = error
            raise
        finally:
            with self._lock:
                entry.waiters -= 1
                # A failure must not stick: the file or tool that was missing may be there next time.
                if entry.error is not None and self._entries.get(name) is entry:
                    del self._entries[name]
                # In the same step: without an owner and not done, it would be built again.
                entry.done.set()

    def _forget_oldest(self) -> None:
        surplus = len(self._entries) - self._limit
        for name in [name for name, entry in self._entries.items() if entry.done.is_set()][: max(surplus, 0)]:
            del self._entries[name]

    def state(self, name: str) -> str:
        """``absent``, ``running`` or ``finished``."""
        with self._lock:
            entry = self._entries.get(name)
            if entry is None:
                return "absent"
            return "finished" if entry.done.is_set() else "running"

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._entries.clear()

    def _reset_after_fork(self) -> None:
        # The thread that built or held the lock does not exist in the child.
        self._lock = threading.Lock()
        self._entries = OrderedDict()


#: The cache of this process.
kernels = KernelCache()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=kernels._reset_after_fork)
