"""Random damage, as campaigns do it to documents, objects and archives."""

from __future__ import annotations

import copy
import random
from typing import Any

#: Values that are right almost nowhere.
ODD: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, 2**64, -(2**63) - 1, 1e26, 0.5, "", "x", "\ud800", "a\0b", "/", "..",
    "/etc/passwd", "files/../x", "-fplugin=x.so", "@x.rsp", "compile-options=-D,@x:split-mode=1", "x" * 5000, [], [[]],
    {}, {"a": {}},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in nested data but its root."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in entries for place in ((*path, key), *places(inner, (*path, key)))]


def damaged_document(value: Any, dice: random.Random) -> Any:
    """A copy with one place replaced, removed, renamed or doubled."""
    result = copy.deepcopy(value)
    *way, last = dice.choice(places(result))
    target = result
    for key in way:
        target = target[key]
    kind = dice.randrange(5)
    if kind == 0:
        del target[last]
    elif kind == 1 and isinstance(target, dict):
        target[dice.choice(["x", f"{last}_", ""])] = target.pop(last)
    elif kind == 2 and isinstance(target, list):
        target.append(target[last])
    else:
        target[last] = copy.deepcopy(dice.choice(ODD))
    return result


def damaged_bytes(content: bytes, dice: random.Random) -> bytes:
    """A copy with bits turned over, a piece cut out, put in or moved."""
    data = bytearray(content)
    at = dice.randrange(len(data))
    kind = dice.randrange(5)
    if kind == 0:
        del data[at:]
    elif kind == 1:
        data[at:at] = dice.randbytes(dice.randint(1, 64))
    elif kind == 2:
        del data[at : at + dice.randint(1, 64)]
    elif kind == 3:
        data[at : at + 8] = dice.choice([bytes(8), b"\xff" * 8, (1 << 40).to_bytes(8, "little")])
    else:
        for _ in range(dice.choice([1, 1, 1, 8])):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data)
