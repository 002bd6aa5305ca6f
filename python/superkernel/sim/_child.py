"""The parent's side of the child process: starts it, talks to it, notices its end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

from superkernel import SuperKernelError, _core
from superkernel.sim.memory import Arena

__all__ = ["Child", "ChildDied", "ChildTimedOut"]

#: What came on the pipe was not written by a worker.
_NO_ANSWER = "SK0923"


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
        request_read, self._requests = os.pipe()
        self._answers, answer_write = os.pipe()
        environment = dict(os.environ)
        # The child must find this very package, however the parent found it.
        package_root = str(Path(__file__).resolve().parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package_root, environment.get("PYTHONPATH", "")]))
        inherited = (request_read, answer_write, arena.file)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "superkernel.sim.worker"]
            + [str(value) for value in (*inherited, arena.address, arena.size)],
            pass_fds=inherited,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        os.close(request_read)
        os.close(answer_write)
        self._pending = b""
        #: Whether it can be asked again.
        self.usable = True
        self._close = weakref.finalize(self, _close, self._process, self._requests, self._answers)

    def ask(self, order: str, timeout: float | None) -> _core.SimReport:
        """Sends a work order and waits for the report; raises what the worker refuses."""
        try:
            self._send(order.encode() + b"\n")
            answer = self._receive(timeout)
        except BaseException:
            # An interrupted exchange cannot be continued.
            self.kill()
            raise
        try:
            return _core.sim_answer(answer)
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

    def _receive(self, timeout: float | None) -> bytes:
        deadline = None if timeout is None else time.monotonic() + timeout
        while b"\n" not in self._pending:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise ChildTimedOut
            if not select.select([self._answers], [], [], left)[0]:
                raise ChildTimedOut
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                raise ChildDied(self._process.wait())
            self._pending += piece
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def kill(self) -> None:
        """Ends the process."""
        self.usable = False
        self._process.kill()
        self._close()


def _close(process: subprocess.Popen[bytes], *pipes: int) -> None:
    for pipe in pipes:
        os.close(pipe)
    # Closing its requests ends a healthy worker; one that does not listen is ended.
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
