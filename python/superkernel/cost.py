"""What super kernels will gain, predicted before anything runs (docs/cost-model.md).

Everything here is predicted from profiles of the model without super kernels and a list of prices; nothing is measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from superkernel import _core, _files
from superkernel._environment import snapshot
from superkernel._errors import SuperKernelError, make_error
from superkernel.scope._graph import Graph, PathLike, as_graph
from superkernel.scope._plan import request_for
from superkernel.types import Predicted

__all__ = ["Price", "calibrate", "find_profiles", "predict", "prices", "store_path", "suggest", "trace", "tune"]

UNFUSED, FUSED = "no_sk_model", "sk_model"
#: The profiler's tables, the best first; of a folder the first kind that is there is taken.
_TABLES = ("op_summary*.csv", "kernel_details*.csv", "op_statistic*.csv")


class Price(NamedTuple):
    """One price of the model."""

    name: str
    us: float
    error_us: float
    meaning: str
    #: ``costs`` or ``saves``: what a larger one does.
    effect: str


def store_path(soc: str | None = None) -> Path:
    """Where the prices of a SoC are kept: ``$XDG_CONFIG_HOME/superkernel/prices/SOC.json``."""
    root = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(root) / "superkernel" / "prices" / f"{_core.short_soc(soc) if soc else snapshot()['soc']}.json"


def _prices_file(path: PathLike | None) -> str | None:
    if path is not None:
        return os.fspath(path)
    stored = store_path()
    return str(stored) if stored.exists() else None


def prices(path: PathLike | None = None) -> list[Price]:
    """The prices in force: of a file, else those stored for the SoC, else the defaults."""
    rows, _ = _core.cost_prices(_prices_file(path))
    return [Price(*row) for row in rows]


def find_profiles(paths: Iterable[PathLike] | PathLike) -> list[str]:
    """The profile files below some paths.

    A file stands for itself, a folder for the tables of its newest run and the decoded profiling buffers in it.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: list[str] = []
    for path in map(Path, given):
        if not path.is_dir():
            found.append(str(path))
            continue
        inside = [str(buffer) for buffer in sorted(path.rglob("*.json")) if _is_buffer(buffer)]
        for pattern in _TABLES:
            tables = _files.by_age(path.rglob(pattern))
            if tables:
                newest = tables[-1].parent
                inside += [str(table) for table in tables if table.parent == newest]
                break
        if not inside:
            raise make_error(
                "SK1102",
                f"there is no {', '.join(_TABLES)} below `{path}`, and no decoded profiling buffer",
                "give the profiler's output folder, one of its tables, or what `superkernel profile --json` printed",
            )
        found += inside
    return found


def _is_buffer(path: Path) -> bool:
    """Whether a JSON begins as a decoded profiling buffer does."""
    try:
        with _files.open_to_read(path) as file:
            return b'"superkernel-profile-1"' in file.read(4096)
    except (OSError, SuperKernelError):
        return False


def _model(model: Any, name: str) -> _core.ScopeGraph | tuple[Any, str]:
    """``kernel_infos`` or a graph as the core takes it."""
    if isinstance(model, (str, os.PathLike)):
        model = _read(model)
    if isinstance(model, Mapping) and "op_list" in model:
        return model, name
    return as_graph(model).native()


def _read(path: PathLike) -> Any:
    """A file of either kind: an op list has ``op_list``, anything else is a graph."""
    data = _files.read(path)
    if b'"op_list"' in data and data.lstrip().startswith(b"{"):
        from superkernel.cli._input import read_infos

        return read_infos(os.fspath(path))
    return Graph.read(path)


