"""The explanation of a super kernel: where its data come from, and how it reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from superkernel.cli._streams import stream_number


def of(path: str, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The explanation of an op list or of a built kernel.

    ``built`` is what the JSON of a built kernel says, ``unknown`` why there is no more than that.
    """
    import superkernel
    from superkernel import _core
    from superkernel._config import repeatable
    from superkernel.cli._input import read_infos

    is_stream = path == "-" or stream_number(path) is not None
    found = None if is_stream else _core.built_kernel(path)
    if found is None:
        with superkernel.configure(**settings):
            return {**_planned(read_infos(path), name), "built": None, "unknown": None}
    built, record = found
    if record is None:
        return {"built": built, "unknown": "the build record is not beside it, or belongs to another build"}
    try:
        # The kernel is what it is: the settings are those of its build.
        with superkernel.configure(**{**repeatable(record.settings), **settings}):
            planned = _planned(record.kernel_infos, built["kernel_name"])
    except superkernel.SuperKernelError as error:
        return {"built": built, "unknown": f"its op list cannot be planned any more: {error}"}
    return {**planned, "built": built, "unknown": None}


def _planned(kernel_infos: Any, name: str) -> dict[str, Any]:
    from superkernel import _core
    from superkernel._build import settings
    from superkernel._logging import building

    current = settings()
    with building(name):
        return _core.plan_explained(kernel_infos, name, current)


def lines(explanation: Mapping[str, Any]) -> Iterable[str]:
    """The explanation as text."""
    built = explanation["built"]
    if explanation["unknown"] is not None:
        yield from _described(built)
        yield f"not known: form, synchronisation, preload, early start, hints ({explanation['unknown']})"
        return
    shape, form = explanation["shape"], explanation["form"]
    ops = explanation["ops"]
    sides = "several streams side by side" if form["several_streams"] else "one stream"
    yield f"{explanation['kernel_name']}: {_count(len(ops), 'op')} fused for {explanation['soc']}"
    if built is not None:
        yield "  built; its sub-kernels are read as they are now (`superkernel why` prints what changed since)"
    yield f"  form: {sides}: {form['because']}"
    cores = f"{shape['cores']['aic']} cube and {shape['cores']['aiv']} vector cores"
    yield f"  type: {_type(shape['kernel_type'])}, {_count(shape['block_num'], 'block')}, {cores}: {shape['because']}"
    hints = explanation["lints"]
    yield f"hints: {len(hints) or 'none'}"
    for hint in hints:
        yield f"  {hint['kind']}: {hint['text']}"
    yield ""
    yield "ops"
    yield from _ops(ops)
    yield ""
    yield from _synchronisation(explanation["synchronisation"])
    yield from _early_start(explanation["early_start"])
    for decision in (explanation["preload"], explanation["split"]):
        given = "" if decision["given"] else " (default)"
        yield f"{decision['option']}{given}: {decision['effect']}"
    yield from _feed_sync_all(explanation["feed_sync_all"])
    yield from _sizes(explanation["sizes"], built)
    yield from _block_local(explanation["block_local"], built)
    for warning in explanation["warnings"]:
        yield f"warning: {warning}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _type(kernel_type: str) -> str:
    return kernel_type.replace("KERNEL_TYPE_", "")


