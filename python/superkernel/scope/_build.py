"""Building all super kernels of a model."""

from __future__ import annotations

import contextvars
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from superkernel import _core
from superkernel._build import build, cache_directory, cancellation, compare, shared
from superkernel._config import BadValue, configure, repeatable
from superkernel._config import check as check_setting
from superkernel._environment import in_force, snapshot
from superkernel._errors import SuperKernelError, make_error
from superkernel._logging import logger
from superkernel._scratch import ScratchFolder
from superkernel.scope._cache import Answer, kernels
from superkernel.scope._graph import Graph, PathLike, as_graph
from superkernel.scope._plan import Piece, ScopePlan, plan

if TYPE_CHECKING:
    from superkernel.scope._remote import Remote

#: Built now; there already; taken from the cache directory; the same kernel as an earlier piece of the model.
State = Literal["compiled", "up to date", "from cache", "shared", "failed"]

STATES: tuple[State, ...] = ("compiled", "up to date", "from cache", "shared", "failed")

#: Kernels that are waited for at the same time while others build them.
_WAITING = 64


class KernelResult(NamedTuple):
    """What became of one piece."""

    piece: str
    kernel_name: str
    state: State
    milliseconds: float
    error: SuperKernelError | None = None

    def __str__(self) -> str:
        line = f"{self.state:10}  {self.milliseconds:8.1f} ms  {self.piece}  {self.kernel_name}"
        return f"{line}\n            {self.error}" if self.error is not None else line


Progress = Callable[[int, int, KernelResult], None]
OnStage = Callable[[str, str], object]


class ModelBuild(NamedTuple):
    """All super kernels of a model."""

    plan: ScopePlan
    results: list[KernelResult]
    milliseconds: float
    #: Members that could not be built into a super kernel and run alone instead.
    excluded: list[str]

    def of_state(self, state: State) -> list[KernelResult]:
        """The pieces of one state."""
        return [result for result in self.results if result.state == state]

    def counts(self) -> dict[str, int]:
        """How many pieces of every state there are."""
        return {state: len(self.of_state(state)) for state in STATES}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        rows = [
            {
                "piece": result.piece,
                "kernel_name": result.kernel_name,
                "state": result.state,
                "milliseconds": round(result.milliseconds, 3),
                "error": None if result.error is None else result.error.errorinfo,
            }
            for result in self.results
        ]
        milliseconds = round(self.milliseconds, 3)
        return {**self.counts(), "milliseconds": milliseconds, "excluded": self.excluded, "kernels": rows}

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in self.counts().items() if count or state == "failed")
        kernels = "1 super kernel" if len(self.results) == 1 else f"{len(self.results)} super kernels"
        line = f"{kernels}: {counts}, {self.milliseconds:.0f} ms"
        return line + (f"; run alone: {', '.join(self.excluded)}" if self.excluded else "")


class _Wish(NamedTuple):
    """What a caller of ``compile_graph`` wants of every build."""

    keep: bool
    rebuild: bool
    use_cache: bool
    on_stage: OnStage | None
    #: Who builds, if not this process.
    remote: Remote | None


