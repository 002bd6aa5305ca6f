"""The workflow and the Dockerfile do what `.ci/run` does. They cannot run here; their form can be checked."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
WORKFLOW = (ROOT / ".github" / "workflows" / "test.yml").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_both_run_what_every_change_must_pass() -> None:
    assert "run: .ci/run" in WORKFLOW and 'CMD [".ci/run"]' in DOCKERFILE
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_scripts_and_versions_named_there_exist() -> None:
    for name in re.findall(r"scripts/[\w-]+", WORKFLOW):
        assert (ROOT / name).stat().st_mode & 0o111, name
    wanted = re.search(r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    used = re.search(r"^FROM rust:([\d.]+)-", DOCKERFILE, re.MULTILINE)
    assert wanted and used and used[1] == wanted[1]


def test_the_container_has_what_tests_and_extras_need() -> None:
    installed = set(re.findall(r"[\w+-]+", DOCKERFILE))
    for script in ("test-packages", "extra-tools"):
        packages = re.findall(r"^ +([\w+-]+):[\w.+-]+$", (ROOT / "scripts" / script).read_text(), re.MULTILINE)
        assert packages and not set(packages) - installed, script
