"""``superkernel replay``."""

from __future__ import annotations

import argparse

from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "replay",
        help="repeat a build from a reproducer",
        description="Repeat the build that `superkernel compile --save-reproducer X.tar` stored, with the inputs and "
        "options it had then, and report whether the result is the same. Settings given here win over the stored ones. "
        "Nothing is taken from the file that could name a file or a program of this machine, unless --trust is given.",
    )
    command.add_argument("file", metavar="X.tar", help="the reproducer; `-`: standard input")
    command.add_argument(
        "--trust", action="store_true", help="take all settings, paths and compile options: you know who made the file"
    )
    add_settings(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Repeats the build in a directory of its own, or in the one given."""
    import hashlib
    import sys
    from pathlib import Path

    import superkernel
    from superkernel import _build, _reproducer
    from superkernel._scratch import ScratchFolder
    from superkernel.cli import _streams
    from superkernel.cli import report as print_error

    with ScratchFolder("replay") as unpacked:
        stored = _reproducer.load(_streams.as_file(options.file, unpacked), Path(unpacked), trust=options.trust)
        if stored.dropped:
            hint = "" if options.trust else "; --trust takes it"
            told = "".join(letter if letter.isprintable() else "\ufffd" for letter in ", ".join(stored.dropped))
            print(f"not taken from {options.file}: {told}{hint}", file=sys.stderr)
        # Whether CANN is here is this machine's matter, unless the record insists.
        settings = {"kernel_meta_parent_dir": unpacked, **stored.settings, **given_settings(options)}
        recorded = stored.error
        with superkernel.configure(**settings):
            try:
                report = _build.build(stored.kernel_infos, stored.name, rebuild=True)
            except superkernel.SuperKernelError as error:
                print_error(error)
                same = recorded == error.errorinfo["errId"]
                verdict = "as recorded" if same else f"recorded was {recorded or 'success'}"
                print(f"{stored.name}: failed; {verdict}")
                return 1
        digest = hashlib.sha256(Path(report["object"]).read_bytes()).hexdigest()
        if recorded is not None:
            verdict = f"the recorded build failed with {recorded}"
        elif digest == stored.object_sha256:
            verdict = "same object as recorded"
        else:
            with superkernel.configure(**settings):
                same_tools = stored.machine.get("toolchain") == _reproducer.tool_facts(_build.settings())
            verdict = "another object than recorded (other tools make other code)"
            if same_tools:
                # It may have been built elsewhere, and taken from a cache when it was recorded.
                verdict = (
                    "another object than recorded, by the same tools (debug information names files of each build)"
                )
        print(f"{_build.summary(report)}; {verdict}")
        return 0
