"""Streams named on the command line are read and written; what is no file anywhere else is an error."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from op_lists import AIV, OpList

COMMAND = str(Path(sys.executable).with_name("superkernel"))

# A hang is one thing that could happen here.
pytestmark = pytest.mark.timeout(120)


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["bash", "-c", f"umask 022; {line}"], cwd=folder, capture_output=True, timeout=100)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Three ops without objects, and a graph."""
    OpList(tmp_path).op(AIV).op(AIV).write()
    nodes = [{"name": "n", "type": "Add"}]
    (tmp_path / "graph.json").write_text(json.dumps({"name": "g", "nodes": nodes}))
    return tmp_path


@pytest.mark.parametrize(
    "source", ["<(cat {0})", "- < {0}", "/dev/stdin < {0}", "/dev/stdin < <(cat {0})", "/dev/fd/7 7< <(cat {0})"]
)
def test_input_from_a_stream(scene: Path, source: str):
    expected = shell(f"{COMMAND} plan kernel_infos.json --json", scene)
    found = shell(f"{COMMAND} plan --json {source.format('kernel_infos.json')}", scene)
    assert found.returncode == 0 and found.stdout == expected.stdout, found.stderr
    text = shell(f"{COMMAND} plan kernel_infos.json --text > program.txt", scene)
    assert text.returncode == 0
    checked = shell(f"{COMMAND} check {source.format('program.txt')}", scene)
    assert checked.returncode == 0, checked.stderr
    graph = shell(f"{COMMAND} scope --graph {source.format('graph.json')}", scene)
    assert json.loads(graph.stdout)["name"] == "g", graph.stderr


def test_output_to_a_stream(scene: Path):
    (scene / "x.c").write_text("int x;")
    subprocess.run(["gcc", "-c", "x.c"], cwd=scene, check=True)
    edit = f"{COMMAND} elf edit x.o --rename x=y -o"
    assert shell(f"{edit} y.o", scene).returncode == 0
    expected = (scene / "y.o").read_bytes()
    assert os.path.islink("/dev/stdout")
    for way in ("/dev/stdout | cat", "/dev/stdout > z.o; cat z.o", "/dev/fd/9 9>&1 | cat", ">(cat) | cat"):
        assert shell(f"{edit} {way}", scene).stdout == expected, way
    assert shell(f"{edit} /dev/stdout < /dev/null | {COMMAND} elf show /dev/stdin", scene).returncode == 0
    assert shell(f"{edit} /dev/null", scene).returncode == 0
    # As the administrator everything can be replaced.
    assert os.path.islink("/dev/stdout") and stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_link_stays_where_an_output_goes(scene: Path):
    (scene / "link.a").symlink_to("real.a")
    for _ in range(2):
        assert shell(f"{COMMAND} elf pack link.a kernel_infos.json", scene).returncode == 0
        assert (scene / "link.a").is_symlink() and (scene / "real.a").stat().st_size > 0


def test_a_cache_travels_through_a_pipe(scene: Path):
    line = f"{COMMAND} cache export /dev/stdout --cache-dir a | {COMMAND} cache import - --cache-dir b"
    moved = shell(line, scene)
    assert b"took 0 kernels" in moved.stdout and b"wrote 0 kernels" in moved.stderr, moved.stderr
    broken = shell(f"echo no tar | {COMMAND} replay /dev/stdin", scene)
    assert broken.returncode == 1 and b"SK0807" in broken.stderr


def test_a_named_pipe_is_still_no_file(scene: Path):
    os.mkfifo(scene / "pipe")
    for line in ("plan pipe", "plan /dev/zero", "plan /dev/stdin < /dev/zero", "generate kernel_infos.json -o pipe"):
        done = shell(f"{COMMAND} {line}", scene)
        assert done.returncode == 1 and b"error [SK" in done.stderr, line


def test_a_file_named_inside_a_document_is_a_file(scene: Path):
    infos = json.loads((scene / "kernel_infos.json").read_text())
    infos["op_list"][0]["json_path"] = "/dev/stdin"
    (scene / "infos.json").write_text(json.dumps(infos))
    done = shell(f"cat k0.json | {COMMAND} plan infos.json", scene)
    assert done.returncode == 1 and b"not a regular file" in done.stderr, done.stderr


def test_outputs_have_the_mode_of_the_mask(scene: Path):
    shell(f"{COMMAND} cache export here.tar --cache-dir a; {COMMAND} elf pack a.a kernel_infos.json", scene)
    for name in ("here.tar", "a.a"):
        assert stat.S_IMODE((scene / name).stat().st_mode) == 0o644, name
