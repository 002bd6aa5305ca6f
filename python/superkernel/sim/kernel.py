"""Kernels that can be launched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from superkernel import _core
from superkernel._errors import make_error
from superkernel.sim.agents import Agent
from superkernel.sim.memory import Buffer
from superkernel.sim.report import Report

if TYPE_CHECKING:
    from superkernel.sim.device import Device

__all__ = ["Kernel"]

Argument = Union[Buffer, int]

#: Any value but null tells a kernel that the scheduler's message area exists.
_FFTS_ADDRESS = 0x7FF75000


def _problem(text: str, solution: str) -> Exception:
    return make_error("SK0902", text, solution)


class Kernel:
    """A loaded kernel. Made by :meth:`superkernel.sim.Device.load`."""

    def __init__(self, device: Device, description: _core.KernelDescription, library: Path) -> None:
        self._device = device
        self._library = library
        #: What its files say about it.
        self.description = description

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.description.name

    def launch(
        self,
        args: Iterable[Argument] = (),
        *,
        block_dim: int | None = None,
        schedule: str = "round-robin",
        seed: int | None = None,
        delays: Mapping[str, int] | Iterable[Mapping[str, Any]] = (),
        agents: Iterable[Agent] = (),
        arrivals: str = "per-core",
        check_order: bool = True,
        accesses: Mapping[str | int, Mapping[str, Iterable[Argument]]] | None = None,
        events: str = "ops",
        event_limit: int = 50_000,
        step_limit: int | None = None,
        poll_limit: int | None = None,
        timeout: float | None = None,
        ffts: int | None = _FFTS_ADDRESS,
        tiling_key: int | None = None,
        op_names: Sequence[str] | None = None,
        poison_local_memory: bool = False,
        first_vector_core_id: int | None = None,
    ) -> Report:
        """Runs the kernel to its end and reports.

        ``args`` fill the parameter block in order, a buffer standing for its address. For a super kernel they start
        behind the FFTS address, which is put in front where the chip has it (``ffts=None`` stores a null there).

        ``schedule`` is ``"round-robin"``, ``"random"`` or ``"skewed"``; a ``seed`` alone means ``"random"``.
        ``delays`` hold cores back: ``{"AIV3": 500}`` at the start, or dicts with ``core``, ``steps``, ``at``
        (``start``, ``op``, ``sync-all``, ``complement``, ``set-next-task``, ``wait-pre-task``) and ``op``.
        ``agents`` act on global memory beside the kernel. ``accesses`` declares what an operator (by name or position)
        reads and writes, for order checking; undeclared, its parameters count, and what it writes is observed.
        """
        description = self.description
        kernel_type, functions = self._entry(tiling_key)
        blocks = block_dim if block_dim is not None else description.block_dim
        if blocks is None:
            raise _problem(f"`{self.name}`: the files do not say how many blocks", "pass block_dim")
        slots = self._slots(list(args), ffts)
        request: dict[str, Any] = {
            "library": str(self._library),
            "entries": dict(functions),
            "args_offset": None if description.is_super_kernel else 0,
            "soc": self._device.soc,
            "kernel_type": kernel_type,
            "blocks": blocks,
            "slots": slots,
            "ops": self._op_specs(slots, op_names, accesses or {}),
            "schedule": {"policy": "random" if seed is not None and schedule == "round-robin" else schedule},
            "delays": _delays(delays),
            "agents": [agent.spec() for agent in agents],
            "arrivals": arrivals,
            "check_order": check_order,
            "events": events,
            "event_limit": event_limit,
            "poison_local_memory": poison_local_memory,
            "first_vector_core_id": first_vector_core_id,
        }
        if seed is not None:
            request["schedule"]["seed"] = seed
        if step_limit is not None:
            request["step_limit"] = step_limit
        if poll_limit is not None:
            request["poll_limit"] = poll_limit
        return self._device._launch(request, self._device.timeout if timeout is None else timeout)

    def _entry(self, tiling_key: int | None) -> tuple[str, Mapping[str, str]]:
        keys = self.description.tiling_keys
        if not keys:
            return self.description.kernel_type, self.description.functions
        if tiling_key is None or tiling_key not in keys:
            known = ", ".join(str(key) for key in keys)
            raise _problem(f"`{self.name}` needs a tiling key, got {tiling_key}", f"pass tiling_key, one of {known}")
        return keys[tiling_key]

    def _slots(self, args: list[Argument], ffts: int | None) -> list[int]:
        slots = [_value(argument) for argument in args]
        description = self.description
        if description.is_super_kernel:
            return [ffts or 0, *slots] if self._device.has_ffts_slot else slots
        # A mixed sub-kernel lists the FFTS address among its own parameters.
        if description.params and "ffts" in description.params[0] and len(slots) == len(description.params) - 1:
            return [ffts or 0, *slots]
        return slots

    def _op_specs(
        self,
        slots: Sequence[int],
        op_names: Sequence[str] | None,
        accesses: Mapping[str | int, Mapping[str, Iterable[Argument]]],
    ) -> list[dict[str, Any]]:
        # Name, first slot, number of slots.
        ops = [(op.name, op.param_offset, op.param_count) for op in self.description.ops]
        if not ops and not self.description.is_super_kernel:
            ops = [(self.name, 0, None)]
        if op_names is not None:
            # Names given by hand, for kernels without a JSON: positions are all that is known.
            known = ops[: len(op_names)]
            known += [("", len(slots), 0)] * (len(op_names) - len(known))
            ops = [(name, offset, count) for name, (_, offset, count) in zip(op_names, known)]
        specs = []
        for position, (name, offset, count) in enumerate(ops):
            declared = accesses.get(position, accesses.get(name))
            spec: dict[str, Any] = {
                "name": name,
                "param_offset": offset,
                "param_count": max(0, len(slots) - offset) if count is None else count,
            }
            if declared is not None:
                spec["reads"] = [_value(argument) for argument in declared.get("reads", ())]
                spec["writes"] = [_value(argument) for argument in declared.get("writes", ())]
            specs.append(spec)
        return specs

    def __repr__(self) -> str:
        return f"Kernel({self.name!r}, {self.description.kernel_type})"


def _value(argument: Argument) -> int:
    if isinstance(argument, Buffer):
        return argument.at(0)
    return int(argument) & (2**64 - 1)


def _delays(delays: Mapping[str, int] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(delays, Mapping):
        return [{"core": core, "steps": steps} for core, steps in delays.items()]
    return [dict(delay) for delay in delays]
