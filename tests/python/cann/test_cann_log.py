"""The build log can be run again as it stands, and what is kept beside a kernel never takes the place of another's."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import superkernel
from cann_tools import Toolkit
from kernel_library import MIX_1_2, KernelLibrary
from superkernel import _build

TOOLS = ("COMPILE", "FATBIN")


@pytest.fixture
def library(tools: str, host_library: KernelLibrary, device_library: KernelLibrary) -> KernelLibrary:
    """Sub-kernels for these tools."""
    return device_library if tools == "cann" else host_library


@pytest.fixture(params=["host", "cann"])
def tools(request, tmp_path: Path, monkeypatch) -> Any:
    """Both toolchains, into a folder whose name a shell must not take apart."""
    if request.param == "cann":
        kit = Toolkit(tmp_path / "cann", Path(_build.INCLUDE_DIR))
        monkeypatch.setenv("PATH", f"{kit.bin}:{os.environ['PATH']}")
        monkeypatch.setenv("ASCEND_HOME_PATH", str(kit.folder))
    with superkernel.configure(kernel_meta_parent_dir=tmp_path / "it's $HOME", cache_dir="", toolchain=request.param):
        yield request.param


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "it's $HOME" / "kernel_meta"


def entries(log: Path) -> list[tuple[str, str]]:
    """Stage and line of every entry."""
    return re.findall(r"// Stage: CompileStage\.(\w+)\n(.*)\n\n", log.read_text())


def the_log(out: Path, name: str) -> Path:
    return out / f"{name}_{os.getpid()}.log"


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("options", ["split-mode=1", "split-mode=4"])
def test_the_commands_of_the_log_can_be_run_again(
    library: KernelLibrary, tools: str, out: Path, tmp_path: Path, options: str
):
    ops = [library.op("one"), library.op("mixed", MIX_1_2)]
    with superkernel.configure(op_debug_config="dump_cce"):
        superkernel.compile(library.infos(*ops, options=options), "again")
    before = snapshot(out)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lines = entries(the_log(out, "again"))
    assert {stage for stage, _ in lines} >= {"SPK_INPUT", "UNPACK", *TOOLS, "LINKRELOCATE"}
    for stage, line in lines:
        if stage == "SPK_INPUT":
            continue
        words = shlex.split(line)
        if words[:2] == ["ar", "p"]:
            del words[3]  # a member
        # Every file it names is there, by its full path, and nothing is taken apart by the shell.
        files = [word for word in words[1:] if word.endswith((".o", ".a", ".cpp", ".rsp")) and not word.startswith("-")]
        assert files and all(word.startswith("/") and Path(word).is_file() for word in files), line
        assert not any("superkernel-work" in word for word in words), line
        if stage in TOOLS:
            assert words[0].startswith("/") or words[:2] == ["superkernel", "elf"]
            subprocess.run(["sh", "-c", line], cwd=elsewhere, check=True)
    after = snapshot(out)
    assert after.keys() == before.keys()
    # The same tools make the same code.
    assert after["again_build/linked.o"] == before["again_build/linked.o"]
    assert not list(elsewhere.iterdir())


def test_a_script_repeats_the_commands(library: KernelLibrary, tools: str, out: Path, tmp_path: Path):
    _build.build(library.infos(library.op("mixed", MIX_1_2)), "scripted", keep=True)
    before = (out / "scripted_build" / "linked.o").read_bytes()
    for file in ("scripted_build/linked.o", "scripted_mix_aic.o", "scripted_mix_aiv.o"):
        (out / file).unlink()
    subprocess.run(["sh", str(out / "scripted_repro.sh")], cwd=tmp_path, check=True)
    assert (out / "scripted_build" / "linked.o").read_bytes() == before
    assert (out / "scripted_mix_aic.o").is_file()


def test_unpacking_is_what_the_log_says(library: KernelLibrary, tools: str, out: Path, tmp_path: Path):
    """Also for members of archives, and for paths with spaces."""
    mixed = library.op("mixed", MIX_1_2)
    folder = tmp_path / "the ops"
    folder.mkdir()
    shutil.copy(mixed.bin_path, folder / "mixed archive.o")
    entry = {**mixed.entry(), "bin_path": str(folder / "mixed archive.o")}
    _build.build(library.infos(entry, options="split-mode=1"), "unpacked", keep=True)
    unpacked = [line for stage, line in entries(the_log(out, "unpacked")) if stage == "UNPACK"]
    assert len(unpacked) == 2 and all(line.startswith("ar p ") for line in unpacked)
    for line in unpacked:
        target = Path(shlex.split(line)[-1])
        target.unlink()
        subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
        assert target.read_bytes()[:4] == b"\x7fELF"


def test_long_commands_keep_their_response_files(library: KernelLibrary, tools: str, out: Path, tmp_path: Path):
    options = ",".join(f"-DWORD_{number}_{'x' * 80}" for number in range(1200))
    infos = library.infos(library.op("one"), options=f"split-mode=1:compile-options={options}")
    _build.build(infos, "lengthy", keep=True)
    (line,) = [line for stage, line in entries(the_log(out, "lengthy")) if stage == "COMPILE"]
    reference = shlex.split(line)[-1]
    assert reference.startswith(f"@{out}/lengthy_build/")
    assert f"{out}/lengthy_mix_aiv.o".replace("'", "\\'").replace(" ", "\\ ") in Path(reference[1:]).read_text()
    (out / "lengthy_mix_aiv.o").unlink()
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
    assert (out / "lengthy_mix_aiv.o").is_file()


def test_a_command_that_failed_is_in_the_log(library: KernelLibrary, out: Path, tools: str, tmp_path: Path):
    infos = library.infos(library.op("one"), options="split-mode=1:compile-options=-DNAME=1,-Dclass=1")
    with pytest.raises(superkernel.SuperKernelError) as caught:
        _build.build(infos, "failing", keep=True)
    (line,) = [line for stage, line in entries(the_log(out, "failing")) if stage == "COMPILE"]
    assert f"command: {line}" in str(caught.value)
    assert subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=False).returncode != 0
    assert line in (out / "failing_repro.sh").read_text()
    source = next(word for word in shlex.split(line) if word.endswith("_kernel.cpp"))
    assert Path(source).is_file()


def test_nothing_else_stays_unless_it_is_asked_for(library: KernelLibrary, tools: str, out: Path):
    infos = library.infos(library.op("mixed", MIX_1_2))
    superkernel.compile(infos, "bare")
    names = {"bare.o", "bare.json", "bare.manifest.json", the_log(out, "bare").name}
    assert {path.name for path in out.iterdir()} == names
    # Asked for afterwards, they are made; the script goes when the kernel is built without them.
    _build.build(infos, "bare", keep=True)
    assert (out / "bare_repro.sh").exists()
    _build.build(infos, "bare", rebuild=True)
    assert not (out / "bare_repro.sh").exists()


def test_logs_of_earlier_builds_are_removed(library: KernelLibrary, tools: str, out: Path, tmp_path: Path):
    out.mkdir(parents=True)
    for name in ("k_1.log", "k_99999.log", "k_2_3.log", "kk_1.log"):
        (out / name).write_text("earlier")
    infos = library.infos(library.op("one"), options="split-mode=1")
    superkernel.compile(infos, "k")
    assert sorted(path.name for path in out.glob("*.log")) == sorted(["k_2_3.log", "kk_1.log", the_log(out, "k").name])
    # A build that fails takes nothing away.
    (out / "k_1.log").write_text("earlier")
    with pytest.raises(superkernel.SuperKernelError):
        superkernel.compile(library.infos(library.op("one"), options="compile-options=-Dclass=1"), "k")
    assert (out / "k_1.log").exists()
    # One from the cache has no log, and those of others do not describe it.
    with superkernel.configure(cache_dir=tmp_path / "cache"):
        _build.build(infos, "k", rebuild=True)
        (out / "k_1.log").write_text("earlier")
        (out / "k.o").unlink()
        assert _build.build(infos, "k")["origin"] == "from cache"
    assert sorted(path.name for path in out.glob("k_*.log")) == ["k_2_3.log"]


def test_a_folder_of_somebody_else_is_left_alone(library: KernelLibrary, tools: str, out: Path, caplog):
    (out / "k_build").mkdir(parents=True)
    (out / "k_build" / "mine").write_text("precious")
    infos = library.infos(library.op("one"), options="split-mode=1")
    _build.build(infos, "k", keep=True)
    assert [path.name for path in (out / "k_build").iterdir()] == ["mine"]
    assert any("k_build" in record.getMessage() for record in caplog.records)
    # Our own is replaced as a whole.
    _build.build(library.infos(library.op("one"), options="split-mode=2"), "m", keep=True)
    assert (out / "m_build" / "m_mix_aiv_entry.cpp").exists()
    _build.build(infos, "m", keep=True)
    assert not (out / "m_build" / "m_mix_aiv_entry.cpp").exists() and (out / "m_build" / "linked.o").exists()


@pytest.mark.parametrize("keep", ["dump_cce", "keep"])
def test_a_by_product_never_replaces_another_kernel(library: KernelLibrary, tools: str, out: Path, keep: str):
    """Kernel `k` has a by-product that is called like the object of a kernel `k_mix_aiv`."""
    infos = library.infos(library.op("one"), options="split-mode=1")
    superkernel.compile(infos, "k_mix_aiv")
    before = snapshot(out)
    config = superkernel.configure(op_debug_config=["dump_cce"] if keep == "dump_cce" else [])
    with config, pytest.raises(superkernel.SuperKernelError) as caught:
        _build.build(infos, "k", keep=keep == "keep")
    assert caught.value.errorinfo["errId"] == "SK0810"
    assert f"`{out}/k_mix_aiv.o`, which `{out}/k_mix_aiv.json` describes" in str(caught.value)
    assert snapshot(out) == before
    # Without them there is nothing in the way; nor in the other order.
    superkernel.compile(infos, "k")
    _build.build(infos, "m", keep=True)
    superkernel.compile(infos, "m_mix_aiv")
    described = json.loads((out / "m_mix_aiv.json").read_text())
    assert described["kernelName"] == "m_mix_aiv"
