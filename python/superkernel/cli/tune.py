"""``superkernel tune``."""

from __future__ import annotations

import argparse
from collections import Counter
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
    yield _forecast.label()
    yield f"prices: {found['prices']}"
    for scope in found["scopes"]:
        current, ranking, refused = scope["current"], scope["ranking"], scope["refused"]
        best = ranking[0]
        yield ""
        yield f"{scope['name']}: {len(ranking) + len(refused)} option strings tried, {len(refused)} refused"
        yield from _forecast.table(("options", "us", "to now", "alike"), _rows(ranking, current["us"], top), last=1)
        yield f"  now: {current['options'] or '(defaults)'}: {_forecast.us(current['us'])} us"
        yield f"  best: {_quoted(best['options'])}{_why(best, ranking)}"
        for why, times in Counter(row["why"] for row in refused).most_common():
            yield f"  refused {times}: {why}"
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


def _rows(ranking: list[dict[str, Any]], now: float, top: int) -> list[tuple[str, ...]]:
    """The fastest first; of those that take the same time the one that changes least, and how many there are beside."""
    alike: dict[str, list[dict[str, Any]]] = {}
    for row in ranking:
        alike.setdefault(_forecast.us(row["us"]), []).append(row)
    rows = sorted(alike.items(), key=lambda item: float(item[1][0]["us"]))
    return [
        (
            same[0]["options"] or "(defaults)",
            us,
            # Without the sign of a zero.
            f"{round(now - same[0]['us'], 2) + 0.0:+.2f}",
            f"and {len(same) - 1} more" if len(same) > 1 else "",
        )
        for us, same in rows[:top]
    ]


def _quoted(options: str) -> str:
    return f'"{options}"' if options else '"" (the defaults)'


def _why(best: dict[str, Any], ranking: list[dict[str, Any]]) -> str:
    """A faster one that is passed over needs a reason."""
    fastest = min(row["us"] for row in ranking)
    if _forecast.us(fastest) == _forecast.us(best["us"]):
        return ""
    return f" ({_forecast.us(best['us'])} us; faster ones gain less than the model can resolve, and change more)"
