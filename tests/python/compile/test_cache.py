"""Reuse: what is unchanged is not built again, what changed is, and why; caches of our own and of the compiler."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import superkernel
from kernel_library import AIC, AIV, MIX_1_2, KernelLibrary
from superkernel import _build, _core

COMMAND = Path(sys.executable).with_name("superkernel")


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch) -> Iterator[None]:
    """Built for this machine into the test's folder; no cache but the test's own."""
    monkeypatch.delenv("ASCENDC_CCACHE_EXECUTABLE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(tmp_path), cache_dir=""):
        yield


def build(infos: dict[str, Any], name: str = "k", **settings: Any) -> dict[str, Any]:
    with superkernel.configure(**settings):
        return _build.build(infos, name)


@pytest.fixture
def ops(library: KernelLibrary, tmp_path: Path) -> list[dict[str, Any]]:
    """Two ops whose files belong to the test."""
    folder = tmp_path / "ops"
    folder.mkdir()
    entries = []
    for op in (library.op("one"), library.op("cube", AIC)):
        entry = op.entry(stream_id=0)
        for key in ("json_path", "bin_path"):
            entry[key] = shutil.copy(entry[key], folder)
        entries.append(entry)
    return entries


def infos_of(ops: list[dict[str, Any]], options: str = "split-mode=1") -> dict[str, Any]:
    return {"op_list": ops, "super_kernel_options": options}


def test_unchanged_inputs_mean_no_work(ops, tmp_path: Path):
    assert build(infos_of(ops))["origin"] == "compiled"
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kernel_meta").iterdir()}
    report = build(infos_of(ops))
    assert report["origin"] == "up to date"
    assert not {"plan", "compile", "link", "publish"} & set(report["timings_ms"])
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kernel_meta").iterdir()} == before


@pytest.mark.parametrize("split", [1, 4])
def test_stages_are_told_once_each_and_in_order(ops, tmp_path: Path, split: int):
    infos = infos_of(ops, f"split-mode={split}")
    order = _core.build_stages()

    def stages(origin: str, **arguments: Any) -> list[str]:
        told: list[str] = []
        report = _build.build(infos, "k", progress=told.append, **arguments)
        assert report["origin"] == origin
        assert told == [stage for stage in order if stage in told]
        assert told == [stage for stage in report["timings_ms"] if stage != "total"]
        return told

    with superkernel.configure(cache_dir=str(tmp_path / "cache")):
        assert stages("compiled") == order
        # Where copying the inputs took its time they have settled, and looks are enough.
        assert stages("up to date") in (["load", "read", "compare"], ["load"])
        assert stages("compiled", rebuild=True) == order
        (tmp_path / "kernel_meta" / "k.o").unlink()
        assert stages("from cache") == ["load", "read", "compare", "plan", "emit", "cache", "publish"]


def test_inputs_that_look_the_same_are_not_read(ops, tmp_path: Path):
    """And nobody can change one without being seen, not even with its size and its time as they were."""
    target = Path(ops[0]["bin_path"])
    while time.time() - max(Path(op[key]).stat().st_ctime for op in ops for key in ("json_path", "bin_path")) < 3.1:
        time.sleep(0.1)
    assert build(infos_of(ops))["origin"] == "compiled"
    report = build(infos_of(ops))
    assert report["origin"] == "up to date" and set(report["timings_ms"]) == {"load", "total"}
    assert (report["ops"], report["files"], report["toolchain"]) == (2, 2, "host")
    manifest = tmp_path / "kernel_meta" / "k.manifest.json"
    assert json.loads(manifest.read_text())["version"] == 2
    # How much is done at a time says nothing about the result.
    for jobs in (1, 3):
        assert set(build(infos_of(ops), jobs=jobs)["timings_ms"]) == {"load", "total"}
    # Another setting of this machine: compared as ever, and nothing has changed.
    assert "compare" in build(infos_of(ops), tool_timeout=1234)["timings_ms"]
    before, content = target.stat(), target.read_bytes()
    # Bytes of the `.comment` section.
    at = content.index(b"GCC") if b"GCC" in content else content.index(b"clang")
    target.write_bytes(content[:at] + b"X" + content[at + 1 :])
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert target.stat().st_mtime_ns == before.st_mtime_ns and target.stat().st_ino == before.st_ino
    (reason,) = build(infos_of(ops))["because"]
    assert reason.startswith("op 0 (`one_") and reason.endswith("object has other content")
    # What was touched just now is read again, however it looks.
    assert "compare" in build(infos_of(ops))["timings_ms"]


def test_what_does_not_matter_causes_no_rebuild(ops, tmp_path: Path):
    build(infos_of(ops))
    moved = tmp_path / "moved"
    moved.mkdir()
    same = [{**op, "json_path": shutil.copy(op["json_path"], moved), "bin_path": shutil.copy(op["bin_path"], moved)}
            for op in ops]  # fmt: skip
    for op in same:
        os.utime(op["bin_path"], (1, 1))
    variants = [
        infos_of(same),
        {**infos_of(ops), "kernel_name": "ignored"},
        infos_of(ops, " split-mode = 1 : :func-align=512"),
        infos_of(ops, "split-mode=1:option_xxx2"),
    ]
    for variant in variants:
        assert build(variant)["origin"] == "up to date"
    assert build(infos_of(ops), jobs=1, tool_timeout=1000)["origin"] == "up to date"


def change_byte(path: str) -> None:
    content = bytearray(Path(path).read_bytes())
    content.append(0)
    Path(path).write_bytes(content)


def change_json(path: str) -> None:
    Path(path).write_text(Path(path).read_text() + " ")


CHANGES: list[tuple[str, Any, dict[str, Any], str]] = [
    ("object byte", lambda ops: change_byte(ops[1]["bin_path"]), {}, r"op 1 .*: object has other content"),
    ("JSON byte", lambda ops: change_json(ops[0]["json_path"]), {}, r"op 0 .*: JSON has other content"),
    ("stream", lambda ops: [op.update(stream_id=5) for op in ops], {}, r"op 0 .*: stream was `0`, is `5`"),
    ("event", lambda ops: ops[0].update(send_event_list=[9]), {}, r"op 0 .*: send events was ``, is `9`"),
    ("op gone", lambda ops: ops.pop(), {}, r"op list: number of ops was `2`, is `1`"),
    ("op new", lambda ops: ops.append(dict(ops[0])), {}, r"op list: number of ops was `2`, is `3`"),
    ("SoC", None, {"soc": "Ascend910B"}, r"platform: SoC was `Ascend910_93`, is `Ascend910B`"),
    ("cube cores", None, {"aic_num": 20}, r"platform: number of cube cores was `24`, is `20`"),
    ("vector cores", None, {"aiv_num": 40}, r"platform: number of vector cores was `48`, is `40`"),
    ("debug flag", None, {"op_debug_config": ["ccec_O0"]}, r"debug config: optimization was `usual`, is `none`"),
]


@pytest.mark.parametrize(("change", "settings", "reason"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_every_change_is_noticed_and_told(ops, caplog, change: Any, settings: dict[str, Any], reason: str):
    # An event needs an op behind its sender.
    build(infos_of(ops))
    if change:
        change(ops)
    if ops[0]["send_event_list"]:
        ops[1]["recv_event_list"] = [9]
        ops[1]["stream_id"] = 3
    with superkernel.configure(**settings):
        standing, reasons = _build.compare(infos_of(ops), "k")
        assert standing == "outdated"
        assert any(re.search(reason, line) for line in reasons), reasons
    report = build(infos_of(ops), **settings)
    assert report["origin"] == "compiled" and report["because"] == reasons
    assert any("k is built again: " in record.getMessage() for record in caplog.records)
    assert build(infos_of(ops), **settings)["origin"] == "up to date"


def test_every_setting_that_decides_about_the_result_is_among_the_changes():
    """`toolchain` is not: what counts are the tools it leads to. `linker` counts for devices (cann/test_linker.py)."""
    tried = {name for _, _, settings, _ in CHANGES for name in settings}
    decisive = {row["name"] for row in _core.setting_table() if row["repeatable"]}
    assert tried == decisive - {"toolchain", "linker"}


# Forced core counts come in pairs.
PAIRED = {"debug-aic-num": "debug-aic-num=4:debug-aiv-num=4", "debug-aiv-num": "debug-aic-num=4:debug-aiv-num=4"}


def test_every_option_counts(ops):
    """Only compared, not built: one build is the base of all comparisons."""
    build(infos_of(ops, ""))
    for row in _core.option_table():
        name, other = row["name"], next(sample for sample in row["samples"] if sample != row["default"])
        options = PAIRED.get(name, f"{name}={other}")
        standing, reasons = _build.compare(infos_of(ops, options), "k")
        assert standing == "outdated" and any(f"{name} was" in reason for reason in reasons), (options, reasons)


def test_another_compiler_is_another_kernel(ops, tmp_path: Path, monkeypatch):
    compiler = tmp_path / "my-c++"
    compiler.write_text('#!/bin/sh\nexec c++ "$@"\n')
    compiler.chmod(0o755)
    build(infos_of(ops))
    monkeypatch.setenv("CXX", str(compiler))
    report = build(infos_of(ops))
    assert report["origin"] == "compiled" and any("tool 1 was" in reason for reason in report["because"])
    os.utime(compiler, (5, 5))
    assert build(infos_of(ops))["origin"] == "compiled"
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path / "mine"))
    assert build(infos_of(ops))["because"] == [
        f"toolchain: CPLUS_INCLUDE_PATH is new, folder {tmp_path / 'mine'} is new"
    ]


def test_the_whole_compiler_command_counts(ops, monkeypatch):
    monkeypatch.setenv("CXX", "c++")
    build(infos_of(ops))
    monkeypatch.setenv("CXX", "c++ -g3")
    report = build(infos_of(ops))
    assert report["origin"] == "compiled" and "toolchain: compiler arguments was ``, is `-g3`" in report["because"]
    assert build(infos_of(ops))["origin"] == "up to date"


def test_the_compiler_behind_a_wrapper_counts(ops, tmp_path: Path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in {"wrap": 'exec "$@"', "my-c++": 'exec c++ "$@"'}.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("CXX", "wrap my-c++")
    build(infos_of(ops))
    os.utime(tools / "my-c++", (5, 5))
    report = build(infos_of(ops))
    assert report["origin"] == "compiled" and any("tool 2 was" in reason for reason in report["because"])


def test_the_cache_has_no_answer_to_keep(ops, tmp_path: Path):
    """It holds results only: whoever wants what leads to one gets it made."""
    cache, there = str(tmp_path / "cache"), tmp_path / "there"
    build(infos_of(ops), cache_dir=cache)
    for keep, origin in ((False, "from cache"), (True, "compiled")):
        with superkernel.configure(cache_dir=cache, kernel_meta_parent_dir=str(there / str(keep))):
            assert _build.build(infos_of(ops), "k", keep=keep)["origin"] == origin
        assert bool(list((there / str(keep)).rglob("*.cpp"))) == keep


@pytest.mark.parametrize("way", ["option", "pair of words", "variable"])
def test_the_content_of_include_folders_counts(ops, tmp_path: Path, monkeypatch, way: str):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.h").write_text("// one")
    options = {"option": f"compile-options=-I{folder}", "pair of words": f"compile-options=-I,{folder}", "variable": ""}
    if way == "variable":
        monkeypatch.setenv("CPATH", str(folder))
    infos = infos_of(ops, options[way])
    build(infos)
    assert build(infos)["origin"] == "up to date"
    (folder / "a.h").write_text("// three")
    report = build(infos)
    assert report["origin"] == "compiled" and report["because"] == [f"toolchain: folder {folder} has other content"]
    (folder / "b.h").write_text("")
    assert build(infos)["origin"] == "compiled"


@pytest.mark.parametrize("name", ["LIBRARY_PATH", "SOURCE_DATE_EPOCH", "LDEMULATION", "CCC_OVERRIDE_OPTIONS"])
def test_variables_that_tools_read_count(ops, monkeypatch, name: str):
    """Only compared, not built: not every value means something to the tools here."""
    build(infos_of(ops))
    monkeypatch.setenv(name, "1")
    assert _build.compare(infos_of(ops), "k") == ("outdated", [f"toolchain: {name} is new"])


def test_damaged_results_are_built_again(ops, tmp_path: Path, caplog):
    folder = tmp_path / "kernel_meta"
    build(infos_of(ops))
    good = (folder / "k.o").read_bytes()
    for damage in (
        lambda: (folder / "k.o").write_bytes(good[:-1]),
        lambda: (folder / "k.o").unlink(),
        lambda: (folder / "k.json").unlink(),
        lambda: (folder / "k.json").write_text("{}"),
        lambda: (folder / "k.manifest.json").unlink(),
        lambda: (folder / "k.manifest.json").write_text("{broken"),
    ):
        damage()
        report = build(infos_of(ops))
        assert report["origin"] == "compiled" and report["because"]
        assert (folder / "k.o").read_bytes() == good
    assert build(infos_of(ops))["origin"] == "up to date"


def test_why(ops, tmp_path: Path):
    def why(*more: str) -> dict[str, Any]:
        done = subprocess.run(
            [COMMAND, "why", "k", "--json", "--kernel-meta-parent-dir", str(tmp_path), *more],
            capture_output=True, text=True, check=True, cwd="/",
        )  # fmt: skip
        return json.loads(done.stdout)

    build(infos_of(ops))
    assert why() == {"because": [], "standing": "up to date", "reasons": []}
    change_byte(ops[0]["bin_path"])
    found = why()
    assert found["standing"] == "outdated" and "object has other content" in found["reasons"][0]
    build(infos_of(ops))
    assert why()["because"] == found["reasons"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(infos_of(ops, "split-mode=2")))
    assert why("--against", str(other), "--toolchain", "host")["reasons"] == ["options: split-mode was `1`, is `2`"]
    plain = subprocess.run(
        [COMMAND, "why", "k", "--kernel-meta-parent-dir", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "Nothing has changed since" in plain.stdout
    missing = subprocess.run([COMMAND, "why", "nobody"], capture_output=True, text=True, cwd=tmp_path)
    assert missing.returncode == 1 and "SK0805" in missing.stderr


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 1}', '{"version": 1e30}', '{"version": [2]}'])
def test_why_tells_what_is_wrong_with_a_record(ops, tmp_path: Path, content: str):
    build(infos_of(ops))
    record = tmp_path / "kernel_meta" / "k.manifest.json"
    record.write_text(content)
    done = subprocess.run([COMMAND, "why", "k"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "SK0805" in done.stderr and record.name in done.stderr, done.stderr
    # It costs a rebuild and no more.
    build(infos_of(ops))
    assert json.loads(record.read_text())["version"] == 2


# -- the cache directory ---------------------------------------------------------------------------------------------


def test_the_cache_serves_other_directories(ops, tmp_path: Path):
    cache = str(tmp_path / "cache")
    assert build(infos_of(ops), cache_dir=cache)["origin"] == "compiled"
    there = str(tmp_path / "there")
    report = build(infos_of(ops), cache_dir=cache, kernel_meta_parent_dir=there)
    assert report["origin"] == "from cache"
    assert not {"compile", "link"} & set(report["timings_ms"])
    for name in ("k.o", "k.json"):
        assert (tmp_path / "kernel_meta" / name).read_bytes() == (Path(there) / "kernel_meta" / name).read_bytes()
    assert build(infos_of(ops), cache_dir=cache, kernel_meta_parent_dir=there)["origin"] == "up to date"
    # Damage is noticed, removed, and made good.
    (entry,) = Path(cache).rglob("*.skc")
    entry.write_bytes(entry.read_bytes()[:-5])
    elsewhere = str(tmp_path / "elsewhere")
    assert build(infos_of(ops), cache_dir=cache, kernel_meta_parent_dir=elsewhere)["origin"] == "compiled"
    third = str(tmp_path / "third")
    assert build(infos_of(ops), cache_dir=cache, kernel_meta_parent_dir=third)["origin"] == "from cache"


def test_an_unusable_cache_fails_nothing(ops, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    assert build(infos_of(ops), cache_dir=str(tmp_path / "file"))["origin"] == "compiled"


def test_cache_commands(ops, tmp_path: Path):
    def cache(*arguments: str, check: bool = True, **environment: str) -> str:
        done = subprocess.run(
            [COMMAND, "cache", *arguments],
            capture_output=True, text=True, check=check, env={**os.environ, **environment},
        )  # fmt: skip
        return done.stdout if check else done.stderr

    here, there = str(tmp_path / "cache"), str(tmp_path / "copy")
    for options in ("split-mode=1", "split-mode=2"):
        build(infos_of(ops, options), cache_dir=here)
    stats = json.loads(cache("stats", "--json", "--cache-dir", here))
    assert (stats["entries"], stats["hits"], stats["misses"]) == (2, 0, 2)
    tar = str(tmp_path / "cache.tar")
    assert "wrote 2 kernels" in cache("export", tar, "--cache-dir", here)
    assert "took 2 kernels" in cache("import", tar, "--cache-dir", there)
    fresh = str(tmp_path / "fresh")
    assert build(infos_of(ops), cache_dir=there, kernel_meta_parent_dir=fresh)["origin"] == "from cache"
    assert "removed 2 kernels" in cache("clear", "--cache-dir", here)
    assert "kernels    0" in cache("stats", "--cache-dir", here)
    # Default place, and a limit that leaves room for nothing.
    assert str(tmp_path / "xdg" / "superkernel") in cache("stats")
    assert "took 2 kernels" in cache("import", tar, "--cache-dir", here, SUPERKERNEL_CACHE_SIZE="1K")
    assert json.loads(cache("stats", "--json", "--cache-dir", here))["entries"] == 0
    (tmp_path / "bad.tar").write_text("no tar")
    assert "SK0001" in cache("import", str(tmp_path / "bad.tar"), "--cache-dir", here, check=False)
    assert "SK0012" in cache("stats", "--cache-dir", here, check=False, SUPERKERNEL_CACHE_SIZE="much")


# -- compiler caches -------------------------------------------------------------------------------------------------


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"`{name}` is missing: run scripts/test-packages")
    return path


def ccache_stats() -> dict[str, int]:
    text = subprocess.run([tool("ccache"), "--print-stats"], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split("\t") for line in text.splitlines())}


def test_ccache_in_front_of_the_compiler(library: KernelLibrary, tmp_path: Path, monkeypatch):
    """The second machine (another folder, nothing else shared) compiles nothing."""
    monkeypatch.setenv("ASCENDC_CCACHE_EXECUTABLE", tool("ccache"))
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    monkeypatch.setenv("CCACHE_CONFIGPATH", str(tmp_path / "ccache.conf"))
    infos = library.infos(library.op("one"), library.op("mixed", MIX_1_2))
    build(infos)
    first = ccache_stats()
    assert first["cache_miss"] == 4 and first["direct_cache_hit"] + first["preprocessed_cache_hit"] == 0
    there = str(tmp_path / "there")
    assert build(infos, kernel_meta_parent_dir=there)["origin"] == "compiled"
    second = ccache_stats()
    assert second["cache_miss"] == 4 and second["direct_cache_hit"] + second["preprocessed_cache_hit"] == 4
    for name in ("k.o", "k.json"):
        assert (tmp_path / "kernel_meta" / name).read_bytes() == (Path(there) / "kernel_meta" / name).read_bytes()
    # The cache is no part of the result: without it nothing is built again.
    monkeypatch.delenv("ASCENDC_CCACHE_EXECUTABLE")
    assert build(infos)["origin"] == "up to date"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """A server of our own; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [tool("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < deadline and server.poll() is None
                time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_machines_share_work_through_redis(library: KernelLibrary, tmp_path: Path, monkeypatch, redis: str):
    monkeypatch.setenv("ASCENDC_CCACHE_EXECUTABLE", tool("ccache"))
    monkeypatch.setenv("CCACHE_CONFIGPATH", str(tmp_path / "ccache.conf"))
    monkeypatch.setenv("CCACHE_SECONDARY_STORAGE", redis)
    monkeypatch.setenv("CCACHE_REMOTE_STORAGE", redis)
    infos = library.infos(library.op("one"), options="split-mode=1")
    for machine in ("first", "second"):
        monkeypatch.setenv("CCACHE_DIR", str(tmp_path / machine / "ccache"))
        build(infos, kernel_meta_parent_dir=str(tmp_path / machine))
    stats = ccache_stats()
    # Nothing of the second machine's own was there: what it found came from the server.
    remote = stats.get("remote_storage_hit", 0) + stats.get("secondary_storage_hit", 0)
    assert remote >= 1, stats
    assert stats["direct_cache_hit"] + stats["preprocessed_cache_hit"] == 1 and stats["cache_miss"] == 0
    results = [(tmp_path / machine / "kernel_meta" / "k.o").read_bytes() for machine in ("first", "second")]
    assert results[0] == results[1]


def test_types_of_ops_are_distinguished(library: KernelLibrary):
    """The same name built from another op is another kernel."""
    build(library.infos(library.op("one", AIV), options="split-mode=1"))
    report = build(library.infos(library.op("two", AIV), options="split-mode=1"))
    assert report["origin"] == "compiled"
    assert any("new" in reason for reason in report["because"]) and any(
        "gone" in reason for reason in report["because"]
    )


@pytest.mark.parametrize("split", [1, 4])
def test_a_kernel_of_another_name_needs_no_compiler(ops, tmp_path: Path, split: int):
    infos = infos_of(ops, f"split-mode={split}")
    cache = {"cache_dir": str(tmp_path / "cache")}
    name = "a_much_longer_name_than_that"
    assert build(infos, "earlier_name", **cache)["origin"] == "compiled"
    renamed = build(infos, name, **cache)
    assert renamed["origin"] == "from cache"
    fresh = build(infos, name, kernel_meta_parent_dir=str(tmp_path / "fresh"))
    assert fresh["origin"] == "compiled"
    objects = [Path(report["object"]).read_bytes() for report in (renamed, fresh)]
    assert objects[0] == objects[1] and b"earlier_name" not in objects[0]
    symbols = [sorted((s.name, s.binding) for s in superkernel.elf.symbols(found) if s.name) for found in objects]
    assert symbols[0] == symbols[1]
    sections = [[(s.name, s.size) for s in superkernel.elf.sections(found)] for found in objects]
    tables = (".symtab", ".strtab", ".shstrtab")
    assert [s for s in sections[0] if s[0] not in tables] == [s for s in sections[1] if s[0] not in tables]
    # The map of its code tells the new name.
    kernels = [re.findall(rb'"kernel":"(\w+)"', found) for found in objects]
    assert kernels == [[name.encode()]] * 2
    described = [json.loads(Path(report["json"]).read_text()) for report in (renamed, fresh)]
    assert [document.pop("sha256") for document in described] != [None, None] and described[0] == described[1]
    # Descriptions of source lines name the source's file, which is called like the kernel.
    with_lines = infos_of(ops, f"split-mode={split}:compile-options=-g")
    assert [build(with_lines, name, **cache)["origin"] for name in ("one", "two")] == ["compiled", "compiled"]
