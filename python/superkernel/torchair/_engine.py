"""Stands in for TorchAir's native modules: every graph is kept where it would be handed to the graph engine.

Results are zeros of the right shape and type.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import contextmanager
from typing import Any, NamedTuple

from superkernel.torchair._operators import definition_of
from superkernel.torchair._silent import SilentModule

#: The engine's numbers of data types.
_TYPES = {
    0: "float32",
    1: "float16",
    2: "int8",
    3: "int32",
    4: "uint8",
    6: "int16",
    9: "int64",
    11: "float64",
    12: "bool",
    16: "complex64",
    17: "complex128",
    27: "bfloat16",
    33: "complex32",
}


#: `experimental_config.topology_sorting_strategy = "StableRDFS"`, as the engine gets it.
_STABLE = "3"

#: Files whose lines say little to the user.
_LIBRARIES = re.compile(r"[/\\](?:site-packages|dist-packages)[/\\]torch[/\\]|torch_npu[/\\]dynamo[/\\]torchair[/\\]")


class Captured(NamedTuple):
    """A graph as the engine would get it."""

    #: A binary ``ModelDef``.
    model: bytes
    #: Per op: torch operator, node of the traced graph, line of Python.
    origins: dict[str, dict[str, str]]
    #: The engine is asked to keep the order of the program.
    keeps_order: bool = False


class Engine:
    """All graphs of a run."""

    def __init__(self) -> None:
        self.graphs: list[Captured] = []
        self._origins: dict[str, dict[str, str]] = {}
        self._modules: dict[str, Any] = {}
        #: The traced graph that is converted, and its operator at this time.
        self._traced: Any = None
        self._converted: Any = None

    def install(self, soc: str) -> None:
        """Puts stand-ins where TorchAir looks for its native modules."""
        engine = self

        class TorchNpuGraphBase:
            """One graph of the engine."""

            def __init__(self, name: str = "") -> None:
                self._types: list[int] = []
                self._shapes: list[list[int]] = []
                self._traced = _TracedShapes(None)

            def load(self, model: bytes, options: Any = None, placements: Any = None, types: Any = (), *_: Any) -> None:
                self._types = list(types)
                self._traced = _TracedShapes(engine._traced)
                keeps_order = (options or {}).get("ge.topoSortingMode") == _STABLE
                engine.graphs.append(Captured(bytes(model), engine._origins, keeps_order))
                # Names of ops begin anew in the next graph.
                engine._origins = {}

            def set_hint_shape(self, inputs: Any, outputs: Any) -> None:
                self._shapes = [list(shape) for shape in outputs]

            def compile(self) -> None: ...

            def auto_tune(self, *_: Any) -> None: ...

            def run(self, given: Any) -> list[Any]:
                import torch

                inputs, assigned, *_rest = given
                traced = self._traced.of_results(inputs)
                found = []
                for number, kind in enumerate(self._types):
                    shape = self._shapes[number] if number < len(self._shapes) else []
                    if -1 in shape and len(traced) == len(self._types):
                        own_shape = traced[number]
                        same = len(own_shape) == len(shape) and all(a in (-1, b) for a, b in zip(shape, own_shape))
                        shape = own_shape if same else shape
                    shape = [max(0, size) for size in shape]
                    zeros = torch.zeros(shape, dtype=getattr(torch, _TYPES.get(kind, "float32")))
                    own = assigned[number] if assigned and number < len(assigned) else None
                    found.append(zeros if own is None else own)
                return found

        native = SilentModule("torchair.core._torchair")
        native.TorchNpuGraphBase = TorchNpuGraphBase
        native.check_cann_compat = lambda *_: ""
        native.get_registered_ir_def = lambda name: definition_of(name, engine._converted)
        native.GetSocName = lambda: soc
        native.StupidRepeat = lambda word, times: word * times
        for name in ("_torchair", "_npu_graph_executor", "_npu_utils", "_abi_compat_ge_apis"):
            module = native if name == "_torchair" else SilentModule(f"torchair.core.{name}")
            sys.modules[module.__name__] = module
            self._modules[name] = module

    def forget_scopes(self) -> None:
        """Those that were open when the tracing of another model failed: TorchAir would mark the next one with them."""
        kept: Any = getattr(sys.modules.get("torchair.scope._scope_attr"), "local", None)
        if hasattr(kept, "scope_attr"):
            del kept.scope_attr
        self._origins = {}

    def attach(self) -> None:
        """After TorchAir was imported: its package gets the stand-ins, its converter tells where ops come from."""
        core = sys.modules["torchair.core"]
        for name, module in self._modules.items():
            setattr(core, name, module)
        from torchair import experimental, inference
        from torchair._ge_concrete_graph import fx2ge_converter

        owners: tuple[Any, ...] = (sys.modules["torchair"], experimental.inference, inference)
        for owner in owners:
            if hasattr(owner, "use_internal_format_weight"):
                # It asks for weights on a device.
                owner.use_internal_format_weight = lambda model: None

        graph_type = getattr(fx2ge_converter, "GeConcreteGraph", None)
        context = getattr(graph_type, "converter_context", None)
        if graph_type is None or context is None:
            # Then the graphs tell operators but no lines.
            return
        engine = self

        @contextmanager
        def told(self: Any, *, node: Any) -> Any:
            before = len(self.graph.op)
            engine._traced, engine._converted = node.graph, node.target
            with context(self, node=node) as inner:
                yield inner
            origin = origin_of(node)
            for op in self.graph.op[before:]:
                engine._origins[op.name] = origin

        graph_type.converter_context = told


class _TracedShapes:
    """The shapes of a traced graph, whose sizes may be symbols."""

    def __init__(self, graph: Any) -> None:
        nodes = [] if graph is None else list(graph.nodes)
        results = [entry for node in nodes if node.op == "output" for entry in node.all_input_nodes]
        # Sizes are inputs and results too; the engine has tensors alone.
        self._inputs = _shapes_of(node for node in nodes if node.op == "placeholder")
        self._results = _shapes_of(results)

    def of_results(self, inputs: Any) -> list[list[int]]:
        """Of each result, for these inputs; what they do not say is as it was traced."""
        known: dict[Any, int] = {}
        shapes = [list(getattr(tensor, "shape", ())) for tensor in inputs or ()]
        if [*map(len, shapes)] == [*map(len, self._inputs)]:
            for shape, traced in zip(shapes, self._inputs):
                known.update(
                    (_symbol(size), actual) for size, actual in zip(traced, shape) if _symbol(size) is not None
                )
        return [[_size(size, known) for size in shape] for shape in self._results]


def _shapes_of(nodes: Iterable[Any]) -> list[list[Any]]:
    values = [node.meta.get("val") for node in nodes]
    return [list(value.shape) for value in values if hasattr(value, "shape")]


def _symbol(size: Any) -> Any:
    """The expression of a size that is not a number."""
    return getattr(getattr(size, "node", None), "expr", None)


def _size(size: Any, known: dict[Any, int]) -> int:
    if isinstance(size, int):
        return size
    try:
        return int(_symbol(size).subs(known))
    except (AttributeError, TypeError, ValueError):
        # It depends on values, not on sizes.
        return int(getattr(getattr(size, "node", None), "hint", None) or 0)


def origin_of(node: Any) -> dict[str, str]:
    """Torch operator, name and line of a traced node: the innermost line that is none of torch or TorchAir."""
    trace = getattr(node, "stack_trace", None) or ""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    places = [frame.removeprefix('File "').partition('", line ') for frame in frames]
    lines = [f"{path}:{rest.split(',')[0]}" for path, _, rest in places]
    of_user = [line for line in lines if not _LIBRARIES.search(line)]
    line = (of_user or lines or [""])[-1]
    return {"torch_op": str(node.target), "fx_node": str(node.name), "line": line}
