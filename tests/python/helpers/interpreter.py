"""Runs code in an interpreter of its own, with a chosen ``sys.path`` and environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

STANDINS = Path(__file__).parent / "standins"


def run_python(
    code: str,
    *,
    path: list[Path] | None = None,
    environment: dict[str, str] | None = None,
    arguments: list[str] | None = None,
    with_cann_s_log: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs ``code``; ``path`` comes before everything else on ``sys.path``.

    CANN prints its log to standard output, and so does its stand-in; unless asked for, those lines are left out.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SUPERKERNEL_", "PYTHON"))}
    clean["PYTHONPATH"] = os.pathsep.join(map(str, path or []))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *(arguments or [])],
        env={**clean, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if not with_cann_s_log:
        lines = done.stdout.splitlines(keepends=True)
        done.stdout = "".join(line for line in lines if not line.startswith("CANN LOG_"))
    return done


def output_of(code: str, **settings: object) -> str:
    """What ``code`` prints; a failure of the code is a failure of the test."""
    done = run_python(code, **settings)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr
    return done.stdout


def old_python(version: str) -> str | None:
    """An interpreter of that version, if this machine has one."""
    candidates = [shutil.which(f"python{version}")]
    candidates += map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in filter(None, candidates):
        done = subprocess.run(
            [candidate, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True
        )
        if done.stdout.strip() == str(tuple(map(int, version.split(".")))):
            return candidate
    return None
