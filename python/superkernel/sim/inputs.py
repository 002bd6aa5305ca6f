"""What the parameters of a kernel hold, from words of the command line."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from superkernel import _core, _files
from superkernel.sim import _arguments as check
from superkernel.sim._slots import ArgumentName

__all__ = ["Inputs", "expected"]

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
        # The same values whatever other parameters there are.
        generator = numpy.random.default_rng([self._seed, zlib.crc32(name.encode())])
        if kind.kind == "f":
            return generator.uniform(-4, 4, shape).astype(kind)
        if kind.kind == "b":
            return generator.integers(0, 2, shape).astype(kind)
        limits = numpy.iinfo(kind)
        return generator.integers(max(limits.min, -1000), min(limits.max, 1000), shape, dtype=kind, endpoint=True)

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
