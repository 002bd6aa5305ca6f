"""Names come from files, and files from anywhere: nothing that is printed steers the terminal it is printed to."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from op_lists import AIC, AIV, OpList
from superkernel.cli._output import shown
from superkernel.cli._progress import ModelProgress

COMMAND = str(Path(sys.executable).with_name("superkernel"))
# Sets the title of the window, erases the line, turns the direction of text; 8-bit forms of the same.
HOSTILE = "\x1b]0;owned\x07\x1b[2K\r\x9b1m\u202e\x08\x7f"
#: Those this package makes.
COLOURS = re.compile("\x1b\\[(?:1|31|32|33|0)m")
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """An op list and a graph whose names are full of it."""
    ops = OpList(tmp_path).op(AIV, sub_operator_params=[f"x{HOSTILE}"], sub_operator_op_type=f"T{HOSTILE}").op(AIC)
    ops.write()
    nodes = [
        {"name": f"a{HOSTILE}", "type": f"Add{HOSTILE}", "scope": f"s{HOSTILE}", "stream": 0},
        {"name": f"b{HOSTILE}", "type": "Mul", "scope": f"s{HOSTILE}", "stream": 0, "options": f"bad{HOSTILE}=1"},
    ]
    (tmp_path / "graph.json").write_text(json.dumps({"name": f"g{HOSTILE}", "nodes": nodes}))
    return tmp_path


def on_terminal(folder: Path, *arguments: str) -> str:
    """What a terminal gets from a command."""
    master, slave = pty.openpty()
    process = subprocess.Popen([COMMAND, *arguments], cwd=folder, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    found = b""
    try:
        while piece := os.read(master, 1 << 16):
            found += piece
    except OSError:
        # The other side is closed.
        pass
    process.wait(timeout=100)
    os.close(master)
    # The terminal's own ends of lines.
    return found.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "kernel_infos.json", "--text"),
        ("plan", "kernel_infos.json"),
        ("explain", "kernel_infos.json"),
        ("predict", "kernel_infos.json"),
        ("why", "kernel_infos.json", f"--name=k{HOSTILE}"),
        ("scope", "graph.json"),
        ("suggest", "graph.json"),
        ("plan", f"missing{HOSTILE}.json"),
        (f"no-such-command{HOSTILE}",),
    ],
    ids=lambda command: " ".join(word[:12].split("\x1b")[0] for word in command),
)
def test_no_command_steers_the_terminal(scene: Path, command: tuple[str, ...]) -> None:
    found = on_terminal(scene, *command)
    assert found
    assert not STEERS.search(COLOURS.sub("", found)), repr(found)


def test_what_steers_is_shown_instead(scene: Path) -> None:
    found = on_terminal(scene, "plan", "missing\x1b]0;owned\x07\x9b1m\u202e.json")
    assert "missing\\x1b]0;owned\\x07\\x9b1m\\u202e.json" in found
    assert shown("a\tb\nc \u00e9 \u4e2d") == "a\tb\nc \u00e9 \u4e2d"


def test_lines_that_change_in_place_hold_only_their_own_marks(capsys: pytest.CaptureFixture[str]) -> None:
    progress = ModelProgress(sys.stdout, sys.stderr)
    progress.stage(f"k{HOSTILE}", "compile")
    assert not STEERS.search(progress.line(1.0, width=500))
