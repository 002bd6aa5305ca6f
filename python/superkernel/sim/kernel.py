"""Kernels that can be launched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from superkernel import _core
from superkernel.sim import _arguments as check
from superkernel.sim._slots import FFTS_ADDRESS, Argument, Arguments, Slots
from superkernel.sim.agents import Agent
from superkernel.sim.checking import Request, check_kernel
from superkernel.sim.report import Report
from superkernel.sim.variation import Tools, chosen
from superkernel.sim.verdict import Verdict

if TYPE_CHECKING:
    from superkernel.sim.device import Device
from superkernel.types import Arrivals, Asserts, Cache, Events, Pipes, Schedule

__all__ = ["Kernel"]

#: Far more than any device has cores.
_MOST_BLOCKS = 2**32 - 1
#: Seeds of a check.
_USUAL_SEEDS, _MOST_SEEDS = 100, 2**32


class Origin(NamedTuple):
    """What :meth:`superkernel.sim.Device.load` was called with."""

    path: Path
    bin_path: Path | None
    functions: dict[str, str] | None
    kernel_type: str | None
    block_dim: int | None


class Kernel:
    """A loaded kernel. Made by :meth:`superkernel.sim.Device.load`."""

    def __init__(
        self, device: Device, description: _core.KernelDescription, library: Path, origin: Origin | None = None
    ) -> None:
        self._device = device
        self._library = library
        self._origin = origin
        #: What its files say about it.
        self.description = description

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.description.name

    @property
    def device(self) -> Device:
        """The device it is loaded on."""
        return self._device

    @property
    def parameters(self) -> list[_core.Parameter]:
        """All slots in order, each with its name, op, role, and whether :meth:`launch` fills it if it is not given.

        Empty if the kernel's files do not name them.
        """
        return self.description.parameters

    def launch(
        self,
        args: Arguments | Slots = (),
        *,
        block_dim: int | None = None,
        schedule: Schedule = "round-robin",
        seed: int | None = None,
        delays: Mapping[str, int] | Iterable[Mapping[str, Any]] = (),
        agents: Iterable[Agent] = (),
        arrivals: Arrivals = "per-core",
        check_order: bool = True,
        accesses: Mapping[str | int, Mapping[str, Iterable[Argument | str]]] | None = None,
        events: Events = "ops",
        event_limit: int = 50_000,
        step_limit: int | None = None,
        poll_limit: int | None = None,
        timeout: float | None = None,
        ffts: int | None = FFTS_ADDRESS,
        tiling_key: int | Mapping[int | str, int | tuple[int, int]] | None = None,
        op_names: Sequence[str] | None = None,
        poison_local_memory: bool = False,
        first_vector_core_id: int | None = None,
        pipes: Pipes = "in-order",
        cache: Cache = "coherent",
        auto_sync: bool = True,
        asserts: Asserts = "warn",
        tools: Tools | None = None,
    ) -> Report:
        """Runs the kernel to its end and reports.

        ``args`` is a dict by name (``"x_0"``, ``(0, "x")`` or ``("add", "x")``: :attr:`parameters` lists the slots), or
        a list: all slots of a super kernel after the FFTS address, or those that are not hidden. A buffer stands for
        its address; an array is copied to the device and, unless it is read-only, back; the same array twice is the
        same memory; an int is stored as it is. Hidden slots that are not given are filled: the FFTS address
        (``ffts=None`` stores a null), lock words (what is waited for is there already), workspace, profiling buffer.

        ``schedule`` is ``"round-robin"``, ``"random"`` or ``"skewed"``; a ``seed`` alone means ``"random"``.
        ``delays`` hold cores back: ``{"AIV3": 500}`` at the start, or dicts with ``core``, ``steps``, ``at``
        (``start``, ``op``, ``sync-all``, ``complement``, ``set-next-task``, ``wait-pre-task``) and ``op``.
        ``agents`` act on global memory beside the kernel. ``accesses`` declares what an operator (by name or position)
        reads and writes, for order checking; undeclared, its parameters count, and what it writes is observed.
        ``tiling_key`` picks the function of a lone dynamic operator; for a super kernel it maps dynamic ops (by name or
        place in ``op_list``) to their key, or to key and block count.

        ``pipes="checked"`` finds accesses of a core's own pipes that nothing orders, ``"reordered"`` lets pipes run
        behind as the seed has it; ``auto_sync`` takes as given what device compilers put in on vector cores by default.
        ``cache="strict"`` gives every core a data cache that is not kept like memory. Where AscendC's headers check
        what device builds do not, ``asserts="strict"`` ends the run and ``"warn"`` goes on. ``tools`` names what to
        look for, of what these modes find; all of it unless given.
        """
        self._device.require_open()
        keys: Mapping[Any, Any] = {}
        if isinstance(tiling_key, Mapping):
            keys, tiling_key = tiling_key, None
        tiling_key = _unsigned("tiling_key", tiling_key)
        # A campaign of launches lays its parameters out once.
        filled = args if isinstance(args, Slots) else Slots(self._device, self.description, args, ffts, keys)
        try:
            policy = check.choice("schedule", schedule)
            request = _core.LaunchRequest(
                self.description,
                self._library,
                self._device.soc,
                tiling_key,
                None if block_dim is None else check.integer("block_dim", block_dim, 1, _MOST_BLOCKS),
                filled.values,
            )
            request.set_schedule(
                "random" if seed is not None and policy == "round-robin" else policy, _unsigned("seed", seed)
            )
            request.set_arrivals(check.choice("arrivals", arrivals))
            event_limit = check.integer("event_limit", event_limit, 0, 2**31)
            request.set_events(check.choice("events", events), event_limit)
            request.set_limits(_unsigned("step_limit", step_limit), _unsigned("poll_limit", poll_limit))
            request.set_checks(bool(check_order), bool(poison_local_memory))
            request.set_core(
                check.choice("pipes", pipes),
                check.choice("cache", cache),
                bool(auto_sync),
                check.choice("asserts", asserts),
            )
            if tools is not None:
                request.set_tools(sorted(tool.value for tool in chosen(tools)))
            if first_vector_core_id is not None:
                first = check.integer("first_vector_core_id", first_vector_core_id, -(2**63), 2**63 - 1)
                request.set_first_vector_core_id(first)
            self._add_ops(request, filled, op_names, accesses or {})
            for delay in _delays(delays):
                request.add_delay(*delay)
            for agent in check.listed("agents", agents):
                if not isinstance(agent, Agent):
                    raise check.refuse(
                        f"an agent of type {type(agent).__name__}", "make it with `superkernel.sim.Agent`"
                    )
                agent.add_to(request)
            limit = check.seconds("timeout", self._device.timeout if timeout is None else timeout)
            report = self._device._launch(request, limit, event_limit)
            records = () if filled is args else filled.bring_back()
            report._set_profiling(records)
            return report
        finally:
            if filled is not args:
                filled.free()

    def check(
        self,
        args: Arguments = (),
        *,
        seeds: int | None = None,
        first_seed: int = 0,
        time: float | None = None,
        most_findings: int = 1,
        rtol: float = 0.0,
        atol: float = 0.0,
        ignore: Iterable[str] = (),
        block_dim: int | None = None,
        agents: Iterable[Agent] = (),
        accesses: Mapping[str | int, Mapping[str, Iterable[Argument | str]]] | None = None,
        step_limit: int | None = None,
        timeout: float | None = None,
        tiling_key: int | Mapping[int | str, int | tuple[int, int]] | None = None,
        tools: Tools | None = None,
        expect: Mapping[str, Any] | None = None,
        poison_local_memory: bool = True,
        events: Events = "ops",
        event_limit: int = 50_000,
        executor: Executor | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verdict:
        """Runs the kernel in many ways and compares it with its ops, each run alone, one after another.

        Seed by seed: random and skewed schedules, both rules of counting arrivals, cores that start late, partners of
        outer events that come late; pipes in order, checked and reordered; caches coherent and strict; local memory
        with different contents at the start. What a seed does never changes: ``check(args, seeds=1, first_seed=N)``
        repeats seed ``N`` exactly. ``seeds`` is how many are run, 100 unless given; with ``time`` no further seed
        begins after so many seconds, and without ``seeds`` that alone is the limit. ``tools``
        (``"order,race,pipe,cache,init,bounds,autosync"``, all but the last unless given) chooses what to look for.
        Every run starts from the same memory, which is the same afterwards. ``expect`` gives what parameters must hold
        in the end. ``ignore`` names parameters whose content need not be the same; scratch memory (``workspace``) is
        never compared; ``rtol`` and ``atol`` are for floats. Stops after ``most_findings`` seeds that found something;
        ``progress`` gets how many seeds have run, of how many. What could not be checked is in
        :attr:`Verdict.unchecked`. With ``executor`` (any ``concurrent.futures.Executor``) its workers run the seeds,
        from memory that is the same at the same addresses; the verdict is the same. What a worker found is run again
        here, for its report.
        """
        self._device.require_open()
        keys = _mapping("tiling_key", {} if tiling_key is None or isinstance(tiling_key, int) else tiling_key)
        options = {
            "block_dim": block_dim,
            "tiling_key": tiling_key if isinstance(tiling_key, int) else None,
            "agents": check.listed("agents", agents),
            "accesses": accesses,
            "step_limit": step_limit,
            "timeout": timeout,
            "poison_local_memory": poison_local_memory,
            "events": events,
            "event_limit": event_limit,
        }
        budget = check.seconds("time", time)
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise check.refuse(f"executor={check.shown(executor)}", "`executor` is a `concurrent.futures.Executor`")
        if progress is not None and not callable(progress):
            raise check.refuse(f"progress={check.shown(progress)}", "`progress` is a function of two numbers")
        usual = _USUAL_SEEDS if budget is None else _MOST_SEEDS
        count = check.integer("seeds", usual if seeds is None else seeds, 1, _MOST_SEEDS)
        first = check.integer("first_seed", first_seed, 0, 2**63)
        request = Request(
            seeds=range(first, first + count),
            tools=chosen(tools),
            most_findings=check.integer("most_findings", most_findings, 1, 2**32),
            tolerance=(check.number("rtol", rtol), check.number("atol", atol)),
            ignore=frozenset(check.text("ignore", name) for name in check.listed("ignore", ignore)),
            expect=_mapping("expect", expect or {}),
            tiling_key=keys,
            options=options,
            executor=executor,
            budget=budget,
            progress=progress,
        )
        return check_kernel(self, args, request)

    def core_names(self, block_dim: int | None = None) -> tuple[str, ...]:
        """The cores of a launch."""
        blocks = self.description.block_dim if block_dim is None else block_dim
        return () if blocks is None else tuple(self.description.core_names(blocks))

    def _add_ops(
        self,
        request: _core.LaunchRequest,
        filled: Slots,
        op_names: Sequence[str] | None,
        accesses: Mapping[str | int, Mapping[str, Iterable[Argument | str]]],
    ) -> None:
        slots = len(filled.values)
        # Name, first slot, number of slots.
        ops = [(op.name, op.param_offset, op.param_count) for op in self.description.ops]
        streams = [op.stream for op in self.description.ops]
        if not ops and not self.description.is_super_kernel:
            ops = [(self.name, 0, None)]
        accesses = _mapping("accesses", accesses)
        if op_names is not None:
            op_names = [check.text("op_names", name) for name in check.listed("op_names", op_names)]
            # Names given by hand, for kernels without a JSON: positions are all that is known.
            known = ops[: len(op_names)]
            known += [("", slots, 0)] * (len(op_names) - len(known))
            ops = [(name, offset, count) for name, (_, offset, count) in zip(op_names, known)]
        _check_names(accesses, [name for name, _, _ in ops])
        for position, (name, offset, count) in enumerate(ops):
            declared = accesses.get(position, accesses.get(name))
            reads, writes = None, None
            if declared is not None:
                declared = _mapping("accesses", declared)
                reads = [filled.address("reads", place) for place in check.listed("reads", declared.get("reads", ()))]
                writes = [
                    filled.address("writes", place) for place in check.listed("writes", declared.get("writes", ()))
                ]
            stream = streams[position] if position < len(streams) else None
            request.add_op(name, offset, max(0, slots - offset) if count is None else count, reads, writes, stream)

    def __repr__(self) -> str:
        return f"Kernel({self.name!r}, {self.description.kernel_type})"


def _unsigned(name: str, value: int | None) -> int | None:
    return None if value is None else check.integer(name, value, 0, 2**64 - 1)


def _check_names(accesses: Mapping[Any, Any], names: Sequence[str]) -> None:
    """A declaration for an operator that is not there would declare nothing."""
    for key, declared in accesses.items():
        known = key in names if isinstance(key, str) else key in range(len(names))
        if not known:
            close = _core.nearest(str(key), list(names), 1)
            hint = f"did you mean `{close[0]}`?" if close else f"operators are {', '.join(names) or 'not known'}"
            raise check.refuse(f"`accesses` names operator `{key}`, which the kernel does not have", hint)
        for what in _mapping("accesses", declared):
            if what not in ("reads", "writes"):
                raise check.refuse(f"`accesses` of `{key}` has `{what}`", "it has `reads` and `writes`")


def _mapping(name: str, value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise check.refuse(f"`{name}` of type {type(value).__name__}", f"`{name}` is a dict")
    return value


def _delays(
    delays: Mapping[str, int] | Iterable[Mapping[str, Any]],
) -> Iterable[tuple[str, int, str, int | None]]:
    """Core, steps, where, operator."""
    if isinstance(delays, Mapping):
        delays = [{"core": core, "steps": steps} for core, steps in delays.items()]
    for delay in check.listed("delays", delays):
        given = dict(_mapping("delays", delay))
        unknown = [key for key in given if key not in ("core", "steps", "at", "op")]
        if unknown or not {"core", "steps"} <= given.keys():
            raise check.refuse(f"a delay of {sorted(map(str, given))}", "it has `core`, `steps`, perhaps `at` and `op`")
        op = given.get("op")
        yield (
            check.text("core", given["core"]),
            check.integer("steps", given["steps"], 0, 2**64 - 1),
            check.choice("at", given.get("at", "start")),
            None if op is None else check.integer("op", op, 0, 2**32 - 1),
        )
