"""``superkernel compile``."""

from __future__ import annotations

import argparse
from typing import Any

from superkernel.cli._input import add_kernel_infos, read_op_list
from superkernel.cli._settings import add_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "compile",
        help="build a super kernel",
        description="Build a super kernel from an op list. The result is DIR/kernel_meta/NAME.o with NAME.json beside "
        "it; what is up to date stays, and results are kept in the user's cache. `--save-reproducer X.tar` stores "
        "inputs, options and facts about this machine in X.tar, for `superkernel replay`; also on failure.",
    )
    add_kernel_infos(command)
    add_build_flags(command)
    command.add_argument("--timings", action="store_true", help="print the report with times per stage as JSON")
    add_settings(command)
    command.set_defaults(run=run)


def add_build_flags(command: argparse.ArgumentParser) -> None:
    """What every command that builds super kernels takes."""
    command.add_argument("--rebuild", action="store_true", help="build even what is up to date")
    command.add_argument("--no-cache", action="store_true", help="neither read nor fill the user's cache")
    command.add_argument("--quiet", "-q", action="store_true", help="no progress display")


def run(options: argparse.Namespace) -> None:
    """Builds, and prints one line about it."""
    import superkernel
    from superkernel import _build, _reproducer
    from superkernel.cli._progress import progress_for

    kernel_infos, name, settings = read_op_list(options)
    reproducer = _one_file(settings)
    with superkernel.configure(**settings):
        result: dict[str, Any] = {}
        try:
            with progress_for(name, quiet=options.quiet) as progress:
                report = _build.build(
                    kernel_infos,
                    name,
                    rebuild=options.rebuild,
                    use_cache=not options.no_cache,
                    progress=progress,
                    # What is printed in the end says the same.
                    announce=False,
                )
            result["report"] = report
        except superkernel.SuperKernelError as error:
            result["error"] = error.errorinfo
            raise
        finally:
            if reproducer is not None:
                _reproducer.save(reproducer, kernel_infos, name, result)
    print_report(report, as_json=options.timings)


def _one_file(settings: dict[str, Any]) -> str | None:
    """The file that `--save-reproducer X.tar` asks for; a folder is the setting, and concerns every build."""
    wanted = settings.get("save_reproducer")
    return str(settings.pop("save_reproducer")) if str(wanted).endswith(".tar") else None


def print_report(report: dict[str, Any], *, as_json: bool) -> None:
    """One line, or everything."""
    from superkernel import _build

    if as_json:
        import json

        print(json.dumps(report, indent=2))
    else:
        print(_build.summary(report))
