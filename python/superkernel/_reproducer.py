"""A build in one file: inputs, options, facts about the machine. It can be repeated anywhere."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from superkernel import _core, _files
from superkernel._build import settings
from superkernel._config import repeatable
from superkernel._errors import SuperKernelError, make_error

__all__ = ["check_member", "load", "save", "tool_facts"]

_RECORD = "reproducer.json"
_FILES = "files/"


def save(path: str, kernel_infos: Mapping[str, Any], name: str, result: Mapping[str, Any]) -> None:
    """Writes a reproducer. ``result`` has the ``report`` of the build, or its ``error``."""
    files: dict[str, bytes] = {}

    def store(original: str) -> str:
        try:
            content = _files.read(original)
        except SuperKernelError:
            # A missing input is a finding too: the replay misses it in the same way.
            return f"missing/{os.path.basename(original)}"
        digest = hashlib.sha256(content).hexdigest()[:16]
        member = f"{_FILES}{digest}_{os.path.basename(original)}"
        files[member] = content
        return member

    inside = {original: store(original) for original in _core.reproducer_paths(kernel_infos)}
    current = settings()
    report = result.get("report")
    record = _core.reproducer_write(
        kernel_infos=kernel_infos,
        inside=inside,
        name=name,
        # Directories and limits are the business of the machine that repeats it.
        settings=repeatable(current),
        machine={"system": platform.platform(), "python": sys.version, "toolchain": tool_facts(current)},
        report=report,
        object_sha256=None if report is None else hashlib.sha256(Path(report["object"]).read_bytes()).hexdigest(),
        error=result.get("error"),
    )
    try:
        # Refuses what is no file, before it is opened to be written.
        _files.write(path, b"")
        with tarfile.open(path, "w") as archive:
            _add(archive, _RECORD, record)
            for member, content in sorted(files.items()):
                _add(archive, member, content)
    except OSError as error:
        raise make_error(
            "SK0001", f"cannot write `{path}`: {error.strerror or error}", "check the directory and the free space"
        ) from None


def load(path: str, directory: Path, *, trust: bool = False) -> _core.StoredCall:
    """Unpacks a reproducer into ``directory``.

    Without ``trust`` nothing is taken from it that could name a file or a program of this machine.
    """

    def refuse(problem: str) -> SuperKernelError:
        return make_error("SK0807", f"`{path}` is not a reproducer: {problem}", "make it again with --save-reproducer")

    try:
        with _files.open_tar(path) as archive:
            for member in archive:
                # Nothing but plain files of our own layout: the file may come from anywhere.
                check_member(member, path)
                parts = member.name.split("/")
                known = member.name == _RECORD or (len(parts) == 2 and parts[0] + "/" == _FILES and parts[1] != "..")
                if not member.isreg() or not known:
                    raise refuse(f"it contains `{member.name}`")
                content = archive.extractfile(member)
                if content is not None:
                    target = directory / member.name
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(content.read())
    except FileNotFoundError as error:
        raise refuse(f"{error.strerror}: {error.filename}") from None
    except (OSError, ValueError, tarfile.TarError) as error:
        raise refuse(str(error)) from None
    return _core.reproducer_read(path, directory / _RECORD, trust)


def check_member(member: tarfile.TarInfo, path: str) -> None:
    """Refuses a member that would become larger than the archive ``path`` it comes from: one with holes, or cut off."""
    if member.issparse() or member.size > os.path.getsize(path):
        raise tarfile.ReadError(f"`{member.name[:80]}` is larger than the archive")


def tool_facts(current: dict[str, Any]) -> dict[str, str]:
    """What is known about the tools that a build with these settings runs."""
    try:
        return dict(_core.toolchain_facts(current))
    except SuperKernelError as error:
        return {"error": str(error)}


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o644
    archive.addfile(member, io.BytesIO(content))
