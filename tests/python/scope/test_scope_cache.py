"""The kernels of a process: one build per kernel, failures that do not stick."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from superkernel import SuperKernelError
from superkernel.scope import KernelCache
from superkernel.scope._cache import Answer


def compiled() -> Answer:
    """A build."""
    return Answer.COMPILED


def test_absent_builds_and_finished_answers_at_once() -> None:
    cache = KernelCache()
    built: list[int] = []
    assert cache.state("k") == "absent"
    assert cache.request("k", "content", lambda: built.append(1) or Answer.COMPILED) is Answer.COMPILED
    assert cache.state("k") == "finished"
    assert cache.request("k", "content", lambda: built.append(2) or Answer.COMPILED) is Answer.SHARED
    assert built == [1]


def test_running_is_waited_for_and_its_outcome_copied() -> None:
    cache = KernelCache()
    started, go_on = threading.Event(), threading.Event()

    def build() -> Answer:
        started.set()
        assert go_on.wait(30)
        return Answer.COMPILED

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(cache.request, "k", "content", build)
        assert started.wait(30)
        assert cache.state("k") == "running"
        others = [pool.submit(cache.request, "k", "content", build) for _ in range(5)]
        go_on.set()
        assert first.result() is Answer.COMPILED
        assert {other.result() for other in others} == {Answer.SHARED}


def test_a_failure_reaches_everybody_and_does_not_stick() -> None:
    cache = KernelCache()
    started, go_on = threading.Event(), threading.Event()

    def fail() -> Answer:
        started.set()
        assert go_on.wait(30)
        raise OSError("disk full")

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(cache.request, "k", "content", fail)
        assert started.wait(30)
        other = pool.submit(cache.request, "k", "content", fail)
        while cache._entries["k"].waiters < 2:
            threading.Event().wait(0.001)
        go_on.set()
        for future in (first, other):
            with pytest.raises(OSError, match="disk full"):
                future.result()
    assert cache.state("k") == "absent"
    assert cache.request("k", "content", compiled) is Answer.COMPILED


def test_a_build_without_an_owner_is_done_again(caplog: pytest.LogCaptureFixture) -> None:
    cache = KernelCache()
    with pytest.raises(KeyboardInterrupt):
        cache.request("k", "content", _interrupt)
    assert cache.state("k") == "absent"
    # A build whose thread disappeared without a word, as after a fork.
    started = threading.Event()
    threading.Thread(
        target=cache.request, args=("k", "content", lambda: (started.set(), threading.Event().wait())), daemon=True
    ).start()
    assert started.wait(30)
    cache._entries["k"].waiters = 0
    assert cache.request("k", "content", compiled) is Answer.COMPILED
    assert "no owner" in caplog.text


def _interrupt() -> Answer:
    raise KeyboardInterrupt


def test_the_whole_content_is_compared() -> None:
    cache = KernelCache()
    cache.request("k", "one", compiled)
    with pytest.raises(SuperKernelError) as caught:
        cache.request("k", "two", compiled)
    assert caught.value.errorinfo["errId"] == "SK1019"


def test_a_later_round_asks_again() -> None:
    """Whether the kernel is still what its inputs make is for the build to find out, and to say."""
    cache = KernelCache()
    cache.request("k", "content", compiled)
    assert cache.request("k", "content", lambda: Answer.UP_TO_DATE, round=1) is Answer.UP_TO_DATE
    assert cache.request("k", "content", lambda: Answer.FROM_CACHE, round=1) is Answer.SHARED
    assert cache.request("k", "content", lambda: Answer.FROM_CACHE, round=2) is Answer.FROM_CACHE


def test_an_earlier_round_may_have_had_other_content() -> None:
    cache = KernelCache()
    cache.request("k", "one", compiled, round=1)
    assert cache.request("k", "two", compiled, round=2) is Answer.COMPILED
    with pytest.raises(SuperKernelError, match="two different super kernels"):
        cache.request("k", "one", compiled, round=2)


def test_the_oldest_are_forgotten() -> None:
    cache = KernelCache(limit=3)
    for name in "abcde":
        cache.request(name, "content", compiled)
    assert [cache.state(name) for name in "abcde"] == ["absent", "absent", "finished", "finished", "finished"]
    cache.clear()
    assert cache.state("e") == "absent"


def test_a_build_that_just_ended_is_not_without_an_owner(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever asks while it is being marked as finished waits for that."""
    cache = KernelCache()
    asked: list[Answer] = []
    late = threading.Thread(target=lambda: asked.append(cache.request("k", "content", compiled, round=2)))

    def build() -> Answer:
        entry = cache._entries["k"]
        finish = entry.done.set

        def slowly() -> None:
            late.start()
            late.join(0.2)
            finish()

        entry.done.set = slowly  # type: ignore[method-assign]
        return Answer.COMPILED

    assert cache.request("k", "content", build, round=1) is Answer.COMPILED
    late.join()
    assert asked == [Answer.COMPILED] and "no owner" not in caplog.text
