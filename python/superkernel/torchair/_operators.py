"""torch_npu's own operators: schemas from the text in its library, shapes from its Python, zeros as results."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from superkernel._logging import logger
from superkernel.torchair._silent import SilentModule
from superkernel.torchair._source import Source

#: Where torch_npu registers the shapes of its operators.
_META = ("op_plugin", "meta", "_meta_registrations.py")

_SCHEMA = re.compile(
    rb"(?<=\0)((?:npu::)?_?[a-z][a-z0-9_]*(?:\.[A-Za-z0-9_]+)?\([^\0]{0,4000}\) -> [^\0]{1,400})(?=\0)"
)


def register(source: Source) -> list[Any]:
    """Defines the operators; the libraries must be kept as long as they are used."""
    import torch

    definitions = torch.library.Library("npu", "FRAGMENT")
    defined = []
    for text in _schemas(source):
        try:
            definitions.define(text)
        except RuntimeError:
            # A string that only looks like a schema, or one with types of torch_npu's own.
            continue
        defined.append(text.split("(")[0])
    logger.info("dry run: %d operators of torch_npu %s", len(defined), source.version)
    for name in defined:
        definitions.impl(name, _zeros(name), "CPU")
    _meta(source)
    return [definitions]


def _schemas(source: Source) -> list[str]:
    library = source.read("lib", "libtorch_npu.so")
    found = {match.group(1).decode("ascii", "ignore").removeprefix("npu::") for match in _SCHEMA.finditer(library)}
    shaped = set(re.findall(r"@impl\(m, \"(\w+)", source.read(*_META).decode("utf-8", "ignore")))
    own = [text for text in found if re.split(r"[.(]", text)[0] in shaped or text.lstrip("_").startswith("npu_")]
    # Two releases of one operator may both be in there; the longer one has more arguments.
    by_name: dict[str, str] = {}
    for text in sorted(own, key=len):
        by_name[text.split("(")[0]] = text
    return sorted(by_name.values())


def _zeros(name: str) -> Callable[..., Any]:
    """Shape and type as the meta function says; the values are zeros."""
    import torch
    from torch.utils._pytree import tree_map

    packet, _, overload = name.partition(".")

    def run(*arguments: Any, **more: Any) -> Any:
        if "npu_format_cast" in name:
            return arguments[0]
        op = getattr(getattr(torch.ops.npu, packet), overload or "default")
        on_meta = [tree_map(_to_meta, part) for part in (arguments, more)]
        return tree_map(_filled, op(*on_meta[0], **on_meta[1]))

    return run


def _to_meta(value: Any) -> Any:
    import torch

    return value.to("meta") if isinstance(value, torch.Tensor) else value


def _filled(value: Any) -> Any:
    import torch

    return torch.zeros(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value


def _meta(source: Source) -> None:
    """Runs torch_npu's registration of shape functions."""
    import importlib

    # Their packages would load libraries.
    for name, parts in (("torch_npu.op_plugin", ("op_plugin",)), ("torch_npu.op_plugin.meta", ("op_plugin", "meta"))):
        package = SilentModule(name)
        package.__path__ = [source.path(*parts)]
        sys.modules[name] = package
    import torch

    original = torch.library.impl

    def impl(library: Any, name: str, key: str = "") -> Any:
        def register(function: Any) -> Any:
            try:
                return original(library, name, key)(function)
            except RuntimeError as error:
                # An operator that this torch has itself, or that this library does not define.
                logger.debug("dry run: no shape function for %s: %s", name, error)
                return function

        return register

    torch.library.impl = impl
    try:
        importlib.import_module("torch_npu.op_plugin.meta._meta_registrations")
    except Exception as error:
        raise _unusable(source, error) from error
    finally:
        torch.library.impl = original


#: What the engine knows of an operator: its inputs, outputs and attributes with their kinds, in order.
Definition = tuple[str, list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, str]]]

#: Kinds of inputs and attributes by the type of a torch operator's argument, which may be optional.
_INPUTS = {"Tensor": "required", "Optional[Tensor]": "optional", "List[Tensor]": "dynamic"}
_ATTRIBUTES = {
    "int": "VT_INT",
    "float": "VT_FLOAT",
    "bool": "VT_BOOL",
    "str": "VT_STRING",
    "number": "VT_FLOAT",
    "List[int]": "VT_LIST_INT",
    "List[float]": "VT_LIST_FLOAT",
    "List[bool]": "VT_LIST_BOOL",
}
#: Namespaces with operators that TorchAir has converters for, if the engine knows them.
_KNOWN = ("aten", "prim", "prims", "npu", "npu_define", "c10d", "_c10d_functional")


def definition_of(name: str, converted: Any) -> Definition:
    """What the engine would know of an operator of the user's own, which is registered on the user's machine only.

    Taken to be as its torch operator says: the one of that name, or else the one that is ``converted`` at the time.
    """
    import torch

    schemas = [schema for schema in torch._C._jit_get_all_schemas() if schema.name.partition("::")[0] not in _KNOWN]
    named = [schema for schema in schemas if _engine_name(schema.name) == name]
    current = getattr(converted, "_schema", None)
    if not named and current is not None and current.name.partition("::")[0] not in _KNOWN:
        named = [current]
    if not named:
        return "ERROR", [], [], []
    schema = named[0]
    logger.info("dry run: `%s` is taken to be an operator with the inputs and attributes of `%s`", name, schema.name)
    kinds = [(argument, str(argument.type)) for argument in schema.arguments]
    inputs = [(argument.name, _INPUTS[kind]) for argument, kind in kinds if kind in _INPUTS]
    plain = [
        (argument.name, re.sub(r"^Optional\[(.*)\]$", r"\1", kind)) for argument, kind in kinds if kind not in _INPUTS
    ]
    written = [
        argument.name for argument, _ in kinds if argument.alias_info is not None and argument.alias_info.is_write
    ]
    made = [result.name or f"y{number}" for number, result in enumerate(schema.returns)]
    attributes = [(attribute, _ATTRIBUTES.get(kind, "VT_STRING")) for attribute, kind in plain]
    return "SUCCESS", inputs, [(output, "required") for output in [*written, *made]], attributes


def _engine_name(schema: str) -> str:
    """As TorchAir calls a torch operator in the engine."""
    return "".join(word.capitalize() for word in schema.partition("::")[2].removesuffix("_functional").split("_"))


def _unusable(source: Source, error: Exception) -> Exception:
    from superkernel._errors import make_error

    return make_error(
        "SK1052",
        f"the shape functions of torch_npu {source.version} cannot be used with this torch: {error!r}",
        "take a torch_npu for this torch; or dump the graphs where the model runs, for `superkernel scope`",
    )
