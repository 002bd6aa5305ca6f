"""The report of a model's build: one page, and pictures beside it that it links to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from superkernel import _build, _files
from superkernel._config import configure
from superkernel._environment import snapshot
from superkernel._errors import SuperKernelError, make_error
from superkernel.pictures import of_program, of_scopes, page, predictions

if TYPE_CHECKING:
    from superkernel._files import PathLike
    from superkernel.scope import Graph, KernelResult, ModelBuild, Piece

__all__ = ["collected", "write"]


@contextmanager
def collected() -> Iterator[list[dict[str, Any]]]:
    """The reports of all kernels that are built inside, as they come."""
    told: list[dict[str, Any]] = []
    token = _build.reports.set(told)
    try:
        yield told
    finally:
        _build.reports.reset(token)


def write(
    path: PathLike,
    graph: Graph,
    build: ModelBuild,
    told: Iterable[Mapping[str, Any]],
    forecast: Mapping[str, Any] | None = None,
) -> None:
    """Writes the report to ``path``, and the pictures to the folder ``<name>_pictures`` beside it.

    ``told`` are the :func:`collected` reports of the builds, ``forecast`` what ``superkernel.cost.predict`` says of the
    graph.
    """
    target = Path(_files.checked_path(path))
    if not target.name:
        raise make_error("SK0001", f"cannot write `{path}`: it names no file", "name a file with `--report`")
    folder = target.with_name(f"{target.stem}_pictures")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot make `{folder}`: {error.strerror or error}"
        raise make_error("SK0001", problem, "name another file with `--report`") from None
    drawn: dict[str, str] = {}
    expected = {} if forecast is None else predictions(forecast)
    for piece in build.plan.pieces:
        if piece.kernel_name not in drawn and _draw(piece, folder, expected.get(piece.name)):
            drawn[piece.kernel_name] = quote(f"{piece.kernel_name}.html")
    inside = {piece.name: drawn[piece.kernel_name] for piece in build.plan.pieces if piece.kernel_name in drawn}
    scopes = page("scope", _title(build), of_scopes(graph, build.plan, inside))
    _files.write(folder / "scopes.html", scopes.encode())
    # A name may hold anything: `#` and `?` mean something in a link.
    beside = quote(folder.name)
    links = {name: f"{beside}/{file}" for name, file in inside.items()}
    data = {**of_build(build, told, links, f"{beside}/scopes.html"), "predicted": expected}
    if forecast is not None:
        data["prices"] = forecast["prices"]
    _files.write(target, page("report", f"Build of {_title(build)}", data).encode())


def _draw(piece: Piece, folder: Path, expected: Mapping[str, Any] | None) -> bool:
    """Writes the picture of a piece's program, if there is one."""
    if piece.problems:
        return False
    limits: dict[str, Any] = {} if piece.core_limits is None else dict(zip(("aic_num", "aiv_num"), piece.core_limits))
    try:
        with configure(**limits):
            picture = {**of_program(piece.normalized_infos, piece.kernel_name), "predicted": expected}
    except SuperKernelError:
        # The build has met the same error, and the report tells it.
        return False
    _files.write(folder / f"{piece.kernel_name}.html", page("program", piece.name, picture).encode())
    return True


def of_build(
    build: ModelBuild, told: Iterable[Mapping[str, Any]], links: Mapping[str, str], scopes: str | None
) -> dict[str, Any]:
    """The data of the page ``report``."""
    pieces = {piece.name: piece for piece in build.plan.pieces}
    by_kernel = {report["kernel"]: report for report in told}
    # Of pieces with the same kernel one has it built, the others share it.
    owners: dict[str, str] = {}
    for result in sorted(build.results, key=lambda result: result.state == "shared"):
        owners.setdefault(result.kernel_name, result.piece)
    kernels = []
    for result in build.results:
        is_owner = owners[result.kernel_name] == result.piece
        report = by_kernel.get(result.kernel_name, {})
        kernel = _kernel(result, pieces[result.piece], report if is_owner else {})
        kernel["origin"] = result.state
        kernel["size"] = _size(report.get("object"))
        kernel["picture"] = links.get(result.piece)
        kernels.append(kernel)
    return {
        "title": f"Build of {_title(build)}",
        "soc": snapshot()["soc"],
        "milliseconds": build.milliseconds,
        "excluded": build.excluded,
        "scope_picture": scopes,
        "scopes": [_scope(scope, pieces) for scope in build.plan.scopes],
        "kernels": kernels,
    }


def _kernel(result: KernelResult, piece: Piece, report: Mapping[str, Any]) -> dict[str, Any]:
    stages = {stage: time for stage, time in report.get("timings_ms", {}).items() if stage != "total"}
    if result.state == "compiled" and report.get("origin") == "from cache":
        # By a worker; what was told is how its result was taken over.
        stages = {"built elsewhere": max(0.0, result.milliseconds - sum(stages.values())), **stages}
    # What the build itself took; of one that failed the stages are not known. The rest is waiting: for a processor, for
    # the same kernel of another piece.
    built = result.milliseconds if result.error is not None else sum(stages.values())
    return {
        "piece": result.piece,
        "kernel_name": result.kernel_name,
        "ops": len(piece.members),
        "milliseconds": built,
        "waited": max(0.0, result.milliseconds - built),
        "stages": stages,
        "warnings": [*piece.warnings, *report.get("warnings", ())],
        "because": report.get("because", []),
        "error": None if result.error is None else result.error.errorinfo,
    }


def _scope(scope: Mapping[str, Any], pieces: Mapping[str, Piece]) -> dict[str, Any]:
    fused = sum(len(pieces[name].members) for name in scope["pieces"])
    return {**scope, "fused": fused}


def _size(path: str | None) -> int | None:
    try:
        return None if path is None else Path(path).stat().st_size
    except OSError:
        return None


def _title(build: ModelBuild) -> str:
    return str(build.plan.to_dict()["graph"]) or "a model"
