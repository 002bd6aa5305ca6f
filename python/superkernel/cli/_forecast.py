"""What ``predict``, ``tune`` and ``suggest`` share: their arguments and their tables."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from superkernel._errors import with_paths
from superkernel.cli._input import DEFAULT_NAME, OpList, recorded_build
from superkernel.cli._settings import add_settings, given_settings
from superkernel.cli.scope import add_graph_arguments, read_graph


def label() -> str:
    """The line above every table: a prediction must not be taken for a measurement."""
    return with_paths("PREDICTED by the cost model (docs/cost-model.md), not measured")


def add_arguments(command: argparse.ArgumentParser, metavar: str, description: str) -> None:
    """The model, its profile, the prices, the form of the output."""
    add_graph_arguments(command, metavar, description)
    command.add_argument(
        "--profile",
        action="append",
        required=True,
        metavar="PATH",
        help="a run of the model without super kernels: op_summary*.csv, kernel_details.csv, op_statistic.csv, the "
        "JSON of a profiling buffer, or the profiler's folder; may be given again",
    )
    add_prices(command)
    command.add_argument("--json", action="store_true", help="print everything as JSON")
    add_settings(command, "soc", "aic_num", "aiv_num")


def add_prices(command: argparse.ArgumentParser) -> None:
    """``--prices``."""
    command.add_argument(
        "--prices", metavar="FILE", help="prices to use (default: those stored for the SoC, else round numbers)"
    )


def read_model(options: argparse.Namespace) -> OpList:
    """The op list of a built kernel, or the file, or the graph in it if compile results are to be taken along."""
    is_folder = os.path.isdir(options.file)
    recorded = None if is_folder else recorded_build(options.file, options)
    if recorded is not None:
        return recorded
    model = read_graph(options) if is_folder or options.compile_results else options.file
    return OpList(model, options.name or DEFAULT_NAME, given_settings(options))


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1, *, last: int = 0) -> Iterable[str]:
    """Columns; the first ``left`` and the ``last`` ones are text, the rest numbers."""
    lines = [tuple(header), *(tuple(map(one_line, row)) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = (
            cell.ljust(width) if column < left or column >= len(header) - last else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        )
        yield "  " + "  ".join(cells).rstrip()


def one_line(name: str) -> str:
    """A name on one line: control characters as they are written in source code."""
    return "".join(letter if letter >= " " and letter != "\x7f" else ascii(letter)[1:-1] for letter in name)


def origin_of(origins: dict[str, dict[str, str]], name: str) -> str:
    """Where an op comes from, in the user's words: torch operator, node of the traced graph, line of Python."""
    return ", ".join(filter(None, origins.get(name, {}).values()))


def us(value: float) -> str:
    """Microseconds with two digits."""
    # Adding zero makes -0.0 a plain one.
    return f"{round(value, 2) + 0.0:.2f}"


def interval(estimate: dict[str, float]) -> str:
    """A value and its range."""
    return f"{us(estimate['us'])} ({us(estimate['low'])} .. {us(estimate['high'])})"


def reasons(kernel: Mapping[str, Any], most: int = 3) -> str:
    """The largest reasons of a gain, signed."""
    return ", ".join(f"{reason['what']} {round(reason['us'], 2) + 0.0:+.2f}" for reason in kernel["reasons"][:most])


def total(kernels: Sequence[Mapping[str, Any]]) -> str:
    """The time of all super kernels together, before and after."""
    before = sum(kernel["unfused"]["us"] for kernel in kernels)
    after = sum(kernel["fused"]["us"] for kernel in kernels)
    return f"{us(before)} us -> {us(after)} us ({100 * (before - after) / before if before > 0 else 0:.1f} %)"
