"""``superkernel torchair``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from superkernel.cli._settings import add_settings, given_settings
from superkernel.cli.scope import add_graph_arguments

if TYPE_CHECKING:
    from superkernel.torchair import DryRun

#: What the script prints must not be taken for results.
_ZEROS = (
    "DRY RUN: no NPU and no CANN; results of operators are zeros of the right shape and type, so comparisons and "
    "values that the script prints mean nothing"
)
_BEFORE = "the plans are those of the graphs that it compiled before"
_REAL = "DRY RUN: no NPU and no CANN; torch runs the model on the CPU, so results are real"


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "torchair",
        help="run a script with TorchAir and without an NPU, and plan every graph it would hand to the engine",
        description="Run a script of TorchAir unchanged, without NPU and CANN, and show per graph what its scopes "
        "become, mistakes in their options and what the engine's order would cut. Results are zeros. The exit status "
        "is 1 if the script fails, or the compiler would refuse a super kernel or the options of a scope.",
    )
    command.add_argument(
        "--wheel", metavar="torch_npu-….whl", help="take TorchAir from this wheel (default: what is installed)"
    )
    command.add_argument(
        "--backend",
        choices=("auto", "torchair", "fx"),
        default="auto",
        help="what traces the model: TorchAir, or torch alone: coarser, with real results on the CPU; `auto`: TorchAir "
        "if there is one (default: %(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print the plans as JSON")
    command.add_argument("--html", metavar="OUT.html", help="write a picture per graph: OUT.html, OUT_2.html, …")
    command.add_argument("--save", metavar="FOLDER", help="write every graph in JSON form, for the other commands")
    command.add_argument(
        "--profile",
        action="append",
        default=[],
        metavar="PATH",
        help="a run of the model without super kernels: also predict what fusing gains, and suggest scopes",
    )
    add_settings(command, "soc", "aic_num", "aiv_num")
    add_graph_arguments(command, "SCRIPT.py", "the script", compile_results=False)
    command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="arguments of the script")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the script, then prints the plans."""
    import json
    import sys

    import superkernel
    from superkernel._errors import SuperKernelError
    from superkernel.cli import report
    from superkernel.cli.scope import planning
    from superkernel.scope._dumps import exclusions
    from superkernel.torchair import COARSE, DryRun, graph_of, plan_of, prepare

    with superkernel.configure(**given_settings(options)):
        process = prepare(options.wheel, backend=options.backend)
        print(f"{_REAL}\n{COARSE}" if process.is_coarse else _ZEROS, file=sys.stderr)
        status = _run_script(options.file, options.arguments)
        captured = process.engine.graphs
        graphs = [graph_of(entry) for entry in captured]
        found = DryRun((), coarse=process.is_coarse)
        arguments = []
        for entry, graph, excluded in zip(captured, graphs, exclusions(options.exclude, graphs)):
            asked: dict[str, Any] = {**planning(options), "exclude": excluded}
            try:
                found.graphs.append(plan_of(entry, graph, **asked))
                arguments.append(asked)
            except SuperKernelError as error:
                # The others are shown all the same.
                report(error)
                status = 1
        if options.json:
            print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        else:
            _print(found, options, arguments)
        _write(found, options)
    if not found.graphs and not status:
        print(
            "superkernel: the script handed no graph to the engine: does it call a model that was compiled with the "
            "backend of torchair.get_npu_backend(), in mode max-autotune? (captured graphs, of other modes and "
            "backends, do not go through the engine)",
            file=sys.stderr,
        )
    return 1 if status or not found.graphs or found.blocked or found.mistakes else 0


def _run_script(path: str, arguments: list[str]) -> int:
    """Runs a script as Python would; its exit status."""
    import os
    import runpy
    import sys
    import traceback

    from superkernel._errors import make_error

    if not os.path.isfile(path):
        raise make_error("SK0001", f"cannot read `{path}`: it is no file", "name the script")
    kept, sys.argv = sys.argv, [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as exit:
        if exit.code in (None, 0):
            return 0
        if not isinstance(exit.code, int):
            print(exit.code, file=sys.stderr)
        status = exit.code if isinstance(exit.code, int) else 1
        print(f"superkernel: the script ended with exit status {status}; {_BEFORE}", file=sys.stderr)
        return status
    except Exception:
        traceback.print_exc()
        print(f"superkernel: the script failed; {_BEFORE}", file=sys.stderr)
        return 1
    finally:
        sys.argv = kept
        sys.path.pop(0)
        sys.stdout.flush()
    return 0


def _print(found: DryRun, options: argparse.Namespace, arguments: list[dict[str, Any]]) -> None:
    from superkernel import cost
    from superkernel._errors import SuperKernelError
    from superkernel.cli import predict, suggest
    from superkernel.torchair import COARSE

    if found.coarse:
        print(COARSE)
    for number, (planned, planning) in enumerate(zip(found.graphs, arguments)):
        if number:
            print()
        print(str(planned.plan), end="")
        if not options.profile:
            continue
        asked: tuple[tuple[str, Callable[..., Any], Callable[[Any], Iterable[str]]], ...] = (
            ("predict", cost.predict, lambda answer: predict.lines(answer, False)),
            ("suggest", cost.suggest, suggest.lines),
        )
        for name, ask, lines in asked:
            print(f"\n{name}:")
            try:
                answer = ask(planned.graph, options.profile, **planning)
                print("\n".join(lines(answer)))
            except SuperKernelError as error:
                print(f"  {error}")


def _write(found: DryRun, options: argparse.Namespace) -> None:
    from pathlib import Path

    from superkernel import pictures
    from superkernel.cli import _streams

    if options.save is not None:
        Path(options.save).mkdir(parents=True, exist_ok=True)
    for number, planned in enumerate(found.graphs, 1):
        name = planned.graph.name or f"graph_{number}"
        if options.save is not None:
            planned.graph.write(Path(options.save) / f"{number}_{name.replace('/', '_')}.json")
        if options.html is not None:
            data = pictures.of_scopes(planned.graph, planned.plan)
            page = pictures.page("scope", f"Scopes of {name}", data)
            target = Path(options.html)
            path = target if number == 1 else target.with_name(f"{target.stem}_{number}{target.suffix}")
            _streams.write(str(path), page.encode())
