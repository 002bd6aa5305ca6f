"""What an operator made beside what was expected of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from superkernel.sim import _arguments as check
from superkernel.sim.elements import Tensor

__all__ = ["Comparison", "compared"]

#: How far two ways to compute something may be apart, where it is not given: a few units of the last place.
_TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-9}


@dataclass(frozen=True)
class Comparison:
    """One output beside what was expected of it."""

    name: str
    #: Largest difference of two elements, and the place of the first that is too large.
    largest: float
    wrong: int
    count: int
    first: tuple[int, ...] | None
    told: str

    @property
    def ok(self) -> bool:
        """Whether it is as expected."""
        return not self.wrong

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        place = None if self.first is None else list(self.first)
        return {
            "name": self.name,
            "ok": self.ok,
            "wrong": self.wrong,
            "count": self.count,
            "first": place,
            "message": self.told,
        }

    def __str__(self) -> str:
        return f"{self.name}: {self.told}"


def compared(
    outputs: Mapping[str, Any], expected: Mapping[str, Any], rtol: float | None, atol: float | None
) -> list[Comparison]:
    """Every output that something is expected of; lists tensor by tensor."""
    found = []
    for name, wanted in expected.items():
        made = outputs[name]
        if not isinstance(made, list):
            pairs = [(name, made, wanted)]
        else:
            several = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
            if len(several) != len(made):
                count = sum(one.values.size for one in made)
                told = f"{len(made)} tensors, expected {len(several)}"
                found.append(Comparison(name, math.inf, max(count, 1), count, None, told))
                continue
            pairs = [(f"{name}[{place}]", one, want) for place, (one, want) in enumerate(zip(made, several))]
        for label, one, want in pairs:
            usual = _TOLERANCE.get(one.data_type, 0.0)
            found.append(_compare(label, one, want, usual if rtol is None else rtol, usual if atol is None else atol))
    return found


def _compare(name: str, made: Tensor, wanted: Any, rtol: float, atol: float) -> Comparison:
    import numpy

    try:
        wanted = numpy.asarray(wanted)
    except ValueError:
        wanted = numpy.asarray(None)
    if wanted.dtype.kind not in "biufc":
        raise check.refuse(f"what is expected of `{name}` is no array of numbers", "give an array of numbers")
    if wanted.shape != made.shape:
        told = f"shape {made.shape}, expected {wanted.shape}"
        return Comparison(name, math.inf, max(made.values.size, 1), made.values.size, None, told)
    kind: Any = numpy.complex128 if "c" in (made.values.dtype.kind, wanted.dtype.kind) else numpy.float64
    if made.values.dtype.kind in "iu" and made.values.dtype.itemsize == 8:
        # Whole numbers of 64 bits: floats of that size would take neighbours for the same.
        kind = numpy.longdouble
    with numpy.errstate(invalid="ignore"):
        values, expected = made.values.astype(kind), wanted.astype(kind)
        difference = numpy.abs(values - expected)
        same = numpy.isclose(values, expected, rtol=rtol, atol=atol, equal_nan=True)
    finite = difference[numpy.isfinite(difference)]
    largest = float(finite.max()) if finite.size else 0.0
    wrong = int(same.size - numpy.count_nonzero(same))
    if not wrong:
        return Comparison(name, largest, 0, same.size, None, f"as expected (largest difference {largest:.3g})")
    first = tuple(int(index) for index in numpy.argwhere(~same)[0])
    told = (
        f"{wrong} of {same.size} elements differ from what was expected, by up to {largest:.3g}; the first is "
        f"{list(first)}: {_shown(made.values[first])}, expected {_shown(wanted[first])}"
    )
    return Comparison(name, largest, wrong, same.size, first, told)


def _shown(value: Any) -> str:
    """A number, whole ones with all their digits."""
    return f"{value:.6g}" if value.dtype.kind in "fc" else str(value)
