"""Telling packages called ``superkernel`` apart: this one, the software it replaces, and strangers."""

from __future__ import annotations

import enum
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from superkernel._install.startup import is_ours
from superkernel._install.strangers import GRAPH_ENGINE_S_MODULE

__all__ = [
    "HERE",
    "STAND_IN_MARK",
    "Found",
    "Kind",
    "is_stand_in",
    "kind_of",
    "probe",
    "shadow_note",
]

#: This package.
HERE = Path(__file__).resolve().parents[1]

#: How the stand-in of ``activate --toolkit`` begins.
STAND_IN_MARK = "Put here by `superkernel-rs activate"


class Kind(enum.Enum):
    """Whose a package called ``superkernel`` is."""

    OURS = "superkernel-rs"
    REPLACED = "the software that superkernel-rs replaces"
    STRANGER = "an unrelated package of that name"
    NONE = "no package of that name"


def kind_of(folder: str | os.PathLike[str]) -> Kind:
    """Whose the package in ``folder`` is."""
    if is_ours(folder):
        return Kind.OURS
    if os.path.isfile(os.path.join(folder, GRAPH_ENGINE_S_MODULE)):
        return Kind.REPLACED
    return Kind.STRANGER if os.path.isdir(folder) else Kind.NONE


# -- what an interpreter would import --------------------------------------------------------------------------------

# Where `superkernel` comes from is only looked up: importing foreign software has effects, and takes time. The stand-in
# of `activate --toolkit` is the exception: which package it gives depends on the interpreter.
_PROBE = f"""
import importlib.util, sys
spec = importlib.util.find_spec("superkernel")
origin = spec.origin if spec is not None else None
if origin:
    with open(origin, "rb") as file:
        if b"{STAND_IN_MARK}" in file.read():
            import superkernel
            origin = superkernel.__file__
sys.stdout.write("superkernel is " + (origin or ""))
"""


@dataclass(frozen=True)
class Found:
    """What ``import superkernel`` gives in some interpreter."""

    kind: Kind
    folder: str | None
    #: Why the interpreter did not tell.
    problem: str | None = None

    def __str__(self) -> str:
        if self.problem is not None:
            return f"an unknown package: {self.problem}"
        return self.kind.value if self.folder is None else f"{self.kind.value}, {self.folder}"


def probe(python: str, environment: Mapping[str, str] | None = None) -> Found:
    """What ``python`` would import, started with ``environment``."""
    try:
        done = subprocess.run(
            [python, "-c", _PROBE],
            # Not the current folder: `-c` would look there first.
            cwd="/",
            env=None if environment is None else dict(environment),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Found(Kind.NONE, None, str(error))
    _, told, origin = done.stdout.rpartition("superkernel is ")
    if done.returncode or not told:
        last = done.stderr.strip().splitlines()[-1:]
        return Found(Kind.NONE, None, last[0] if last else f"`{python}` ended with status {done.returncode}")
    if not origin:
        return Found(Kind.NONE, None)
    folder = os.path.dirname(origin)
    return Found(kind_of(folder), folder)


# -- what to say -----------------------------------------------------------------------------------------------------


def shadow_note(folder: str) -> str | None:
    """For the command: that ``import superkernel`` gives the package in ``folder``; nothing if that is ours."""
    kind = kind_of(folder)
    if kind is Kind.OURS or is_stand_in(folder):
        return None
    return (
        f"`import superkernel` gives another package here: {kind.value}, `{folder}`. This command works, but Python "
        "and the graph engine use that one. Run `superkernel-rs activate` to change it; `superkernel doctor` says more"
    )


def is_stand_in(folder: str | os.PathLike[str]) -> bool:
    """Did ``activate --toolkit`` put its stand-in into the package in ``folder``?"""
    try:
        return STAND_IN_MARK.encode() in Path(folder, "__init__.py").read_bytes()
    except OSError:
        return False
