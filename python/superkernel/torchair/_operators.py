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


def _unusable(source: Source, error: Exception) -> Exception:
    from superkernel._errors import make_error

    return make_error(
        "SK1052",
        f"the shape functions of torch_npu {source.version} cannot be used with this torch: {error!r}",
        "take a torch_npu for this torch; or dump the graphs where the model runs, for `superkernel scope`",
    )
