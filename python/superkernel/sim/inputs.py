"""What the parameters of a kernel hold, from words of the command line."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from superkernel import _core, _files
from superkernel.sim import _arguments as check
from superkernel.sim._slots import ArgumentName
from superkernel.sim.elements import Tensor, from_memory, in_memory, known_type, tensor, value_type

__all__ = ["Inputs", "expected", "shaped", "tensors"]

#: More is a mistake.
_MOST_BYTES = 1 << 32


class Inputs:
    """Values of parameters by name, and of all others."""

    def __init__(self, given: Iterable[str], others: str, seed: int, shared: Mapping[str, str] | None = None) -> None:
        """``shared``: parameters that are the memory of another one unless something is given for them."""
        self._given: dict[str, str] = {name: f"@{other}" for name, other in (shared or {}).items()}
        for text in given:
            name, mark, value = text.partition("=")
            if not mark or not name:
                raise check.refuse(f"--input {text}", "write NAME=VALUE")
            self._given[name] = value
        self._others = others
        self._seed = seed

    def arguments(self, parameters: Sequence[_core.Parameter]) -> dict[ArgumentName, Any]:
        """An argument for every parameter that is not hidden, and for hidden ones that were named."""
        names = [parameter.name for parameter in parameters]
        for name in self._given:
            if name not in names:
                near = _core.nearest(name, names, 3)
                hint = f"did you mean {', '.join(near)}?" if near else f"the parameters are {', '.join(names[:24])}"
                raise check.refuse(f"--input {name}=...: there is no parameter `{name}`", hint)
        values: dict[ArgumentName, Any] = {}
        shared: list[tuple[str, str]] = []
        for parameter in parameters:
            text = self._given.get(parameter.name)
            if text is None and parameter.hidden:
                continue
            if text is not None and text.startswith("@"):
                shared.append((parameter.name, text[1:]))
            elif text is None and parameter.own_name in ("workspace", "tiling"):
                # Scratch memory, and data that no random number stands for.
                values[parameter.name] = self._value(parameter.name, "zeros:uint8:65536")
            else:
                values[parameter.name] = self._value(parameter.name, self._others if text is None else text)
        for name, other in shared:
            if other not in values:
                raise check.refuse(f"--input {name}=@{other}", "name a parameter that has memory of its own")
            values[name] = values[other]
        return values

    def _value(self, name: str, text: str) -> Any:
        import numpy

        try:
            return int(text, 0)
        except ValueError:
            pass
        if text.endswith(".npy"):
            return _array(text)
        zeros = text.startswith("zeros:")
        kind, shape = self._form(name, text[len("zeros:") :] if zeros else text)
        if zeros:
            return numpy.zeros(shape, kind)
        return _random(kind, shape, self._seed, name)

    @staticmethod
    def _form(name: str, text: str) -> tuple[Any, tuple[int, ...]]:
        import numpy

        word, _, sizes = text.partition(":")
        try:
            kind = numpy.dtype(word)
            shape = tuple(int(size) for size in sizes.split("x"))
        except (TypeError, ValueError):
            kind, shape = numpy.dtype("V1"), ()
        sound = kind.kind in "fiub" and shape and min(shape) > 0
        if not sound or math.prod(shape) * kind.itemsize > _MOST_BYTES:
            raise check.refuse(
                f"`{name}` cannot be `{text[:80]}`",
                "write FILE.npy, TYPE:SHAPE (float32:128x64), zeros:TYPE:SHAPE, a number, or @OTHER",
            )
        return kind, shape


def tensors(name: str, text: str, seed: int) -> Any:
    """What an operator's input is: a tensor, or a list of them with commas between."""
    found = [_tensor(name, part, seed + place) for place, part in enumerate(text.split(","))]
    return found if len(found) > 1 else found[0]


def _tensor(name: str, text: str, seed: int) -> Tensor:
    """``@FILE.npy``, ``TYPE:@FILE.npy``, ``TYPE:SHAPE[:FORMAT][:LOW..HIGH]``, ``zeros:TYPE:SHAPE``."""
    import numpy

    word, mark, path = text.rpartition("@")
    if mark or text.endswith(".npy"):
        data_type = word.rstrip(":") or None
        return tensor(_array(path if mark else text), data_type)
    zeros = text.startswith("zeros:")
    data_type, shape, rest = shaped(name, text[len("zeros:") :] if zeros else text)
    formats = [part for part in rest if ".." not in part]
    limits = [part for part in rest if ".." in part]
    try:
        low, high = (float(limit) for limit in limits[0].split("..")) if limits else (None, None)
    except ValueError:
        raise _unclear(name, text) from None
    if len(formats) > 1 or len(limits) > 1:
        raise _unclear(name, text)
    kind = numpy.dtype(value_type(data_type))
    if data_type == "int4" and low is None:
        low, high = -8.0, 7.0
    values = numpy.zeros(shape, kind) if zeros else _random(kind, shape, seed, name, low, high)
    # Values that the type does not have are none it could be given.
    stored = Tensor(values, data_type)
    return Tensor(from_memory(in_memory(stored), data_type, shape).values, data_type, formats[0] if formats else "ND")


def shaped(name: str, text: str) -> tuple[str, tuple[int, ...], list[str]]:
    """Data type and shape of ``TYPE:SHAPE``, and what follows; a scalar has no sizes."""
    word, *parts = text.split(":")
    try:
        shape = tuple(int(size) for size in parts[0].split("x")) if parts and parts[0] else ()
    except ValueError:
        raise _unclear(name, text) from None
    if not parts or min(shape, default=0) < 0 or math.prod(shape) * 8 > _MOST_BYTES:
        raise _unclear(name, text)
    return known_type(word), shape, parts[1:]


def _unclear(name: str, text: str) -> Exception:
    return check.refuse(
        f"`{name}` cannot be `{text[:80]}`",
        "write @FILE.npy, TYPE:SHAPE (float16:16x1024), TYPE:SHAPE:LOW..HIGH, zeros:TYPE:SHAPE, with commas for a list",
    )


def _random(
    kind: Any, shape: tuple[int, ...], seed: int, name: str, low: float | None = None, high: float | None = None
) -> Any:
    """The same values whatever other parameters there are."""
    import numpy

    generator = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
    if kind.kind in "fc":
        return generator.uniform(-4 if low is None else low, 4 if high is None else high, shape).astype(kind)
    if kind.kind == "b":
        return generator.integers(0, 2, shape).astype(kind)
    limits = numpy.iinfo(kind)
    least = max(limits.min, -1000 if low is None else int(low))
    most = min(limits.max, 1000 if high is None else int(high))
    return generator.integers(least, most, shape, dtype=kind, endpoint=True)


def _array(path: str) -> Any:
    import numpy

    with _files.open_to_read(path) as file:
        try:
            return numpy.load(file, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise check.refuse(f"`{path}` is no array: {error}", "save it with `numpy.save`") from None


def expected(given: Iterable[str]) -> dict[str, Any]:
    """What parameters must hold in the end, from words NAME=FILE.npy."""
    found: dict[str, Any] = {}
    for text in given:
        name, _, path = text.partition("=")
        if not name or not path.endswith(".npy"):
            raise check.refuse(f"--expect {text}", "write NAME=FILE.npy")
        found[name] = _array(path)
    return found
