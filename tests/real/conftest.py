"""Real objects of AI cores: from wheels, downloaded by package name, never part of this repository.

``SUPERKERNEL_REAL_OBJECTS`` names a folder with wheels, of which all are taken; otherwise those listed here are
downloaded into the cache folder of the user, once. Where neither works, the tests are skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# Package, version, platform: releases whose objects differ.
WHEELS = [
    ("vllm-ascend", "0.20.2rc1", "manylinux_2_24_x86_64"),
    ("mindspore", "2.10.0", "manylinux1_x86_64"),
    ("vllm-ascend", "0.13.0", "manylinux_2_24_x86_64"),
    ("vllm-ascend", "0.15.0rc1", "manylinux_2_24_x86_64"),
    ("vllm-ascend", "0.18.0", "manylinux_2_24_x86_64"),
    ("vllm-ascend", "0.19.1rc1", "manylinux_2_24_x86_64"),
    ("vllm-ascend", "0.21.0rc1", "manylinux_2_24_x86_64"),
    ("vllm-ascend", "0.23.0", "manylinux_2_34_x86_64"),
    ("vllm-ascend", "0.25.1rc1", "manylinux_2_34_x86_64"),
    ("mindspore", "2.7.1", "manylinux1_x86_64"),
]
# Whatever else is missing, these must be there.
NEEDED = 2
MACHINE = 0x1029
REL = 1


def header(data: bytes) -> tuple[int, int]:
    """``e_type`` and ``e_machine``; (0, 0) of what is no ELF file."""
    if data[:4] != b"\x7fELF" or len(data) < 64:
        return 0, 0
    kind, machine = struct.unpack_from("<HH", data, 16)
    return kind, machine


def embedded(data: bytes) -> Iterator[bytes]:
    """The device's files in a host library: as long as their section tables say."""
    at = data.find(b"\x7fELF\x02\x01\x01", 1)
    while at >= 0:
        step = 4
        if header(data[at : at + 64])[1] == MACHINE:
            (headers,) = struct.unpack_from("<Q", data, at + 40)
            (count,) = struct.unpack_from("<H", data, at + 60)
            length = headers + 64 * count
            if at + length <= len(data):
                yield data[at : at + length]
                step = length
        at = data.find(b"\x7fELF\x02\x01\x01", at + step)


@dataclass(frozen=True)
class RealOp:
    """An operator that is ready for super kernels."""

    wheel: str
    name: str
    description: bytes
    object: bytes


@dataclass
class RealObjects:
    """What the wheels hold, equal contents once."""

    containers: dict[str, list[bytes]] = field(default_factory=dict)
    """Objects by the library or folder they are in."""
    ops: dict[bytes, RealOp] = field(default_factory=dict)
    """Operators, by JSON and object."""
    known: dict[bytes, bytes] = field(default_factory=dict)
    """Contents, by digest."""

    def distinct(self) -> list[bytes]:
        return list(self.known.values())

    def add(self, container: str, data: bytes) -> bytes:
        data = self.known.setdefault(hashlib.sha256(data).digest(), data)
        self.containers.setdefault(container, []).append(data)
        return data

    def read(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                place = f"{wheel.name}:{name}"
                if name.endswith(".o"):
                    data = archive.read(name)
                    if header(data)[1] == MACHINE:
                        data = self.add(place.rpartition("/")[0], data)
                    if name.endswith("_relocatable.o"):
                        description = archive.read(name[:-2] + ".json")
                        key = hashlib.sha256(description + data).digest()
                        self.ops.setdefault(key, RealOp(wheel.name, Path(name).stem, description, data))
                elif name.endswith(".so") or ".so." in name:
                    for data in embedded(archive.read(name)):
                        self.add(place, data)


def download(folder: Path, package: str, version: str, platform: str) -> str:
    """One wheel, by name; why there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", "3.11", "--platform", platform, "-d", str(folder), f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()[-1:]
    return f"{package} {version} cannot be downloaded: {said}" if done.returncode else ""


def wheels(folder: Path, *, given: bool) -> list[Path]:
    """All wheels of the folder, those that are missing downloaded first unless the folder is somebody's own."""
    for number, (package, version, platform) in enumerate(WHEELS):
        pattern = f"{package.replace('-', '_')}-{version}-*.whl"
        if list(folder.glob(pattern)):
            continue
        why = f"there is no {pattern} in {folder}" if given else download(folder, package, version, platform)
        if why and number < NEEDED:
            pytest.skip(why)
    packages = sorted({package.replace("-", "_") for package, _, _ in WHEELS})
    return [wheel for package in packages for wheel in sorted(folder.glob(f"{package}-*.whl"))]


@pytest.fixture(scope="session")
def real() -> RealObjects:
    given = os.environ.get("SUPERKERNEL_REAL_OBJECTS")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "superkernel" / "real-objects"
    found = RealObjects()
    for wheel in wheels(Path(given) if given else cache, given=bool(given)):
        found.read(wheel)
    return found


@pytest.fixture(scope="session")
def op_entries(real: RealObjects, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """The operators as entries of an op list, in files, a folder for each wheel."""
    root = tmp_path_factory.mktemp("ops")
    entries = []
    for number, op in enumerate(sorted(real.ops.values(), key=lambda op: (op.wheel, op.name))):
        folder = root / f"{number:03}"
        folder.mkdir()
        object_file, json_file = folder / f"{op.name}.o", folder / f"{op.name}.json"
        object_file.write_bytes(op.object)
        json_file.write_bytes(op.description)
        entries.append(
            {
                "bin_path": str(object_file),
                "json_path": str(json_file),
                "kernel_name": json.loads(op.description)["kernelName"],
                "stream_id": 0,
                "task_type": "dynamic",
                "send_event_list": [],
                "recv_event_list": [],
            }
        )
    return entries
