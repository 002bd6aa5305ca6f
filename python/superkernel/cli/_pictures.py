"""``--trace`` and ``--gantt``, which several commands share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from superkernel import _core


def add_timeline(command: argparse.ArgumentParser) -> None:
    """The arguments."""
    command.add_argument(
        "--trace",
        metavar="OUT",
        help="write what every core does when: OUT.html, a page that needs no network, or OUT.json for MindStudio "
        "Insight, ui.perfetto.dev and chrome://tracing",
    )
    command.add_argument("--gantt", action="store_true", help="print a chart of the ops, as wide as the terminal")


def wants_timeline(options: argparse.Namespace) -> bool:
    """Whether one of them was given."""
    return options.trace is not None or bool(options.gantt)


def show_timeline(options: argparse.Namespace, traces: _core.Traces) -> None:
    """Writes and prints what was asked for."""
    import sys

    if options.trace is not None:
        from superkernel import _files
        from superkernel.cli import _streams

        for line in _files.write_traces(options.trace, traces, _streams.write):
            print(f"{options.trace}: {line}", file=sys.stderr)
    if options.gantt:
        print(traces.gantt(terminal_width()), end="")


def terminal_width() -> int:
    """Columns of the terminal; ``COLUMNS`` wins."""
    import shutil

    return max(40, shutil.get_terminal_size((100, 24)).columns)
