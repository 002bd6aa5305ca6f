"""``superkernel run``."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from superkernel.cli import _input
from superkernel.cli._parser import text
from superkernel.cli._pictures import add_timeline, show_timeline, wants_timeline
from superkernel.cli._settings import add_settings, given_settings

if TYPE_CHECKING:
    from superkernel._core import Traces
    from superkernel.sim import Device, Kernel, Verdict

#: More events than this are not drawn; the trace says so.
MOST_EVENTS = 2_000_000
#: What a parameter gets that is not given.
_USUAL = "float32:16384"
#: Seconds for one run of a kernel: far more than any needs that ends.
_TIMEOUT = 60.0
#: Exit status where nothing could be run.
NO_ANSWER = 2


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "run",
        help="run a super kernel on the simulator, in many orders, and compare it with its ops alone",
        description="Build a super kernel for this machine and run it on the simulator: many schedules, both rules of "
        "counting arrivals, late cores, pipes checked and reordered, caches coherent and strict, local memory with "
        "different contents at the start; compare its results with those of the ops one after another. Exit status 0: "
        "all checks ran and found nothing; 1: something was found, or a check could not run; 2: nothing could be run. "
        "Every finding is printed with its id and with the command that repeats it.",
    )
    _input.add_kernel_infos(command)
    command.add_argument(
        "--piece", type=text, metavar="NAME", help="of a marked graph: this super kernel alone (default: all of them)"
    )
    command.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help="number of seeds (default: 100; with --time as many as there is time for)",
    )
    command.add_argument(
        "--time", type=float, metavar="SECONDS", help="for each super kernel: begin no further seed after so long"
    )
    command.add_argument("--seed", type=int, metavar="N", help="run this seed alone")
    command.add_argument("--first-seed", type=int, default=0, metavar="N", help="the first seed (default: 0)")
    command.add_argument(
        "--tool",
        type=text,
        metavar="NAMES",
        help="what to look for: order, race, pipe, cache, init, bounds, autosync, with commas between them (default: "
        "all but autosync)",
    )
    command.add_argument(
        "--allow-unchecked",
        type=text,
        action="append",
        default=[],
        metavar="NAMES",
        help="do not fail where these could not be checked: names of tools, or `results`",
    )
    command.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what a parameter holds: FILE.npy; TYPE:SHAPE for random values (float32:128x64); zeros:TYPE:SHAPE; "
        "a number; @OTHER for the memory of another parameter; may be given again",
    )
    command.add_argument(
        "--others", default=_USUAL, metavar="VALUE", help="the same for all other parameters (default: %(default)s)"
    )
    command.add_argument(
        "--input-seed", type=int, default=0, metavar="N", help="start of the random values (default: 0)"
    )
    command.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="what a parameter must hold in the end, within --rtol and --atol; may be given again",
    )
    command.add_argument(
        "--tiling-key",
        action="append",
        default=[],
        metavar="OP=KEY[:BLOCKS]",
        help="key of a dynamic op; again for others",
    )
    command.add_argument("--ignore", action="append", default=[], metavar="NAME", help="a parameter not to compare")
    command.add_argument(
        "--rtol", type=float, default=0.0, help="relative difference that counts as equal (default: 0)"
    )
    command.add_argument(
        "--atol", type=float, default=0.0, help="absolute difference that counts as equal (default: 0)"
    )
    command.add_argument("--all", action="store_true", help="do not stop at the first seed that finds something")
    command.add_argument(
        "--timeout",
        type=float,
        default=_TIMEOUT,
        metavar="SECONDS",
        help="for one run of the kernel (default: %(default)s)",
    )
    command.add_argument(
        "--executor",
        metavar="ADDRESS",
        help="run seeds on other machines or processes: dask://HOST:PORT (a scheduler), processes://N (as -j N)",
    )
    command.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    command.add_argument("--junit", metavar="OUT.xml", help="write the verdicts for CI systems: a test for each tool")
    add_timeline(command)
    command.add_argument(
        "--trace-instructions",
        action="store_true",
        help="with --trace: a track for every pipe of a core, with its instructions (cycles of a rough model, "
        "stretched to the steps of the core)",
    )
    add_settings(command, "soc", "aic_num", "aiv_num", "ascendc", "tool_timeout", "jobs")
    command.set_defaults(run=run, failed=NO_ANSWER)


def run(options: argparse.Namespace) -> int:
    """Prints the verdict; 1 if something was found, or could not be looked for."""
    import json

    import superkernel
    from superkernel.cli import _verdicts

    settings = {**given_settings(options), "toolchain": "host"}
    allowed = _verdicts.allowed(options.allow_unchecked)
    verdicts: list[Verdict] = []
    with superkernel.configure(**settings), _executor(options) as executor:
        for kernel, shared in _kernels(options):
            with _verdicts.progress(kernel.name, quiet=options.json, budget=options.time) as progress:
                verdict = _verdict(kernel, options, shared, executor=executor, progress=progress)
            verdicts.append(verdict)
            if not options.json:
                _tell(options, verdict, allowed)
            if wants_timeline(options):
                traces = _traces(kernel, options, verdict, shared)
                if traces is None:
                    print("no timeline: no run of the super kernel came to an end", file=sys.stderr)
                else:
                    show_timeline(options, traces)
    if options.json:
        told = [_verdicts.as_dict(verdict, allowed, lambda finding: _repeat(options, finding)) for verdict in verdicts]
        print(json.dumps(told, indent=2))
    if options.junit is not None:
        _verdicts.write_junit(options.junit, verdicts, allowed)
    return 0 if all(verdict.ok and not verdict.not_allowed(allowed) for verdict in verdicts) else 1


def _tell(options: argparse.Namespace, verdict: Verdict, allowed: frozenset[str]) -> None:
    print(verdict)
    for finding in verdict.findings:
        if finding.repeatable:
            print(f"repeat: {_repeat(options, finding)}")
    refused = verdict.not_allowed(allowed)
    if verdict.ok and refused:
        print(f"failed: {', '.join(refused)} could not be checked; --allow-unchecked {','.join(refused)} accepts it")


# -- what is run -----------------------------------------------------------------------------------------------------


def _kernels(options: argparse.Namespace) -> Iterator[tuple[Kernel, dict[str, str]]]:
    """What the file stands for, built and loaded, with parameters that are the memory of another one."""
    from superkernel._scratch import ScratchFolder
    from superkernel.cli import _graphs
    from superkernel.sim import Device

    with ScratchFolder("run") as folder:
        graph = _graphs.graph_of(options)
        if graph is not None:
            for piece in _graphs.pieces(graph, options):
                infos, name, _ = _input.with_options(_input.OpList(piece.kernel_infos, piece.kernel_name, {}), options)
                with Device() as device:
                    kernel = _built(device, infos, name, folder)
                    yield kernel, _graphs.shared(graph, piece, kernel.parameters)
            return
        kernel_infos = _input.read_written(options.file)
        with Device() as device:
            if isinstance(kernel_infos, dict) and "op_list" not in kernel_infos:
                # What is no kernel is reported by what loads it.
                yield device.load(options.file), {}
            else:
                infos, name, _ = _input.with_options(
                    _input.OpList(kernel_infos, options.name or _input.DEFAULT_NAME, {}), options
                )
                yield _built(device, infos, name, folder), {}


def _built(device: Device, kernel_infos: Any, name: str, folder: str) -> Kernel:
    import superkernel

    with superkernel.configure(kernel_meta_parent_dir=folder):
        superkernel.compile(kernel_infos, name)
    return device.load(f"{folder}/kernel_meta/{name}.json")


@contextlib.contextmanager
def _executor(options: argparse.Namespace) -> Iterator[Executor | None]:
    from superkernel.scope._remote import connect

    jobs = given_settings(options).get("jobs")
    address = options.executor or (f"processes://{jobs}" if jobs is not None and jobs > 1 else None)
    if address is None:
        yield None
        return
    with connect(address) as executor:
        yield executor


def _verdict(
    kernel: Kernel, options: argparse.Namespace, shared: dict[str, str], *, seed: int | None = None, **more: Any
) -> Verdict:
    from superkernel.sim.inputs import Inputs, expected

    seed = options.seed if seed is None else seed
    inputs = Inputs(options.input, options.others, options.input_seed, shared)
    keys = _tiling_keys(options.tiling_key)
    is_lone = not kernel.description.ops and not kernel.description.is_super_kernel and len(keys) == 1
    return kernel.check(
        inputs.arguments(kernel.parameters),
        seeds=options.seeds if seed is None else 1,
        first_seed=options.first_seed if seed is None else seed,
        time=options.time,
        tools=options.tool,
        most_findings=10**9 if options.all else 1,
        rtol=options.rtol,
        atol=options.atol,
        ignore=options.ignore,
        expect=expected(options.expect),
        timeout=options.timeout,
        tiling_key=_lone_key(keys) if is_lone else keys,
        block_dim=_lone_blocks(keys) if is_lone else None,
        **more,
    )


def _traces(kernel: Kernel, options: argparse.Namespace, verdict: Verdict, shared: dict[str, str]) -> Traces | None:
    """One more run, with all events: of a seed that found something, otherwise of the first.

    Nothing where an op alone is at fault, so that the super kernel is not run, or where a run does not come back.
    """
    found = [finding.variation.seed for finding in verdict.findings if finding.repeatable]
    first = options.first_seed if options.seed is None else options.seed
    events = "instructions" if options.trace_instructions else "sync"
    again = _verdict(kernel, options, shared, seed=found[0] if found else first, events=events, event_limit=MOST_EVENTS)
    return None if again.last is None or not again.last.came_back else again.last.traces()


def _tiling_keys(given: list[str]) -> dict[int | str, int | tuple[int, int]]:
    from superkernel.sim import _arguments as check

    keys: dict[int | str, int | tuple[int, int]] = {}
    for word in given:
        op, _, value = word.partition("=")
        key, _, blocks = value.partition(":")
        if not op or not key.isdecimal() or (blocks and not blocks.isdecimal()):
            raise check.refuse(f"--tiling-key {word}", "write OP=KEY or OP=KEY:BLOCKS, OP being its place or its name")
        keys[int(op) if op.isdecimal() else op] = (int(key), int(blocks)) if blocks else int(key)
    return keys


def _lone_key(keys: dict[int | str, int | tuple[int, int]]) -> int:
    (key,) = keys.values()
    return key[0] if isinstance(key, tuple) else key


def _lone_blocks(keys: dict[int | str, int | tuple[int, int]]) -> int | None:
    (key,) = keys.values()
    return key[1] if isinstance(key, tuple) else None


def _repeat(options: argparse.Namespace, finding: Any) -> str:
    """The shortest command that finds it again."""
    words = ["superkernel", "run", options.file, "--seed", str(finding.variation.seed)]
    if finding.again_with:
        words += ["--tool", ",".join(str(tool) for tool in finding.again_with)]
    if options.piece is not None:
        words += ["--piece", options.piece]
    for flag in ("name", "input_seed", "others", "timeout", "options", "sync", "rtol", "atol"):
        if getattr(options, flag) not in (None, _USUAL_VALUES[flag]):
            words += [f"--{flag.replace('_', '-')}", str(getattr(options, flag))]
    for flag in ("input", "expect", "tiling_key", "ignore"):
        for value in getattr(options, flag):
            words += [f"--{flag.replace('_', '-')}", value]
    for name, value in given_settings(options).items():
        if name != "jobs":
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


#: What need not be repeated.
_USUAL_VALUES: dict[str, Any] = {
    "name": "ascendc_super_kernel_plus",
    "input_seed": 0,
    "others": _USUAL,
    "timeout": _TIMEOUT,
    "options": None,
    "sync": None,
    "rtol": 0.0,
    "atol": 0.0,
}
