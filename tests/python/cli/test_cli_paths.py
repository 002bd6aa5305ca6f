"""Every command with every kind of bad path, and with an output that takes nothing: one message, never a traceback."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_library import KernelLibrary
from superkernel import cli
from superkernel._config import SETTINGS
from superkernel.cli._parser import count

#: Commands that change the installation unless they are stopped by a wrong argument.
CHANGE_THE_INSTALLATION = {"activate", "deactivate"}
#: Commands that run programs of others, whose output is theirs.
RUN_PROGRAMS = {"sim"}
#: Run kernels if nothing is wrong.
RUN_KERNELS = {"run", "sim"}


def leaves(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list]]:
    """Every command that can be run, with its arguments."""
    nested = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not nested:
        yield words, parser._actions
    for action in nested:
        for name, inner in action.choices.items():
            yield from leaves(inner, (*words, name))


LEAVES = dict(leaves(cli.parser()))
SETTING_FLAGS = {f"--{name.replace('_', '-')}": row["placeholder"] for name, row in SETTINGS.items()}


def takes_text(action: argparse.Action) -> bool:
    """Takes a value that may be a path. Of the settings only the folders do."""
    if action.nargs == 0 or action.choices is not None or action.type is count:
        return False
    flags = [flag for flag in action.option_strings if flag in SETTING_FLAGS]
    return not flags or SETTING_FLAGS[flags[0]] == "DIR"


@pytest.fixture
def at_the_scene(library: KernelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with good inputs for every command, and nothing of the user's own."""
    folder = tmp_path
    one = library.op("one")
    (folder / "infos.json").write_text(json.dumps(library.infos(one, one)))
    node = {"type": "Op", "scope": "s", "support": 1, "bin_path": one.bin_path, "json_path": one.json_path}
    nodes = [{"name": name, "kernel_name": one.name, **node} for name in "ab"]
    (folder / "graph.json").write_text(json.dumps({"name": "g", "nodes": nodes}))
    (folder / "one.o").write_bytes(Path(one.bin_path).read_bytes())
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith(("SUPERKERNEL_", "ASCEND"))]:
        monkeypatch.delenv(name)
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder / name.lower()))
    monkeypatch.setenv("SUPERKERNEL_TOOLCHAIN", "host")
    return folder


def good(words: tuple[str, ...], action: argparse.Action) -> list[str]:
    """A value that the argument takes."""
    if action.choices is not None:
        return [str(next(iter(action.choices)))]
    if words[0] == "elf":
        return {"OLD=NEW": ["a=b"], "OUT": ["out.o"], "FUNCTION": ["one"]}.get(str(action.metavar), ["one.o"])
    if words[0] in ("scope", "build", "suggest"):
        return ["graph.json"]
    return ["infos.json"]


def command_line(words: tuple[str, ...], instead: tuple[argparse.Action, str] | None = None) -> list[str]:
    """The command with good values for all it needs, but for one."""
    line = list(words)
    for action in LEAVES[words]:
        chosen = instead is not None and action is instead[0]
        if chosen or action.required:
            value = [instead[1]] if chosen and instead is not None else good(words, action)
            line += [*action.option_strings[-1:], *value]
    return line


def bad_paths(folder: Path) -> dict[str, str]:
    """The kinds of path that are no good."""
    folder.mkdir(exist_ok=True)
    directory, pipe, locked = folder / "directory", folder / "pipe", folder / "locked"
    if not directory.exists():
        directory.mkdir()
        os.mkfifo(pipe)
        locked.write_text("{}")
        locked.chmod(0)
    return {
        "missing": str(folder / "missing"),
        "missing folder": str(folder / "no" / "such" / "file"),
        "directory": str(directory),
        "unreadable": str(locked),
        "below a file": "infos.json/x",
        "pipe": str(pipe),
        "full": "/dev/full",
        "empty": "",
        "no text": "\udcff",
        "too long": "x" * 300,
    }


@pytest.mark.timeout(300)
@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_a_bad_path_is_one_message(
    words: tuple[str, ...], at_the_scene: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, action in enumerate(filter(takes_text, LEAVES[words])):
        kinds = list(bad_paths(at_the_scene / "bad").items())
        # What runs kernels takes its time: every option meets a third of the kinds, and its neighbours the others.
        for kind, path in kinds[number % 3 :: 3] if words[0] in RUN_KERNELS else kinds:
            arguments = command_line(words, (action, path))
            status = cli.main(arguments)
            told = capsys.readouterr()
            case = f"{arguments} ({kind})"
            assert "Traceback" not in told.out + told.err and "[SK0002]" not in told.err, f"{case}: {told.err}"
            assert status in (0, 1, 2), case
            if status != 0 and not told.out:
                assert "superkernel: error" in told.err, f"{case}: {told}"


#: Runs command lines in processes of their own, without starting Python for each: what it prints is the statuses.
RUNNER = """
import json, os, sys
from superkernel import cli
statuses = []
for line in json.load(sys.stdin):
    child = os.fork()
    if child == 0:
        if sys.argv[1] == "full":
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        else:
            os.close(1)
            sys.stdout = None
        print(">>>", *line, file=sys.stderr, flush=True)
        status = cli.main(line)
        sys.stderr.flush()
        os._exit(status)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
json.dump(statuses, sys.stderr)
"""


#: Commands that write a file and print nothing.
WRITERS = (["elf", "edit"], ["elf", "join"], ["elf", "link"], ["elf", "pack"])


@pytest.mark.parametrize("output", ["full", "closed"])
def test_an_output_that_takes_nothing_is_one_message(at_the_scene: Path, output: str) -> None:
    lines = [["--help"], ["--version"]]
    lines += [command_line(words) for words in LEAVES if words[0] not in CHANGE_THE_INSTALLATION | RUN_PROGRAMS]
    lines += [[*words, "--help"] for words in LEAVES]
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, output], input=json.dumps(lines), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    text, _, statuses = done.stderr.rpartition("[")
    assert "Traceback" not in text and "[SK0002]" not in text and "Exception ignored" not in text, text
    for line, status, told in zip(lines, json.loads(f"[{statuses}"), text.split(">>>")[1:]):
        # What prints nothing loses nothing.
        assert status in (1, 2) or line[:2] in WRITERS, f"{line}: {status}: {told}"
        if status == 1 and "--help" in line:
            assert "cannot write to standard output: " in told, f"{line}: {told}"


def test_a_mistake_of_the_package_is_told_as_such(
    at_the_scene: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the tests above look for can happen."""
    import superkernel

    def broken(*_: object) -> str:
        raise KeyError("oops")

    monkeypatch.setattr(superkernel, "generate", broken)
    assert cli.main(["generate", "infos.json"]) == cli.FAILED
    told = capsys.readouterr().err
    assert told.startswith("superkernel: error [SK0002]: KeyError: 'oops'\n") and "Traceback" not in told
    assert cli.main(["generate", "infos.json", "-vv"]) == cli.FAILED
    assert "Traceback" in capsys.readouterr().err
