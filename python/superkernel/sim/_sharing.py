"""Which ops of a kernel meet in memory: what no two of them share cannot show an order between them."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from superkernel.sim._slots import Slots

if TYPE_CHECKING:
    from superkernel.sim.kernel import Kernel

__all__ = ["alone_in_memory"]

#: Names shown.
_LISTED = 6


def alone_in_memory(kernel: Kernel, slots: Slots) -> str | None:
    """What to say about ops that share no memory with any other op; ``None`` where there are no such ops."""
    ops = kernel.description.ops
    if len(ops) < 2:
        return None
    buffers = sorted((buffer.address, buffer.nbytes) for buffer in kernel.device.buffers)

    def memory(address: int) -> int | None:
        at = bisect.bisect(buffers, (address, 1 << 64)) - 1
        return buffers[at][0] if at >= 0 and address < sum(buffers[at]) else None

    places: list[set[int]] = []
    for op in ops:
        end = None if op.param_count is None else op.param_offset + op.param_count
        hidden = {parameter.slot for parameter in kernel.parameters if parameter.hidden}
        used = [memory(v) for s, v in enumerate(slots.values[:end]) if s >= op.param_offset and s not in hidden]
        places.append({place for place in used if place is not None})
    lonely = [
        number
        for number, own in enumerate(places)
        if not any(own & other for at, other in enumerate(places) if at != number)
    ]
    if not lonely:
        return None
    names = ", ".join(f"op {ops[number].index} `{ops[number].name}`" for number in lonely[:_LISTED])
    more = f" and {len(lonely) - _LISTED} more" if len(lonely) > _LISTED else ""
    verb = "shares" if len(lonely) == 1 else "share"
    return f"{names}{more} {verb} no memory with another op; {_suggestion(kernel, lonely[-1])}"


def _suggestion(kernel: Kernel, number: int) -> str:
    """How to say that an op reads what another one has written."""
    own = kernel.description.ops[number].index
    visible = [parameter for parameter in kernel.parameters if not parameter.hidden and parameter.op is not None]
    mine = [parameter for parameter in visible if parameter.op == own]
    others = [parameter for parameter in visible if parameter.op != own and parameter.own_name != "workspace"]
    if not mine or not others:
        return "pass the same array to both"
    before = [parameter for parameter in others if (parameter.op or 0) < own] or others
    written = [parameter for parameter in before if parameter.own_name.startswith(("y", "out", "z"))] or before
    last = written[-1].op
    source = [parameter for parameter in written if parameter.op == last][-1]
    reader, writer = (mine[0], source) if (source.op or 0) < own else (source, mine[-1])
    return (
        f"pass the same array to both, with `superkernel run` --input {reader.name}=@{writer.name}, "
        "if one reads what the other writes"
    )
