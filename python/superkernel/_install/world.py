"""Who on this machine would import ``superkernel``: Python, the graph engine's workers, the command."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from superkernel import _core
from superkernel._install.activation import toolkit_package
from superkernel._install.packages import HERE, Found, Kind, probe

__all__ = ["Importer", "graph_engine", "importers"]


@dataclass(frozen=True)
class Importer:
    """A way in which ``superkernel`` is imported."""

    name: str
    python: str
    environment: Mapping[str, str]


def graph_engine(toolkit: Path) -> Importer:
    """The workers of the graph engine: the ``python3`` of ``PATH``, with the toolkit's packages in front."""
    packages = str(toolkit_package(toolkit).parent)
    others = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != packages]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([packages, *others])}
    return Importer("the graph engine's worker", shutil.which("python3") or sys.executable, environment)


def importers() -> Iterator[tuple[str, Found]]:
    """Each of them, and what it imports."""
    python = shutil.which("python") or shutil.which("python3") or sys.executable
    yield f"`python` ({python})", probe(python)
    toolkit = _core.toolkit_dir()
    if toolkit_package(toolkit).parent.is_dir():
        worker = graph_engine(toolkit)
        yield f"{worker.name} ({worker.python}, with {toolkit})", probe(worker.python, worker.environment)
    yield "this command", Found(Kind.OURS, str(HERE))
