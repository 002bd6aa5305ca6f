"""``superkernel calibrate``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from superkernel.cli import _forecast, _input
from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "calibrate",
        help="fit the prices of the cost model to profiles",
        description="Fit the prices of the cost model to profiles of the same model without and with super kernels, "
        "say which prices the data do not determine, and store them for the SoC.",
    )
    command.add_argument(
        "runs",
        nargs="+",
        metavar="PROFILE",
        help="a folder with no_sk_model and sk_model (the profiler's output of each run) and the model: graph.json, "
        "graph.pbtxt or kernel_infos.json",
    )
    command.add_argument("--model", metavar="FILE", help="the model of all PROFILEs, if it is not beside them")
    _input.add_kernel_name(command)
    command.add_argument("--out", metavar="FILE", help="where the prices go (default: the store of the SoC)")
    _forecast.add_prices(command)
    command.add_argument("--json", action="store_true", help="print the fit as JSON")
    add_settings(command, "soc", "aic_num", "aiv_num")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Fits, stores and prints."""
    import superkernel
    from superkernel import cost

    with superkernel.configure(**given_settings(options)):
        fitted = cost.calibrate(
            options.runs,
            model=options.model,
            name=options.name or _input.DEFAULT_NAME,
            prices=options.prices,
            out=options.out,
        )
    if options.json:
        import json

        print(json.dumps(fitted, indent=2))
    else:
        print("\n".join(lines(fitted)))


def lines(fitted: dict[str, Any]) -> Iterable[str]:
    """The report."""
    from superkernel._build import number_of

    residual = f"{fitted['residual_percent']:.1f} %"
    yield f"fitted to {number_of(fitted['kernels'], 'super kernel')}, which differ from the fit by {residual}"
    yield from _forecast.table(
        ("price", "determined", "us", "+-"),
        [
            (price["name"], "yes" if price["determined"] else "no", f"{price['us']:.4f}", f"{price['error_us']:.4f}")
            for price in fitted["prices"]
        ],
        left=2,
    )
    for price in fitted["prices"]:
        if price["why_not"]:
            yield f"  {price['name']} ({price['meaning']}): {price['why_not']}"
    yield f"stored: {fitted['stored']}"
