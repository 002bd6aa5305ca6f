"""A build in one file: inputs, options, facts about the machine. It can be repeated anywhere."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import platform
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from superkernel import _core
from superkernel._build import settings
from superkernel._config import repeatable
from superkernel._errors import SuperKernelError, make_error

__all__ = ["Reproducer", "load", "save"]

_FORMAT = 1
_RECORD = "reproducer.json"
_FILES = "files/"
_PATHS = ("json_path", "bin_path")


class Reproducer:
    """A build read back from a file."""

    def __init__(self, record: dict[str, Any], directory: Path) -> None:
        self.record = record
        self.name: str = record["name"]
        self.settings = repeatable(record["settings"])
        self.kernel_infos = _with_paths(record["kernel_infos"], lambda path: str(directory / path))

    def recorded_error(self) -> str | None:
        """The id of the error it ended with."""
        error = self.record["result"].get("error")
        return None if error is None else str(error.get("errId"))


def save(path: str, kernel_infos: Mapping[str, Any], name: str, result: Mapping[str, Any]) -> None:
    """Writes a reproducer. ``result`` has the ``report`` of the build, or its ``error``."""
    files: dict[str, bytes] = {}

    def store(original: str) -> str:
        try:
            content = Path(original).read_bytes()
        except (OSError, ValueError):
            # A missing input is a finding too: the replay misses it in the same way.
            return f"missing/{os.path.basename(original)}"
        digest = hashlib.sha256(content).hexdigest()[:16]
        inside = f"{_FILES}{digest}_{os.path.basename(original)}"
        files[inside] = content
        return inside

    current = settings()
    record = {
        "format": _FORMAT,
        "package": _core.__version__,
        "name": name,
        # Directories and limits are the business of the machine that repeats it.
        "settings": repeatable(current),
        "kernel_infos": _with_paths(kernel_infos, store),
        "machine": {
            "system": platform.platform(),
            "python": sys.version,
            "toolchain": _tool_facts(current),
        },
        "result": dict(result),
        "object_sha256": _object_digest(result),
    }
    try:
        with tarfile.open(path, "w") as archive:
            _add(archive, _RECORD, json.dumps(record, indent=1).encode())
            for inside, content in sorted(files.items()):
                _add(archive, inside, content)
    except OSError as error:
        raise make_error(
            "SK0001", f"cannot write `{path}`: {error.strerror or error}", "check the directory and the free space"
        ) from None


def load(path: str, directory: Path) -> Reproducer:
    """Unpacks a reproducer into ``directory``."""

    def refuse(problem: str) -> SuperKernelError:
        return make_error("SK0807", f"`{path}` is not a reproducer: {problem}", "make it again with --save-reproducer")

    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                # Nothing but plain files of our own layout: the file may come from anywhere.
                parts = member.name.split("/")
                known = member.name == _RECORD or (len(parts) == 2 and parts[0] + "/" == _FILES and parts[1] != "..")
                if not member.isreg() or not known:
                    raise refuse(f"it contains `{member.name}`")
                content = archive.extractfile(member)
                if content is not None:
                    target = directory / member.name
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(content.read())
        record = json.loads((directory / _RECORD).read_bytes())
        if record["format"] != _FORMAT:
            raise refuse(f"its format is {record['format']}, this version reads {_FORMAT}")
        return Reproducer(record, directory)
    except FileNotFoundError as error:
        raise refuse(f"{error.strerror}: {error.filename}") from None
    except (OSError, tarfile.TarError) as error:
        raise refuse(str(error)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise refuse(f"its record is damaged ({error})") from None


def _with_paths(kernel_infos: Mapping[str, Any], change: Any) -> Any:
    """``kernel_infos`` with every file name changed; whatever else is in it stays as it is."""
    infos = copy.deepcopy(kernel_infos)
    ops = infos.get("op_list") if isinstance(infos, dict) else None
    for op in ops if isinstance(ops, list) else []:
        for key in _PATHS:
            if isinstance(op, dict) and isinstance(op.get(key), str):
                op[key] = change(op[key])
    return infos


def _tool_facts(current: dict[str, Any]) -> dict[str, str]:
    try:
        return dict(_core.toolchain_facts(current))
    except SuperKernelError as error:
        return {"error": str(error)}


def _object_digest(result: Mapping[str, Any]) -> str | None:
    report = result.get("report")
    if report is None:
        return None
    return hashlib.sha256(Path(report["object"]).read_bytes()).hexdigest()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o644
    archive.addfile(member, io.BytesIO(content))
