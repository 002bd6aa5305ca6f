"""``superkernel generate``."""

from __future__ import annotations

import argparse

from superkernel.cli._input import add_kernel_infos, read_op_list
from superkernel.cli._settings import add_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "generate",
        help="print the C++ source of a super kernel",
        description="Print the C++ source that `superkernel compile` would build. Reads the sub-kernels' JSONs and "
        "objects; needs no toolchain.",
    )
    add_kernel_infos(command)
    command.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")
    add_settings(command, "soc", "aic_num", "aiv_num")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Prints the source."""
    import superkernel

    kernel_infos, name, settings = read_op_list(options)
    with superkernel.configure(**settings):
        source = superkernel.generate(kernel_infos, name)
    if options.output is None:
        print(source, end="")
    else:
        from superkernel.cli import _streams

        _streams.write(options.output, source.encode())
