"""The parent's side of the child process: starts it, talks to it, notices its end."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import time
import weakref

from superkernel import SuperKernelError, _core
from superkernel._children import start_python
from superkernel._errors import make_error
from superkernel.sim.memory import Arena

__all__ = ["Child", "ChildDied", "ChildTimedOut"]

#: What came on the pipe was not written by a worker.
_NO_ANSWER = "SK0923"
#: Bytes of an answer without events, and of one event: more is not written by a worker.
_LARGEST_ANSWER = 256 << 20
_LARGEST_EVENT = 4096
#: Milliseconds.
_LONGEST_POLL = 2**31 - 1


class ChildDied(Exception):
    """The process ended without an answer."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status

    def __str__(self) -> str:
        if self.status < 0:
            try:
                return f"was killed by {signal.Signals(-self.status).name}"
            except ValueError:
                return f"was killed by signal {-self.status}"
        return f"ended with status {self.status}"


class ChildTimedOut(Exception):
    """The process gave no answer in time and was killed."""


class Child:
    """One worker process with the device's memory."""

    def __init__(self, arena: Arena) -> None:
        pipes: list[int] = []
        try:
            pipes += os.pipe()
            pipes += os.pipe()
            inherited = (pipes[0], pipes[3], arena.file)
            numbers = (*inherited, arena.address, arena.size, os.getpid())
            self._process = start_python("superkernel.sim.worker", [str(value) for value in numbers], inherited)
        except OSError as error:
            for pipe in pipes:
                os.close(pipe)
            raise make_error(
                "SK0924", f"the process of the kernel cannot be started: {error}", "close files, or end other processes"
            ) from None
        request_read, self._requests, self._answers, answer_write = pipes
        os.close(request_read)
        os.close(answer_write)
        self._pending = b""
        #: Whether it can be asked again.
        self.usable = True
        self._close = weakref.finalize(self, _close, os.getpid(), self._process, self._requests, self._answers)

    def is_silent(self) -> bool:
        """Whether it says nothing unasked; whatever it said would be taken for the next answer."""
        return not self._pending and not _readable(self._answers, 0)

    def ask(
        self,
        launch: _core.LaunchRequest,
        pages: list[tuple[int, int, bool]],
        timeout: float | None,
        patience: float | None,
        events: int,
    ) -> _core.Report:
        """Has a launch made and waits for the report of at most so many events; raises what the worker refuses."""
        try:
            self._send(launch.work_order(pages, timeout).encode() + b"\n")
            answer = self._receive(patience, _LARGEST_ANSWER + events * _LARGEST_EVENT)
        except BaseException:
            # An interrupted exchange cannot be continued.
            self.kill()
            raise
        try:
            return launch.answer(answer)
        except SuperKernelError as error:
            if error.errorinfo["errId"] == _NO_ANSWER:
                self.kill()
            raise

    def _send(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._requests, data) :]
        except BrokenPipeError:
            raise ChildDied(self._process.wait()) from None

    def _receive(self, timeout: float | None, most: int) -> bytes:
        deadline = None if timeout is None else time.monotonic() + timeout
        pieces = [self._pending]
        size = len(self._pending)
        while b"\n" not in pieces[-1]:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise ChildTimedOut
            if not _readable(self._answers, left):
                continue
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                raise ChildDied(self._process.wait())
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise make_error(
                    _NO_ANSWER,
                    f"the process of the kernel answered with more than {most} bytes",
                    "look for a kernel that writes to files it did not open, and launch again",
                )
        line, _, self._pending = b"".join(pieces).partition(b"\n")
        return line

    def kill(self) -> None:
        """Ends the process."""
        self.usable = False
        self._process.kill()
        self._close()


def _readable(file: int, seconds: float | None) -> bool:
    # Unlike `select` it takes any number of open files.
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(None if seconds is None else min(math.ceil(seconds * 1000), _LONGEST_POLL)))


def _close(owner: int, process: subprocess.Popen[bytes], *pipes: int) -> None:
    for pipe in pipes:
        os.close(pipe)
    if os.getpid() != owner:
        # A copy of the parent, made by `fork`: the worker is not its child.
        return
    # Closing its requests ends a healthy worker; one that does not listen is ended.
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
