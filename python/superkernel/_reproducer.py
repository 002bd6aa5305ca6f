"""A build in one file: inputs, options, facts about the machine. It can be repeated anywhere."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from superkernel import _core, _files
from superkernel._build import settings
from superkernel._config import repeatable
from superkernel._errors import SuperKernelError, make_error
from superkernel._logging import logger

__all__ = ["check_member", "leave", "load", "save", "tool_facts"]

_RECORD = "reproducer.json"
_FILES = "files/"


def save(path: str, kernel_infos: Mapping[str, Any], name: str, result: Mapping[str, Any]) -> None:
    """Writes a reproducer. ``result`` has the ``report`` of the build, or its ``error``."""
    members, _ = _contents(kernel_infos, name, settings(), result)
    try:
        # Refuses what is no file, before it is opened to be written.
        _files.write(path, b"")
        _write(path, members)
    except OSError as error:
        raise make_error(
            "SK0001", f"cannot write `{path}`: {error.strerror or error}", "check the directory and the free space"
        ) from None


def leave(kernel_infos: Mapping[str, Any], name: str, current: dict[str, Any], result: Mapping[str, Any]) -> None:
    """Saves a reproducer where the setting ``save_reproducer`` asks for it. Failing to do so is a warning."""
    directory, only_failures = _core.reproducer_folder(current) or (None, True)
    if directory is None or (only_failures and "error" not in result):
        return
    try:
        told = _leave(directory, int(current["reproducer_size"]), kernel_infos, name, current, result)
    except Exception as error:
        # Whatever is wrong with it, the build is worth more.
        problem = error.errorinfo["message"] if isinstance(error, SuperKernelError) else str(error)
        logger.warning("%s: no reproducer saved in `%s`: %s", name, directory, problem)
    else:
        logger.info("%s: %s", name, told)


def _leave(
    directory: Path,
    limit: int,
    kernel_infos: Mapping[str, Any],
    name: str,
    current: dict[str, Any],
    result: Mapping[str, Any],
) -> str:
    """Saves a reproducer in a folder that other processes save theirs in; what became of it."""
    members, digest = _contents(kernel_infos, name, current, result)
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / f"{_file_name(name)}_{_process()}_{digest[:16]}.tar"
    if target.exists():
        return f"`{target}` is a reproducer of this build"
    _refuse_above(limit, _taken(directory) + sum(map(len, members.values())))
    folder = _core.ScratchFolder(directory, "reproducer")
    try:
        made = os.path.join(folder.name, "made.tar")
        _write(made, members)
        _publish(made, target)
    except FileExistsError:
        return f"`{target}` is a reproducer of this build"
    finally:
        folder.close()
    try:
        # Others may have looked at the same time: then none of them stays that is too much.
        _refuse_above(limit, _taken(directory))
    except ValueError:
        target.unlink()
        raise
    return f"reproducer saved: `superkernel replay {target}`"


def _publish(made: str, target: Path) -> None:
    """Puts a file in its place whole; unlike renaming it never replaces what others have put there meanwhile."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links.
        with open(target, "xb") as file:
            file.write(Path(made).read_bytes())


def _taken(directory: Path) -> int:
    """Bytes that the reproducers in a folder take."""
    with os.scandir(directory) as entries:
        return sum(entry.stat().st_size for entry in entries if entry.name.endswith(".tar"))


def _refuse_above(limit: int, size: int) -> None:
    if size > limit:
        raise ValueError(f"the folder would hold {size} bytes, more than the {limit} of the setting `reproducer_size`")


def _file_name(kernel: object) -> str:
    """A kernel's name, which may not have been checked, as part of the name of a file."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", str(kernel))[:120]


def _process() -> str:
    """Who builds: the rank of a distributed job, else the process."""
    ranks = (os.environ.get(variable, "") for variable in ("RANK", "RANK_ID"))
    rank = next((rank for rank in ranks if rank.isdecimal() and len(rank) < 10), None)
    return f"pid{os.getpid()}" if rank is None else f"rank{rank}"


def _contents(
    kernel_infos: Mapping[str, Any], name: str, current: dict[str, Any], result: Mapping[str, Any]
) -> tuple[dict[str, bytes], str]:
    """The members of a reproducer, the record first, and the digest of what it repeats."""
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
    report = result.get("report")
    record, digest = _core.reproducer_write(
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
    return {_RECORD: record, **dict(sorted(files.items()))}, digest


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


def _write(path: str, members: Mapping[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(content))