def compile_graph(
    graph: Graph | PathLike | dict[str, Any],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    fallback: bool = False,
    check: bool = True,
    exclude: Iterable[str] = (),
    executor: Executor | None = None,
    keep: bool = False,
    rebuild: bool = False,
    use_cache: bool = False,
    on_plan: Callable[[ScopePlan], object] | None = None,
    on_stage: OnStage | None = None,
    **planning: Any,
) -> ModelBuild:
    """Builds every super kernel of a model into ``<kernel_meta_parent_dir>/kernel_meta``.

    Identical pieces are built once. ``jobs`` is the setting of this name: how many tools run at the same time, in all
    builds together. ``on_plan(plan)`` is called before anything is built, ``progress(done, total, result)`` from this
    thread as each piece ends, ``on_stage(piece, stage)`` from the threads that build, as each stage begins.
    ``keep``, ``rebuild`` and ``use_cache`` are those of :func:`superkernel.compile_kernel`. With ``fallback`` a member
    that cannot be built is left out (it runs alone) and the rest is planned again. Failures raise at the end, after
    everything else was built; ``check=False`` only reports them. With ``executor`` (any
    ``concurrent.futures.Executor``, such as Dask's ``Client.get_executor()``) kernels are built by its workers, which
    need no folder in common with this process; each is checked and published here; ``jobs`` kernels are then waited
    for at the same time. Other arguments are those of :func:`superkernel.scope.plan`.
    """
    started = time.perf_counter()
    remote = None
    if executor is not None:
        from superkernel.scope._remote import Remote

        remote = Remote(executor)
    # Threads that only wait for others cost nothing.
    jobs = _WAITING if jobs is None and remote is not None else _checked_jobs(jobs)
    graph = as_graph(graph)
    wish = _Wish(keep, rebuild, use_cache, on_stage, remote)
    left_out = list(exclude)
    excluded: list[str] = []
    while True:
        planned = plan(graph, exclude=[*left_out, *excluded], **planning)
        _refuse_unbuildable(planned)
        if on_plan is not None:
            on_plan(planned)
        results = _build_all(planned, jobs, progress, wish)
        failed = [result for result in results if result.state == "failed"]
        found = _culprits(planned, failed) if fallback and failed else []
        if not found:
            break
        for name in found:
            logger.warning("super_kernel_scope: `%s` cannot be built into a super kernel and runs alone", name)
        excluded.extend(found)
    build = ModelBuild(planned, results, 1000 * (time.perf_counter() - started), excluded)
    if check and failed:
        first = failed[0]
        raise make_error(
            "SK1017",
            f"{len(failed)} of {len(results)} super kernels failed to build: "
            + "; ".join(f"`{result.piece}`: {result.error}" for result in failed),
            "see the message of each" if first.error is None else first.error.errorinfo["errSolution"],
        ) from first.error
    return build


def _refuse_unbuildable(planned: ScopePlan) -> None:
    """A prediction has no kernels yet, and a mistake in options shall not go unnoticed in a build."""
    if planned.prediction:
        raise make_error(
            "SK1032",
            "this graph is from before compilation: its ops have no kernels to fuse",
            "plan it with `superkernel scope`; to build, give a graph whose ops are compiled",
        )
    if planned.mistakes:
        raise make_error(
            "SK1032",
            "; ".join(f"scope `{mistake['scope']}`: {mistake['message']}" for mistake in planned.mistakes),
            "; ".join(dict.fromkeys(mistake["solution"] for mistake in planned.mistakes)),
        )


def _checked_jobs(jobs: int | None) -> int:
    """How many tools may run at the same time."""
    if jobs is not None:
        try:
            return int(check_setting("jobs", jobs))
        except BadValue as refusal:
            problem = f"`jobs` cannot be `{str(jobs)[:80]}`; expected {refusal}"
            raise make_error("SK0011", problem, f"pass {refusal}, or `None`: one per processor") from None
    return in_force("jobs")[0] or os.cpu_count() or 1


