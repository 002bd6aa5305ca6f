"""Building all super kernels of a model."""

from __future__ import annotations

import contextvars
import json
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from superkernel import _core
from superkernel._build import cancellation, compare
from superkernel._config import configure, repeatable
from superkernel._environment import in_force, snapshot
from superkernel._errors import SuperKernelError, make_error
from superkernel._logging import logger
from superkernel._scratch import ScratchFolder
from superkernel.scope._cache import Answer, kernels
from superkernel.scope._graph import Graph, PathLike, as_graph
from superkernel.scope._plan import Piece, ScopePlan, plan

if TYPE_CHECKING:
    from superkernel.scope._remote import Remote

State = Literal["compiled", "reused", "failed"]

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
        line = f"{self.state:8}  {self.milliseconds:8.1f} ms  {self.piece}  {self.kernel_name}"
        return f"{line}\n          {self.error}" if self.error is not None else line


Progress = Callable[[int, int, KernelResult], None]


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
        counts = {state: len(self.of_state(state)) for state in ("compiled", "reused", "failed")}
        return {**counts, "milliseconds": round(self.milliseconds, 3), "excluded": self.excluded, "kernels": rows}

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self.of_state(state))} {state}" for state in ("compiled", "reused", "failed"))
        line = f"{len(self.results)} super kernel(s): {counts}, {self.milliseconds:.0f} ms"
        return line + (f"; run alone: {', '.join(self.excluded)}" if self.excluded else "")


def compile_graph(
    graph: Graph | PathLike | dict[str, Any],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    fallback: bool = False,
    check: bool = True,
    exclude: Iterable[str] = (),
    executor: Executor | None = None,
    **planning: Any,
) -> ModelBuild:
    """Builds every super kernel of a model into ``<kernel_meta_parent_dir>/kernel_meta``.

    Identical pieces are built once, different ones ``jobs`` at a time. ``progress(done, total, result)`` is called
    from this thread after each. With ``fallback`` a member that cannot be built is left out (it runs alone) and the
    rest is planned again. Failures raise at the end, after everything else was built; ``check=False`` only reports
    them. With ``executor`` (any ``concurrent.futures.Executor``, such as Dask's ``Client.get_executor()``) kernels are
    built by its workers, which need no folder in common with this process; each is checked and published here. Other
    arguments are those of :func:`superkernel.scope.plan`.
    """
    started = time.perf_counter()
    graph = as_graph(graph)
    left_out = list(exclude)
    excluded: list[str] = []
    while True:
        planned = plan(graph, exclude=[*left_out, *excluded], **planning)
        results = _build_all(planned, jobs, progress, executor)
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


def _build_all(
    planned: ScopePlan, jobs: int | None, progress: Progress | None, executor: Executor | None
) -> list[KernelResult]:
    workers = jobs or in_force("jobs")[0] or os.cpu_count() or 1
    remote = None
    if executor is not None:
        from superkernel.scope._remote import Remote

        remote = Remote(executor)
        # These threads only wait.
        workers = jobs or _WAITING
    results: list[KernelResult] = []
    round = object()
    # Signals come to this thread only; the others hear of it through this.
    cancel = _core.Cancel()
    context = contextvars.copy_context()
    context.run(cancellation.set, cancel)
    with ThreadPoolExecutor(max_workers=max(1, min(workers, len(planned.pieces) or 1))) as pool:
        # Settings made by `with superkernel.configure(...)` hold in this context only: take it along.
        # Those with most ops first: a long one at the end would leave the others idle.
        order = sorted(range(len(planned.pieces)), key=lambda number: -len(planned.pieces[number].members))
        started = {
            number: pool.submit(context.copy().run, _build_one, planned.pieces[number], round, remote)
            for number in order
        }
        futures = [started[number] for number in range(len(planned.pieces))]
        try:
            for future in futures:
                result = future.result()
                results.append(result)
                if progress is not None:
                    progress(len(results), len(futures), result)
        except BaseException:
            for future in futures:
                future.cancel()
            cancel.cancel()
            raise
    return results


def _build_one(piece: Piece, round: object, remote: Remote | None) -> KernelResult:
    started = time.perf_counter()
    state: State
    error: SuperKernelError | None = None
    try:
        state = _request(piece, round, remote).value
    except SuperKernelError as failure:
        state, error = "failed", failure
    return KernelResult(piece.name, piece.kernel_name, state, 1000 * (time.perf_counter() - started), error)


def _compile(piece: Piece, remote: Remote | None) -> None:
    from superkernel import super_kernel

    if remote is None or compare(piece.normalized_infos, piece.kernel_name)[0] == "up to date":
        super_kernel.compile(piece.normalized_infos, piece.kernel_name)
        return
    with ScratchFolder("entries") as folder:
        # A cache the user has is a good place for it; otherwise it is kept until the kernel is in place.
        cache = snapshot()["cache_dir"] or folder
        remote.fetch(piece.normalized_infos, piece.kernel_name, cache)
        with configure(cache_dir=cache):
            super_kernel.compile(piece.normalized_infos, piece.kernel_name)


def _request(piece: Piece, round: object, remote: Remote | None) -> Answer:
    if piece.problems:
        raise make_error(
            "SK1016",
            f"super kernel `{piece.name}` cannot be built: "
            + "; ".join(f"{problem.message} [{problem.id}]" for problem in piece.problems),
            "; ".join(problem.solution for problem in piece.problems),
        )
    # `configure` right in the `with` statement: only then other threads never see the limits.
    with configure(**_limits(piece)):
        settings = snapshot()
        folder = Path(settings["kernel_meta_parent_dir"]).absolute()
        content = json.dumps([piece.identity, str(folder), repeatable(settings)])
        return kernels.request(
            f"{folder}:{piece.kernel_name}",
            content,
            lambda: _compile(piece, remote),
            lambda: compare(piece.normalized_infos, piece.kernel_name)[0] == "up to date",
            round,
        )


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
