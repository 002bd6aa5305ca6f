"""What a run of an operator came to, for people and for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from superkernel.sim import BuiltOp, OperatorRun, Verdict
    from superkernel.sim.elements import Tensor
    from superkernel.sim.operator import Comparison

__all__ = ["OpReport"]

#: Values of a tensor that are shown.
_FIRST = 6


@dataclass(frozen=True)
class OpReport:
    """A launch, what the gate said, and what comparisons found."""

    done: OperatorRun
    verdict: Verdict | None
    comparisons: Sequence[Comparison]
    sub_kernel: BuiltOp | None
    allowed: frozenset[str]

    @property
    def passed(self) -> bool:
        """It ran, nothing was found, and everything is as expected."""
        gate = self.verdict is None or (self.verdict.ok and not self.verdict.not_allowed(self.allowed))
        return self.done.report.ok and gate and all(comparison.ok for comparison in self.comparisons)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        done = self.done
        tiling, built = done.tiling, done.built
        reused = "built before" if built.reused else f"built in {done.build_time:.1f} s"
        yield (
            f"{done.op_type}: key {tiling.key}, {tiling.blocks} blocks, {built.kernel_type}, {len(tiling.data)} bytes "
            f"of tiling, {sum(tiling.workspaces)} of workspace; {reused}"
        )
        for side, values in (("in ", done.inputs), ("out", done.outputs)):
            for name, value in values.items():
                listed = value if isinstance(value, list) else [value]
                for place, one in enumerate(listed):
                    label = f"{name}[{place}]" if isinstance(value, list) else name
                    yield f"  {side} {label:12} {'not given' if one is None else shown(one)}"
        yield from (f"assumed: {told}" for told in done.prepared.assumed)
        yield from (f"host code: {told}" for told in done.prepared.complaints)
        yield str(done.report) if not done.report.ok else f"ran: {done.report.status}, {done.report.steps} steps"
        if done.report.ok:
            yield from (f"warning: {warning}" for warning in done.report.warnings)
        yield from map(str, self.comparisons)
        if self.comparisons:
            compared = {comparison.name.partition("[")[0] for comparison in self.comparisons}
            yield from (f"{name}: not compared" for name in done.outputs if name not in compared)
        if self.verdict is not None:
            yield str(self.verdict)
        if self.sub_kernel is not None:
            yield f"sub-kernel: {self.sub_kernel.json_path}"
        yield "passed" if self.passed else "failed"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        from superkernel.cli import _verdicts

        done = self.done
        gate = None if self.verdict is None else _verdicts.as_dict(self.verdict, self.allowed, lambda _: "")
        return {
            "op_type": done.op_type,
            "passed": self.passed,
            "kernel_type": done.built.kernel_type,
            "tiling": {
                "key": done.tiling.key,
                "blocks": done.tiling.blocks,
                "bytes": done.tiling.data.hex(),
                "workspaces": list(done.tiling.workspaces),
            },
            "inputs": _described(done.inputs),
            "outputs": _described(done.outputs),
            "assumed": list(done.prepared.assumed),
            "host_code": list(done.prepared.complaints),
            "status": done.report.status,
            "message": done.report.message,
            "steps": done.report.steps,
            "warnings": list(done.report.warnings),
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "gate": gate,
            "sub_kernel": None if self.sub_kernel is None else self.sub_kernel.json_path,
        }


def shown(tensor: Tensor) -> str:
    """Its form, its first values, and where the others are."""
    import numpy

    values = tensor.values.reshape(-1)
    if values.size == 0:
        return f"{tensor}: empty"
    first = " ".join(_short(value) for value in values[:_FIRST])
    more = " …" if values.size > _FIRST else ""
    if values.dtype.kind in "cb":
        return f"{tensor}: {first}{more}"
    numbers = values.astype(numpy.float64)
    finite = numbers[numpy.isfinite(numbers)]
    odd = f", {values.size - finite.size} not finite" if finite.size < values.size else ""
    if finite.size == 0:
        return f"{tensor}: {first}{more}{odd}"
    summary = f"min {_short(finite.min())}, max {_short(finite.max())}, mean {_short(finite.mean())}"
    return f"{tensor}: {first}{more}  ({summary}{odd})"


def _short(value: Any) -> str:
    return f"{value:.5g}" if hasattr(value, "dtype") and value.dtype.kind == "f" else str(value)


def _described(values: dict[str, Any]) -> dict[str, Any]:
    def one(tensor: Tensor | None) -> Any:
        if tensor is None:
            return None
        first = [value.item() for value in tensor.values.reshape(-1)[:_FIRST]]
        return {"dtype": tensor.data_type, "format": tensor.format, "shape": list(tensor.shape), "first": first}

    return {
        name: [one(it) for it in value] if isinstance(value, list) else one(value) for name, value in values.items()
    }
