"""Planning: from a marked graph to super kernels."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

from superkernel import _core
from superkernel._build import settings
from superkernel._core import ScopePiece as Piece
from superkernel.scope._graph import Graph, PathLike, as_graph, names

#: The order the ops of a graph from before compilation run in.
Order = Literal["program", "engine", "both"]


class ScopePlan:
    """What becomes of every scope of a graph; printing it explains every split."""

    def __init__(self, planned: _core.ScopePlanned) -> None:
        #: The plan as the core has it.
        self.native = planned
        self.pieces: list[Piece] = planned.pieces

    @cached_property
    def _data(self) -> dict[str, Any]:
        # Made when it is looked at: for a large model this takes longer than the planning.
        return self.native.to_dict()

    @property
    def scopes(self) -> list[dict[str, Any]]:
        """Per scope: members, what was left out and why, cuts, pieces."""
        scopes: list[dict[str, Any]] = self._data["scopes"]
        return scopes

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The list after planning, renumbered; empty if nothing is fused."""
        nodes: list[dict[str, Any]] = self._data["nodes"]
        return nodes

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events after planning; empty if nothing is fused."""
        events: list[dict[str, Any]] = self._data["events"]
        return events

    @property
    def records(self) -> list[dict[str, Any]]:
        """Sentences about single nodes, as logged."""
        records: list[dict[str, Any]] = self._data["records"]
        return records

    @property
    def prediction(self) -> list[str]:
        """What was assumed about a graph from before compilation; empty for a compiled one."""
        return self.native.prediction

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What the user can change: scopes that only the engine's order cuts, shapes that are not static."""
        return self.native.findings

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """Scopes that are not planned because their options are not valid, one entry per mistake."""
        return self.native.mistakes

    @property
    def blocked(self) -> list[Piece]:
        """Pieces that the compiler would refuse."""
        return [piece for piece in self.pieces if piece.problems]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return self._data

    def __str__(self) -> str:
        return str(self.native)

    def _repr_html_(self) -> str:
        from superkernel._html import section

        rows: list[tuple[object, ...]] = []
        pieces = {piece.name: piece for piece in self.pieces}
        for scope in self.scopes:
            for name in scope["pieces"]:
                problems = "\n".join(f"{problem.message} [{problem.id}]" for problem in pieces[name].problems)
                kind = "refused" if problems else "super kernel"
                rows.append((kind, scope["name"], name, ", ".join(pieces[name].members), problems))
            rows += [("left out", scope["name"], "", out["node"], out["explanation"]) for out in scope["left_out"]]
        rows += [("mistake", mistake["scope"], "", "", mistake["message"]) for mistake in self.mistakes]
        rows += [("finding", "", "", "", finding["message"]) for finding in self.findings]
        title = str(self).partition("\n")[0]
        return section(title, ("", "scope", "piece", "ops", "why"), rows, bad="refused")

    def __repr__(self) -> str:
        return repr(self.native)


def plan(
    graph: Graph | PathLike | dict[str, Any],
    *,
    compat: bool = False,
    fuse_single_ops: bool | None = None,
    hazards: Literal["cut", "refuse"] = "cut",
    cuts: Literal["all-streams", "per-stream"] = "all-streams",
    tiling_on_aicpu: Iterable[str] = (),
    exclude: Iterable[str] = (),
    fusable: Iterable[str] = (),
    not_fusable: Iterable[str] = (),
    order: Order = "both",
) -> ScopePlan:
    """Plans every scope of ``graph`` (a :class:`Graph`, its JSON form, or the path of either form).

    ``compat`` follows the reference stack value for value. ``fuse_single_ops`` also builds super kernels of one op.
    ``hazards="refuse"`` fails instead of cutting a piece that could wait for itself. ``cuts="per-stream"`` cuts off
    only what depends on an interruption, so that independent chains on other streams stay whole.
    ``tiling_on_aicpu`` names op types whose tiling may run on the AICPU. Nodes named in ``exclude`` are treated as if
    they could not be fused, and so are all ops of the types in ``not_fusable``; those of the types in ``fusable`` as if
    they could. A graph from before compilation is planned as a prediction (:attr:`ScopePlan.prediction`); ``order`` is
    the order its ops run in: the program's, the engine's own, or both: then the program's is planned, and what the
    engine's would cut besides is in :attr:`ScopePlan.findings`.
    """
    request = request_for(compat, fuse_single_ops, hazards, cuts, tiling_on_aicpu, exclude, fusable, not_fusable, order)
    return ScopePlan(_core.scope_plan(as_graph(graph).native(), request))


def request_for(
    compat: bool = False,
    fuse_single_ops: bool | None = None,
    hazards: Literal["cut", "refuse"] = "cut",
    cuts: Literal["all-streams", "per-stream"] = "all-streams",
    tiling_on_aicpu: Iterable[str] = (),
    exclude: Iterable[str] = (),
    fusable: Iterable[str] = (),
    not_fusable: Iterable[str] = (),
    order: Order = "both",
) -> dict[str, object]:
    """The arguments of :func:`plan` as the core takes them, with the settings in force."""
    if hazards not in ("cut", "refuse"):
        raise ValueError(f"hazards cannot be {hazards!r}; expected 'cut' or 'refuse'")
    if cuts not in ("all-streams", "per-stream"):
        raise ValueError(f"cuts cannot be {cuts!r}; expected 'all-streams' or 'per-stream'")
    if order not in ("program", "engine", "both"):
        raise ValueError(f"order cannot be {order!r}; expected 'program', 'engine' or 'both'")
    return {
        "compat": compat,
        "fuse_single_ops": fuse_single_ops,
        "refuse_hazards": hazards == "refuse",
        "cut_per_stream": cuts == "per-stream",
        "settings": settings(),
        "tiling_on_aicpu": names(tiling_on_aicpu),
        "exclude": names(exclude),
        "fusable": names(fusable),
        "not_fusable": names(not_fusable),
        "order": order,
    }
