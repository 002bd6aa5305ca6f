"""Building all super kernels of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from typing import Any, Literal, NamedTuple

from superkernel import _core
from superkernel._build import finished, leave_reproducer, settings
from superkernel._config import BadValue, configure
from superkernel._config import check as check_setting
from superkernel._core import ScopePiece as Piece
from superkernel._errors import SuperKernelError, make_error
from superkernel._logging import logger
from superkernel._scratch import ScratchFolder, own_temporary_folder
from superkernel.scope._cache import kernels
from superkernel.scope._graph import Graph, PathLike, as_graph
from superkernel.scope._plan import ScopePlan, plan

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

    def _repr_html_(self) -> str:
        from superkernel._html import section

        rows = [
            (result.state, f"{result.milliseconds:.1f}", result.piece, result.kernel_name, result.error or "")
            for result in self.results
        ]
        return section(str(self), ("", "ms", "piece", "kernel", "error"), rows, bad="failed")


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
    jobs = _checked_jobs(jobs)
    remote = None
    if executor is not None:
        from superkernel.scope._remote import Remote

        # Threads that only wait for others cost nothing.
        remote = (Remote(executor), jobs or _WAITING)
    graph = as_graph(graph)
    left_out = list(exclude)
    excluded: list[str] = []
    while True:
        planned = plan(graph, exclude=[*left_out, *excluded], **planning)
        _refuse_unbuildable(planned)
        if on_plan is not None:
            on_plan(planned)
        results: dict[int, KernelResult] = {}
        current = settings(use_cache=use_cache)
        _core.build_model(
            planned.native,
            current,
            kernels,
            jobs,
            keep,
            rebuild,
            remote,
            own_temporary_folder(),
            on_stage,
            _collector(planned, current, results, progress),
        )
        ordered = [results[number] for number in sorted(results)]
        failed = [result for result in ordered if result.state == "failed"]
        found = _culprits(planned, failed) if fallback and failed else []
        if not found:
            break
        for name in found:
            logger.warning("super_kernel_scope: `%s` cannot be built into a super kernel and runs alone", name)
        excluded.extend(found)
    build = ModelBuild(planned, ordered, 1000 * (time.perf_counter() - started), excluded)
    if check and failed:
        first = failed[0]
        raise make_error(
            "SK1017",
            f"{len(failed)} of {len(ordered)} super kernels failed to build: "
            + "; ".join(f"`{result.piece}`: {result.error}" for result in failed),
            "see the message of each" if first.error is None else first.error.errorinfo["errSolution"],
        ) from first.error
    return build


def _refuse_unbuildable(planned: ScopePlan) -> None:
    """A prediction has no kernels yet, and a mistake in options must not go unnoticed in a build."""
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


def _checked_jobs(jobs: int | None) -> int | None:
    """How many tools may run at the same time, if that is set."""
    if jobs is not None:
        try:
            return int(check_setting("jobs", jobs))
        except BadValue as refusal:
            problem = f"`jobs` cannot be `{str(jobs)[:80]}`; expected {refusal}"
            raise make_error("SK0011", problem, f"pass {refusal}, or `None`: one per processor") from None
    return None


def _collector(
    planned: ScopePlan, current: dict[str, Any], results: dict[int, KernelResult], progress: Progress | None
) -> Callable[[int, State, float, dict[str, Any] | None, SuperKernelError | None], None]:
    """Takes what becomes of each piece, as it ends."""

    def ended(
        number: int, state: State, milliseconds: float, report: dict[str, Any] | None, error: SuperKernelError | None
    ) -> None:
        piece = planned.pieces[number]
        result = {"report": report} if error is None else {"error": error.errorinfo}
        if state != "shared" and (report is not None or error is not None):
            leave_reproducer(piece.kernel_infos, piece.kernel_name, {**current, **_limits(piece)}, result)
        if report is not None:
            finished(report)
        results[number] = KernelResult(piece.name, piece.kernel_name, state, milliseconds, error)
        if progress is not None:
            progress(len(results), len(planned.pieces), results[number])

    return ended


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
