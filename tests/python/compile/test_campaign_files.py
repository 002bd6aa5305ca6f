"""Reproducers and cache entries that somebody else made, damaged at random: an error of this package or a result that
is right, nothing else, and nothing outside the folder that was named.

``SUPERKERNEL_FOREIGN_FILES`` sets how many of each are tried.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import shutil
import tarfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import superkernel
from damage import damaged_bytes, damaged_document
from kernel_library import KernelLibrary
from superkernel import SuperKernelError, _build, _core, _reproducer
from superkernel.cli.cache import take

COUNT = int(os.environ.get("SUPERKERNEL_FOREIGN_FILES", "120"))

pytestmark = pytest.mark.timeout(7200 if COUNT > 1000 else 300)

#: What a record from anywhere may hand to a compiler.
HARMLESS = re.compile(r"-([DUWO]|g[0-3]?$)[^@]*")


@pytest.fixture(scope="module")
def inputs(library: KernelLibrary, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a good reproducer by their names in it."""
    op = library.op("one").entry()
    files = {"files/op.json": Path(op["json_path"]).read_bytes(), "files/op.o": Path(op["bin_path"]).read_bytes()}
    infos = {
        "op_list": [{"json_path": "files/op.json", "bin_path": "files/op.o", "stream_id": 0, "send_event_list": []}],
        "super_kernel_options": "split-mode=1:compile-options=-DX=1,-O2",
    }
    settings = {"soc": "Ascend910_93", "aic_num": 24, "aiv_num": 48, "op_debug_config": ["ccec_g"], "toolchain": "host"}
    record = {"format": 1, "name": "k", "settings": settings, "kernel_infos": infos, "machine": {}, "result": {}}
    return {"reproducer.json": json.dumps({**record, "object_sha256": None}).encode(), **files}


def tar_of(files: dict[str, bytes], dice: random.Random) -> bytes:
    """A tar file, now and then with members that are not what they should be."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if dice.randrange(20) == 0:
                member.name = dice.choice(["../x", "/tmp/x", "files/..", "files//x", "files/a/b", "", "x", "files"])
            if dice.randrange(30) == 0:
                member.type = dice.choice([tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
                member.linkname = "../../x"
                member.size = 0
            archive.addfile(member, io.BytesIO(content))
            if dice.randrange(30) == 0:
                archive.addfile(member, io.BytesIO(content))
    return target.getvalue()


def damaged_tar(inputs: dict[str, bytes], dice: random.Random) -> bytes:
    files = dict(inputs)
    for _ in range(dice.choice([0, 1, 1, 2])):
        name = dice.choice([*files, "reproducer.json", "reproducer.json"])
        if name.endswith(".json") and dice.randrange(4):
            try:
                files[name] = json.dumps(damaged_document(json.loads(files[name]), dice)).encode()
                continue
            except (ValueError, IndexError):
                pass
        files[name] = damaged_bytes(files[name] or b"x", dice)
    content = tar_of(files, dice)
    return damaged_bytes(content, dice) if dice.randrange(4) == 0 else content


def check_harmless(stored: Any, folder: Path) -> None:
    """Whatever was taken from a record names nothing but the files that came with it."""
    rows = {row["name"] for row in _core.setting_table() if row["repeatable"]}
    assert set(stored.settings) <= rows
    infos = stored.kernel_infos
    for op in infos.get("op_list", []) if isinstance(infos, dict) else []:
        for key in ("json_path", "bin_path"):
            path = op.get(key) if isinstance(op, dict) else None
            if isinstance(path, str):
                assert Path(os.path.normpath(path)).is_relative_to(folder), path
    options = infos.get("super_kernel_options") if isinstance(infos, dict) else None
    for words in re.findall(r"compile-options=([^:]*)", options if isinstance(options, str) else ""):
        for word in filter(None, words.split(",")):
            assert HARMLESS.match(word) or not word.startswith(("-", "@", "/")), options


def test_reproducers_from_anywhere(inputs: dict[str, bytes], tmp_path: Path, tally: Counter[str]):
    for number in range(COUNT):
        dice = random.Random(number)
        scene = tmp_path / "scene"
        folder = scene / "unpacked"
        folder.mkdir(parents=True)
        path = scene / "x.tar"
        path.write_bytes(damaged_tar(inputs, dice))
        try:
            stored = _reproducer.load(str(path), folder)
            check_harmless(stored, folder)
            with superkernel.configure(**{"kernel_meta_parent_dir": str(folder), **stored.settings}):
                superkernel.generate(stored.kernel_infos, stored.name)
            tally["taken"] += 1
        except SuperKernelError as error:
            assert error.errorinfo["errSolution"], error
            tally[error.errorinfo["errId"]] += 1
        assert {entry.name for entry in scene.iterdir()} == {"x.tar", "unpacked"}, number
        assert {entry.name for entry in tmp_path.iterdir()} == {"scene"}, number
        shutil.rmtree(scene)
    assert tally["taken"] and tally["SK0807"]


# -- caches ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def cache(library: KernelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with one kernel. The compiler has a cache of its own: most builds here repeat one."""
    if launcher := shutil.which("ccache"):
        monkeypatch.setenv("ASCENDC_CCACHE_EXECUTABLE", launcher)
        monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    assert origin(library, tmp_path, tmp_path / "cache") == "compiled"
    return tmp_path / "cache"


