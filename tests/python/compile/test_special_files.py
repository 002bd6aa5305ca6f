"""Pipes, devices, sockets and directories where a file is expected: told at once, never waited for, never removed."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import superkernel
from op_lists import AIV, OpList
from special_files import SPECIAL
from superkernel import SuperKernelError, _core, cost, elf
from superkernel.cli import main
from superkernel.cli._input import read_json
from superkernel.compare import compare
from superkernel.scope import Graph
from superkernel.sim import Device, build_op

# A hang is what these tests are about.
pytestmark = pytest.mark.timeout(120)


@pytest.fixture(params=SPECIAL)
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A path without a suffix that leads to one of them."""
    path = tmp_path / "special"
    SPECIAL[request.param](path)
    return path


def _profile(path: Path) -> Path:
    folder = path.parent / "prof"
    (folder / "no_sk_model").mkdir(parents=True)
    path.rename(folder / "no_sk_model" / "op_statistic.csv")
    return folder


READERS: dict[str, Callable[[Path], Any]] = {
    "kernel_infos": lambda path: read_json(str(path)),
    "graph": Graph.read,
    "graph of compile_graph": superkernel.compile_graph,
    "prices": cost.prices,
    "profile": lambda path: cost.suggest({"name": "g", "nodes": []}, [path]),
    "model": lambda path: cost.predict(path, [path]),
    "compared profiles": lambda path: compare(_profile(path)),
    "operator source": lambda path: build_op(path, "k", out_dir=path.parent / "out"),
    "JSON of a kernel": lambda path: _load(path.rename(path.with_suffix(".json"))),
    "object of a kernel": lambda path: _load(path, functions={"aiv": "f"}, kernel_type=AIV),
    "bare object": lambda path: _load(path.rename(path.with_suffix(".o"))),
}


def _load(path: Path, **arguments: Any) -> None:
    with Device("Ascend910_93") as device:
        device.load(path, **arguments)


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_it(special: Path, reader: str) -> None:
    with pytest.raises(SuperKernelError) as caught:
        READERS[reader](special)
    assert special.name.split(".")[0] in str(caught.value) or "op_statistic" in str(caught.value)


def test_so_does_an_op_list(special: Path, tmp_path: Path) -> None:
    for key in ("json_path", "bin_path"):
        infos = OpList(tmp_path).op(AIV, **{key: str(special)}).infos()
        refused = pytest.raises(SuperKernelError, match="not a regular file")
        with superkernel.configure(toolchain="host", kernel_meta_parent_dir=tmp_path / "out", cache_dir=""), refused:
            superkernel.compile(infos, "k")


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", "{}"],
        ["plan", "{}"],
        ["scope", "{}"],
        ["cache", "import", "{}", "--cache-dir", "{}-cache"],
        ["cache", "export", "{}", "--cache-dir", "{}-cache"],
        ["elf", "show", "{}"],
        ["why", "k", "--kernel-meta-parent-dir", "{}"],
    ],
    ids=" ".join,
)
def test_every_command_refuses_it(special: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word.format(special) for word in arguments]) == 1
    assert "superkernel: error [SK" in capsys.readouterr().err
    assert special.exists()


def test_nothing_is_written_into_it_or_put_in_its_place(special: Path, tmp_path: Path) -> None:
    infos = OpList(tmp_path).op(AIV).write()
    op = build_op(OP, "op", out_dir=tmp_path / "ops")
    before = os.lstat(special)
    for arguments in (
        ["generate", str(infos), "-o", str(special)],
        ["elf", "edit", op.bin_path, "-o", str(special)],
    ):
        assert main(arguments) == 1
        after = os.lstat(special)
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    with pytest.raises(SuperKernelError, match="not a regular file"):
        Graph("g").write(special)


@pytest.mark.parametrize("kind", ["directory", "pipe", "socket"])
@pytest.mark.parametrize("name", ["k.json", "k.o", "k.manifest.json", "k.cpp", ".superkernel.lock"])
def test_what_stands_in_the_output_folder_stays(tmp_path: Path, kind: str, name: str) -> None:
    op = build_op(OP, "op", out_dir=tmp_path / "ops")
    infos = {"op_list": [{"json_path": op.json_path, "bin_path": op.bin_path}], "super_kernel_options": ""}
    meta = tmp_path / "kernel_meta"
    meta.mkdir()
    SPECIAL[kind](meta / name)
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=tmp_path, cache_dir=""):
        if name in ("k.json", "k.o", "k.manifest.json"):
            for _ in range(2):
                with pytest.raises(SuperKernelError, match="not a regular file"):
                    superkernel.compile(infos, "k")
        else:
            superkernel.compile(infos, "k")
    found = meta / name
    assert found.exists() and not found.is_file()
    if kind == "directory":
        assert (found / "precious").read_text() == "kept"


@pytest.mark.parametrize("kind", SPECIAL)
def test_the_cache_goes_on_without_an_entry_that_is_none(tmp_path: Path, kind: str) -> None:
    op = build_op(OP, "op", out_dir=tmp_path / "ops")
    infos = {"op_list": [{"json_path": op.json_path, "bin_path": op.bin_path}], "super_kernel_options": ""}
    cache = tmp_path / "cache"
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=tmp_path / "first", cache_dir=cache):
        superkernel.compile(infos, "k")
    (entry,) = _core.cache_entries(str(cache))
    entry.unlink()
    SPECIAL[kind](entry)
    for counter in entry.parent.parent.glob("*s"):
        counter.unlink()
        SPECIAL[kind](counter)
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=tmp_path / "second", cache_dir=cache):
        superkernel.compile(infos, "k")
    assert elf.symbols((tmp_path / "second" / "kernel_meta" / "k.o").read_bytes())


def _header(kind: bytes, size: int) -> bytes:
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
@pytest.mark.parametrize("command", [["replay"], ["cache", "import"]], ids=str)
def test_a_tar_whose_headers_lie(
    tmp_path: Path, kind: bytes, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.tar"
    broken = b"29 GNU.sparse.realsize=never\n"
    for content in (
        # More bytes than there is memory, more headers than the stack holds, a number that is none.
        _header(kind, 2**60) + bytes(1024),
        (_header(kind, 512) + b"a" * 512) * 3000,
        _header(kind, len(broken)) + broken.ljust(512, b"\0") + _header(b"0", 0),
    ):
        path.write_bytes(content)
        assert main([*command, str(path), "--cache-dir", str(tmp_path / "cache")]) in (0, 1)
        assert "Traceback" not in capsys.readouterr().err


def test_a_name_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "\udcff", "--kernel-meta-parent-dir", str(tmp_path)]) == 1
    assert "superkernel: error [SK" in capsys.readouterr().err


OP = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void op(GM_ADDR x) { (void)x; }
"""
