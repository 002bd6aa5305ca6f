"""Settings of ``superkernel.configure`` as arguments of sub-commands."""

from __future__ import annotations

import argparse
from typing import Any

# Setting: (metavar, help). The values are checked by `configure`, so that a message is the same everywhere.
_ARGUMENTS = {
    "soc": ("SOC", "SoC to build for, such as `Ascend910_93`"),
    "aic_num": ("N", "cube cores of the SoC"),
    "aiv_num": ("N", "vector cores of the SoC"),
    "kernel_meta_parent_dir": ("DIR", "write to DIR/kernel_meta"),
    "op_debug_config": ("FLAGS", "debug flags, separated by commas: `dump_cce`, `ccec_g`, `ccec_O0`, `oom`"),
    "toolchain": ("WHICH", "`auto`, `cann` or `host`"),
    "cache_dir": ("DIR", "folder of reusable results; empty: no reuse"),
    "jobs": ("N", "how many tools run at the same time"),
    "tool_timeout": ("SECONDS", "the longest a compiler or linker may take"),
}


def add_settings(command: argparse.ArgumentParser, *names: str) -> None:
    """Gives a sub-command an argument per setting; without names one for every setting."""
    group = command.add_argument_group("settings")
    for name in names or _ARGUMENTS:
        metavar, text = _ARGUMENTS[name]
        group.add_argument(f"--{name.replace('_', '-')}", dest=f"setting_{name}", metavar=metavar, help=text)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings the command line gave, for ``with superkernel.configure(**given_settings(options))``."""
    pairs = {name: getattr(options, f"setting_{name}", None) for name in _ARGUMENTS}
    return {name: value for name, value in pairs.items() if value is not None}
