"""Kernels that can be launched: what their files say about them, and the launch itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from superkernel import _core
from superkernel._errors import make_error
from superkernel.sim.agents import Agent
from superkernel.sim.memory import Buffer
from superkernel.sim.report import Report

if TYPE_CHECKING:
    from superkernel.sim.device import Device

__all__ = ["Description", "Kernel", "describe"]

Argument = Union[Buffer, int]

#: Any value but null tells a kernel that the scheduler's message area exists.
_FFTS_ADDRESS = 0x7FF75000

_TYPE_OF_RATIO = {
    (0, 1): "KERNEL_TYPE_MIX_AIV_1_0",
    (1, 0): "KERNEL_TYPE_MIX_AIC_1_0",
    (1, 1): "KERNEL_TYPE_MIX_AIC_1_1",
    (1, 2): "KERNEL_TYPE_MIX_AIC_1_2",
}


@dataclass(frozen=True)
class Op:
    """One operator inside a super kernel."""

    name: str
    param_offset: int
    #: First slot behind its parameters, as far as the JSON tells.
    end: int | None


@dataclass(frozen=True)
class Description:
    """What is known about a kernel without running it."""

    name: str
    objects: tuple[Path, ...]
    #: Functions by core kind, ``aic`` and ``aiv``.
    functions: Mapping[str, str]
    kernel_type: str
    block_dim: int | None
    is_super_kernel: bool
    ops: tuple[Op, ...] = ()
    params: tuple[str, ...] = ()
    #: Functions and type of each tiling key of a dynamic operator.
    tiling_keys: Mapping[int, tuple[str, Mapping[str, str]]] = field(default_factory=dict)


def _problem(text: str, solution: str) -> Exception:
    return make_error("SK0902", text, solution)


# -- reading files ---------------------------------------------------------------------------------------------------


def describe(
    path: Path,
    bin_path: Path | None,
    functions: Mapping[str, str] | None,
    kernel_type: str | None,
    block_dim: int | None,
) -> Description:
    """Finds out what kind of kernel the files hold."""
    if functions is not None:
        if kernel_type is None:
            raise _problem("functions without a kernel type", "pass kernel_type as well")
        unknown = set(functions) - {"aic", "aiv"}
        if unknown:
            raise _problem(f"functions for {sorted(unknown)}", 'the keys are "aic" and "aiv"')
        name = next(iter(functions.values()))
        return Description(name, (path,), dict(functions), kernel_type, block_dim, is_super_kernel=False)
    json_path = path if path.suffix == ".json" else path.with_suffix(".json")
    if not json_path.is_file():
        if path.suffix == ".json":
            raise make_error("SK0001", f"cannot read `{path}`: it does not exist", "check the path")
        return _from_meta(path, block_dim)
    try:
        data = json.loads(json_path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise make_error("SK0902", f"cannot read `{json_path}`: {error}", "pass the JSON of a kernel") from error
    if "sub_operator_kernel_name" in data:
        return _sub_kernel(data, json_path, bin_path if bin_path or path.suffix == ".json" else path)
    return _super_kernel(data, json_path, bin_path, path, block_dim)


def _super_kernel(
    data: Mapping[str, Any], json_path: Path, bin_path: Path | None, path: Path, block_dim: int | None
) -> Description:
    name = str(data["kernelName"])
    if bin_path is None:
        beside = json_path.parent / f"{data.get('binFileName', name)}{data.get('binFileSuffix', '.o')}"
        bin_path = path if path.suffix != ".json" else beside
    try:
        cubes, vectors = (int(part) for part in str(data["taskRation"]).split(":"))
        kernel_type = _TYPE_OF_RATIO[cubes, vectors]
    except (KeyError, ValueError) as error:
        raise _problem(f"`{json_path}`: no usable taskRation", "pass the JSON of a super kernel") from error
    return Description(
        name,
        (bin_path,),
        _entries(name, cubes, vectors),
        kernel_type,
        block_dim if block_dim is not None else int(data["blockDim"]),
        is_super_kernel=True,
        ops=_ops(data.get("SuperkernelInfo", {}).get("kernelList", {})),
    )


def _entries(name: str, cubes: int, vectors: int) -> dict[str, str]:
    entries = {}
    if cubes:
        entries["aic"] = f"{name}_mix_aic"
    if vectors:
        entries["aiv"] = f"{name}_mix_aiv"
    return entries


def _ops(kernel_list: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[Op, ...]:
    """The operators in op order; a mixed one may stand in two lists. Parameters are laid out in op order."""
    entries: dict[tuple[int, str], Mapping[str, Any]] = {}
    for group in kernel_list.values():
        for entry in group:
            entries.setdefault((int(entry["arg_list"]["param_offset"]), str(entry["func_name"])), entry)
    ordered = sorted(entries.items(), key=lambda item: item[0][0])
    ops = []
    for at, ((offset, name), entry) in enumerate(ordered):
        arguments = entry["arg_list"]
        ends = [arguments.get("notify_param_offset"), arguments.get("wait_param_offset")]
        if at + 1 < len(ordered):
            ends.append(ordered[at + 1][0][0])
        known = [int(end) for end in ends if end is not None and int(end) >= offset]
        ops.append(Op(name, offset, min(known, default=None)))
    return tuple(ops)


def _from_meta(path: Path, block_dim: int | None) -> Description:
    """A bare object: the entries and the ratio are in its meta sections."""
    kernels = _core.sim_meta(str(path))
    functions: dict[str, str] = {}
    ratio = None
    for function, _, found in kernels:
        for kind in ("aic", "aiv"):
            if function.endswith(f"_mix_{kind}"):
                functions[kind] = function
                ratio = found
    if ratio is None or tuple(ratio) not in _TYPE_OF_RATIO:
        raise _problem(
            f"`{path}` has no JSON beside it and no meta section of a super kernel",
            "put the JSON beside it, or name the functions and the kernel type",
        )
    name = next(iter(functions.values()))[: -len("_mix_aic")]
    wanted = _entries(name, *ratio)
    return Description(name, (path,), wanted, _TYPE_OF_RATIO[ratio[0], ratio[1]], block_dim, is_super_kernel=True)


def _sub_kernel(data: Mapping[str, Any], json_path: Path, bin_path: Path | None) -> Description:
    name = str(data["kernelName"])
    if bin_path is None:
        stem = str(data.get("binFileName", name))
        suffixes = (str(data.get("binFileSuffix", ".o")), ".o", ".a")
        candidates = [json_path.parent / f"{base}{suffix}" for base in (stem, json_path.stem) for suffix in suffixes]
        bin_path = next((candidate for candidate in candidates if candidate.is_file()), None)
        if bin_path is None:
            raise _problem(f"no object found for `{json_path}`", "pass bin_path")
    names: Mapping[str, Any] = data["sub_operator_kernel_name"]
    kernel_type = str(data["sub_operator_kernel_type"])
    dynamic = names.get("dynamic_func_names")
    keys = {}
    for key, functions in (dynamic or {}).items():
        own_type = str(functions.get("kernel_type", kernel_type))
        keys[int(key)] = (own_type, _functions_by_kind(functions, own_type))
    return Description(
        name,
        (bin_path,),
        {} if dynamic else _functions_by_kind(names, kernel_type),
        kernel_type,
        int(data["blockDim"]),
        is_super_kernel=False,
        params=tuple(data.get("sub_operator_params", ())),
        tiling_keys=keys,
    )


def _functions_by_kind(names: Mapping[str, Any], kernel_type: str) -> dict[str, str]:
    """Function names by core kind, from arch names."""
    found = {}
    for arch, value in names.items():
        if arch == "kernel_type":
            continue
        function = value["func_name"] if isinstance(value, Mapping) else value
        if arch == "AiCore":
            found["aiv" if "AIV" in kernel_type else "aic"] = function
        elif arch.endswith("-cube"):
            found["aic"] = function
        elif arch.endswith("-vec"):
            found["aiv"] = function
    return found


# -- launching -------------------------------------------------------------------------------------------------------


class Kernel:
    """A loaded kernel. Made by :meth:`superkernel.sim.Device.load`."""

    def __init__(self, device: Device, description: Description, library: Path) -> None:
        self._device = device
        self._library = library
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
        ops = self.description.ops
        if not ops and not self.description.is_super_kernel:
            ops = (Op(self.name, 0, len(slots)),)
        if op_names is not None:
            # Names given by hand, for kernels without a JSON: positions are all that is known.
            known = list(ops[: len(op_names)])
            known += [Op("", len(slots), len(slots))] * (len(op_names) - len(known))
            ops = tuple(Op(name, op.param_offset, op.end) for name, op in zip(op_names, known))
        specs = []
        for position, op in enumerate(ops):
            end = len(slots) if op.end is None else op.end
            declared = accesses.get(position, accesses.get(op.name))
            spec: dict[str, Any] = {
                "name": op.name,
                "param_offset": op.param_offset,
                "param_count": max(0, end - op.param_offset),
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
