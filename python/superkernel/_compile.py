"""``superkernel.compile_kernel``: a compile that tells what it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from superkernel._build import build
from superkernel.types import CompiledKernel, KernelInfos, Stage

__all__ = ["compile_kernel"]


def compile_kernel(
    kernel_infos: KernelInfos,
    kernel_name: str = "ascendc_super_kernel_plus",
    *,
    keep: bool = False,
    rebuild: bool = False,
    use_cache: bool = False,
    progress: Callable[[Stage], object] | None = None,
) -> CompiledKernel:
    """Like ``superkernel.compile``, and tells where the kernel came from, why, how long it took and where it is.

    ``keep`` keeps the generated source and the kernel's own objects. ``rebuild`` builds even what is up to date.
    ``use_cache`` uses the user's own cache directory where no other is configured, as the command line does.
    ``progress`` is called with the name of each stage as it begins, from a thread of the build; what it raises is
    reported and ignored.
    """
    # The core names its stages in words; that they are these is tested.
    told: Any = progress
    report = build(kernel_infos, kernel_name, keep=keep, rebuild=rebuild, use_cache=use_cache, progress=told)
    object_path = Path(report["object"])
    return CompiledKernel(
        name=report["kernel"],
        origin=report["origin"],
        reason=report["because"],
        timings=report["timings_ms"],
        warnings=report["warnings"],
        object=object_path,
        json=Path(report["json"]),
        manifest=object_path.with_name(f"{report['kernel']}.manifest.json"),
        toolchain=report["toolchain"],
        ops=report["ops"],
        files=report["files"],
    )
