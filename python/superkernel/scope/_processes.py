"""An executor of processes of this machine.

That of ``concurrent.futures`` imports from the current folder in its processes (``_children.py``) and gives up for good
when one of them is killed; here the task that it worked on fails, and the next one has a new process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, BinaryIO

from superkernel._children import end_with_parent, start_python
from superkernel._fork import new_lock

__all__ = ["Processes", "main"]

#: Bytes of the number in front of a message: how long it is.
_LENGTH = 8


class Processes(Executor):
    """So many processes, each started when there is a task for it."""

    def __init__(self, number: int) -> None:
        self._threads = ThreadPoolExecutor(number)
        self._lock = new_lock()
        self._all: list[_Process] = []
        self._idle: list[_Process] = []
        #: Nobody waits for answers any more.
        self._given_up = False

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Has a function called by one of them."""
        return self._threads.submit(self._call, function, arguments, named)

    def _call(self, *task: Any) -> Any:
        question = pickle.dumps(task)
        with self._lock:
            if self._given_up:
                raise ProcessEnded("the executor was given up")
            process = self._idle.pop() if self._idle else self._start()
        try:
            answer = process.ask(question)
        except BaseException:
            with self._lock:
                self._all.remove(process)
            process.end()
            raise
        with self._lock:
            self._idle.append(process)
        succeeded, value = pickle.loads(answer)
        if not succeeded:
            raise value
        return value

    def _start(self) -> _Process:
        process = _Process()
        self._all.append(process)
        return process

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends them when their tasks are done."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None:
            # Nobody waits for the tasks any more.
            with self._lock:
                self._given_up = True
                for process in self._all:
                    process.kill()
        return super().__exit__(kind, error, trace)


class ProcessEnded(RuntimeError):
    """A process ended without an answer."""


class _Process:
    """One of them, and the pipes to it."""

    def __init__(self) -> None:
        question_read, question_write = os.pipe()
        answer_read, answer_write = os.pipe()
        inherited = (question_read, answer_write)
        self._questions = os.fdopen(question_write, "wb")
        self._answers = os.fdopen(answer_read, "rb")
        try:
            self._process: subprocess.Popen[bytes] = start_python(
                __name__, [str(number) for number in (*inherited, os.getpid())], inherited
            )
        except BaseException:
            self._questions.close()
            self._answers.close()
            raise
        finally:
            os.close(question_read)
            os.close(answer_write)

    def ask(self, question: bytes) -> bytes:
        try:
            _send(self._questions, question)
        except BrokenPipeError:
            answer = None
        else:
            answer = _receive(self._answers)
        if answer is None:
            raise ProcessEnded(f"a process of the executor ended with status {self._process.wait()}")
        return answer

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        for pipe in (self._questions, self._answers):
            try:
                pipe.close()
            except BrokenPipeError:
                # What is still in the buffer is not read any more.
                continue
        self._process.wait()


def main(arguments: list[str]) -> int:
    """Such a process: answers calls until none come any more."""
    questions, answers, parent = (int(value) for value in arguments)
    end_with_parent(parent, questions)
    with os.fdopen(questions, "rb") as source, os.fdopen(answers, "wb") as target:
        try:
            while (question := _receive(source)) is not None:
                _send(target, _answer(question))
        except KeyboardInterrupt:
            # The whole group was interrupted; the process that started this one says so.
            return 130
    return 0


def _answer(question: bytes) -> bytes:
    try:
        function, arguments, named = pickle.loads(question)
        return pickle.dumps((True, function(*arguments, **named)))
    except Exception as error:
        try:
            return pickle.dumps((False, error))
        except Exception:
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _send(pipe: BinaryIO, message: bytes) -> None:
    pipe.write(len(message).to_bytes(_LENGTH, "little"))
    pipe.write(message)
    pipe.flush()


def _receive(pipe: BinaryIO) -> bytes | None:
    """A whole message; nothing where the other side is gone."""
    head = pipe.read(_LENGTH)
    size = int.from_bytes(head, "little")
    message = pipe.read(size) if len(head) == _LENGTH else b""
    return message if len(head) == _LENGTH and len(message) == size else None
