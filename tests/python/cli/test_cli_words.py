"""The command line speaks of what its user typed, suggests what was meant, and says things once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_library import KernelLibrary
from op_lists import OpList
from superkernel import cli
from superkernel._config import in_flags


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str]]:
    """The status of a command and the lines it wrote to standard error."""
    status = cli.main([str(argument) for argument in arguments])
    return status, capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("arguments", "usage", "problem"),
    [
        (["bild"], "superkernel", "there is no command `bild`; did you mean `build`?"),
        (["frobnicate"], "superkernel", "there is no command `frobnicate`"),
        (["plan", "x", "--jsn"], "superkernel plan", "there is no flag `--jsn`; did you mean `--json`?"),
        (["plan", "x", "--nam=k"], "superkernel plan", "there is no flag `--nam`; did you mean `--name`?"),
        (["--versoin"], "superkernel", "there is no flag `--versoin`; did you mean `--version`?"),
        (["cache", "stat"], "superkernel cache", "there is no action `stat`; did you mean `stats`?"),
        (
            ["cache", "stats", "--jason"],
            "superkernel cache stats",
            "there is no flag `--jason`; did you mean `--json`?",
        ),
        (["elf", "show", "x", "--al"], "superkernel elf show", "there is no flag `--al`; did you mean `--all`?"),
        (["version", "now"], "superkernel version", "`now` is one argument too many"),
        (
            ["scope", "x", "--hazards", "cutt"],
            "superkernel scope",
            "argument --hazards: `cutt` is not one of `cut`, `refuse`; did you mean `cut`?",
        ),
        (["tune", "x", "--profile", "y", "--top", "0"], "superkernel tune", "`0` is no whole number from 1 up"),
        (["elf", "split", "x", "f", "-n", "-3"], "superkernel elf split", "`-3` is no whole number from 1 up"),
    ],
)
def test_what_was_meant_is_suggested_with_the_right_usage(
    arguments: list[str], usage: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = told(capsys, *arguments)
    assert status == 2
    assert lines[0].startswith(f"usage: {usage} [")
    assert lines[-2].startswith("superkernel: error: ") and lines[-2].endswith(problem)
    assert lines[-1] == f"  hint: `{usage} --help` lists what there is"


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5"])
@pytest.mark.parametrize("flag", ["-j", "--jobs"])
def test_jobs_from_one_up(number: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = told(capsys, "build", "x", f"{flag}{'=' if flag == '--jobs' else ''}{number}")
    assert (status, lines[0]) == (
        1,
        f"superkernel: error [SK0011]: `-j/--jobs` cannot be `{number}`; expected a whole number from 1 up",
    )


def test_messages_name_flags(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, lines = told(capsys, "doctor", "--toolchain", "gcc")
    assert status == 1 and "`--toolchain` cannot be `gcc`" in lines[0] and "configure" not in "".join(lines)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("ASCEND_HOME_PATH", "/nowhere")
    _, lines = told(capsys, "compile", OpList(tmp_path).op().write(), "--toolchain", "cann")
    assert cli.main(["doctor", "--toolchain", "cann", "--soc", "Ascend950"]) == 1
    out = capsys.readouterr().out
    assert "SoC Ascend950 (--soc)" in out and "configure" not in out
    assert "--toolchain host" in out
    monkeypatch.setenv("SUPERKERNEL_JOBS", "few")
    status, lines = told(capsys, "doctor")
    assert lines[1] == "  hint: set `SUPERKERNEL_JOBS` to a whole number from 1 up, unset it, or use `--jobs ...`"


def test_calls_are_translated_into_flags() -> None:
    assert in_flags('with `superkernel.configure(toolchain="host")`') == "with `--toolchain host`"
    assert in_flags("`superkernel.configure(cache_shared=True)`") == "`--cache-shared`"
    assert (
        in_flags("`superkernel.configure(color=3)` and configure(jobs)")
        == "`superkernel.configure(color=3)` and configure(jobs)"
    )


def test_excluding_a_node_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"name": "g", "nodes": [{"name": "matmul_1", "type": "MatMul"}]}))
    status, lines = told(capsys, "scope", path, "--exclude", "matmul_2")
    assert status == 1
    assert lines[0] == "superkernel: error [SK1022]: there is no node `matmul_2` to exclude; did you mean `matmul_1`?"
    assert told(capsys, "scope", path, "--exclude", "matmul_1") == (0, [])


def test_verbosity_works_everywhere_differs_and_repeats_nothing(library: KernelLibrary, tmp_path: Path) -> None:
    infos = tmp_path / "infos.json"
    infos.write_text(json.dumps(library.infos(library.op("one"), library.op("one"))))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SUPERKERNEL_", "ASCEND"))}

    def lines(*arguments: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "superkernel", *arguments],
            cwd=tmp_path, env={**clean, "SUPERKERNEL_TOOLCHAIN": "host"}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        plain = [line.split(": ", 2)[-1] for line in found]
        assert len(plain) == len(set(plain)), f"said twice: {found}"
        return done.stderr.splitlines()

    command = ["compile", "infos.json", "--name", "k", "--rebuild", "--no-cache", "-q"]
    quiet, info, details = lines(*command), lines(*command, "-v"), lines(*command, "-vv")
    assert quiet == []
    assert info and all(line.startswith("superkernel: info: ") for line in info)
    assert any(line.startswith("superkernel: debug: runs: ") and "k_" in line for line in details)
    # A stage in several parts is one line.
    stages = re.findall(r"^superkernel: debug: (\w+): [\d.]+ ms$", "\n".join(details), re.MULTILINE)
    assert {"read", "compile", "publish"} <= set(stages) and len(stages) == len(set(stages)), stages
    # In front of the command, behind it, some of each: the same.
    kinds = [[line.split(":")[1] for line in given] for given in (details, lines("-v", *command, "-v"))]
    assert kinds[0] == kinds[1] == [line.split(":")[1] for line in lines("-vv", *command)]
    nested = subprocess.run(
        [sys.executable, "-m", "superkernel", "cache", "stats", "-v"], env=clean, capture_output=True, timeout=60
    )
    assert nested.returncode == 0
