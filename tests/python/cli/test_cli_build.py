"""`superkernel compile`, `doctor` and `replay` as a user runs them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from kernel_library import MIX_1_2, KernelLibrary

COMMAND = str(Path(sys.executable).with_name("superkernel"))


@pytest.fixture
def scene(library: KernelLibrary, tmp_path: Path) -> Path:
    """A folder with `infos.json`; the user's cache is in it, too."""
    infos = library.infos(library.op("one"), library.op("mixed", MIX_1_2), options="split-mode=1")
    (tmp_path / "infos.json").write_text(json.dumps(infos))
    return tmp_path


def run(scene: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SUPERKERNEL_", "ASCEND"))}
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=scene,
        env={**clean, "XDG_CACHE_HOME": str(scene / "xdg"), "SUPERKERNEL_TOOLCHAIN": "host", **environment},
    )


def test_compile_and_reuse(scene: Path):
    first = run(scene, "compile", "infos.json", "--name", "sk")
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("sk: 2 ops from 2 files, compiled in ")
    assert len(first.stdout.splitlines()) == 1 and first.stderr == "", "without a terminal one line says what it became"
    assert sorted(path.name.split(".")[-1] for path in (scene / "kernel_meta").iterdir()) == [
        "json",
        "json",
        "log",
        "o",
    ]
    assert ", up to date in " in run(scene, "compile", "infos.json", "--name", "sk", "-q").stdout
    # On the command line the user's cache is on.
    other = run(scene, "compile", "infos.json", "--name", "sk", "-q", "--kernel-meta-parent-dir", "there")
    assert ", from cache in " in other.stdout and other.stderr == ""
    fresh = run(scene, "compile", "infos.json", "--name", "sk", "-q", "--kernel-meta-parent-dir", "new", "--no-cache")
    assert ", compiled in " in fresh.stdout
    stats = json.loads(run(scene, "cache", "stats", "--json").stdout)
    assert (stats["entries"], stats["hits"]) == (1, 1)


def test_timings_keep_and_rebuild(scene: Path):
    report = json.loads(run(scene, "compile", "infos.json", "--name", "sk", "--keep", "--timings", "-q").stdout)
    assert report["origin"] == "compiled" and report["toolchain"] == "host" and report["ops"] == 2
    stages = ["load", "read", "compare", "plan", "emit", "compile", "copy", "link", "localize", "check", "publish"]
    assert set(stages) <= set(report["timings_ms"]) and report["timings_ms"]["total"] > 0
    assert report["sizes"]["file"] == (scene / "kernel_meta" / "sk.o").stat().st_size
    kept = {path.name for path in (scene / "kernel_meta").iterdir()}
    assert {"sk_mix_aic.o", "sk_mix_aiv.o"} <= kept and any(name.endswith("_kernel.cpp") for name in kept)
    again = json.loads(run(scene, "compile", "infos.json", "--name", "sk", "--rebuild", "--timings", "-q").stdout)
    assert again["origin"] == "compiled" and again["because"] == ["a rebuild was asked for"]


def test_options_and_errors(scene: Path):
    wrong = run(scene, "compile", "infos.json", "--name", "sk", "--options", "split-mode=0", "-q")
    assert wrong.returncode == 1 and "SK0102" in wrong.stderr
    bad_name = run(scene, "compile", "infos.json", "--name", "no-identifier", "-q")
    assert bad_name.returncode == 1 and "no-identifier" in bad_name.stderr
    broken = run(scene, "compile", "infos.json", "--name", "sk", "-q", CXX="/nowhere/c++")
    assert broken.returncode == 1 and "SK0701" in broken.stderr and "/nowhere/c++" in broken.stderr
    assert not (scene / "kernel_meta").exists()


def test_sync_is_set_alone(scene: Path):
    def program(*arguments: str) -> str:
        done = run(scene, "plan", "infos.json", "--name", "sk", "--text", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert program() == program("--sync", "proven") != program("--sync", "contract")
    assert program("--sync", "contract") == program("--options", "split-mode=1:sync=contract")
    # Also where the string has another value.
    options = ["--options", "sync=proven:split-mode=1"]
    assert program(*options, "--sync", "contract") == program("--sync", "contract")
    # It is one of the options: what a build depends on, and what its record shows.
    assert ", compiled in " in run(scene, "compile", "infos.json", "--name", "sk", "-q").stdout
    built = run(scene, "compile", "infos.json", "--name", "sk", "-q", "--sync", "contract")
    assert ", compiled in " in built.stdout
    why = run(scene, "why", "sk")
    assert "sync was `proven`, is `contract`" in why.stdout, why.stdout


def test_a_terminal_sees_one_changing_line(scene: Path):
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "compile", "infos.json", "--name", "sk", "--toolchain", "host", "--no-cache"],
        cwd=scene, stdout=subprocess.PIPE, stderr=child, text=True,
    )  # fmt: skip
    os.close(child)
    shown = b""
    try:
        while piece := os.read(parent, 4096):
            shown += piece
    except OSError:
        pass
    finally:
        os.close(parent)
    assert process.stdout is not None
    assert process.stdout.read().startswith("sk: 2 ops from 2 files, compiled in ")
    assert process.wait() == 0
    lines = shown.decode().split("\r\x1b[K")
    assert any("] compile " in line for line in lines) and any("] link " in line for line in lines)
    assert lines[-1] == ""


