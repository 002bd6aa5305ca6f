"""``superkernel build``."""

from __future__ import annotations

import argparse

from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    from superkernel.cli.scope import add_graph_arguments

    command = subparsers.add_parser(
        "build",
        help="build all super kernels of a model",
        description="Plan the scopes of a marked model and build every super kernel: identical ones once, different "
        "ones in parallel. The exit status is 1 if one of them fails.",
    )
    add_graph_arguments(command)
    command.add_argument("-j", type=int, dest="parallel", metavar="N", help="super kernels built at the same time")
    command.add_argument(
        "--fallback", action="store_true", help="leave members that cannot be built out of their super kernel"
    )
    command.add_argument(
        "--executor",
        metavar="ADDRESS",
        help="build on other machines or processes: dask://HOST:PORT (a scheduler), processes://N",
    )
    command.add_argument("--json", action="store_true", help="print the results as JSON")
    add_settings(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Builds, with a line per super kernel."""
    import contextlib
    import json
    import sys

    import superkernel
    from superkernel.cli.scope import planning, read_graph
    from superkernel.scope import KernelResult
    from superkernel.scope._remote import connect

    def show(done: int, total: int, result: KernelResult) -> None:
        print(f"[{done}/{total}] {result}", file=sys.stderr if options.json else sys.stdout, flush=True)

    graph = read_graph(options)
    with contextlib.ExitStack() as stack:
        stack.enter_context(superkernel.configure(**given_settings(options)))
        executor = stack.enter_context(connect(options.executor)) if options.executor else None
        build = superkernel.compile_graph(
            graph,
            jobs=options.parallel,
            progress=show,
            fallback=options.fallback,
            executor=executor,
            check=False,
            **planning(options),  # type: ignore[arg-type]
        )
    print(json.dumps(build.to_dict(), indent=2) if options.json else build)
    return 1 if build.of_state("failed") else 0
