"""What the gallery's scripts share: build, fuse, lay out arguments, run, and say what was seen."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import superkernel
from superkernel.sim import BuiltOp, Device, Kernel, Report, build_op

SOC = "Ascend910_93"
SOURCES = Path(__file__).resolve().parent / "kernels"
VEC = "KERNEL_TYPE_AIV_ONLY"
CUBE = "KERNEL_TYPE_AIC_ONLY"
MIX = "KERNEL_TYPE_MIX_AIC_1_2"


class Studio:
    """A device and a place for files, both gone at the end."""

    def __init__(self, device: Device, directory: Path) -> None:
        self.device = device
        self.directory = directory

    def op(self, kernel: str, kernel_type: str, blocks: int, source: str | None = None, **options: object) -> BuiltOp:
        """One operator from ``kernels/<kernel>.cpp``, or from the file that has several of them."""
        return build_op(
            SOURCES / f"{source or kernel}.cpp",
            kernel,
            kernel_type=kernel_type,
            block_dim=blocks,
            name=kernel,
            soc=SOC,
            out_dir=self.directory / "sub_kernels",
            **options,  # type: ignore[arg-type]
        )

    def fuse(self, entries: list[dict[str, object]], options: str = "") -> Kernel:
        """The super kernel of ``entries``, loaded."""
        with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=self.directory):
            superkernel.compile({"op_list": entries, "super_kernel_options": options}, "te_superkernel_gallery")
        return self.device.load(self.directory / "kernel_meta" / "te_superkernel_gallery.json")


@contextmanager
def studio() -> Iterator[Studio]:
    with tempfile.TemporaryDirectory() as directory, Device(SOC) as device:
        yield Studio(device, Path(directory))


def claim(is_true: bool, text: str) -> None:
    """Prints what was seen; ends the script if it was not."""
    if not is_true:
        print(f"NOT SO: {text}", file=sys.stderr)
        sys.exit(1)
    print(text)


def show(report: Report) -> None:
    """The simulator's report, indented."""
    for line in str(report).splitlines():
        print(f"  | {line}")


def run(right: Callable[[Studio], None], faulty: Callable[[Studio], None]) -> None:
    """The script's main function: the scenario, or with --faulty its twin."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--faulty", action="store_true", help="show the mistake instead")
    is_faulty = parser.parse_args().faulty
    with studio() as place:
        (faulty if is_faulty else right)(place)
    print("as claimed")
