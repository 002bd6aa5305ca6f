"""``superkernel plan``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from superkernel.cli._input import add_kernel_infos, read_op_list
from superkernel.cli._pictures import add_timeline, show_timeline, wants_timeline
from superkernel.cli._settings import add_settings

if TYPE_CHECKING:
    from superkernel.types import Planned, PlannedOp


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "plan",
        help="show what a super kernel would be, without building it",
        description="Check an op list and show the super kernel it becomes: type, blocks, parameters, events, ops. "
        "Reads the sub-kernels' JSONs and objects; needs no toolchain and writes nothing. Problems of the "
        "objects that a compile would refuse are printed; `--check` looks for every problem.",
    )
    add_kernel_infos(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the whole plan as JSON")
    form.add_argument("--text", action="store_true", help="print the device program, step by step")
    form.add_argument(
        "--check",
        action="store_true",
        help="print what a compile would refuse (files, functions, options, tools), without compiling; the exit "
        "status is 1 if there is something",
    )
    form.add_argument("--dot", action="store_true", help="print the ops and their order as a graph for Graphviz")
    command.add_argument(
        "--html", metavar="OUT.html", help="write a picture of the device program: one file, for any browser"
    )
    add_timeline(command)
    command.add_argument(
        "--profile",
        action="append",
        default=[],
        metavar="PATH",
        help="durations for --trace and --gantt, and the predicted gain in --html: the profiler's output of a run "
        "without super kernels, or the JSON of `superkernel profile`; without one every op is taken to last the same",
    )
    add_settings(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the plan."""
    import superkernel

    kernel_infos, name, settings = read_op_list(options)
    with superkernel.configure(**settings):
        if options.check:
            return check(kernel_infos, name)
        if options.text:
            from superkernel._generate import program_text

            print(program_text(kernel_infos, name), end="")
            return 0
        if options.html is not None or options.dot:
            show_picture(kernel_infos, name, options)
            if not (wants_timeline(options) or options.json):
                return 0
        if options.json:
            import json

            print(json.dumps(superkernel.plan(kernel_infos, name), indent=2))
        elif not wants_timeline(options):
            print("\n".join(summary(superkernel.plan(kernel_infos, name))))
        if wants_timeline(options):
            from superkernel import cost

            traces, _ = cost.trace(kernel_infos, options.profile, name=name)
            show_timeline(options, traces)
    return 0


def check(kernel_infos: Any, name: str) -> int:
    """Prints what a compile would refuse."""
    from superkernel import _build, _core

    refusals = _core.build_refusals(kernel_infos, name, _build.settings())
    for error_id, message, solution in refusals:
        print(f"{name}: compile would fail [{error_id}]: {message}")
        print(f"  hint: {solution}")
    if not refusals:
        print(f"{name}: nothing that compile would refuse")
    return 1 if refusals else 0


def show_picture(kernel_infos: Any, name: str, options: argparse.Namespace) -> None:
    """Writes and prints the pictures that were asked for."""
    from superkernel import pictures
    from superkernel.cli import _streams

    picture = pictures.of_program(kernel_infos, name)
    if options.html is not None:
        if options.profile:
            from superkernel import cost

            forecast = cost.predict(kernel_infos, options.profile, name=name)
            picture["predicted"] = next(iter(pictures.predictions(forecast).values()), None)
        _streams.write(options.html, pictures.page("program", picture["kernel_name"], picture).encode())
    if options.dot:
        print(pictures.dot(picture), end="")


def summary(plan: Planned) -> Iterable[str]:
    """The plan in a page: the super kernel, then a line per op."""
    form = "two-stream" if plan["two_streams"] else "one-stream"
    yield f"{plan['kernel_name']}: {plan['kernel_type']}, {plan['block_num']} blocks, {form} form"
    copies = "1 code copy" if plan["split_mode"] == 1 else f"{plan['split_mode']} code copies"
    yield f"  for {plan['soc']} ({plan['chip']}), {copies}"
    yield f"  {len(plan['slots'])} parameter slots"
    if plan["workspace_size"]:
        yield f"  workspace {plan['workspace_size']} bytes"
    if plan["debug_option"]:
        yield f"  debug output {plan['debug_option']}, {plan['debug_size']} bytes"
    if plan["inner_events"]:
        yield f"  inner events {_shortened(plan['inner_events'])}"
    yield f"  defines {' '.join(plan['defines'])}"
    yield ""
    yield from _columns(
        [
            ("op", "kernel", "type", "task", "stream", "blocks", "params from", "sends", "receives"),
            *(_row(op) for op in plan["ops"]),
        ]
    )


def _row(op: PlannedOp) -> tuple[str, ...]:
    return (
        str(op["index"]),
        op["kernel_name"],
        op["kernel_type"].replace("KERNEL_TYPE_", ""),
        op["task_type"],
        str(op["stream_id"]),
        str(op["block_num"]),
        str(op["param_offset"]),
        _shortened(op["send_event_list"]),
        _shortened(op["recv_event_list"]),
    )


def _shortened(numbers: list[int], most: int = 8) -> str:
    shown = ", ".join(map(str, numbers[:most]))
    return f"{shown}, ... ({len(numbers)})" if len(numbers) > most else shown


def _columns(rows: list[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
