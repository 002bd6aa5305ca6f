"""``superkernel doctor``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from superkernel.cli._settings import add_settings, given_settings

#: Settings with a line of their own; the others are told where somebody has set them.
_TOLD = (
    *("soc", "aic_num", "aiv_num", "op_debug_config", "tool_timeout"),
    *("toolchain", "kernel_meta_parent_dir", "cache_dir", "ascendc"),
)
_MEANING = {
    "cann": "kernels are built for the device",
    "host": "kernels are built for this machine and run in the simulator; a device refuses them",
}


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "doctor",
        help="check the installation",
        description="Show what a build here would use: toolchain, SoC, directories, cache. Status 1 if it could not "
        "work.",
    )
    add_settings(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the findings; 1 if one of them stands in the way of a build."""
    import superkernel

    healthy = True
    with superkernel.configure(**given_settings(options)):
        for fine, line in findings():
            healthy = healthy and fine
            print(line if fine else f"PROBLEM: {line}")
    return 0 if healthy else 1


def findings() -> Iterator[tuple[bool, str]]:
    """Whether it is fine, and what it is."""
    import platform

    import superkernel
    from superkernel import _build, _core

    yield True, f"superkernel {superkernel.__version__} at {next(iter(superkernel.__path__))}"
    yield True, f"native core {_core.__file__}"
    yield True, f"Python {platform.python_version()} on {platform.platform()}"
    yield from _imported()
    problem = _missing_soc()
    if problem is not None:
        yield False, problem
    # Nothing below depends on the SoC.
    with superkernel.configure(**({} if problem is None else {"soc": _core.default_setting("soc", "")[0]})):
        yield from _configuration(with_soc=problem is None)
        current = _build.settings(use_cache=True)
        yield from _toolchain(current)
        yield _headers()
        yield from _directories(current)


def _imported() -> Iterator[tuple[bool, str]]:
    """Which `superkernel` is used by whom: on a CANN machine another one may stand before this one."""
    from superkernel._install.packages import Kind
    from superkernel._install.world import importers

    hints = {
        Kind.OURS: "",
        Kind.REPLACED: "; to change it: superkernel-rs activate",
        Kind.STRANGER: "; to change it: pip uninstall superkernel, then reinstall superkernel-rs",
        Kind.NONE: "; superkernel-rs is not installed for it",
    }
    for who, found in importers():
        # Where nothing is found, nothing stands in the way: another environment may be meant.
        yield found.kind in (Kind.OURS, Kind.NONE), f"{who} imports {found}{hints[found.kind]}"


def _missing_soc() -> str | None:
    import superkernel

    try:
        superkernel.current_config()
    except superkernel.SuperKernelError as error:
        if error.errorinfo["errId"] == "SK0013":
            return f"no SoC: {error.errorinfo['message']} ({error.errorinfo['errSolution']})"
        raise
    return None


def _configuration(*, with_soc: bool) -> Iterator[tuple[bool, str]]:
    import superkernel

    config = superkernel.current_config()
    if with_soc:
        yield True, f"SoC {config['soc']} ({config.origins['soc']})"
        yield (
            True,
            (
                f"cores {config['aic_num']} cube ({config.origins['aic_num']}), "
                f"{config['aiv_num']} vector ({config.origins['aiv_num']})"
            ),
        )
    if config["op_debug_config"]:
        yield True, f"debug config {', '.join(config['op_debug_config'])} ({config.origins['op_debug_config']})"
    limit = config["tool_timeout"]
    yield True, f"time limit of a tool {'none' if limit is None else f'{limit} s'}"
    for name, value in config.items():
        if name not in _TOLD and config.origins[name] != "default":
            yield True, f"{name} {value} ({config.origins[name]})"


def _headers() -> tuple[bool, str]:
    """What operators for the simulator are compiled against."""
    import superkernel
    from superkernel import _core
    from superkernel.sim.program import header_folder

    folder = superkernel.current_config()["ascendc"]
    if folder is None:
        toolkit = header_folder()
        for_programs = "" if toolkit is None else f"; `superkernel sim` takes those of ASCEND_HOME_PATH, {toolkit}"
        return True, f"AscendC headers: the built-in subset (setting `ascendc` names others){for_programs}"
    try:
        root, is_checkout, version = _core.header_tree(folder)
    except superkernel.SuperKernelError as error:
        return False, f"no AscendC headers: {error.errorinfo['message']} ({error.errorinfo['errSolution']})"
    layout = "development kit" if is_checkout else "toolkit"
    return True, f"AscendC headers of a {layout}, version {version or 'unknown'}: {root}"


def _toolchain(current: dict[str, object]) -> Iterator[tuple[bool, str]]:
    import os
    import shutil

    import superkernel
    from superkernel import _core

    try:
        facts = dict(_core.toolchain_facts(current))
    except superkernel.SuperKernelError as error:
        yield False, f"no toolchain: {error.errorinfo['message']} ({error.errorinfo['errSolution']})"
        return
    family = facts.pop("family")
    yield True, f"toolchain {family} (asked for: {current['toolchain']}): {_MEANING[family]}"
    for name, value in facts.items():
        if name.startswith("tool "):
            path = value.split(" size=")[0]
            yield True, f"  {path}: {_version(path)}"
    if family == "host" and current["toolchain"] == "auto":
        yield True, f"  no CANN: `bisheng` is neither in PATH nor below {_core.cann_toolkit()}"
    launcher = os.environ.get("ASCENDC_CCACHE_EXECUTABLE")
    if launcher:
        yield shutil.which(launcher) is not None, f"compiler cache {launcher}"


def _version(path: str) -> str:
    import subprocess

    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
        return (done.stdout or done.stderr).strip().splitlines()[0]
    except (OSError, subprocess.TimeoutExpired, IndexError, UnicodeDecodeError):
        return "version unknown"


def _directories(current: dict[str, object]) -> Iterator[tuple[bool, str]]:
    import os

    from superkernel import _core

    parent = os.path.abspath(str(current["kernel_meta_parent_dir"]))
    target = os.path.join(parent, "kernel_meta")
    existing = target
    while not os.path.isdir(existing) and existing != os.path.dirname(existing):
        existing = os.path.dirname(existing)
    writable = os.access(existing, os.W_OK | os.X_OK)
    yield writable, f"results go to {target}{'' if writable else ', which this user may not write'}"
    directory, limit = current["cache_dir"], current["cache_limit"]
    if directory is None:
        yield True, "no cache"
    else:
        stats = _core.cache_stats(str(directory), int(str(limit)))
        size = f"{stats['bytes'] / (1 << 20):.1f} MiB of {stats['limit'] / (1 << 20):.0f} MiB"
        yield True, f"cache {directory}: {stats['entries']} kernels, {size}, {stats['hits']} hits"
    headers = os.path.join(str(current["include_dir"]), "kernel_operator.h")
    yield os.path.isfile(headers), f"emulation headers {os.path.dirname(headers)}"
