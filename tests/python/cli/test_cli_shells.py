"""Completions, the manual page, and terminals that lack letters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from superkernel import cli
from superkernel.cli._tree import commands

BIN = Path(sys.executable).parent
COMPLETE = """
eval "$(superkernel completions bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _superkernel
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(*words: str) -> list[str]:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-c", COMPLETE, "bash", "superkernel", *words]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_bash_completes_commands_flags_and_values() -> None:
    assert completed("pl") == ["plan"]
    assert completed("-v", "cache", "s") == ["stats"]
    assert completed("cache", "stats", "--js") == ["--json"]
    assert completed("scope", "g.json", "--hazards", "") == ["cut", "refuse"]
    assert completed("completions", "") == ["bash", "zsh", "fish"]
    # A file name: the shell's own business.
    assert completed("plan", "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_flag_is_in_the_script(
    shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main(["completions", shell]) == 0
    script = capsys.readouterr().out
    for command in commands():
        for flag in command.flags:
            for name in flag.names:
                assert (name.lstrip("-") if shell == "fish" else name) in script, (command.words, name)
        assert all(name in script for name in command.below)
    program = shutil.which(shell)
    if program is not None:
        path = tmp_path / "script"
        path.write_text(script)
        checked = subprocess.run([program, "-n", str(path)], capture_output=True, text=True, timeout=60)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_the_manual_page_is_one(tmp_path: Path) -> None:
    from superkernel.cli._manual import page

    (tmp_path / "superkernel.1").write_text(page())
    command = ["groff", "-man", "-Tascii", "-ww", "superkernel.1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    plain = re.sub(".\x08", "", done.stdout)
    assert not [name for name in cli.COMMANDS if name not in plain]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_letters_a_terminal_lacks_are_written_plainly(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"op_list": [{"json_path": "k.json"}]}')
    (tmp_path / "k.json").write_text('{"kernelName": "k", "sub_operator_params": [3]}')
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}

    def run(*arguments: str) -> bytes:
        command = [sys.executable, "-m", "superkernel", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=60)
        return done.stdout + done.stderr

    # An arrow leads from the entry into the file; the help has an ellipsis.
    told = run("plan", "x.json")
    assert b"op_list[0].json_path -> " in told and b"\\u" not in told and b"?" not in told, told
    assert b"\\u2026" not in run("elf", "split", "--help")
