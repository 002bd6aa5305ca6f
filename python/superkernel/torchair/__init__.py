"""TorchAir without an NPU and without CANN: what the scopes of a model become, before anything runs on a device.

The TorchAir that is installed, or that of a wheel of torch_npu, runs up to the graph engine; there every graph is kept
and planned. Results of operators are zeros of the right shape and type. Needs `pip install 'superkernel-rs[torch]'`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from superkernel._errors import make_error
from superkernel.scope import Graph, Piece, ScopePlan
from superkernel.scope import plan as plan_graph
from superkernel.scope._dumps import exclusions
from superkernel.scope._plan import Order
from superkernel.torchair._engine import Captured
from superkernel.torchair._fx import COARSE
from superkernel.torchair._process import Backend, prepare

__all__ = ["COARSE", "DryRun", "PlannedGraph", "dry_run", "graph_of", "plan_of", "prepare"]


class PlannedGraph(NamedTuple):
    """One graph that TorchAir would hand to the engine."""

    graph: Graph
    plan: ScopePlan


class DryRun:
    """The plan of a whole model: that of its graph, or of all its graphs where tracing broke it."""

    def __init__(self, graphs: Iterable[PlannedGraph], *, coarse: bool = False) -> None:
        self.graphs = list(graphs)
        #: Traced by torch alone, without TorchAir.
        self.coarse = coarse

    def _all(self, name: str) -> list[Any]:
        return [entry for planned in self.graphs for entry in getattr(planned.plan, name)]

    @property
    def pieces(self) -> list[Piece]:
        """All super kernels."""
        return self._all("pieces")

    @property
    def scopes(self) -> list[dict[str, Any]]:
        """Per scope: members, what was left out and why, cuts, pieces."""
        return self._all("scopes")

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What the user can change."""
        return self._all("findings")

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """Mistakes in options."""
        return self._all("mistakes")

    @property
    def prediction(self) -> list[str]:
        """What was assumed."""
        return self._all("prediction")

    @property
    def blocked(self) -> list[Piece]:
        """Super kernels that the compiler would refuse."""
        return self._all("blocked")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"coarse": self.coarse, "graphs": [planned.plan.to_dict() for planned in self.graphs]}

    def __str__(self) -> str:
        return "\n".join([COARSE] * self.coarse + [str(planned.plan) for planned in self.graphs])

    def __repr__(self) -> str:
        return f"DryRun({len(self.graphs)} graphs, {len(self.pieces)} super kernels)"


def dry_run(
    model: Any,
    inputs: Any = (),
    *,
    wheel: str | os.PathLike[str] | None = None,
    backend: Backend = "auto",
    dynamic: bool = False,
    **planning: Any,
) -> DryRun:
    """Traces ``model`` (a module or function) with ``inputs`` as TorchAir does, and plans what the engine would get.

    ``inputs`` are positional (a tuple or list, or one value) or named (a mapping). Other arguments are those of
    :func:`superkernel.scope.plan`. For marks in the model call :func:`prepare` before ``import torchair``. Where there
    is no TorchAir, or with ``backend="fx"``, torch alone traces the model: ``coarse`` is set then.
    """
    process = prepare(wheel, backend=backend)
    import torch
    import torchair

    torch._dynamo.reset()
    process.engine.forget_scopes()
    npu_backend = torchair.get_npu_backend(compiler_config=torchair.CompilerConfig())
    compiled = torch.compile(model, backend=npu_backend, dynamic=dynamic)
    before = len(process.engine.graphs)
    with torch.no_grad():
        if isinstance(inputs, Mapping):
            compiled(**inputs)
        else:
            compiled(*inputs) if isinstance(inputs, (tuple, list)) else compiled(inputs)
    captured = process.engine.graphs[before:]
    if not captured:
        raise make_error(
            "SK1054",
            "TorchAir made no graph of this model: nothing in it is traced",
            "look for graph breaks: set TORCH_LOGS=graph_breaks",
        )
    graphs = [graph_of(entry) for entry in captured]
    excluded = exclusions(planning.pop("exclude", ()), graphs)
    parts = zip(captured, graphs, excluded)
    planned = (plan_of(entry, graph, exclude=names, **planning) for entry, graph, names in parts)
    return DryRun(planned, coarse=process.is_coarse)


def graph_of(captured: Captured) -> Graph:
    """The graph as it was handed over, each op with the line of Python it comes from."""
    graph = Graph.parse(captured.model)
    graph.add_origins(captured.origins)
    return graph


def plan_of(captured: Captured, graph: Graph, *, order: Order = "both", **planning: Any) -> PlannedGraph:
    """Its plan. Where the script asks the engine to keep the order of the program, no other order is looked at."""
    kept = captured.keeps_order and order == "both"
    return PlannedGraph(graph, plan_graph(graph, order="program" if kept else order, **planning))
