"""Kernels that can be launched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from superkernel import _core
from superkernel.sim import _arguments as check
from superkernel.sim.agents import Agent
from superkernel.sim.memory import Buffer
from superkernel.sim.report import Report

if TYPE_CHECKING:
    from superkernel.sim.device import Device

__all__ = ["Kernel"]

Argument = Union[Buffer, int]

#: Far more than any device has cores.
_MOST_BLOCKS = 2**32 - 1
#: Any value but null tells a kernel that the scheduler's message area exists.
_FFTS_ADDRESS = 0x7FF75000


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
        self._device.require_open()
        description = self.description
        kernel_type, functions = self._entry(tiling_key)
        blocks = description.block_dim if block_dim is None else check.integer("block_dim", block_dim, 1, _MOST_BLOCKS)
        if blocks is None:
            raise check.refuse(f"`{self.name}`: the files do not say how many blocks", "pass block_dim")
        slots = self._slots(_listed("args", args), ffts)
        policy = check.choice("schedule", schedule)
        request: dict[str, Any] = {
            "library": str(self._library),
            "entries": dict(functions),
            "args_offset": None if description.is_super_kernel else 0,
            "soc": self._device.soc,
            "kernel_type": kernel_type,
            "blocks": blocks,
            "slots": slots,
            "ops": self._op_specs(slots, op_names, accesses or {}),
            "schedule": {"policy": "random" if seed is not None and policy == "round-robin" else policy},
            "delays": _delays(delays),
            "agents": [_agent_spec(agent) for agent in _listed("agents", agents)],
            "arrivals": check.choice("arrivals", arrivals),
            "check_order": bool(check_order),
            "events": check.choice("events", events),
            "event_limit": check.integer("event_limit", event_limit, 0, 2**31),
            "poison_local_memory": bool(poison_local_memory),
            "first_vector_core_id": first_vector_core_id,
        }
        if first_vector_core_id is not None:
            request["first_vector_core_id"] = check.integer(
                "first_vector_core_id", first_vector_core_id, -(2**63), 2**63 - 1
            )
        if seed is not None:
            request["schedule"]["seed"] = check.integer("seed", seed, 0, 2**64 - 1)
        if step_limit is not None:
            request["step_limit"] = check.integer("step_limit", step_limit, 0, 2**64 - 1)
        if poll_limit is not None:
            request["poll_limit"] = check.integer("poll_limit", poll_limit, 0, 2**64 - 1)
        limit = check.seconds("timeout", self._device.timeout if timeout is None else timeout)
        return self._device._launch(request, limit)

    def _entry(self, tiling_key: int | None) -> tuple[str, Mapping[str, str]]:
        keys = self.description.tiling_keys
        if not keys:
            return self.description.kernel_type, self.description.functions
        if tiling_key is not None:
            tiling_key = check.integer("tiling_key", tiling_key, 0, 2**64 - 1)
        if tiling_key is None or tiling_key not in keys:
            known = ", ".join(str(key) for key in keys)
            problem = f"`{self.name}` needs a tiling key, got {tiling_key}"
            raise check.refuse(problem, f"pass tiling_key, one of {known}")
        return keys[tiling_key]

    def _slots(self, args: list[Argument], ffts: int | None) -> list[int]:
        slots = [_value(argument) for argument in args]
        ffts = None if ffts is None else check.integer("ffts", ffts, 0, 2**64 - 1)
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
        accesses = _mapping("accesses", accesses)
        if op_names is not None:
            op_names = [check.text("op_names", name) for name in _listed("op_names", op_names)]
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
                declared = _mapping("accesses", declared)
                spec["reads"] = [_value(argument) for argument in _listed("reads", declared.get("reads", ()))]
                spec["writes"] = [_value(argument) for argument in _listed("writes", declared.get("writes", ()))]
            specs.append(spec)
        return specs

    def __repr__(self) -> str:
        return f"Kernel({self.name!r}, {self.description.kernel_type})"


def _value(argument: Argument) -> int:
    if isinstance(argument, Buffer):
        return argument.at(0)
    return check.integer("argument", argument, -(2**63), 2**64 - 1) & (2**64 - 1)


def _listed(name: str, values: Any) -> list[Any]:
    if not isinstance(values, (str, bytes, Mapping)):
        try:
            return list(values)
        except TypeError:
            pass
    raise check.refuse(f"`{name}` of type {type(values).__name__}", f"`{name}` is a list")


def _mapping(name: str, value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise check.refuse(f"`{name}` of type {type(value).__name__}", f"`{name}` is a dict")
    return value


def _agent_spec(agent: Any) -> dict[str, Any]:
    if not isinstance(agent, Agent):
        raise check.refuse(f"an agent of type {type(agent).__name__}", "make it with `superkernel.sim.Agent`")
    try:
        return agent.spec()
    except (AttributeError, TypeError, ValueError) as error:
        raise check.refuse(f"agent `{agent.name}`: {error}", "look at the types that `Agent` names") from None


def _delays(delays: Mapping[str, int] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(delays, Mapping):
        delays = [{"core": core, "steps": steps} for core, steps in delays.items()]
    given = [dict(_mapping("delays", delay)) for delay in _listed("delays", delays)]
    for delay in given:
        unknown = [key for key in delay if key not in ("core", "steps", "at", "op")]
        if unknown or not {"core", "steps"} <= delay.keys():
            raise check.refuse(f"a delay of {sorted(map(str, delay))}", "it has `core`, `steps`, perhaps `at` and `op`")
        delay["core"] = check.text("core", delay["core"])
        delay["steps"] = check.integer("steps", delay["steps"], 0, 2**64 - 1)
        if "at" in delay:
            delay["at"] = check.choice("at", delay["at"])
    return given
