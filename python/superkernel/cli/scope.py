"""``superkernel scope``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from superkernel.cli._parser import text
from superkernel.cli._settings import add_settings, given_settings

if TYPE_CHECKING:
    from superkernel._errors import SuperKernelError
    from superkernel.scope import Graph, Piece, ScopePlan
    from superkernel.scope._built import BuiltKernel
    from superkernel.scope._dumps import Dump


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "scope",
        help="show what the scopes of a model become, and why",
        description="Show per scope of a marked model: its super kernels, their ops, where it was cut, what was left "
        "out and why. A graph from before compilation is planned as a prediction. The exit status is 1 if the compiler "
        "would refuse a super kernel or the options of a scope; a graph that names no kernel files at all is only "
        "looked at.",
    )
    add_graph_arguments(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the whole plan as JSON")
    form.add_argument("--graph", action="store_true", help="print the graph itself in JSON form")
    command.add_argument(
        "--built",
        metavar="PATH",
        help="compare with what the engine built: its ge_proto_*AfterSkGraph* or a folder with that and the "
        "…super_kernel_sub_graph0 files (this reader is unverified)",
    )
    command.add_argument(
        "--html", metavar="OUT.html", help="write a picture of the scopes, their super kernels and cuts: one file"
    )
    add_settings(command, "soc", "aic_num", "aiv_num")
    command.set_defaults(run=run)


def add_graph_arguments(
    command: argparse.ArgumentParser,
    metavar: str = "GRAPH",
    description: str = "a graph in JSON form (docs/scopes.md), or a dump of TorchAir or the graph engine in any form",
    *,
    compile_results: bool = True,
) -> None:
    """The graph and how it is planned."""
    command.add_argument("file", metavar=metavar, help=description)
    command.add_argument("--compat", action="store_true", help="follow the reference stack value for value")
    command.add_argument("--fuse-single-ops", action="store_true", help="also build super kernels of one op")
    command.add_argument(
        "--hazards",
        choices=("cut", "refuse"),
        default="cut",
        help="what to do with a piece that could wait for itself (default: %(default)s)",
    )
    command.add_argument(
        "--cuts",
        choices=("all-streams", "per-stream"),
        default="all-streams",
        help="what a cut separates: all streams of the scope, or only what depends on it (default: %(default)s)",
    )
    command.add_argument(
        "--exclude", type=text, action="append", default=[], metavar="NODE", help="leave this node out"
    )
    command.add_argument(
        "--tiling-on-aicpu",
        type=text,
        action="append",
        default=[],
        metavar="TYPE",
        help="the tiling of this op type may run on the AICPU",
    )
    command.add_argument(
        "--not-fusable",
        type=types,
        action="extend",
        default=[],
        metavar="TYPE[,TYPE]",
        help="ops of these types cannot be fused, whatever the graph says",
    )
    command.add_argument(
        "--fusable",
        type=types,
        action="extend",
        default=[],
        metavar="TYPE[,TYPE]",
        help="ops of these types can be fused, whatever the graph says",
    )
    command.add_argument(
        "--order",
        choices=("program", "engine", "both"),
        default="both",
        help="the order ops run in, of a graph from before compilation; `both` plans the program's and reports what "
        "the engine's own would cut besides (default: %(default)s)",
    )
    if compile_results:
        command.add_argument(
            "--compile-results",
            action="store_true",
            help="take supportSuperKernel and localMemorySize from the JSONs the ops name",
        )


def types(value: str) -> list[str]:
    """Op types separated by commas."""
    return [name for name in (part.strip() for part in text(value).split(",")) if name]


def read_graph(options: argparse.Namespace) -> Graph:
    """The graph of the command line."""
    import os
    from pathlib import Path

    from superkernel.cli import _streams
    from superkernel.scope import Graph
    from superkernel.scope._dumps import only_one_in
    from superkernel.scope._graph import refuse_view

    refuse_view(options.file)
    if os.path.isdir(options.file):
        return only_one_in(Path(options.file), compile_results=options.compile_results)
    # A stream has no folder.
    folder = os.path.dirname(options.file) if _streams.stream_number(options.file) is None else ""
    return Graph.parse(_streams.read(options.file), compile_results=options.compile_results, folder=folder)


def planning(options: argparse.Namespace) -> dict[str, object]:
    """Arguments of ``superkernel.scope.plan`` from the command line."""
    return {
        "compat": options.compat,
        "fuse_single_ops": True if options.fuse_single_ops else None,
        "hazards": options.hazards,
        "cuts": options.cuts,
        "tiling_on_aicpu": options.tiling_on_aicpu,
        "exclude": options.exclude,
        "fusable": options.fusable,
        "not_fusable": options.not_fusable,
        "order": options.order,
    }


def run(options: argparse.Namespace) -> int:
    """Prints the plan, or those of all graphs in a folder, and what the engine built."""
    import os
    from pathlib import Path

    from superkernel._errors import SuperKernelError
    from superkernel.cli import report
    from superkernel.scope import Graph, _built
    from superkernel.scope._dumps import exclusions, graphs_in, nothing_in

    if not os.path.isdir(options.file):
        kernels = None if options.built is None else _built.read(Path(options.built))
        single = read_graph(options)
        if _built.kernels_of([single]):
            _print(_told_of_kernels(options, _built.read(Path(options.file))))
            return 0
        status, told = _run_one(options, single, options.html, kernels, planning(options))
        _print(told)
        return status
    folder = Path(options.file)
    found = graphs_in(folder)
    kernels = _built.beside(folder) if options.built is None else _built.read(Path(options.built))
    if not found:
        if kernels is None:
            raise nothing_in(folder)
        _print(_told_of_kernels(options, kernels or _built.read(folder)))
        return 0
    worst = 0
    documents = []
    graphs = [_read_or_error(dump, options) for dump in found]
    excluded = exclusions(options.exclude, [graph for graph in graphs if isinstance(graph, Graph)])
    for number, (dump, graph) in enumerate(zip(found, graphs), 1):
        if not (options.json or options.graph):
            print(f"{'' if number == 1 else chr(10)}{dump.title}: {dump.path}", flush=True)
        page = options.html
        if page is not None and number > 1:
            page = str(Path(page).with_name(f"{Path(page).stem}_{number}{Path(page).suffix}"))
        try:
            if isinstance(graph, SuperKernelError):
                raise graph
            status, told = _run_one(options, graph, page, kernels, {**planning(options), "exclude": next(excluded)})
        except SuperKernelError as error:
            # The others are shown all the same.
            report(error)
            status, told = 1, {"error": error.errorinfo}
        worst = max(worst, status)
        if isinstance(told, str):
            _print(told)
        elif isinstance(told, dict):
            documents.append({"title": dump.title, "path": str(dump.path), **told})
    if options.json or options.graph:
        _print({"graphs": documents})
    return worst


def _read_or_error(dump: Dump, options: argparse.Namespace) -> Graph | SuperKernelError:
    from superkernel._errors import SuperKernelError
    from superkernel.scope._dumps import read

    try:
        return read(dump, compile_results=options.compile_results)
    except SuperKernelError as error:
        return error


def _told_of_kernels(options: argparse.Namespace, kernels: list[BuiltKernel]) -> object:
    """What the engine built, without a plan to compare with."""
    from superkernel.scope._built import UNVERIFIED, lines

    if options.json:
        return {"unverified": UNVERIFIED, "built": [kernel._asdict() for kernel in kernels]}
    return "\n".join([*lines(kernels), ""])


def _print(told: object) -> None:
    """The report, or a document as JSON."""
    import json

    print(told if isinstance(told, str) else json.dumps(told, indent=2, ensure_ascii=False) + "\n", end="")


def _run_one(
    options: argparse.Namespace,
    graph: Graph,
    page: str | None,
    kernels: list[BuiltKernel] | None,
    arguments: dict[str, object],
) -> tuple[int, object]:
    """The exit status, and what to print."""
    import superkernel
    from superkernel.scope import _built, plan

    if options.graph:
        return 0, graph.to_dict()
    with superkernel.configure(**given_settings(options)):
        planned = plan(graph, **arguments)  # type: ignore[arg-type]
    if page is not None:
        from superkernel import pictures
        from superkernel.cli import _streams

        data = pictures.of_scopes(graph, planned)
        title = f"Scopes of {data['plan']['graph'] or 'a model'}"
        _streams.write(page, pictures.page("scope", title, data).encode())
    told: object = planned.to_dict() if options.json else str(planned)
    if kernels is not None:
        differences = _built.compare(planned, kernels)
        if isinstance(told, dict):
            compared = [{**difference._asdict(), "same": difference.is_same} for difference in differences]
            told = {
                **told, "unverified": _built.UNVERIFIED,
                "built": [kernel._asdict() for kernel in kernels], "compared": compared,
            }  # fmt: skip
        else:
            told = "\n".join([str(told), *_built.lines(kernels, differences), ""])
    return int(bool(_refused(planned) or planned.mistakes)), told


def _refused(planned: ScopePlan) -> bool:
    """Would the compiler refuse a piece? That all files are missing is no mistake of one who only looks."""
    missing = {name for piece in planned.pieces for name in _without_files(piece)}
    only_looks = missing.issuperset(name for piece in planned.pieces for name in piece.members)
    return any(problem.id != _NO_FILES or not only_looks for piece in planned.blocked for problem in piece.problems)


_NO_FILES = "SK1020"


def _without_files(piece: Piece) -> Iterable[str]:
    return (name for problem in piece.problems if problem.id == _NO_FILES for name in problem.unfusable)
