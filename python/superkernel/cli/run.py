"""``superkernel run``."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any

from superkernel.cli._input import add_kernel_infos, read_kernel_infos
from superkernel.cli._pictures import add_timeline, show_timeline, wants_timeline
from superkernel.cli._settings import add_settings, given_settings

if TYPE_CHECKING:
    from superkernel._core import Traces
    from superkernel.sim import Kernel, Verdict

#: More events than this are not drawn; the trace says so.
MOST_EVENTS = 2_000_000
#: What a parameter gets that nobody gave.
_USUAL = "float32:16384"


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "run",
        help="run a super kernel on the simulator, in many orders, and compare it with its ops alone",
        description="Build a super kernel for this machine and run it on the simulator: many schedules, both rules of "
        "counting arrivals, late cores; compare its results with those of the ops one after another. Status 1 if "
        "anything is wrong; a seed that found something is printed with the command that repeats it.",
    )
    add_kernel_infos(command)
    command.add_argument("--seeds", type=int, default=100, metavar="N", help="number of seeds (default: %(default)s)")
    command.add_argument("--seed", type=int, metavar="N", help="run this seed alone")
    command.add_argument("--first-seed", type=int, default=0, metavar="N", help="the first seed (default: 0)")
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
        "--tiling-key",
        action="append",
        default=[],
        metavar="OP=KEY[:BLOCKS]",
        help="key of a dynamic op; again for others",
    )
    command.add_argument("--ignore", action="append", default=[], metavar="NAME", help="a parameter not to compare")
    command.add_argument("--rtol", type=float, default=0.0, help="relative difference that counts as none (default: 0)")
    command.add_argument("--atol", type=float, default=0.0, help="absolute difference that counts as none (default: 0)")
    command.add_argument("--all", action="store_true", help="do not stop at the first seed that finds something")
    add_timeline(command)
    command.add_argument(
        "--pipes",
        action="store_true",
        help="with --trace: a track for every pipe of a core, with its instructions (cycles of a rough model, "
        "stretched to the steps of the core)",
    )
    add_settings(command, "soc", "aic_num", "aiv_num", "ascendc", "tool_timeout")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the verdict; 1 if something was found."""
    import superkernel
    from superkernel._scratch import ScratchFolder
    from superkernel.sim import Device

    kernel_infos = read_kernel_infos(options)
    settings = {**given_settings(options), "toolchain": "host"}
    with superkernel.configure(**settings), ScratchFolder("run") as folder, Device() as device:
        if isinstance(kernel_infos, dict) and "op_list" not in kernel_infos and "kernelName" in kernel_infos:
            kernel = device.load(options.file)
        else:
            with superkernel.configure(kernel_meta_parent_dir=folder):
                superkernel.compile(kernel_infos, options.name)
            kernel = device.load(f"{folder}/kernel_meta/{options.name}.json")
        alone = options.seed is not None
        verdict = _verdict(
            kernel, options, 1 if alone else options.seeds, options.seed if alone else options.first_seed
        )
        traces = _traces(kernel, options, verdict) if wants_timeline(options) else None
    print(verdict)
    if traces is not None:
        show_timeline(options, traces)
    elif wants_timeline(options):
        print("no timeline: no run of the super kernel came to an end", file=sys.stderr)
    if verdict.ok:
        return 0
    for finding in verdict.findings:
        if finding.repeatable:
            print(f"repeat: {_repeat(options, finding.variation.seed)}")
    return 1


def _verdict(kernel: Kernel, options: argparse.Namespace, seeds: int, first_seed: int, **more: Any) -> Verdict:
    from superkernel.sim.inputs import Inputs

    inputs = Inputs(options.input, options.others, options.input_seed)
    return kernel.check(
        inputs.arguments(kernel.parameters),
        seeds=seeds,
        first_seed=first_seed,
        most_findings=10**9 if options.all else 1,
        rtol=options.rtol,
        atol=options.atol,
        ignore=options.ignore,
        tiling_key=_tiling_keys(options.tiling_key),
        **more,
    )


def _traces(kernel: Kernel, options: argparse.Namespace, verdict: Verdict) -> Traces | None:
    """One more run, with all events: of a seed that found something, otherwise of the first.

    Nothing where an op alone is at fault, so that the super kernel is not run, or where a run does not come back.
    """
    found = [finding.variation.seed for finding in verdict.findings if finding.repeatable]
    first = options.first_seed if options.seed is None else options.seed
    events = "instructions" if options.pipes else "sync"
    again = _verdict(kernel, options, 1, found[0] if found else first, events=events, event_limit=MOST_EVENTS)
    return None if again.last is None or not again.last.came_back else again.last.traces()


def _tiling_keys(given: list[str]) -> dict[int | str, int | tuple[int, int]]:
    from superkernel.sim import _arguments as check

    keys: dict[int | str, int | tuple[int, int]] = {}
    for text in given:
        op, _, value = text.partition("=")
        key, _, blocks = value.partition(":")
        if not op or not key.isdecimal() or (blocks and not blocks.isdecimal()):
            raise check.refuse(f"--tiling-key {text}", "write OP=KEY or OP=KEY:BLOCKS, OP being its place or its name")
        keys[int(op) if op.isdecimal() else op] = (int(key), int(blocks)) if blocks else int(key)
    return keys


def _repeat(options: argparse.Namespace, seed: int) -> str:
    """The command that runs this seed again."""
    words = ["superkernel", "run", options.file, "--seed", str(seed), "--name", options.name]
    words += ["--input-seed", str(options.input_seed), "--others", options.others]
    for flag in ("input", "tiling_key", "ignore"):
        for value in getattr(options, flag):
            words += [f"--{flag.replace('_', '-')}", value]
    for flag in ("options", "rtol", "atol"):
        if getattr(options, flag):
            words += [f"--{flag}", str(getattr(options, flag))]
    for name, value in given_settings(options).items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)