class _Shares:
    """Divides the jobs among builds, so that their own stages never have more threads than were asked for; tools take
    turns by themselves (``SharedBuilds``).

    A build that starts gets an equal part of the jobs for every build that has not ended; those that run already
    got theirs when there were more of them.
    """

    def __init__(self, jobs: int, builds: int) -> None:
        self._jobs = jobs
        self._left = builds
        self._lock = threading.Lock()

    def of_one(self) -> int:
        with self._lock:
            return max(1, self._jobs // max(1, self._left))

    def ended(self) -> None:
        with self._lock:
            self._left -= 1


def _build_all(planned: ScopePlan, jobs: int, progress: Progress | None, wish: _Wish) -> list[KernelResult]:
    pieces = planned.pieces
    shares = _Shares(jobs, len(pieces))
    round = object()
    # Signals come to this thread only; the others hear of it through this.
    cancel = _core.Cancel()
    context = contextvars.copy_context()
    context.run(cancellation.set, cancel)
    builders = jobs
    if wish.remote is None:
        context.run(shared.set, _core.SharedBuilds(jobs))
        # While tools run for some, others are read, planned and printed, or checked and published: no tool waits.
        builders = jobs + jobs // 2 + 2
    with ThreadPoolExecutor(max_workers=max(1, min(builders, len(pieces)))) as pool:
        # Settings made by `with superkernel.configure(...)` hold in this context only: take it along.
        started = {
            number: pool.submit(context.copy().run, _build_one, pieces[number], round, shares, wish)
            for number in _order(pieces)
        }
        futures = [started[number] for number in range(len(pieces))]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                result = future.result()
                if progress is not None:
                    progress(done, len(futures), result)
        except BaseException:
            for future in futures:
                future.cancel()
            cancel.cancel()
            raise
    return [future.result() for future in futures]


def _order(pieces: list[Piece]) -> list[int]:
    """Those with most ops first: a long one at the end would leave the others idle. Who will only wait for an equal
    one comes last."""
    first: dict[str, int] = {}
    for number, piece in enumerate(pieces):
        first.setdefault(piece.kernel_name, number)
    return sorted(
        range(len(pieces)),
        key=lambda number: (first[pieces[number].kernel_name] != number, -len(pieces[number].members)),
    )


def _build_one(piece: Piece, round: object, shares: _Shares, wish: _Wish) -> KernelResult:
    started = time.perf_counter()
    state: State
    error: SuperKernelError | None = None
    try:
        state = _request(piece, round, shares, wish).value
    except SuperKernelError as failure:
        state, error = "failed", failure
    finally:
        shares.ended()
    return KernelResult(piece.name, piece.kernel_name, state, 1000 * (time.perf_counter() - started), error)


def _request(piece: Piece, round: object, shares: _Shares, wish: _Wish) -> Answer:
    if piece.problems:
        raise make_error(
            "SK1016",
            f"super kernel `{piece.name}` cannot be built: "
            + "; ".join(f"{problem.message} [{problem.id}]" for problem in piece.problems),
            "; ".join(problem.solution for problem in piece.problems),
        )

    # `configure` right in the `with` statement: only then other threads never see the limits.
    with configure(jobs=shares.of_one(), **_limits(piece)):
        settings = snapshot()
        folder = Path(settings["kernel_meta_parent_dir"]).absolute()
        content = json.dumps([piece.identity, str(folder), repeatable(settings)])
        name = f"{folder}:{piece.kernel_name}"
        return kernels.request(name, content, lambda: _compile(piece, wish), round)


def _compile(piece: Piece, wish: _Wish) -> Answer:
    """Builds a piece here, or has it built and takes it over."""
    infos, name = piece.normalized_infos, piece.kernel_name
    on_stage = wish.on_stage
    progress = None if on_stage is None else (lambda stage: on_stage(piece.name, stage))
    if wish.remote is None or (not wish.rebuild and compare(infos, name)[0] == "up to date"):
        report = build(infos, name, keep=wish.keep, rebuild=wish.rebuild, use_cache=wish.use_cache, progress=progress)
        return Answer(report["origin"])
    with ScratchFolder("entries") as folder:
        # A cache the user has is a good place for it; otherwise it is kept until the kernel is in place.
        own = cache_directory() if wish.use_cache else snapshot()["cache_dir"]
        fetched = wish.remote.fetch(infos, name, own or folder)
        with configure(cache_dir=own or folder):
            origin = build(infos, name, keep=wish.keep, progress=progress)["origin"]
    # Where it came from before it was in that cache: a worker's compiler.
    return Answer.COMPILED if fetched else Answer(origin)


def _limits(piece: Piece) -> dict[str, Any]:
    """The user's core limits as settings."""
    if piece.core_limits is None:
        return {}
    aic, aiv = piece.core_limits
    return {"aic_num": aic, "aiv_num": aiv}


def _culprits(planned: ScopePlan, failed: list[KernelResult]) -> list[str]:
    """Members that fail even alone; those the plan already objects to need no build."""
    found: list[str] = []
    by_name = {piece.name: piece for piece in planned.pieces}
    for result in failed:
        piece = by_name[result.piece]
        if piece.problems:
            missing = {name for problem in piece.problems for name in problem.unfusable}
            found.extend(name for name in piece.members if name in missing)
            continue
        found.extend(name for name, infos in piece.alone if not _builds_alone(piece, infos))
    return list(dict.fromkeys(found))


def _builds_alone(piece: Piece, infos: dict[str, Any]) -> bool:
    from superkernel import super_kernel

    with (
        ScratchFolder("alone") as folder,
        configure(kernel_meta_parent_dir=folder, **_limits(piece)),
    ):
        try:
            super_kernel.compile(infos, "alone")
        except SuperKernelError:
            return False
    return True
