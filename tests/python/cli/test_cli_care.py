"""`doctor` and `cache`: what a user asks when something is odd."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from kernel_library import KernelLibrary
from superkernel import cli
from superkernel.cli.cache import ago


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("SUPERKERNEL_", "ASCEND"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("SUPERKERNEL_TOOLCHAIN", "host")
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    status = cli.main(list(arguments))
    return status, capsys.readouterr().out.splitlines()


# -- doctor ----------------------------------------------------------------------------------------------------------


def test_the_last_line_says_whether_it_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, lines = run(capsys, "doctor")
    assert (status, lines[-1]) == (0, "ready: yes")
    assert cli.main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ready"] is True and found["problems"] == []
    assert [row["finding"] for row in found["findings"]] == [line.strip() for line in lines[:-1]]
    monkeypatch.setenv("CXX", "/nowhere/c++")
    status, lines = run(capsys, "doctor")
    assert status == 1 and lines[-1].startswith("ready: no, because: no toolchain: ") and "/nowhere/c++" in lines[-1]
    assert cli.main(["doctor", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ready"] is False and len(found["problems"]) == 1


def test_a_variable_that_nobody_reads_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPERKERNEL_TOOLCHIAN", "host")
    monkeypatch.setenv("SUPERKERNEL_CACHE_SIZE", "1G")
    _, lines = run(capsys, "doctor")
    told = [line for line in lines if "has no effect" in line]
    assert told == [
        "the environment variable `SUPERKERNEL_TOOLCHIAN` has no effect; did you mean `SUPERKERNEL_TOOLCHAIN`?"
    ]


def test_a_trial_builds_fuses_and_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, lines = run(capsys, "doctor", "--try")
    assert status == 0 and lines[-2].startswith("the trial worked: two operators built, fused and run ")
    assert not list(Path().glob("kernel_meta*"))
    from superkernel.cli import doctor

    monkeypatch.setattr(doctor, "_TRIAL", doctor._TRIAL.replace("{change}", "+ 3"))
    status, lines = run(capsys, "doctor", "--try")
    assert status == 1 and "the values are wrong" in lines[-1]
    monkeypatch.setattr(doctor, "_TRIAL", "no C++")
    status, lines = run(capsys, "doctor", "--try")
    assert status == 1 and lines[-1].startswith("ready: no, because: the trial failed: ")


# -- cache -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(library: KernelLibrary, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """A cache with two kernels, and the op list they are of."""
    infos = library.infos(library.op("one"), library.op("one"), options="split-mode=1")
    Path("infos.json").write_text(json.dumps(infos))
    for options in ("split-mode=1", "split-mode=2:profiling=1"):
        assert cli.main(["compile", "infos.json", "--name", "k", "--options", options, "-q"]) == 0
    capsys.readouterr()
    return infos


def test_kernels_are_listed_and_counted(filled: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = run(capsys, "cache", "ls")
    assert status == 0 and lines[0].split() == ["size", "last", "used", "key", "kernel"] and len(lines) == 3
    assert all(line.endswith("  k") and " s ago  " in line and " MiB  " in line for line in lines[1:])
    assert cli.main(["cache", "ls", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["kernel"] for row in rows] == ["k", "k"] and all(len(row["key"]) == 64 for row in rows)
    assert cli.main(["compile", "infos.json", "--name", "k", "-q", "--kernel-meta-parent-dir", "other"]) == 0
    capsys.readouterr()
    _, lines = run(capsys, "cache", "stats")
    told = dict(line.split(None, 1) for line in lines)
    assert (told["kernels"], told["hits"], told["misses"]) == ("2", "1", "2")
    assert "hit rate   33.3 %" in lines
    assert any(line.startswith("last used  from ") and line.endswith(" s ago") for line in lines)


def test_precompiled_headers_are_listed_and_removed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = Path("xdg/superkernel/sim/sk_operator_headers_0123456789")
    folder.mkdir(parents=True)
    (folder / "prelude.h.gch").write_bytes(bytes(3 << 20))
    _, lines = run(capsys, "cache", "ls")
    assert any("3.0 MiB" in line and "0123456789" in line and line.endswith("(AscendC headers)") for line in lines)
    _, lines = run(capsys, "cache", "stats")
    assert f"headers    1, 3.0 MiB in {Path('xdg').absolute()}/superkernel/sim" in lines
    run(capsys, "cache", "clear", "--cache-dir", str(tmp_path / "other"))
    assert folder.exists()
    _, lines = run(capsys, "cache", "clear")
    assert lines[0].startswith("removed 1 set of precompiled headers from ") and not folder.exists()


def test_damage_is_found(filled: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "cache", "verify") == (0, ["2 kernels read, 0 damaged"])
    entry = sorted(Path("xdg").rglob("*.skc"))[0]
    content = bytearray(entry.read_bytes())
    content[-1] ^= 1
    entry.write_bytes(content)
    status, lines = run(capsys, "cache", "verify")
    assert status == 1 and entry.name in lines[0]
    assert lines[-1] == "2 kernels read, 1 damaged: a build that meets one removes it"
    entry.write_text("{}\n")
    assert run(capsys, "cache", "verify")[0] == 1
    assert "its head is bad" in "".join(run(capsys, "cache", "ls")[1])


def test_a_miss_is_explained(filled: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "cache", "why", "infos.json", "--name", "k") == (0, ["hit: the cache has this kernel"])
    _, lines = run(capsys, "cache", "why", "infos.json", "--name", "k", "--options", "split-mode=3")
    assert lines[0].startswith("miss: closest is k, last used ") and lines[0].endswith(" ago, which differs:")
    assert lines[1:] == ["  options: split-mode was `1`, is `3`"]
    assert cli.main(["cache", "why", "infos.json", "--name", "k", "--options", "split-mode=3", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["answer"], answer["nearest"]) == ("miss", "k")
    assert answer["changes"] == ["options: split-mode was `1`, is `3`"]
    _, lines = run(capsys, "cache", "why", "infos.json", "--name", "k", "--cache-dir", "empty")
    assert lines == ["miss: the cache has nothing to compare with"]
    # A build says it, too, to those who listen.
    assert cli.main(["compile", "infos.json", "--name", "k", "--options", "split-mode=3", "-q", "-v"]) == 0
    assert "k: not in the cache; closest is k: options: split-mode was `1`, is `3`" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["stats", "ls", "verify", "clear", "export", "why"])
def test_what_is_no_folder_is_said(action: str, filled: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("x")
    more = {"export": ["x.tar"], "why": ["infos.json"]}.get(action, [])
    assert cli.main(["cache", action, *more, "--cache-dir", "file"]) == 1
    told = capsys.readouterr().err
    assert "[SK0001]" in told and "cannot list `file`: Not a directory" in told
    assert Path("file").read_text() == "x"


def test_times_are_rough() -> None:
    assert [ago(seconds) for seconds in (0, 119, 120, 7200, 200_000)] == [
        "0 s ago", "119 s ago", "2 minutes ago", "2 hours ago", "2 days ago",
    ]  # fmt: skip
