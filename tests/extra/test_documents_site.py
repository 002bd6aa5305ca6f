"""The documentation site, and the forms of the workflow and the Dockerfile, by tools made for that."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def run(*command: str, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, **settings)  # type: ignore[call-overload,no-any-return]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    # The theme's own announcement is no warning about the documents.
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = run(str(BIN / "mkdocs"), "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site"), env=quiet)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    for page in ("index", "tutorial", "glossary", "errors", "architecture", "gallery", "performance", "faq", "sim"):
        text = (tmp_path / "site" / f"{page}.html").read_text()
        assert "<h1" in text, page
        pictures = re.findall(r'<(?:img|source)[^>]* (?:src|srcset)="([^"]+)"', text)
        assert all((tmp_path / "site" / picture).exists() for picture in pictures), pictures
        assert pictures or page not in ("index", "architecture", "gallery", "sim")
    # The reference has what docstrings and stubs say.
    reference = (tmp_path / "site" / "api.html").read_text()
    for name in ("compile", "sim.Device.load", "sim.Report.raise_for_status", "scope.Piece.members", "cost.predict"):
        assert f'id="superkernel.{name}"' in reference, name
    assert ":::" not in reference and "Fuses the kernels of" in reference


def test_the_workflow_is_one() -> None:
    done = run(
        str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.github-workflows", ".github/workflows/test.yml"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_is_one() -> None:
    done = run(str(BIN / "hadolint"), "Dockerfile")
    assert done.returncode == 0, done.stdout + done.stderr
