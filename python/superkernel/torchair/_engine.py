"""Stands in for TorchAir's native modules: every graph is kept where it would be handed to the graph engine.

Results are zeros of the right shape and type.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import Any, NamedTuple

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
        #: The traced graph that is converted.
        self._traced: Any = None

    def install(self, soc: str) -> None:
        """Puts stand-ins where TorchAir looks for its native modules."""
        engine = self

        class TorchNpuGraphBase:
            """One graph of the engine."""

            def __init__(self, name: str = "") -> None:
                self._types: list[int] = []
                self._shapes: list[list[int]] = []
                self._traced: list[list[int]] = []

            def load(self, model: bytes, options: Any = None, placements: Any = None, types: Any = (), *_: Any) -> None:
                self._types = list(types)
                self._traced = _result_shapes(engine._traced)
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

                _, assigned, *_rest = given
                found = []
                for number, kind in enumerate(self._types):
                    shape = self._shapes[number] if number < len(self._shapes) else []
                    if -1 in shape and len(self._traced) == len(self._types):
                        traced = self._traced[number]
                        same = len(traced) == len(shape) and all(a in (-1, b) for a, b in zip(shape, traced))
                        shape = traced if same else shape
                    shape = [max(0, size) for size in shape]
                    zeros = torch.zeros(shape, dtype=getattr(torch, _TYPES.get(kind, "float32")))
                    own = assigned[number] if assigned and number < len(assigned) else None
                    found.append(zeros if own is None else own)
                return found

        native = SilentModule("torchair.core._torchair")
        native.TorchNpuGraphBase = TorchNpuGraphBase
        native.check_cann_compat = lambda *_: ""
        native.get_registered_ir_def = lambda name: ("ERROR", [], [], [])
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
            engine._traced = node.graph
            with context(self, node=node) as inner:
                yield inner
            origin = origin_of(node)
            for op in self.graph.op[before:]:
                engine._origins[op.name] = origin

        graph_type.converter_context = told


def _result_shapes(graph: Any) -> list[list[int]]:
    """Of each result of a traced graph; sizes that are symbols are those the model was traced with."""
    results = [] if graph is None else [node for node in graph.nodes if node.op == "output"]
    values = [entry.meta.get("val") for node in results for entry in node.all_input_nodes]
    sizes = [list(getattr(value, "shape", ())) for value in values]
    return [[getattr(getattr(size, "node", None), "hint", None) or _whole(size) for size in shape] for shape in sizes]


def _whole(size: Any) -> int:
    return size if isinstance(size, int) else 0


def origin_of(node: Any) -> dict[str, str]:
    """Torch operator, name and line of a traced node: the innermost line that is none of torch or TorchAir."""
    trace = getattr(node, "stack_trace", None) or ""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    places = [frame.removeprefix('File "').partition('", line ') for frame in frames]
    lines = [f"{path}:{rest.split(',')[0]}" for path, _, rest in places]
    of_user = [line for line in lines if not _LIBRARIES.search(line)]
    line = (of_user or lines or [""])[-1]
    return {"torch_op": str(node.target), "fx_node": str(node.name), "line": line}
