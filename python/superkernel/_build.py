"""Building a super kernel: settings in, files in ``kernel_meta`` out."""

from __future__ import annotations

import contextvars
import os
from collections.abc import Mapping
from typing import Any, Callable

from superkernel import _core
from superkernel._environment import in_force, snapshot
from superkernel._errors import SuperKernelError
from superkernel._logging import building, logger

__all__ = ["build", "cache_directory", "cache_limit", "compare", "default_cache_dir", "settings"]

#: The emulation headers of the host toolchain.
INCLUDE_DIR = os.path.join(os.path.dirname(os.path.realpath(__file__)), "include")


#: Gets the reports of all builds of this context, if they are wanted.
reports: contextvars.ContextVar[list[dict[str, Any]] | None] = contextvars.ContextVar(
    "superkernel_reports", default=None
)


def build(
    kernel_infos: Mapping[str, Any],
    kernel_name: str,
    *,
    keep: bool = False,
    rebuild: bool = False,
    use_cache: bool = False,
    progress: Callable[[str], object] | None = None,
    announce: bool = True,
) -> dict[str, Any]:
    """Builds a kernel with the settings in force here; the report of the build.

    ``keep`` keeps the generated source and the kernel's own objects, ``rebuild`` builds even what is up to date,
    ``use_cache`` uses the user's own cache directory where no other is configured. ``progress`` is called with the
    name of each stage as it begins. ``announce`` logs a line about the result.
    """
    current = settings(use_cache=use_cache)
    with building(str(kernel_name)):
        try:
            report = _core.build(kernel_infos, kernel_name, current, keep, rebuild, progress)
        except SuperKernelError as error:
            leave_reproducer(kernel_infos, kernel_name, current, {"error": error.errorinfo})
            raise
        leave_reproducer(kernel_infos, kernel_name, current, {"report": report})
    finished(report, announce=announce)
    return report


def leave_reproducer(
    kernel_infos: Mapping[str, Any], kernel_name: str, current: dict[str, Any], result: Mapping[str, Any]
) -> None:
    """Saves what was built, and how it ended, where the setting ``save_reproducer`` asks for it."""
    if current["save_reproducer"]:
        from superkernel import _reproducer

        _reproducer.leave(kernel_infos, kernel_name, current, result)


def finished(report: dict[str, Any], *, announce: bool = True) -> None:
    """Passes a build's report on to what collects those of this context, with a line in the log."""
    if announce:
        with building(report["kernel"]):
            logger.info("%s", summary(report))
    told = reports.get()
    if told is not None:
        told.append(report)


def compare(kernel_infos: Mapping[str, Any], kernel_name: str) -> tuple[str, list[str]]:
    """Whether ``kernel_name`` would be built again, and why."""
    return _core.compare_build(kernel_infos, kernel_name, settings())


def settings(*, use_cache: bool = False) -> dict[str, Any]:
    """The settings in force as the native core takes them."""
    current = snapshot()
    if use_cache:
        current["cache_dir"] = cache_directory()
    current["include_dir"] = INCLUDE_DIR
    return current


def cache_directory() -> str | None:
    """The cache directory in force, the user's own where none is configured."""
    directory, origin = in_force("cache_dir")
    return default_cache_dir() if directory is None and origin == "default" else directory


def default_cache_dir() -> str:
    """The user's own cache directory."""
    return cache_homes()[0]


def cache_homes() -> list[str]:
    """Where this user's caches may be, the best place first."""
    home = os.path.join(os.path.expanduser("~"), ".cache")
    bases = [os.environ.get("XDG_CACHE_HOME") or home, home]
    return [os.path.join(base, "superkernel") for base in dict.fromkeys(bases)]


def cache_limit() -> int:
    """Bytes a cache directory may take."""
    return int(in_force("cache_size")[0])


def number_of(count: int, thing: str) -> str:
    """``1 op``, ``2 ops``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def summary(report: Mapping[str, Any]) -> str:
    """One line about a build."""
    timings: dict[str, float] = report["timings_ms"]
    stages = ", ".join(f"{stage} {time:.0f}" for stage, time in timings.items() if stage != "total" and time >= 0.5)
    return (
        f"{report['kernel']}: {number_of(report['ops'], 'op')} from {number_of(report['files'], 'file')}, "
        f"{report['origin']}"
        f" in {timings['total']:.0f} ms ({report['toolchain']}{'; ' + stages if stages else ''})"
    )
