"""What a seed of a check does: which order, which modes of the simulator, as far as the chosen tools need them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Union

from superkernel.sim import _arguments as check
from superkernel.types import Arrivals, Cache, Pipes, Schedule

__all__ = ["DEFAULT_TOOLS", "Tool", "Tools", "Variation", "chosen", "resting"]

#: Steps by which a core may start later than others, or an outer event arrive later than the launch.
LATEST = 2000


class Tool(str, Enum):
    """Something a check looks for. Whatever ends a run, such as a deadlock or a crash, is found whichever is chosen."""

    # table: tools (make tables writes it)
    #: Two ops that share memory without an order; results that differ from those of the ops alone.
    ORDER = "order"
    #: Two cores of one op that share memory without an order.
    RACE = "race"
    #: Instructions of a core that nothing orders; events and queues left in use.
    PIPE = "pipe"
    #: Data that stays in the data cache of a core, or destroys what is beside it.
    CACHE = "cache"
    #: Memory that is read before it was written.
    INIT = "init"
    #: Accesses outside of the memory they are meant for.
    BOUNDS = "bounds"
    #: What only the barriers and waits that device compilers put in keep in order. Not among the usual ones.
    AUTOSYNC = "autosync"
    # end of table

    def __str__(self) -> str:
        return self.value


Tools = Union[str, Iterable[Union[str, Tool]]]

DEFAULT_TOOLS = frozenset(Tool) - {Tool.AUTOSYNC}

# Checked pipes and strict caches find what they look for by clocks, in any order of the cores, and take up to ten times
# as long: few seeds have them, the first one both. Delayed pipes take up to three times as long. No period has a
# divisor in common with the eight seeds that have every order.
_CHECKED, _REORDERED, _STRICT = 27, 9, 29


def chosen(tools: Tools | None) -> frozenset[Tool]:
    """The tools that are named, by a list or by words with commas between them; ``None``: the usual ones."""
    if tools is None:
        return DEFAULT_TOOLS
    names = tools.split(",") if isinstance(tools, str) else check.listed("tools", tools)
    found = frozenset(Tool(check.choice("tool", getattr(name, "value", name))) for name in names)
    if not found:
        raise check.refuse("no tool is chosen", "leave `tools` out for the usual ones")
    return found


@dataclass(frozen=True)
class Variation:
    """How one seed runs a kernel. Eight seeds in a row have every order."""

    seed: int
    schedule: Schedule
    arrivals: Arrivals
    #: Cores start at different times.
    skewed_start: bool
    pipes: Pipes = "in-order"
    cache: Cache = "coherent"
    #: What device compilers put in on vector cores is taken as given.
    auto_sync: bool = True
    #: Local memory, and scratch memory that was not filled, have different contents each time.
    poisoned: bool = True

    @classmethod
    def of(cls, seed: int, tools: frozenset[Tool] = DEFAULT_TOOLS) -> Variation:
        """The variation of a seed: the same for ever.

        Whoever looks for order needs many seeds, and other modes rest in most of them; without that they never do. So a
        seed which found something finds it again with that tool alone.
        """
        rests = bool(tools & {Tool.ORDER, Tool.RACE})
        pipes: Pipes = "checked" if seed % _CHECKED == 0 else "reordered" if seed % _REORDERED == 1 else "in-order"
        if not rests and pipes == "in-order":
            pipes = ("checked", "reordered")[seed % 2]
        if tools == {Tool.CACHE}:
            pipes = "in-order"
        elif not tools & {Tool.PIPE, Tool.AUTOSYNC} and pipes == "reordered":
            # Delayed pipes show by wrong values what those two look for. To others clocks of pipes matter, as to those
            # who look for order: what a core tells another one may still be under way.
            pipes = "in-order" if rests else "checked"
        is_strict = Tool.CACHE in tools and (not rests or seed % _STRICT == 0)
        return cls(
            seed,
            schedule=("random", "skewed")[seed % 2],
            arrivals=("per-core", "summed")[seed // 2 % 2],
            skewed_start=bool(seed // 4 % 2),
            pipes=pipes,
            cache="strict" if is_strict else "coherent",
            auto_sync=Tool.AUTOSYNC not in tools,
            poisoned=Tool.INIT in tools,
        )

    def delays(self, cores: Iterable[str]) -> dict[str, int]:
        """By how many steps each core is late."""
        if not self.skewed_start:
            return {}
        # Some far behind, most not at all: it is the stragglers that show what was not waited for.
        generator = random.Random(self.seed)
        return {core: generator.randrange(LATEST) for core in cores if generator.random() < 0.3}

    def __str__(self) -> str:
        modes = [self.schedule, f"arrivals {self.arrivals}"]
        modes += ["late cores"] if self.skewed_start else []
        modes += [f"pipes {self.pipes}"] if self.pipes != "in-order" else []
        modes += [f"cache {self.cache}"] if self.cache != "coherent" else []
        modes += ["without what compilers put in"] if not self.auto_sync else []
        modes += ["poisoned memory"] if self.poisoned else []
        return f"seed {self.seed} ({', '.join(modes)})"


def resting(seeds: Sequence[int], tools: frozenset[Tool]) -> list[Tool]:
    """The chosen tools whose mode is on in none of the seeds."""
    modes = [Variation.of(seed, tools) for seed in seeds[:1000]]
    is_checked = any(mode.pipes == "checked" for mode in modes)
    # Delayed pipes show wrong values, which those two look for as well.
    is_watched = is_checked or (len(seeds) == 1 and any(mode.pipes == "reordered" for mode in modes))
    looks = {
        Tool.PIPE: is_watched,
        Tool.AUTOSYNC: is_watched,
        Tool.CACHE: any(mode.cache == "strict" for mode in modes),
        Tool.INIT: is_checked,
        Tool.BOUNDS: is_checked,
    }
    return [tool for tool in Tool if tool in tools and not looks.get(tool, True)]
