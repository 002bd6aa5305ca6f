"""``superkernel sim``."""

from __future__ import annotations

import argparse
from typing import Any

from superkernel.cli._parser import add_asserts, text
from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "sim",
        help="run a program with kernels of its own on the simulator",
        description="Compile a program whose host and kernel code share one file (`kernel<<<blocks, memory, "
        "stream>>>(arguments)`) with the host's compiler and run it: kernels on simulated cores, host code as it is. "
        "The exit status is that of the program; a launch that fails ends it with a report and status 1.",
    )
    command.add_argument("-D", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro")
    command.add_argument("-I", action="append", default=[], metavar="FOLDER", help="look for included files there too")
    command.add_argument("--source", action="append", default=[], metavar="FILE", help="another source of the program")
    command.add_argument("--library", action="append", default=[], metavar="FILE", help="link this library too")
    command.add_argument(
        "--option", action="append", default=[], help="another argument of the compiler (--option=-O2)"
    )
    command.add_argument("--seed", type=int, help="let cores go on in a random order")
    command.add_argument(
        "--tool",
        type=text,
        metavar="NAMES",
        help="what to look for in every launch, with commas between them: race, pipe, cache, init, bounds, autosync. "
        "What cannot be checked ends the program, as a finding does",
    )
    command.add_argument(
        "--allow-unchecked",
        type=text,
        action="append",
        default=[],
        metavar="NAMES",
        help="with --tool: go on where these could not be checked",
    )
    command.add_argument("--timeout", type=float, metavar="SECONDS", help="for each launch (default: none)")
    command.add_argument(
        "--pipes",
        choices=("in-order", "checked", "reordered"),
        help="how the pipes of a core work: as issued (default), the same with a report of what nothing orders, or "
        "delayed by the seed",
    )
    command.add_argument(
        "--cache",
        choices=("coherent", "strict"),
        help="what scalar accesses to global memory see: memory as it is (default), or a data cache of each core that "
        "is not kept coherent",
    )
    add_asserts(command)
    command.add_argument("--keep", metavar="LIBRARY", help="keep the compiled program as this file")
    add_settings(command, "soc", "aic_num", "aiv_num", "op_debug_config", "ascendc", "tool_timeout", "jobs")
    command.add_argument("file", metavar="FILE", help="the source that has `main`")
    command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="arguments of the program")
    flags = {flag for action in command._actions for flag in action.option_strings if flag.startswith("--")}
    command.set_defaults(run=run, own_flags=flags - {"--help", "--verbose"})


def run(options: argparse.Namespace) -> int:
    """Builds and runs it."""
    import os
    from pathlib import Path

    import superkernel
    from superkernel._scratch import ScratchFolder
    from superkernel.sim import _arguments as check
    from superkernel.sim.program import build_program, run_program

    launch, accepted = _launch(options), _accepted(options)
    _note_misplaced(options)
    check.seconds("timeout", options.timeout)
    if options.keep:
        _refuse_to_overwrite(options.keep, [options.file, *options.source, *options.library])
    words = [f"-D{name}" for name in options.D] + [f"-I{os.path.abspath(folder)}" for folder in options.I]
    program = Path(options.file).stem
    with ScratchFolder("program") as folder:
        library = Path(options.keep) if options.keep else Path(folder) / f"{program}.so"
        with superkernel.configure(**given_settings(options)):
            sources = [options.file, *options.source]
            watched = bool(launch.keys() - {"timeout", "asserts"})
            words += options.option
            build_program(sources, library, options=words, libraries=options.library, watch_accesses=watched)
            config = superkernel.current_config()
            chip = {name: config[name] for name in ("soc", "aic_num", "aiv_num")}
        done = run_program(
            library, options.arguments, name=program, seed=options.seed, launch=launch, accepted=accepted, **chip
        )
    if done.returncode < 0:
        import signal
        import sys

        print(f"superkernel: the program was ended by {signal.Signals(-done.returncode).name}", file=sys.stderr)
        return 128 - done.returncode
    return done.returncode


def _note_misplaced(options: argparse.Namespace) -> None:
    """Says so where the program gets a flag that looks as if it was meant for this command."""
    import sys

    found = [word for word in options.arguments if word.split("=", 1)[0] in options.own_flags]
    if found:
        words = ", ".join(f"`{word}`" for word in found)
        end = "is an argument of the program" if len(found) == 1 else "are arguments of the program"
        message = f"superkernel: note: {words} after {options.file} {end}; flags of this command come before the file"
        print(message, file=sys.stderr)


def _launch(options: argparse.Namespace) -> dict[str, Any]:
    """What of a launch is not as usual."""
    from superkernel.sim import _arguments as check
    from superkernel.sim.variation import Tool, chosen

    launch: dict[str, Any] = {}
    if options.tool is not None:
        tools = chosen(options.tool)
        if Tool.ORDER in tools:
            raise check.refuse(
                f"--tool {options.tool[:80]}: the kernels of a program run one after another, so that nothing could be "
                "said about their order",
                "leave `order` out; `superkernel run` looks at the order of ops",
            )
        launch["tools"] = sorted(tool.value for tool in tools)
        # By this it is known whether a kernel did anything at all.
        launch["check_order"] = True
        if tools - {Tool.ORDER, Tool.CACHE}:
            # The clocks of pipes say what a core tells another one too early.
            launch["pipes"] = "checked"
        launch.update({"cache": "strict"} if Tool.CACHE in tools else {})
        launch.update({"poison_local_memory": True} if Tool.INIT in tools else {})
        launch["auto_sync"] = Tool.AUTOSYNC not in tools
    usual = {"pipes": "in-order", "cache": "coherent"}
    given = {name: getattr(options, name) for name in usual}
    launch.update({name: value for name, value in given.items() if value not in (None, usual[name])})
    if options.asserts is not None:
        launch["asserts"] = options.asserts
    if options.timeout is not None:
        launch["timeout"] = options.timeout
    return launch


def _accepted(options: argparse.Namespace) -> list[str] | None:
    """The tools that need not be able to look; ``None``: no tools were asked for."""
    from superkernel.cli import _verdicts
    from superkernel.sim import _arguments as check

    if options.tool is not None:
        return sorted(_verdicts.allowed(options.allow_unchecked) - {_verdicts.RESULTS})
    if options.allow_unchecked:
        raise check.refuse("--allow-unchecked without --tool", "name what to look for with --tool")
    return None


def _refuse_to_overwrite(kept: str, inputs: list[str]) -> None:
    """A slip of the hand (`--keep a.cpp a.cpp`) must not cost a source."""
    import os

    from superkernel._errors import make_error

    for file in inputs:
        if os.path.exists(kept) and os.path.exists(file) and os.path.samefile(kept, file):
            raise make_error(
                "SK0948", f"`--keep {kept}` would overwrite `{file}`, which the program is made of", "name another file"
            )
