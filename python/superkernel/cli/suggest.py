"""``superkernel suggest``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from superkernel.cli import _forecast
from superkernel.cli._settings import given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "suggest",
        help="propose which ranges of a model to mark",
        description="Propose ranges of a graph, marked or not, that can be fused and that the cost model thinks pay, "
        "and say what keeps them from being larger and what that costs. Nothing is measured.",
    )
    _forecast.add_arguments(
        command, "GRAPH", "a graph in JSON form (docs/scopes.md), a dump in any form, or a folder with one"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the proposals."""
    import superkernel
    from superkernel import cost
    from superkernel.cli.scope import planning, read_graph

    graph = read_graph(options)
    with superkernel.configure(**given_settings(options)):
        found = cost.suggest(graph, options.profile, prices=options.prices, **planning(options))
    if options.json:
        import json

        print(json.dumps(found, indent=2))
    else:
        print("\n".join(lines(found)))


def lines(found: dict[str, Any]) -> Iterable[str]:
    """The report."""
    yield _forecast.label()
    yield ""
    if not found["proposals"]:
        yield "no range can be fused and pays"
    else:
        yield from _forecast.table(
            ("scope", "from", "to", "ops", "gain us", "range", "gain %"),
            [
                (
                    proposal["scope"],
                    proposal["members"][0],
                    proposal["members"][-1],
                    str(len(proposal["members"])),
                    _forecast.us(proposal["prediction"]["gain"]["us"]),
                    f"{_forecast.us(proposal['prediction']['gain']['low'])} .. "
                    f"{_forecast.us(proposal['prediction']['gain']['high'])}",
                    f"{proposal['prediction']['gain_percent']:.1f}",
                )
                for proposal in found["proposals"]
            ],
            left=3,
        )
        yield ""
        for proposal in found["proposals"]:
            yield f"{proposal['scope']}: {_forecast.reasons(proposal['prediction'])}"
            for end, name in (("from", proposal["members"][0]), ("to", proposal["members"][-1])):
                if origin := _forecast.origin_of(found["origins"], name):
                    yield f"  {end} `{name}`: {origin}"
            for note in proposal["prediction"]["notes"]:
                yield f"  note: {note}"
        yield ""
        yield from found["lines"]
    for blocker in found["blockers"]:
        yield ""
        cost = blocker["costs"]
        costs = "which could not be one anyway" if cost is None else f"costs {_forecast.us(cost)} us"
        yield f"between {blocker['before']} and {blocker['behind']}, {costs}:"
        for name, why in blocker["ops"]:
            origin = _forecast.origin_of(found["origins"], name)
            yield f"  `{name}`{f' ({origin})' if origin else ''}: {why}"
    for passed in found["passed"]:
        yield f"not proposed: `{passed['first']}` to `{passed['last']}` ({passed['ops']} ops): {passed['why']}"
