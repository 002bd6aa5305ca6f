"""Reproducers that builds leave by themselves, and built kernels in place of op lists."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import superkernel
from kernel_library import MIX_1_2, KernelLibrary
from superkernel import SuperKernelError
from superkernel.cli import main

FAILING = "compile-options=-Dextern=nonsense"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody says who builds, and nothing else is set."""
    for name in list(os.environ):
        if name.startswith(("SUPERKERNEL_", "RANK", "ASCEND")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("SUPERKERNEL_TOOLCHAIN", "host")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def infos(library: KernelLibrary) -> dict[str, Any]:
    return library.infos(library.op("one"), library.op("mixed", MIX_1_2), options="split-mode=1")


def saved(folder: str = "kept") -> list[str]:
    """What stands in the folder: nothing but reproducers."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    assert all(name.endswith(".tar") for name in names), names
    return names


def test_every_build_leaves_one(infos: dict[str, Any], capsys: pytest.CaptureFixture[str]):
    with superkernel.configure(save_reproducer="kept"):
        superkernel.compile(infos, "sk")
        superkernel.compile(infos, "other")
    assert [name.split("_")[:2] for name in saved()] == [["other", f"pid{os.getpid()}"], ["sk", f"pid{os.getpid()}"]]
    # What was built can be gone, and so can the folder it was built in.
    os.rename("kernel_meta", "gone")
    assert main(["replay", f"kept/{saved()[1]}"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("same object as recorded")


def test_a_repeated_build_leaves_the_file_as_it_is(infos: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SUPERKERNEL_SAVE_REPRODUCER", "kept")
    superkernel.compile(infos, "sk")
    (name,) = saved()
    before = os.stat(f"kept/{name}")
    superkernel.compile(infos, "sk")
    assert saved() == [name]
    after = os.stat(f"kept/{name}")
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    # Another question is another file.
    superkernel.compile({**infos, "super_kernel_options": "split-mode=2"}, "sk")
    assert len(saved()) == 2 and name in saved()


def test_on_failure(infos: dict[str, Any], capsys: pytest.CaptureFixture[str]):
    with superkernel.configure(save_reproducer="kept:on-failure"):
        superkernel.compile(infos, "sk")
        assert saved() == []
        with pytest.raises(SuperKernelError) as caught:
            superkernel.compile({**infos, "super_kernel_options": FAILING}, "sk")
    assert caught.value.errorinfo["errId"] == "SK0703"
    (name,) = saved()
    assert main(["replay", f"kept/{name}"]) == 1
    assert "SK0703" in (told := capsys.readouterr()).err and told.out.rstrip().endswith("failed; as recorded")


def test_a_failure_before_anything_was_read(infos: dict[str, Any]):
    infos["op_list"][0]["json_path"] = "/nowhere/x.json"
    with superkernel.configure(save_reproducer="kept:on-failure"), pytest.raises(SuperKernelError):
        superkernel.compile(infos, "a/../b")
    (name,) = saved()
    assert name.startswith("a_.._b_pid")
    with tarfile.open(f"kept/{name}") as archive:
        record = json.load(archive.extractfile("reproducer.json"))  # type: ignore[arg-type]
    assert record["result"]["error"]["errId"].startswith("SK0") and record["name"] == "a/../b"


def test_the_rank_names_the_file(infos: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RANK", "../3")
    monkeypatch.setenv("RANK_ID", "7")
    with superkernel.configure(save_reproducer="kept"):
        superkernel.compile(infos, "sk")
    (name,) = saved()
    assert name.startswith("sk_rank7_")


@pytest.mark.parametrize("trouble", ["no folder", "too large", "no arguments"])
def test_not_being_able_to_save_is_a_warning(
    trouble: str, infos: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    folder = tmp_path / "kept"
    settings: dict[str, Any] = {"save_reproducer": folder}
    told = ""
    if trouble == "no folder":
        folder.write_text("a file")
        told = "File exists"
    elif trouble == "too large":
        settings["reproducer_size"] = "1K"
        told = "more than the 1024 of the setting `reproducer_size`"
    with superkernel.configure(**settings), caplog.at_level(logging.WARNING, "superkernel"):
        if trouble == "no arguments":
            # An object that no JSON can hold: the build refuses it, and no record can be made of it.
            told = "no reproducer saved"
            with pytest.raises((SuperKernelError, TypeError)):
                superkernel.compile({"op_list": object()}, "sk")
        else:
            superkernel.compile(infos, "sk")
            assert (tmp_path / "kernel_meta" / "sk.o").exists()
    assert trouble == "no folder" or saved() == []
    messages = [record.getMessage() for record in caplog.records]
    assert any("no reproducer saved in" in message and told in message for message in messages), messages


def test_what_is_no_folder_is_refused(monkeypatch: pytest.MonkeyPatch):
    for wrong in ("kept:always", ":on-failure", "kept:on-failures"):
        with pytest.raises(SuperKernelError) as caught:
            superkernel.configure(save_reproducer=wrong)
        assert caught.value.errorinfo["errId"] == "SK0011"
        assert "a folder, or `FOLDER:on-failure`" in str(caught.value)
    monkeypatch.setenv("SUPERKERNEL_REPRODUCER_SIZE", "much")
    with pytest.raises(SuperKernelError, match=r"SUPERKERNEL_REPRODUCER_SIZE.*a size such as `500M`"):
        superkernel.current_config()


def in_processes(count: int, infos: dict[str, Any], **environment: str) -> list[str]:
    """Has several processes build the same at the same time, each in a folder of its own; what each warns of."""
    code = """
import json, logging, sys, superkernel
logging.basicConfig(format="%(message)s")
infos = json.load(open(sys.argv[1]))
sys.stdin.readline()
superkernel.configure(kernel_meta_parent_dir=sys.argv[2])
for options in ("split-mode=1", "split-mode=2"):
    superkernel.compile({**infos, "super_kernel_options": options}, "sk")
"""
    Path("infos.json").write_text(json.dumps(infos))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, "infos.json", f"of_{number}"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "SUPERKERNEL_CACHE_DIR": "cache", "SUPERKERNEL_SAVE_REPRODUCER": "kept", **environment},
            text=True,
        )
        for number in range(count)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate(timeout=300)[1] for process in started]
    assert [process.returncode for process in started] == [0] * count, told
    return ["\n".join(line for line in text.splitlines() if "reproducer" in line) for text in told]


def test_processes_save_side_by_side(infos: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    # Built once, so that all of them save at nearly the same time.
    in_processes(1, infos, SUPERKERNEL_SAVE_REPRODUCER="")
    # Of one rank: the same question is one file, and whole.
    assert not any(in_processes(4, infos, RANK="0"))
    of_rank = saved()
    assert len(of_rank) == 2 and all(name.startswith("sk_rank0_") for name in of_rank)
    assert not any(in_processes(4, infos))
    assert len(saved()) == 2 + 4 * 2
    for name in saved():
        with tarfile.open(f"kept/{name}") as archive:
            assert len(archive.getnames()) == 5
    # A limit holds for all together.
    size = os.stat(f"kept/{of_rank[0]}").st_size
    limit = 3 * size + size // 2
    told = in_processes(4, infos, SUPERKERNEL_SAVE_REPRODUCER="full", SUPERKERNEL_REPRODUCER_SIZE=str(limit))
    assert sum(os.stat(f"full/{name}").st_size for name in saved("full")) <= limit
    assert sum(text.count("no reproducer saved") for text in told) == 8 - len(saved("full"))


def test_the_command_line_and_whole_models(library: KernelLibrary, infos: dict[str, Any]):
    Path("infos.json").write_text(json.dumps(infos))
    assert main(["compile", "infos.json", "--name", "sk", "-q", "--save-reproducer", "kept"]) == 0
    assert len(saved()) == 1
    marks = {"scope": "sp", "support": 1, "aicore_num": 4, "vectorcore_num": 8, "stream": 0}
    nodes = [
        {"name": name, "type": name.title(), "id": number, **marks, "kernel_name": name,
         "bin_path": str(library.op(name).bin_path), "json_path": str(library.op(name).json_path)}
        for number, name in enumerate(("one", "two"))
    ]  # fmt: skip
    graph = {"nodes": nodes}
    Path("graph.json").write_text(json.dumps(graph))
    assert main(["build", "graph.json", "-q", "--save-reproducer", "of_model"]) == 0
    (name,) = saved("of_model")
    with tarfile.open(f"of_model/{name}") as archive:
        record = json.load(archive.extractfile("reproducer.json"))  # type: ignore[arg-type]
    # With the core limits of its ops, which are no settings of the command.
    assert (record["settings"]["aic_num"], record["settings"]["aiv_num"]) == (4, 8)


# -- built kernels as op lists ---------------------------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_a_built_kernel_stands_for_its_op_list(
    library: KernelLibrary, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    infos = library.infos(library.op("one"), library.op("two"), options="split-mode=2")
    (tmp_path / "infos.json").write_text(json.dumps(infos))
    (tmp_path / "profile.csv").write_text(
        "Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim\n"
        "one,One,AI_VECTOR_CORE,10,1,2,0\ntwo,Two,AI_VECTOR_CORE,12,1,2,0\n"
    )
    with superkernel.configure(soc="Ascend910B", aiv_num=8):
        superkernel.compile(infos, "sk")
    kernel = "kernel_meta/sk.json"
    same = ["--name", "sk", "--soc", "Ascend910B", "--aiv-num", "8"]
    for command in (["plan"], ["plan", "--json"], ["plan", "--text"], ["plan", "--check"], ["generate"]):
        assert printed(capsys, *command, kernel) == printed(capsys, *command, "infos.json", *same), command
    for command in (["predict", "--ops"], ["tune"]):
        words = [*command, "--profile", "profile.csv"]
        assert printed(capsys, *words, kernel) == printed(capsys, *words, "infos.json", *same), command
    # What the command line says wins.
    assert "for Ascend910_93" in printed(capsys, "plan", kernel, "--soc", "Ascend910_93")
    assert "other:" in printed(capsys, "plan", kernel, "--name", "other")
    assert ", up to date in " in printed(capsys, "compile", kernel, "-q")
    elsewhere = printed(capsys, "compile", kernel, "-q", "--kernel-meta-parent-dir", "there")
    assert elsewhere.startswith("sk: ") and Path("there/kernel_meta/sk.o").exists()
    # The `there` build filled the user's cache.
    assert printed(capsys, "cache", "why", kernel).startswith("hit")
    assert printed(capsys, "cache", "why", kernel, "--options", "split-mode=1").startswith("miss")
    monkeypatch.chdir(tmp_path / "there")
    assert "would not be built again" in printed(capsys, "why", "../kernel_meta/sk.json")
    assert "would not be built again" in printed(
        capsys, "why", "kernel_meta/sk.json", "--against", "../kernel_meta/sk.json"
    )


def test_a_description_without_its_record(library: KernelLibrary, capsys: pytest.CaptureFixture[str]):
    infos = library.infos(library.op("one"), library.op("two"))
    Path("profile.csv").write_text("Op Name,OP Type,Task Type,Task Duration(us)\none,One,AI_VECTOR_CORE,10\n")
    superkernel.compile(infos, "sk")
    superkernel.compile({**infos, "super_kernel_options": "split-mode=2"}, "other")
    kernel = "kernel_meta/sk.json"
    record = Path("kernel_meta/sk.manifest.json")
    # One of another build is as bad as none.
    os.replace("kernel_meta/other.manifest.json", record)
    for _ in range(2):
        for command in (["plan"], ["generate"], ["compile"], ["cache", "why"], ["predict", "--profile", "profile.csv"]):
            assert main([*command, kernel]) == 1
            assert "[SK0805]: `kernel_meta/sk.json` describes a built kernel" in capsys.readouterr().err, command
        record.unlink(missing_ok=True)