def origin(library: KernelLibrary, folder: Path, cache: Path) -> str:
    infos = library.infos(library.op("one"), options="split-mode=1")
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(folder), cache_dir=str(cache)):
        return str(_build.build(infos, "k")["origin"])


def damaged_entry(whole: bytes, dice: random.Random) -> bytes:
    """An entry with other content; now and then sealed anew, by somebody who knows how."""
    line, _, rest = whole.partition(b"\n")
    head = json.loads(line)
    described, code = rest[: head["json_size"]], rest[head["json_size"] :]
    kind = dice.randrange(5)
    if kind == 0:
        return damaged_bytes(whole, dice)
    if kind == 1:
        return json.dumps(damaged_document(head, dice)).encode() + b"\n" + rest
    if kind == 2:
        described = json.dumps(damaged_document(json.loads(described), dice)).encode()
    elif kind == 3:
        code = damaged_bytes(code, dice)
        document = json.loads(described)
        described = json.dumps({**document, "sha256": sha256(code).hexdigest()}, indent=dice.choice([None, 4])).encode()
    else:
        head["key"] = dice.choice([head["key"], head["key"].upper(), "../" * 21 + "x", "0" * 64])
        head["kernel"] = dice.choice(["k", "other", ""])
    head |= {"json_sha256": sha256(described).hexdigest(), "sha256": sha256(code).hexdigest()}
    head |= {"json_size": len(described), "size": len(code)}
    sealed = "\n".join(str(head[key]) for key in ("key", "kernel", "sha256", "json_sha256"))
    return json.dumps({**head, "seal": sha256(sealed.encode()).hexdigest()}).encode() + b"\n" + described + code


def test_cache_entries_from_anywhere(library: KernelLibrary, cache: Path, tmp_path: Path, tally: Counter[str]):
    """Taken over or found: what a build gives is what it would have made."""
    (entry,) = cache.rglob("*.skc")
    whole = entry.read_bytes()
    right = {name: (tmp_path / "kernel_meta" / name).read_bytes() for name in ("k.o", "k.json")}
    there = tmp_path / "there"
    for number in range(COUNT):
        dice = random.Random(number)
        content = damaged_entry(whole, dice)
        tar = tmp_path / "entries.tar"
        with tarfile.open(tar, "w") as archive:
            member = tarfile.TarInfo("x.skc")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        try:
            take(str(there), 1 << 30, str(tar))
            tally["imported"] += 1
        except SuperKernelError as error:
            tally[f"import {error.errorinfo['errId']}"] += 1
        assert all(found.resolve().is_relative_to(there / "v2") for found in there.rglob("*.skc"))
        # Whole builds are slower: one in four entries is put where a build looks for it.
        if number % 4 == 0:
            entry.parent.mkdir(parents=True, exist_ok=True)
            entry.write_bytes(content)
            entry.chmod(0o640)
            out = tmp_path / "out"
            tally[f"hit: {origin(library, out, cache)}"] += 1
            assert {name: (out / "kernel_meta" / name).read_bytes() for name in right} == right, number
            shutil.rmtree(out)
    # What was taken over serves a build as well as the real one does, or not at all.
    origin(library, tmp_path / "last", there)
    assert {name: (tmp_path / "last" / "kernel_meta" / name).read_bytes() for name in right} == right
    assert tally["import SK0804"] and tally["hit: compiled"]
