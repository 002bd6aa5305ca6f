"""``superkernel doctor``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from superkernel.cli._settings import add_settings, given_settings

#: Settings with a line of their own; the others are shown where they are set.
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
        description="Show what a build here would use: toolchain, SoC, directories, cache. The last line says whether "
        "it could work, and why not; status 1 if it could not.",
    )
    command.add_argument("--json", action="store_true", help="print the findings as JSON")
    command.add_argument(
        "--try",
        dest="trial",
        action="store_true",
        help="also build two operators, fuse them and run the result in the simulator",
    )
    add_settings(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the findings; 1 if one of them stands in the way of a build."""
    import superkernel
    from superkernel._config import in_flags

    found: list[tuple[bool, str]] = []
    with superkernel.configure(**given_settings(options)):
        for fine, text in _all_findings(trial=options.trial):
            line = in_flags(text)
            found.append((fine, line))
            if not options.json:
                print(line if fine else f"PROBLEM: {line}", flush=True)
    problems = [line for fine, line in found if not fine]
    if options.json:
        import json

        lines = [{"fine": fine, "finding": line.strip()} for fine, line in found]
        print(json.dumps({"ready": not problems, "problems": problems, "findings": lines}, indent=2))
    elif problems:
        print(f"ready: no, because: {'; '.join(problems)}")
    else:
        print("ready: yes")
    return 1 if problems else 0


def _all_findings(*, trial: bool) -> Iterator[tuple[bool, str]]:
    yield from findings()
    if trial:
        yield _trial()


def findings() -> Iterator[tuple[bool, str]]:
    """Whether it is fine, and what it is."""
    import platform

    import superkernel
    from superkernel import _build, _core

    yield True, f"superkernel {superkernel.__version__} at {next(iter(superkernel.__path__))}"
    yield True, f"native core {_core.__file__}"
    yield True, f"Python {platform.python_version()} on {platform.platform()}"
    yield from _imported()
    yield from _unknown_variables()
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


def _unknown_variables() -> Iterator[tuple[bool, str]]:
    """Variables that look like ours and that nothing reads: a setting that was not set."""
    import os

    from superkernel._config import SETTINGS
    from superkernel.cli._parser import did_you_mean

    known = [row["variable"] for row in SETTINGS.values() if row["variable"]]
    for name in sorted(os.environ):
        if name.startswith("SUPERKERNEL_") and name not in known:
            shown = name[:80].encode(errors="replace").decode()
            yield True, f"the environment variable `{shown}` has no effect{did_you_mean(shown, known)}"


#: Two operators: one more than the input, then twice that.
_TRIAL = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR y)
{{
    for (int64_t i = AscendC::GetBlockIdx(); i < 64; i += AscendC::GetBlockNum()) {{
        ((int32_t *)y)[i] = ((int32_t *)x)[i] {change};
    }}
}}
"""


def _trial() -> tuple[bool, str]:
    """Everything once: operators, super kernel, simulator."""
    import array
    import time

    import superkernel
    from superkernel import _build
    from superkernel._scratch import ScratchFolder

    started = time.perf_counter()
    try:
        from superkernel import sim

        with (
            ScratchFolder("doctor") as folder,
            superkernel.configure(toolchain="host", kernel_meta_parent_dir=folder),
            sim.Device(superkernel.current_config()["soc"]) as device,
        ):
            ops = [
                sim.build_op(_TRIAL.format(name=name, change=change), name, None, block_dim=2, out_dir=f"{folder}/ops")
                for name, change in (("plus", "+ 1"), ("twice", "* 2"))
            ]
            report = _build.build({"op_list": [op.entry() for op in ops]}, "trial")
            x, t, y = (device.buffer(array.array("i", range(64)), name) for name in "xty")
            device.load(report["json"]).launch([x, t, t, y]).raise_for_status()
            wrong = array.array("i", y.read()) != array.array("i", [2 * (i + 1) for i in range(64)])
    except superkernel.SuperKernelError as error:
        return False, f"the trial failed: {error.errorinfo['message']} ({error.errorinfo['errSolution']})"
    if wrong:
        return False, "the trial failed: two operators were built, fused and run, and the values are wrong"
    seconds = time.perf_counter() - started
    return True, f"the trial worked: two operators built, fused and run in the simulator in {seconds:.1f} s"


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
                f"{config['aic_num']} cube cores ({config.origins['aic_num']}), "
                f"{config['aiv_num']} vector cores ({config.origins['aiv_num']})"
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

    parent = os.path.abspath(str(current["kernel_meta_parent_dir"]))
    target = os.path.join(parent, "kernel_meta")
    existing = target
    while not os.path.isdir(existing) and existing != os.path.dirname(existing):
        existing = os.path.dirname(existing)
    writable = os.access(existing, os.W_OK | os.X_OK)
    yield writable, f"results go to {target}{'' if writable else ', which this user may not write'}"
    directory, limit = current["cache_dir"], current["cache_size"]
    if directory is None:
        yield True, "no cache"
    else:
        yield _cache(str(directory), int(str(limit)))
    headers = os.path.join(str(current["include_dir"]), "kernel_operator.h")
    yield os.path.isfile(headers), f"emulation headers {os.path.dirname(headers)}"


def _cache(directory: str, limit: int) -> tuple[bool, str]:
    import superkernel
    from superkernel import _core
    from superkernel._build import number_of

    try:
        stats = _core.cache_stats(directory, limit)
    except superkernel.SuperKernelError as error:
        # A build warns and goes on without it.
        return True, f"no cache: {error.errorinfo['message']}"
    size = f"{stats['bytes'] / (1 << 20):.1f} MiB of {stats['limit'] / (1 << 20):.0f} MiB"
    kernels, hits = number_of(stats["entries"], "kernel"), number_of(stats["hits"], "hit")
    return True, f"cache {directory}: {kernels}, {size}, {hits}"