def predict(
    model: Any,
    profile: Iterable[PathLike] | PathLike,
    *,
    name: str = "ascendc_super_kernel_plus",
    prices: PathLike | None = None,
    **planning: Any,
) -> Predicted:
    """What fusing gains: per super kernel the time of its ops alone, as one kernel, the gain, and why.

    ``model`` is a graph (or its path), or what ``compile`` takes. ``profile`` is the profiler's output of the model
    without super kernels: files or folders. Other arguments are those of :func:`superkernel.scope.plan`.
    """
    found = _core.cost_predict(
        _model(model, name), request_for(**planning), find_profiles(profile), _prices_file(prices)
    )
    return cast(Predicted, found)


def trace(
    model: Any,
    profile: Iterable[PathLike] | PathLike = (),
    *,
    name: str = "ascendc_super_kernel_plus",
    prices: PathLike | None = None,
    **planning: Any,
) -> tuple[_core.Traces, list[tuple[str, str]]]:
    """What every core of every super kernel does when, as :func:`predict` plays it; and what is left out, with reasons.

    Without a profile every op is taken to last the same, and the picture says so.
    """
    return _core.cost_trace(_model(model, name), request_for(**planning), find_profiles(profile), _prices_file(prices))


def tune(
    model: Any,
    profile: Iterable[PathLike] | PathLike,
    *,
    name: str = "ascendc_super_kernel_plus",
    prices: PathLike | None = None,
    candidates: int = 1000,
    **planning: Any,
) -> dict[str, Any]:
    """Which options, and for graphs which cuts, the model thinks fastest: a ranking per scope."""
    found: dict[str, Any] = _core.cost_tune(
        _model(model, name), request_for(**planning), find_profiles(profile), _prices_file(prices), candidates
    )
    return found


def suggest(
    graph: Graph | PathLike | dict[str, Any],
    profile: Iterable[PathLike] | PathLike,
    *,
    prices: PathLike | None = None,
    **planning: Any,
) -> dict[str, Any]:
    """Which ranges of a graph to mark: what can be fused and pays, and what keeps ranges from being larger."""
    found: dict[str, Any] = _core.cost_suggest(
        as_graph(graph).native(), request_for(**planning), find_profiles(profile), _prices_file(prices)
    )
    return found


def calibrate(
    runs: Sequence[PathLike],
    *,
    model: Any = None,
    name: str = "ascendc_super_kernel_plus",
    prices: PathLike | None = None,
    out: PathLike | None = None,
    **planning: Any,
) -> dict[str, Any]:
    """Fits the prices to profiles of a model without and with super kernels, and stores them for the SoC.

    Each of ``runs`` is a folder with ``no_sk_model`` and ``sk_model`` and, unless ``model`` is given, the model itself:
    ``graph.json``, ``graph.pbtxt`` or ``kernel_infos.json``. Decoded profiling buffers of a device in ``sk_model`` tell
    the time of a super kernel too; then ``no_sk_model`` may be missing. The prices go to ``out``, by default
    :func:`store_path`.
    """
    given = []
    for folder in map(Path, runs):
        found = model if model is not None else _model_in(folder)
        fused = find_profiles(folder / FUSED)
        recorded = any(path.endswith(".json") for path in fused)
        unfused = [] if recorded and not (folder / UNFUSED).exists() else find_profiles(folder / UNFUSED)
        given.append((_model(found, name), unfused, fused))
    made_from = ", ".join(os.fspath(folder) for folder in runs)
    fitted: dict[str, Any] = _core.cost_calibrate(given, request_for(**planning), _prices_file(prices), made_from)
    target = Path(out) if out is not None else store_path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        partial.write_text(fitted.pop("file"))
        partial.replace(target)
    except OSError as error:
        raise make_error(
            "SK0001", f"cannot write `{target}`: {error.strerror or error}", "name another file with `out`"
        ) from None
    return {**fitted, "stored": str(target)}


def _model_in(folder: Path) -> Path:
    for name in ("graph.json", "graph.pbtxt", "kernel_infos.json"):
        if (folder / name).is_file():
            return folder / name
    raise make_error(
        "SK1104",
        f"`{folder}` holds no graph.json, graph.pbtxt or kernel_infos.json",
        "put the model beside the profiles, or name it with `--model`",
    )
