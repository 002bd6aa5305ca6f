"""``superkernel build``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from superkernel.cli._settings import add_settings, given_settings
from superkernel.cli.compile import add_build_flags

if TYPE_CHECKING:
    from superkernel.scope import Graph
    from superkernel.types import Predicted


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    from superkernel.cli.scope import add_graph_arguments

    command = subparsers.add_parser(
        "build",
        help="build all super kernels of a model",
        description="Plan the scopes of a marked model and build every super kernel: identical ones once, different "
        "ones in parallel; what is up to date stays, and results are kept in the user's cache. Prints a line per "
        "super kernel: `compiled`, `up to date`, `from cache`, `shared` (the same kernel as that of another piece) or "
        "`failed`. The exit status is 1 if one of them fails.",
    )
    add_graph_arguments(command)
    command.add_argument(
        "--fallback", action="store_true", help="leave members that cannot be built out of their super kernel"
    )
    command.add_argument(
        "--executor",
        metavar="ADDRESS",
        help="build on other machines or processes: dask://HOST:PORT (a scheduler), processes://N",
    )
    add_build_flags(command)
    command.add_argument("--json", action="store_true", help="print the results as JSON")
    command.add_argument(
        "--report",
        metavar="OUT.html",
        help="write a page about the build, and pictures of scopes and programs beside it",
    )
    command.add_argument(
        "--profile",
        action="append",
        default=[],
        metavar="PATH",
        help="also predict the gain, on the page of --report and as a line: the profiler's output of a run without "
        "super kernels, or the JSON of `superkernel profile`; may be given again",
    )
    add_settings(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Builds, with a line per super kernel."""
    import contextlib
    import json

    import superkernel
    from superkernel.cli._progress import model_progress
    from superkernel.cli.scope import planning, read_graph
    from superkernel.pictures.report import collected, write
    from superkernel.scope._remote import connect

    graph = read_graph(options)
    with contextlib.ExitStack() as stack:
        stack.enter_context(superkernel.configure(**given_settings(options)))
        told = stack.enter_context(collected())
        executor = stack.enter_context(connect(options.executor)) if options.executor else None
        progress = stack.enter_context(model_progress(quiet=options.quiet, as_json=options.json))
        # Before the build: what is wrong with a profile is reported at once.
        forecast = _forecast(graph, options, []) if options.profile else None
        build = superkernel.compile_graph(
            graph,
            progress=progress,
            on_plan=progress.planned,
            on_stage=progress.stage,
            fallback=options.fallback,
            executor=executor,
            check=False,
            rebuild=options.rebuild,
            use_cache=not options.no_cache,
            **planning(options),  # type: ignore[arg-type]
        )
        if forecast is not None and build.excluded:
            forecast = _forecast(graph, options, build.excluded)
        if options.report is not None:
            write(options.report, graph, build, told, forecast)
    if options.json:
        print(json.dumps({**build.to_dict(), **({} if forecast is None else {"predicted": forecast})}, indent=2))
    else:
        print(build)
        if forecast is not None:
            from superkernel.cli._forecast import total

            print(f"predicted, not measured: {total(forecast['kernels'])}")
    return 1 if build.of_state("failed") else 0


def _forecast(graph: Graph, options: argparse.Namespace, excluded: list[str]) -> Predicted:
    """What fusing will gain, without the members that run alone."""
    from superkernel import cost
    from superkernel.cli.scope import planning

    planned: dict[str, Any] = {**planning(options), "exclude": [*options.exclude, *excluded]}
    return cost.predict(graph, options.profile, **planned)