def test_doctor(scene: Path):
    healthy = run(scene, "doctor")
    assert healthy.returncode == 0, healthy.stdout
    assert "toolchain host" in healthy.stdout and "run in the simulator" in healthy.stdout
    assert "SoC Ascend910_93 (default)" in healthy.stdout and str(scene / "kernel_meta") in healthy.stdout
    assert "PROBLEM" not in healthy.stdout
    ill = run(scene, "doctor", "--toolchain", "cann", PATH="/nowhere", ASCEND_HOME_PATH="/nowhere")
    assert ill.returncode == 1
    assert "PROBLEM: no toolchain: cannot find the device compiler `bisheng`" in ill.stdout


# -- reproducers -----------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_a_build_can_be_replayed_elsewhere(scene: Path):
    saved = run(scene, "compile", "infos.json", "--name", "sk", "-q", "--save-reproducer", "case.tar")
    assert saved.returncode == 0, saved.stderr
    elsewhere = scene / "elsewhere"
    elsewhere.mkdir()
    os.rename(scene / "case.tar", elsewhere / "case.tar")
    replayed = run(elsewhere, "replay", "case.tar")
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.stdout.rstrip().endswith("same object as recorded")
    kept = run(elsewhere, "replay", "case.tar", "--kernel-meta-parent-dir", "out")
    assert (elsewhere / "out" / "kernel_meta" / "sk.o").read_bytes() == (scene / "kernel_meta" / "sk.o").read_bytes()
    assert kept.returncode == 0
    with tarfile.open(elsewhere / "case.tar") as archive:
        record = json.load(archive.extractfile("reproducer.json"))  # type: ignore[arg-type]
        # Two JSONs and two objects, each once.
        assert len([name for name in archive.getnames() if name.startswith("files/")]) == 4
    assert record["machine"]["toolchain"]["family"] == "host"
    assert record["settings"]["soc"] == "Ascend910_93"


def test_a_kernel_from_the_cache_is_replayed_by_the_same_tools(scene: Path):
    """Debug information names a file of the build that made the object, which was not the one recorded."""
    words = ["--name", "sk", "-q", "--options", "compile-options=-g", "--cache-dir", "kept"]
    assert run(scene, "compile", "infos.json", *words).returncode == 0
    more = ["--kernel-meta-parent-dir", "second", "--save-reproducer", "cached.tar"]
    assert "from cache" in run(scene, "compile", "infos.json", *words, *more).stdout
    replayed = run(scene, "replay", "cached.tar")
    assert replayed.returncode == 0, replayed.stderr
    assert "other tools" not in replayed.stdout and "by the same tools" in replayed.stdout


def test_a_failure_can_be_replayed(scene: Path):
    options = "compile-options=-Dextern=nonsense"
    saved = run(scene, "compile", "infos.json", "-q", "--options", options, "--save-reproducer", "case.tar")
    assert saved.returncode == 1 and "SK0703" in saved.stderr
    replayed = run(scene, "replay", "case.tar")
    assert replayed.returncode == 1 and "SK0703" in replayed.stderr
    assert replayed.stdout.rstrip().endswith("failed; as recorded")
    # The missing file is missed in the replay as well.
    infos = json.loads((scene / "infos.json").read_text())
    infos["op_list"][0]["bin_path"] = "/nowhere/x.o"
    (scene / "infos.json").write_text(json.dumps(infos))
    assert run(scene, "compile", "infos.json", "-q", "--save-reproducer", "gone.tar").returncode == 1
    gone = run(scene, "replay", "gone.tar")
    assert gone.returncode == 1 and "SK0222" in gone.stderr and "as recorded" in gone.stdout


def pack(path: Path, members: dict[str, bytes]) -> None:
    import io

    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize(
    "members",
    [
        {"../outside": b"x"},
        {"files/../../outside": b"x"},
        {"/tmp/outside": b"x"},
        {"reproducer.json": b"no json"},
        {"reproducer.json": b"{}"},
        {"reproducer.json": b"[1]"},
        {"reproducer.json": b'{"format": 2}'},
        {"reproducer.json": b'{"format": 1, "name": 7}'},
        {"reproducer.json": b'{"format": 1, "name": "k", "settings": [], "kernel_infos": {}, "result": {}}'},
        {"reproducer.json": b'{"format": 1, "name": "k", "settings": {}, "kernel_infos": {}, "result": 1}'},
        {"files/only": b"x"},
    ],
)
def test_a_foreign_file_is_no_reproducer(scene: Path, members: dict[str, Any]):
    pack(scene / "bad.tar", members)
    done = run(scene, "replay", "bad.tar")
    assert done.returncode == 1 and "SK0807" in done.stderr, done.stderr
    assert not (scene.parent / "outside").exists()


def test_no_tar_at_all(scene: Path):
    (scene / "bad.tar").write_text("text")
    assert "SK0807" in run(scene, "replay", "bad.tar").stderr
    assert "[SK0001]: cannot read `missing.tar`" in run(scene, "replay", "missing.tar").stderr
