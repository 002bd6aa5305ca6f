"""Where the TorchAir to run is: in a wheel of torch_npu, or in what is installed."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

from superkernel._errors import make_error

#: What was tried. Private names differ from release to release; others are refused rather than half run.
KNOWN = ("2.7", "2.9", "2.14")


#: Of a torch_npu that is not there.
NO_VERSION = "none"


class Source(NamedTuple):
    """A torch_npu whose Python is used and whose libraries are not loaded."""

    #: The folder `torch_npu`, or the wheel that holds it.
    place: Path
    version: str

    @property
    def is_wheel(self) -> bool:
        """Is it a file?"""
        return self.place.is_file()

    def path(self, *parts: str) -> str:
        """A path for imports: of a folder, or inside the wheel."""
        inside = ("torch_npu", *parts) if self.is_wheel else parts
        return os.path.join(str(self.place), *inside)

    def read(self, *parts: str) -> bytes:
        """The content of a file of torch_npu."""
        if not self.is_wheel:
            return Path(self.path(*parts)).read_bytes()
        with zipfile.ZipFile(self.place) as wheel:
            return wheel.read("/".join(("torch_npu", *parts)))


def is_installed() -> bool:
    """Is there a torch_npu to take TorchAir from?"""
    return _installed_folder() is not None


def nothing() -> Source:
    """In place of a torch_npu where there is none."""
    return Source(Path(os.devnull).parent / "no_torch_npu", NO_VERSION)


def find(wheel: str | os.PathLike[str] | None) -> Source:
    """The torch_npu of a wheel, or the installed one."""
    source = _of_wheel(Path(wheel)) if wheel is not None else _installed()
    if not source.version.startswith(tuple(f"{known}." for known in KNOWN)):
        raise make_error(
            "SK1050",
            f"the TorchAir of torch_npu {source.version} is not one that this dry run knows ({', '.join(KNOWN)})",
            "name the wheel of a known one with `--wheel`; or let the model dump its graphs where it runs "
            '(config.debug.graph_dump.type = "txt") and plan them with `superkernel scope`',
        )
    return source


def _of_wheel(path: Path) -> Source:
    if not path.is_file():
        raise _missing(f"`{path}` is not a wheel: there is no such file")
    try:
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise _missing(f"`{path}` is not a wheel: {error}") from None
    if "torch_npu/dynamo/torchair/__init__.py" not in names:
        raise _missing(f"`{path}` has no TorchAir in it")
    metadata = next((name for name in names if name.endswith(".dist-info/METADATA")), "")
    version = Path(metadata).parent.name.split("-")[1].removesuffix(".dist") if metadata else "unknown"
    return Source(path.resolve(), version.split(".dist")[0])


def _installed() -> Source:
    folder = _installed_folder()
    if folder is None:
        raise _missing("torch_npu is not installed here")
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("torch_npu")
    except PackageNotFoundError:
        installed = "unknown"
    return Source(folder, installed)


def _installed_folder() -> Path | None:
    # Not imported: without CANN that fails.
    spec = importlib.machinery.PathFinder.find_spec("torch_npu", sys.path)
    return None if spec is None else next(map(Path, spec.submodule_search_locations or ()), None)


def _missing(problem: str) -> Exception:
    return make_error(
        "SK1051",
        problem,
        "install torch_npu, or name its wheel with `--wheel` (`pip download --no-deps torch_npu`)",
    )