def _ops(ops: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """A line per op; ops that have all of it in common share one."""
    alike: dict[str, list[str]] = {}
    for op in ops:
        alike.setdefault(_op(op), []).append(str(op["index"]))
    for text, indices in alike.items():
        yield f"  {_named(indices)} {text}"


def _op(op: Mapping[str, Any]) -> str:
    used, idle = _cores(op["cores"]), _cores(op["idle"])
    cores = "cores picked at run time" if op["dynamic"] else f"on {used}" + (f", idle {idle}" if idle else "")
    code = [
        f"{function['kind']} code {function['text_size']} bytes, {2 * function['preload']} KiB preloaded"
        for function in op["functions"]
        if function["text_size"] is not None and function["preload"] is not None
    ]
    where = f"{_type(op['kernel_type'])}, stream {op['stream_id']}"
    events = (*_events("sends", "to", op["sends"]), *_events("receives", "from", op["receives"]))
    return "; ".join((f"{op['kernel_name']} ({where}): {cores}", *code, *events))


def _events(verb: str, towards: str, events: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Events with the op at the other end."""
    ends = ("outside" if event["other_end"] is None else f"op {event['other_end']}" for event in events)
    shown = [f"{event['id']} {towards} {end}" for event, end in zip(events, ends)]
    if shown:
        yield f"{verb} {_named(shown)}"


def _cores(cores: Mapping[str, int]) -> str:
    named = ((cores["aic"], "cube"), (cores["aiv"], "vector"))
    return " and ".join(f"{count} {kind}" for count, kind in named if count)


#: Bytes of block-local memory that a core has.
BLOCK_LOCAL_ROOM = 4096
#: Of more ops with the same step or hand-over only the first are named.
MOST_NAMED = 12


def _named(texts: list[str]) -> str:
    shown = ", ".join(texts[:MOST_NAMED])
    return shown if len(texts) <= MOST_NAMED else f"{shown} and {len(texts) - MOST_NAMED} more (--json has all)"


def _synchronisation(steps: list[Mapping[str, Any]]) -> Iterable[str]:
    """A line per place, step, reason, price and remedies, with all ops that have it."""
    barriers = sum(step["action"] == "barrier" for step in steps)
    yield (
        f"synchronisation: {_count(len(steps), 'step')}, {_count(barriers, 'barrier')}"
        if steps
        else ("synchronisation: none")
    )
    alike: dict[tuple[Any, ...], list[str]] = {}
    for step in steps:
        place = "at the start" if step["op"] is None else str(step["place"])
        without = "; or ".join(remedy["text"] for remedy in step["remedies"]) or "nothing"
        key = (place, *(step[name] for name in ("action", "cores", "reason", "price_us")), without)
        alike.setdefault(key, []).append(str(step["op"]))
    for (place, action, cores, reason, price, without), ops in alike.items():
        where = place if ops[0] == "None" else f"{place} op{'' if len(ops) == 1 else 's'} {_named(ops)}"
        yield f"  {where}, {action} {cores}: {reason}; {price:.2f} us; without it: {without}"


def _early_start(early_start: Mapping[str, Any]) -> Iterable[str]:
    pairs = early_start["pairs"]
    state = "on" if early_start["on"] else "off"
    yield f"early start: {state} ({early_start['because']}), {_count(len(pairs), 'pair')}"
    alike: dict[tuple[bool, ...], list[str]] = {}
    for pair in pairs:
        key = (pair["sets_itself"], pair["waits_itself"], pair["twice"])
        alike.setdefault(key, []).append(f"{pair['from']} -> {pair['to']}")
    for (sets_itself, waits_itself, twice), ops in alike.items():
        sets = "the first op sets itself" if sets_itself else "the first op is followed by a set"
        waits = "the second waits itself" if waits_itself else "the second waits before it starts"
        again = "; a second hand-over for its own wait, because of what is between" if twice else ""
        yield f"  {_named(ops)}: {sets}, {waits}{again}"


def _feed_sync_all(added: Mapping[str, Any] | None) -> Iterable[str]:
    if added is None:
        return
    followed = ", ".join(map(str, added["followed"])) or "none"
    yield (
        f"feed-sync-all adds {_count(added['steps'], 'step')} and {added['workspace_bytes']} bytes of workspace; "
        f"ops whose SyncAll idle cores follow: {followed}"
    )


def _sizes(sizes: Mapping[str, Any], built: Mapping[str, Any] | None) -> Iterable[str]:
    yield f"sizes: {_count(sizes['slots'], 'slot')}, {sizes['workspace_bytes']} bytes of workspace"
    code = f"{sizes['code_once']} bytes of sub-kernel code, {sizes['code_in_copies']} in all copies"
    yield f"  {code}" + (f" ({_count(sizes['unmeasured'], 'function')} not measured)" if sizes["unmeasured"] else "")
    if built is not None:
        yield f"  {_built_sizes(built)}"


def _block_local(use: Mapping[str, Any] | None, built: Mapping[str, Any] | None) -> Iterable[str]:
    """Who takes how much of the memory that every core has for itself."""
    in_file = None if built is None else built["block_local_bytes"]
    # A kernel for the host has no such section: the simulator gives every core its own.
    if in_file:
        yield f"  block-local memory: {in_file} bytes of {BLOCK_LOCAL_ROOM} in the kernel"
    if use is None or not use["users"]:
        return
    yield f"  block-local memory of the sub-kernels: {use['bytes']} bytes of {BLOCK_LOCAL_ROOM}"
    for size, user in use["users"][:MOST_NAMED]:
        yield f"    {size} for {user}"
    if len(use["users"]) > MOST_NAMED:
        yield f"    and {len(use['users']) - MOST_NAMED} more (--json has all)"


def _built_sizes(built: Mapping[str, Any]) -> str:
    object_bytes = "not there" if built["object_bytes"] is None else f"{built['object_bytes']} bytes"
    code = "not recorded" if built["code_bytes"] is None else f"{built['code_bytes']} bytes"
    return f"object {object_bytes}, its code {code}"


def _described(built: Mapping[str, Any]) -> Iterable[str]:
    yield f"{built['kernel_name']}: {_count(len(built['ops']), 'op')} fused, built"
    yield f"  type: {_type(built['kernel_type'])}, {_count(built['block_num'], 'block')}"
    yield f"  {_built_sizes(built)}, {built['workspace_bytes']} bytes of workspace"
    for op in built["ops"]:
        where = f"{_type(op['kernel_type'])}, stream {op['stream_id']}"
        yield f"  {op['position']} {op['kernel_name']} ({where}): {_count(op['block_num'], 'block')}"
