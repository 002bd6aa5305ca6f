"""``superkernel why``."""

from __future__ import annotations

import argparse

from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "why",
        help="print why a kernel was built, and whether it would be built again",
        description="Tell why the kernel NAME was built last time, and what has changed since in its inputs, options "
        "and tools: what would make the next build more than a look.",
    )
    command.add_argument("name", metavar="NAME", help="kernel name, or NAME.json in some `kernel_meta`")
    command.add_argument(
        "--against",
        metavar="FILE.json",
        help="compare with this `kernel_infos`, or with those of this built kernel, instead of the recorded one",
    )
    command.add_argument("--json", action="store_true", help="print the answer as JSON")
    add_settings(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the answer."""
    import json
    import os

    import superkernel
    from superkernel import _build, _core
    from superkernel._config import repeatable
    from superkernel.cli._input import read_infos, recorded_build

    given = given_settings(options)
    # An argument may hold any bytes; a kernel's name does not.
    name = options.name.encode(errors="replace").decode()
    folder, file = os.path.split(os.path.abspath(options.name))
    if file.endswith(".json") and os.path.basename(folder) == "kernel_meta" and os.path.exists(options.name):
        name = file.removesuffix(".json")
        given.setdefault("kernel_meta_parent_dir", os.path.dirname(folder))
    with superkernel.configure(**given):
        directory = os.path.join(superkernel.current_config()["kernel_meta_parent_dir"], "kernel_meta")
    record = _core.build_record(directory, name)
    kernel_infos = record.kernel_infos

    if options.against is not None:
        recorded = recorded_build(options.against, options)
        kernel_infos = read_infos(options.against) if recorded is None else recorded.kernel_infos
        settings = {**({} if recorded is None else recorded.settings), **given}
    else:
        # The question is about the files: the settings are those of the last build unless others are given.
        settings = {**repeatable(record.settings), **given}
    with superkernel.configure(**settings):
        standing, reasons = _build.compare(kernel_infos, name)
    if options.json:
        print(json.dumps({"because": record.because, "standing": standing, "reasons": reasons}, indent=2))
        return
    print(f"{name} was built because:")
    for reason in record.because or ["there was no kernel of this name"]:
        print(f"  {reason}")
    if standing == "up to date":
        print("Nothing has changed since: it would not be built again.")
    else:
        print("It would be built again because:")
        for reason in reasons or ["the kernel is gone"]:
            print(f"  {reason}")
