"""Small things that help daily users: hints, forms of ids, lists of targets."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from superkernel import cli

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("subject", ["sk306", "SK0306", "[SK0306]"])
def test_an_id_may_be_written_short(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", subject]) == 0
    assert capsys.readouterr().out.startswith("SK0306 (")


@pytest.mark.parametrize("string", ["split-mode=2;profiling=1", "split-mode=2,profiling=1", "profiling=1 split-mode=2"])
def test_options_joined_by_another_sign(string: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["options", string]) == 1
    assert "options are joined by `:`, as in `split-mode=2:profiling=1`" in capsys.readouterr().err
    assert cli.main(["options", "split-mode=x"]) == 1
    assert "joined" not in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_help_lists_every_target() -> None:
    text = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = {line.split()[1] for line in text.splitlines()}
    makefile = (ROOT / "Makefile").read_text()
    targets = {name for names in re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE) for name in names.split()}
    assert targets - listed <= {"setup", "packages", "extra-tools"}, "what only other targets need is not listed"
    assert listed <= targets


def test_a_type_that_is_half_gone_without_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = "OP Type,Core Type,Total Time(us)"
    for folder, rows in (
        ("no_sk_model", ["Add,AI_VECTOR_CORE,40", "Cast,AI_VECTOR_CORE,10", "Tile,AI_VECTOR_CORE,24.96"]),
        ("sk_model", ["Add,AI_VECTOR_CORE,20", "SuperKernel,MIX_AIV,15", "Tile,AI_VECTOR_CORE,24.66"]),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "op_statistic.csv").write_text("\n".join([header, *rows]) + "\n")
    assert cli.main(["compare", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "30 us of single ops became 15 us of super kernels" in out
    assert not re.search(r"Tile .* 24.96 +24.66", out), "a difference that small is chance"
