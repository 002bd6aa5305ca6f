"""``superkernel tune``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from superkernel.cli import _forecast, _input
from superkernel.cli._parser import count


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "tune",
        help="search the options that the cost model thinks fastest",
        description="Try combinations of early-start, preload-code, split-mode, stream-fusion and core counts, and for "
        "graphs cuts, on the cost model. Prints the ranking, what each option contributes, and the option string to "
        "paste. Nothing is measured; the same input gives the same output.",
    )
    _forecast.add_arguments(command, "FILE", "a marked graph (docs/scopes.md), or `kernel_infos` of one super kernel")
    _input.add_kernel_name(command)
    command.add_argument(
        "--candidates", type=count, default=1000, metavar="N", help="option strings to try (default: %(default)s)"
    )
    command.add_argument("--top", type=count, default=10, metavar="N", help="how many to print (default: %(default)s)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the ranking."""
    import superkernel
    from superkernel import cost
    from superkernel.cli.scope import planning

    model, name, settings = _forecast.read_model(options)
    with superkernel.configure(**settings):
        found = cost.tune(
            model,
            options.profile,
            name=name,
            prices=options.prices,
            candidates=options.candidates,
            **planning(options),
        )
    if options.json:
        import json

        print(json.dumps(found, indent=2))
    else:
        print("\n".join(lines(found, options.top)))


def lines(found: dict[str, Any], top: int) -> Iterable[str]:
    """The report."""
    yield _forecast.LABEL
    yield f"prices: {found['prices']}"
    for scope in found["scopes"]:
        current, ranking = scope["current"], scope["ranking"]
        best = ranking[0]
        yield ""
        yield f"{scope['name']}: {len(ranking)} candidates, {len(scope['refused'])} refused"
        yield from _forecast.table(
            ("options", "us", "to now"),
            [
                (row["options"] or "(defaults)", _forecast.us(row["us"]), f"{current['us'] - row['us']:+.2f}")
                for row in ranking[:top]
            ],
        )
        yield f"  now: {current['options'] or '(defaults)'}: {_forecast.us(current['us'])} us"
        yield f'  best: "{best["options"]}"'
        for part in scope["contributions"]:
            yield f"    {part['option']} contributes {_forecast.us(part['us'])} us"
        for cut in scope["cuts"]:
            yield f"  a cut in front of `{cut['in_front_of']}` would gain {_forecast.us(cut['us'])} us more"
        if scope["per_stream_cuts_gain"] is not None:
            yield f"  `--cuts per-stream` would gain {_forecast.us(scope['per_stream_cuts_gain'])} us"
        for note in scope["notes"]:
            yield f"  note: {note}"
    for skipped in found["skipped"]:
        yield f"{skipped['name']}: left out: {skipped['why']}"
