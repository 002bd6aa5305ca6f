"""Without TorchAir: a backend of torch's own that keeps every traced graph, and runs it on the CPU.

Coarser than TorchAir: an op is a torch operator as it is called, not what TorchAir and the engine make of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from superkernel.torchair._engine import Captured, origin_of
from superkernel.torchair._silent import Silent, SilentModule

#: Said wherever a plan of it is shown.
COARSE = (
    "COARSE: planned from torch's own graph, without TorchAir: an op is a torch operator as it is called; TorchAir "
    "makes several ops of some, and none of others"
)

#: What has another type where shapes or values do not change.
_RENAMED = {
    "view": "Reshape",
    "reshape": "Reshape",
    "flatten": "Reshape",
    "unflatten": "Reshape",
    "view_as": "Reshape",
    "squeeze": "Squeeze",
    "unsqueeze": "Unsqueeze",
    "contiguous": "Identity",
    "detach": "Identity",
    "wait_tensor": "Identity",
    "getitem": "StridedSlice",
}
#: Casts to what their names say, or to what they are given.
_CASTS = ("to", "type", "type_as", "float", "half", "bfloat16", "int", "long", "double")


class FxEngine:
    """All graphs of a run."""

    def __init__(self) -> None:
        self.graphs: list[Captured] = []

    def forget_scopes(self) -> None:
        """Scopes are part of each graph here: nothing can stay open."""

    def backend(self, module: Any, inputs: Any) -> Any:
        """What ``torch.compile`` calls: keeps the graph and has torch run it."""
        content, origins = _Reader(f"fx_graph_{len(self.graphs) + 1}").read(module.graph)
        self.graphs.append(Captured(json.dumps(content).encode(), origins))
        return module.forward


def install(engine: FxEngine) -> list[Any]:
    """Makes `torchair` importable; the library of its operators must be kept."""
    import torch

    library = torch.library.Library("superkernel_fx", "DEF")
    for schema in ("scope_enter(str[] keys, str[] values) -> ()", "scope_exit() -> ()"):
        library.define(schema)
        name = schema.split("(")[0]
        library.impl(name, lambda *_: None, "CompositeImplicitAutograd")
        torch.fx.node.has_side_effect(getattr(torch.ops.superkernel_fx, name).default)
    library.define("wait_tensor(Tensor self, Tensor dependency) -> Tensor")
    library.impl("wait_tensor", lambda tensor, _: tensor.clone(), "CompositeExplicitAutograd")

    from superkernel.torchair import _fx_scope

    package = SilentModule("torchair")
    package.__path__ = []
    package.get_npu_backend = lambda *_, **__: engine.backend
    package.get_compiler = lambda *_, **__: engine.backend
    package.CompilerConfig = lambda *_, **__: Silent("CompilerConfig")
    package.scope = sys.modules["torchair.scope"] = _fx_scope
    sys.modules["torchair"] = package
    configs = SilentModule("torchair.configs")
    configs.__path__ = []
    compiler_config = SilentModule("torchair.configs.compiler_config")
    compiler_config.CompilerConfig = package.CompilerConfig
    for module in (configs, compiler_config):
        sys.modules[module.__name__] = module
    package.configs, configs.compiler_config = configs, compiler_config
    return [library]


class _Reader:
    """Makes the JSON form of a graph of a traced one."""

    def __init__(self, name: str) -> None:
        self._content: dict[str, Any] = {
            "name": name,
            "before_compilation": True,
            "nodes": [],
            "data": [],
            "control": [],
        }
        self._origins: dict[str, dict[str, str]] = {}
        #: Node and output that hold the value of a traced node.
        self._values: dict[Any, tuple[str, int]] = {}
        self._frames: list[dict[str, str]] = []

    def read(self, graph: Any) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
        """The graph, and where its ops come from."""
        for node in graph.nodes:
            if node.op == "placeholder":
                self._add(node, "Data", ())
            elif node.op == "get_attr":
                self._add(node, "Const", ())
            elif node.op == "output":
                self._add(node, "NetOutput", node.all_input_nodes)
            else:
                self._call(node)
        return self._content, self._origins

    def _call(self, node: Any) -> None:
        name = _name_of(node.target)
        if name == "scope_enter":
            self._frames.append(dict(zip(*node.args)))
            return
        if name == "scope_exit":
            # One more than were entered does no harm.
            del self._frames[-1:]
            return
        value = node.meta.get("example_value")
        if name == "getitem" and not _is_tensor(node.args[0].meta.get("example_value")):
            # One of several results.
            if node.args[0] in self._values and isinstance(node.args[1], int):
                self._values[node] = (self._values[node.args[0]][0], node.args[1])
            return
        if not _holds_tensors(value):
            # Sizes and the like are the host's.
            return
        kind = "Cast" if name in _CASTS else _RENAMED.get(name, name)
        inputs = node.all_input_nodes
        if name == "wait_tensor":
            inputs = [node.args[0]]
            self._wait(node.args[1], node)
        self._add(node, kind, inputs)
        source = next(iter(node.all_input_nodes), None)
        if kind == "Cast" and source is not None and _type_of(source) == _type_of(node):
            self._content["nodes"][-1]["same_type"] = True
        if name.endswith("_") and not name.endswith("__") and source is not None:
            # It has changed its input: who reads that from now on reads the result.
            self._values[source] = self._values[node]

    def _add(self, node: Any, kind: str, inputs: Iterable[Any]) -> None:
        added: dict[str, Any] = {"name": node.name, "type": kind}
        if node.op not in ("placeholder", "get_attr", "output"):
            attributes: dict[str, str] = {}
            for frame in self._frames:
                if frame.get("_super_kernel_scope") == "":
                    attributes.pop("_super_kernel_scope", None)
                    attributes.pop("_super_kernel_options", None)
                else:
                    attributes.update(frame)
            if attributes:
                added["attrs"] = attributes
            self._origins[node.name] = origin_of(node)
            self._origins[node.name]["torch_op"] = _name_of(node.target)
        self._content["nodes"].append(added)
        self._values[node] = (node.name, 0)
        if _is_dynamic(node.meta.get("example_value")):
            self._content["unknown_shape"] = True
        read = [self._values[source] for source in inputs if source in self._values]
        for number, (source, output) in enumerate(read):
            self._content["data"].append({"from": source, "output": output, "to": node.name, "input": number})

    def _wait(self, dependency: Any, node: Any) -> None:
        if dependency in self._values:
            self._content["control"].append([self._values[dependency][0], node.name])


def _name_of(target: Any) -> str:
    """``mm``, ``add_``, ``linear``: of a function, an operator or a method's name."""
    if isinstance(target, str):
        return target
    packet = getattr(target, "_overloadpacket", target)
    return str(getattr(packet, "__name__", target)).split(".")[0]


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _holds_tensors(value: Any) -> bool:
    return _is_tensor(value) or (isinstance(value, (tuple, list)) and any(map(_is_tensor, value)))


def _is_dynamic(value: Any) -> bool:
    return _is_tensor(value) and not all(isinstance(size, int) for size in value.shape)


def _type_of(node: Any) -> Any:
    return getattr(node.meta.get("example_value"), "dtype", None)
