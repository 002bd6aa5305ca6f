"""``superkernel predict``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from superkernel.cli import _forecast, _input, _pictures

if TYPE_CHECKING:
    from superkernel.types import Predicted


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "predict",
        help="predict what super kernels gain, before running them",
        description="Predict per super kernel: the time of its ops as tasks of their own, as one kernel, the gain with "
        "its range, and the largest reasons. The program's own synchronisation is simulated with the durations of "
        "the profile. Nothing is measured.",
    )
    _forecast.add_arguments(
        command, "FILE", "a marked graph (docs/scopes.md), a folder with one, or `kernel_infos` of one super kernel"
    )
    _input.add_kernel_name(command)
    command.add_argument("--ops", action="store_true", help="also print every op")
    _pictures.add_timeline(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    import superkernel
    from superkernel import cost
    from superkernel.cli.scope import planning

    model, name, settings = _forecast.read_model(options)
    with superkernel.configure(**settings):
        found = cost.predict(
            model,
            options.profile,
            name=name,
            prices=options.prices,
            **planning(options),
        )
        if _pictures.wants_timeline(options):
            traces, _ = cost.trace(
                model,
                options.profile,
                name=name,
                prices=options.prices,
                **planning(options),
            )
            _pictures.show_timeline(options, traces)
    if options.json:
        import json

        print(json.dumps(found, indent=2))
    else:
        print("\n".join(lines(found, options.ops)))


def lines(found: Predicted, with_ops: bool) -> Iterable[str]:
    """The report."""
    yield _forecast.label()
    yield f"prices: {found['prices']}"
    yield ""
    kernels = found["kernels"]
    yield from _forecast.table(
        ("super kernel", "ops", "unfused us", "fused us", "gain us", "range", "gain %"),
        [
            (
                kernel["name"],
                str(len(kernel["ops"])),
                _forecast.us(kernel["unfused"]["us"]),
                _forecast.us(kernel["fused"]["us"]),
                _forecast.us(kernel["gain"]["us"]),
                f"{_forecast.us(kernel['gain']['low'])} .. {_forecast.us(kernel['gain']['high'])}",
                f"{kernel['gain_percent']:.1f}",
            )
            for kernel in kernels
        ],
    )
    if len(kernels) > 1:
        yield f"  all: {_forecast.total(kernels)}"
    yield ""
    for kernel in kernels:
        yield f"{_forecast.one_line(kernel['name'])}: {_forecast.reasons(kernel)}"
        for note in kernel["notes"]:
            yield f"  note: {note}"
        if with_ops:
            yield from _forecast.table(
                (
                    "op",
                    "from",
                    "unfused us",
                    "starts",
                    "ends",
                    "imbalance",
                    "decides",
                    "torch" if found["origins"] else "",
                ),
                [
                    (
                        op["name"],
                        op["source"],
                        _forecast.us(op["unfused"]["us"]),
                        _forecast.us(op["start"]),
                        _forecast.us(op["end"]),
                        _forecast.us(op["imbalance"]),
                        "yes" if op["decides"] else "",
                        _forecast.origin_of(found["origins"], op["name"]),
                    )
                    for op in kernel["ops"]
                ],
                left=2,
                last=1,
            )
    for skipped in found["skipped"]:
        yield f"{_forecast.one_line(skipped['name'])}: left out: {skipped['why']}"
