"""Inputs that somebody else made: objects, options, reproducers and caches that are not what they should be."""

from __future__ import annotations

import io
import json
import logging
import os
import shutil
import struct
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import superkernel
from cann_tools import Toolkit
from elf_objects import headers
from kernel_library import KernelLibrary
from superkernel import SuperKernelError, _build, elf
from superkernel.sim import Device

COMMAND = str(Path(sys.executable).with_name("superkernel"))


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch) -> Iterator[None]:
    monkeypatch.delenv("ASCENDC_CCACHE_EXECUTABLE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(tmp_path), cache_dir=""):
        yield


@pytest.fixture
def op(library: KernelLibrary, tmp_path: Path) -> dict[str, Any]:
    """An op whose files belong to the test."""
    folder = tmp_path / "ops"
    folder.mkdir()
    entry = library.op("one").entry()
    for key in ("json_path", "bin_path"):
        entry[key] = shutil.copy(entry[key], folder)
    return entry


@pytest.fixture
def device() -> Iterator[Device]:
    with Device("Ascend910_93") as device:
        yield device


def infos_of(*ops: dict[str, Any], options: str = "split-mode=1") -> dict[str, Any]:
    return {"op_list": list(ops), "super_kernel_options": options}


def build(infos: dict[str, Any], **settings: Any) -> dict[str, Any]:
    with superkernel.configure(**settings):
        return _build.build(infos, "k")


def refused(call: Any, *arguments: Any, **settings: Any) -> SuperKernelError:
    with pytest.raises(SuperKernelError) as caught:
        call(*arguments, **settings)
    return caught.value


def change_json(path: str, **changes: Any) -> None:
    document = json.loads(Path(path).read_text())
    document.update(changes)
    Path(path).write_text(json.dumps(document))


# -- digests ---------------------------------------------------------------------------------------------------------


def test_a_kernel_whose_object_was_exchanged_is_not_loaded(op, device: Device, tmp_path: Path):
    report = build(infos_of(op))
    device.load(report["json"])
    for changed in (report["object"], report["json"]):
        before = Path(changed).read_bytes()
        if changed == report["json"]:
            change_json(changed, sha256="0" * 64)
        else:
            # A byte behind the end changes nothing that runs.
            Path(changed).write_bytes(before + b"\0")
        for path in (report["json"], report["object"]):
            error = refused(device.load, path)
            assert error.errorinfo["errId"] == "SK0930" and "sha256" in str(error) and "k.o" in str(error), error
        Path(changed).write_bytes(before)
        device.load(report["object"])


def test_upper_case_digests_are_digests(op, device: Device):
    report = build(infos_of(op))
    change_json(report["json"], sha256=json.loads(Path(report["json"]).read_text())["sha256"].upper())
    device.load(report["json"])


def test_another_object_than_the_json_states_is_told_and_refused_when_strict(op, caplog):
    stated = "ab" * 32
    found = json.loads(Path(op["json_path"]).read_text())["sha256"]
    change_json(op["json_path"], sha256=stated)
    with caplog.at_level(logging.WARNING, "superkernel"):
        report = build(infos_of(op, op))
    told = [text for text in report["warnings"] if stated in text and found in text]
    assert len(told) == 1 and told[0] in caplog.text and op["bin_path"] in told[0]
    error = refused(build, infos_of(op), strict=True)
    assert error.errorinfo["errId"] == "SK0226" and stated in str(error) and found in str(error)
    for harmless in ("", found):
        change_json(op["json_path"], sha256=harmless)
        assert build(infos_of(op), strict=True)["warnings"] == []


def test_a_sub_kernel_of_a_vendor_is_loaded_with_a_warning(op, device: Device, caplog):
    change_json(op["json_path"], sha256="ab" * 32)
    assert refused(device.load, op["json_path"]).errorinfo["errId"] == "SK0930"  # written here: it must be right
    document = json.loads(Path(op["json_path"]).read_text())
    del document["buildDigest"]
    Path(op["json_path"]).write_text(json.dumps(document))
    with caplog.at_level(logging.WARNING, "superkernel"):
        device.load(op["json_path"])
    assert "ab" * 32 in caplog.text
    with superkernel.configure(strict=True):
        assert refused(device.load, op["json_path"]).errorinfo["errId"] == "SK0930"


# -- objects ---------------------------------------------------------------------------------------------------------


def with_field(path: str, kind: int, field: int, value: int) -> str:
    """Sets a 64-bit field of the first section header of a type; the section's name."""
    data = bytearray(Path(path).read_bytes())
    offset = struct.unpack_from("<Q", data, 40)[0]
    index, header = next((at, one) for at, one in enumerate(headers(bytes(data))) if one.kind == kind)
    struct.pack_into("<Q", data, offset + 64 * index + field, value)
    Path(path).write_bytes(data)
    return str(header.name)


@pytest.mark.parametrize("exponent", [17, 28, 30, 63])
def test_an_absurd_alignment_is_refused_before_anybody_pads(op, device: Device, exponent: int):
    with_field(op["bin_path"], 1, 48, 1 << exponent)
    error = refused(build, infos_of(op))
    assert error.errorinfo["errId"] == "SK0614"
    for part in (op["bin_path"], "section `.text", "sh_addralign", str(1 << exponent)):
        assert part in str(error)
    change_json(op["json_path"], sha256="")
    assert refused(device.load, op["json_path"]).errorinfo["errId"] == "SK0614"


def test_absurd_room_without_bytes_is_refused(op, device: Device):
    with_field(op["bin_path"], 8, 32, 1 << 40)
    error = refused(build, infos_of(op))
    assert error.errorinfo["errId"] == "SK0614" and "sh_size" in str(error) and op["bin_path"] in str(error)
    change_json(op["json_path"], sha256="")
    assert refused(device.load, op["json_path"]).errorinfo["errId"] == "SK0614"


def test_an_alignment_of_the_entry_is_limited(op):
    assert refused(build, infos_of(op, options="func-align=131072")).errorinfo["errId"] == "SK0102"
    assert build(infos_of(op, options="func-align=65536:split-mode=1"))["sizes"]["file"] < 1 << 20


@pytest.mark.parametrize("name", ["class", "xor", "_Exit", "__builtin_trap", "main", "address", "sk_call_x"])
def test_words_of_the_language_are_no_functions(op, name: str):
    names = {"dav-c220-vec": {"func_name": name}, "AiCore": {"func_name": name}}
    change_json(op["json_path"], sub_operator_kernel_name=names)
    error = refused(superkernel.generate, infos_of(op), "k")
    assert error.errorinfo["errId"] == "SK0207" and f"`{name}`" in str(error)


@pytest.mark.parametrize("name", ["@k.o", "-k.o", "--version.o"])
def test_files_called_like_options_are_files(op, device: Device, tmp_path: Path, monkeypatch, name: str):
    report = build(infos_of(op))
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(Path(report["object"]).read_bytes())
    kernel = device.load(name, functions={"aiv": "k_mix_aiv"}, kernel_type="KERNEL_TYPE_AIV_ONLY", block_dim=1)
    assert str(kernel.description.object).endswith(name)
    assert device.load(name).name == "k"


# -- compiler options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["-D", "-U", "-I", "-mllvm", "-include"])
def test_an_option_without_its_word_is_refused(op, word: str):
    error = refused(build, infos_of(op, options=f"compile-options=-g,{word}:split-mode=1"))
    assert error.errorinfo["errId"] == "SK0102" and word in str(error)


def test_pairs_reach_the_compiler_as_pairs(op, tmp_path: Path):
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "mine.h").write_text("#define MINE 1\n")
    report = build(infos_of(op, options=f"split-mode=1:compile-options=-D,WORD=1,-U,WORD,-I,{folder},-mllvm,-D"))
    (command,) = json.loads(Path(report["json"]).with_suffix(".manifest.json").read_text())["commands"][:1]
    assert f"-D WORD=1 -U WORD -I {folder} " in command and "mllvm" not in command


def test_the_host_compiler_gets_no_response_files(op, tmp_path: Path):
    (tmp_path / "x.rsp").write_text("-DX=1")
    for words in (f"@{tmp_path}/x.rsp", f"-D,@{tmp_path}/x.rsp", f"-g,-I,@{tmp_path}/x.rsp"):
        error = refused(build, infos_of(op, options=f"split-mode=1:compile-options={words}"))
        assert error.errorinfo["errId"] == "SK0706" and "x.rsp" in str(error)


def test_the_content_of_a_response_file_counts_on_a_device(device_library, tmp_path: Path, monkeypatch):
    kit = Toolkit(tmp_path / "cann", _build.INCLUDE_DIR)
    monkeypatch.setenv("PATH", f"{kit.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(kit.folder))
    monkeypatch.setenv("SUPERKERNEL_SOC", "Ascend910_93")
    monkeypatch.chdir(tmp_path)
    infos = device_library.infos(device_library.op("one"), options="split-mode=1:compile-options=@x.rsp")
    assert refused(build, infos, toolchain="cann").errorinfo["errId"] == "SK0001"
    (tmp_path / "x.rsp").write_text("-DX=1")
    assert build(infos, toolchain="cann")["origin"] == "compiled"
    assert build(infos, toolchain="cann")["origin"] == "up to date"
    # The tool runs elsewhere: it gets the whole path, and finds the file.
    assert any("-DX=1" in call for call in kit.calls("bisheng"))
    (tmp_path / "x.rsp").write_text("-DX=2")
    report = build(infos, toolchain="cann")
    assert report["origin"] == "compiled" and any("response file x.rsp" in reason for reason in report["because"])
    (tmp_path / "x.rsp").write_text("-g @y.rsp")
    assert refused(build, infos, toolchain="cann").errorinfo["errId"] == "SK0706"


# -- reproducers -----------------------------------------------------------------------------------------------------


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SUPERKERNEL_", "ASCEND"))}
    clean |= {"XDG_CACHE_HOME": str(folder / "xdg"), "SUPERKERNEL_TOOLCHAIN": "host"}
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=300, cwd=folder, env=clean)


def record_of(op: dict[str, Any], options: str = "split-mode=1", **settings: Any) -> dict[str, Any]:
    infos = infos_of({"json_path": "files/op.json", "bin_path": "files/op.o", "stream_id": 0}, options=options)
    return {"format": 1, "name": "k", "settings": settings, "kernel_infos": infos, "result": {}}


def pack(path: Path, record: dict[str, Any], op: dict[str, Any]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in {
            "reproducer.json": json.dumps(record).encode(),
            "files/op.json": Path(op["json_path"]).read_bytes(),
            "files/op.o": Path(op["bin_path"]).read_bytes(),
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_a_replay_writes_where_it_is_told_and_says_what_it_dropped(op, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    record = record_of(op, kernel_meta_parent_dir=str(elsewhere), cache_dir=str(elsewhere), soc="Ascend910_93")
    pack(tmp_path / "case.tar", record, op)
    done = run(tmp_path, "replay", "case.tar")
    assert done.returncode == 0, done.stderr
    assert not elsewhere.exists()
    assert "setting `kernel_meta_parent_dir`" in done.stderr and "setting `cache_dir`" in done.stderr
    assert "soc" not in done.stderr and "--trust" in done.stderr
    trusted = run(tmp_path, "replay", "case.tar", "--trust")
    assert trusted.returncode == 0 and trusted.stderr == ""
    assert (elsewhere / "kernel_meta" / "k.o").exists()


def test_a_replay_starts_no_code_of_its_sender(op, tmp_path: Path):
    """A response file that loads a plugin, and everything else that names a file."""
    (tmp_path / "plugin.cpp").write_text(
        "#include <cstdio>\n__attribute__((constructor)) static void run() "
        f'{{ fclose(fopen("{tmp_path}/was-here", "w")); }}\nint plugin_is_GPL_compatible;\n'
        'extern "C" int plugin_init(void *, void *) { return 0; }\n'
    )
    plugin = tmp_path / "plugin.so"
    subprocess.run(["g++", "-shared", "-fPIC", str(tmp_path / "plugin.cpp"), "-o", str(plugin)], check=True)
    (tmp_path / "x.rsp").write_text(f"-DX -fplugin={plugin}")
    for words in (f"-D,@{tmp_path}/x.rsp", f"@{tmp_path}/x.rsp", f"-fplugin={plugin}", f"-I,{tmp_path}"):
        pack(tmp_path / "case.tar", record_of(op, f"compile-options=-DY=1,{words}:split-mode=1"), op)
        done = run(tmp_path, "replay", "case.tar")
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "was-here").exists()
        assert f"compile option `{words.replace(',', ' ')}`" in done.stderr.replace("…", ""), done.stderr
        assert "-DY" not in done.stderr.split("not taken")[1].splitlines()[0]


def test_a_replay_reads_no_files_of_this_machine(op, tmp_path: Path):
    record = record_of(op)
    record["kernel_infos"]["op_list"][0]["json_path"] = op["json_path"]
    pack(tmp_path / "case.tar", record, op)
    done = run(tmp_path, "replay", "case.tar")
    assert done.returncode == 1 and f"path `{op['json_path']}`" in done.stderr and "SK0201" in done.stderr
    assert run(tmp_path, "replay", "case.tar", "--trust").returncode == 0


def sparse_tar(path: Path, name: str, size: int) -> None:
    """One member of the old GNU sparse form: a hole of ``size`` bytes."""
    header = bytearray(tarfile.TarInfo(name).tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"%011o\0" % 0
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386 : 386 + 24] = tarfile.itn(size, 12, tarfile.GNU_FORMAT) + tarfile.itn(0, 12, tarfile.GNU_FORMAT)  # type: ignore[attr-defined]
    header[483:495] = tarfile.itn(size, 12, tarfile.GNU_FORMAT)  # type: ignore[attr-defined]
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    path.write_bytes(bytes(header) + bytes(1024))


def test_holes_in_a_tar_are_not_unpacked(tmp_path: Path):
    sparse_tar(tmp_path / "case.tar", "files/x", 20 << 30)
    with tarfile.open(tmp_path / "case.tar") as archive:
        assert [(member.size, member.issparse()) for member in archive] == [(20 << 30, True)]
    done = run(tmp_path, "replay", "case.tar")
    assert done.returncode == 1 and "SK0807" in done.stderr and "larger than the archive" in done.stderr
    done = run(tmp_path, "cache", "import", "case.tar")
    assert done.returncode == 1 and "SK0001" in done.stderr and "larger than the archive" in done.stderr


# -- caches ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def cache(op, tmp_path: Path) -> Path:
    """A cache with one kernel, whose entry another build would find."""
    folder = tmp_path / "cache"
    assert build(infos_of(op), cache_dir=str(folder))["origin"] == "compiled"
    return folder


def origin(op: dict[str, Any], cache: Path, tmp_path: Path, name: str, **settings: Any) -> str:
    place = str(tmp_path / name)
    return str(build(infos_of(op), cache_dir=str(cache), kernel_meta_parent_dir=place, **settings)["origin"])


@pytest.mark.parametrize("what", ["", "v2", "v2/??", "v2/*/*.skc"])
def test_a_cache_that_others_can_write_is_not_used(op, cache: Path, tmp_path: Path, caplog, what: str):
    place = next(cache.glob(what)) if what else cache
    assert origin(op, cache, tmp_path, "own") == "from cache"
    place.chmod(place.stat().st_mode | 0o002)
    with caplog.at_level(logging.WARNING, "superkernel"):
        assert origin(op, cache, tmp_path, "other") == "compiled"
    assert str(place) in caplog.text and "written by others" in caplog.text
    place.chmod(place.stat().st_mode | 0o020)
    assert origin(op, cache, tmp_path, "shared", cache_shared=True) == "from cache"
    place.chmod(place.stat().st_mode & ~0o022)
    assert origin(op, cache, tmp_path, "again") == "from cache"


def test_nothing_is_written_into_a_cache_that_others_can_write(op, tmp_path: Path):
    """A link with the name of the next file would lead to a file of the user."""
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    assert origin(op, cache, tmp_path, "here") == "compiled"
    assert list(cache.iterdir()) == []


def tar_of(folder: Path, entries: list[bytes]) -> Path:
    path = folder / "entries.tar"
    with tarfile.open(path, "w") as archive:
        for number, content in enumerate(entries):
            member = tarfile.TarInfo(f"{number}.skc")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def seal(head: dict[str, Any]) -> dict[str, Any]:
    """As somebody would seal an entry who knows how it is done."""
    from hashlib import sha256

    parts = "\n".join(head[key] for key in ("key", "kernel", "sha256", "json_sha256"))
    return {**head, "seal": sha256(parts.encode()).hexdigest()}


def test_an_entry_is_what_it_claims_or_is_not_taken(op, cache: Path, tmp_path: Path):
    from hashlib import sha256

    (entry,) = cache.rglob("*.skc")
    whole = entry.read_bytes()
    line, _, rest = whole.partition(b"\n")
    head = json.loads(line)
    described, code = rest[: head["json_size"]], rest[head["json_size"] :]
    assert seal(head) == head

    def made(described: bytes, code: bytes, **changes: Any) -> bytes:
        digests = {"json_sha256": sha256(described).hexdigest(), "sha256": sha256(code).hexdigest()}
        sizes = {"json_size": len(described), "size": len(code)}
        return json.dumps(seal({**head, **digests, **sizes, **changes})).encode() + b"\n" + described + code

    other = code + b"\0"
    # Its entry has gone inside; the run configuration is still to be seen.
    entries = [symbol.name for symbol in elf.symbols(code) if symbol.name.startswith(head["kernel"])]
    entryless = elf.localize_symbols(code, entries)
    lies = {
        "damaged": whole[:-1] + b"x",
        "unsealed": json.dumps({**head, "kernel": "other"}).encode() + b"\n" + rest,
        "another object": made(described, other),
        "another kernel": made(described, code, kernel="other"),
        "no description": made(b"{}", code),
        "no json": made(b"x", code),
        "no object": made(json.dumps({**json.loads(described), "sha256": sha256(b"x").hexdigest()}).encode(), b"x"),
        "no entry": made(
            json.dumps({**json.loads(described), "sha256": sha256(entryless).hexdigest()}).encode(), entryless
        ),
        "no key": made(described, code, key="../../../x"),
    }
    there = tmp_path / "there"
    for name, content in lies.items():
        done = run(tmp_path, "cache", "import", str(tar_of(tmp_path, [content])), "--cache-dir", str(there))
        assert done.returncode == 1 and "SK0804" in done.stderr, (name, done.stderr)
    assert not list(tmp_path.rglob("there/**/*.skc"))
    done = run(tmp_path, "cache", "import", str(tar_of(tmp_path, [whole])), "--cache-dir", str(there))
    assert "took 1 kernel from" in done.stdout, done.stderr
    assert origin(op, there, tmp_path, "imported") == "from cache"
    # A description that belongs together with its object, but not to these inputs.
    foreign = json.loads(described)
    foreign["blockDim"] += 1
    entry.write_bytes(made(json.dumps(foreign).encode(), code))
    assert origin(op, cache, tmp_path, "foreign") == "compiled"


def test_an_entry_cannot_be_imported_where_others_write(cache: Path, tmp_path: Path):
    (entry,) = cache.rglob("*.skc")
    tar = str(tar_of(tmp_path, [entry.read_bytes()]))
    there = tmp_path / "there"
    there.mkdir()
    there.chmod(0o777)
    done = run(tmp_path, "cache", "import", tar, "--cache-dir", str(there))
    assert done.returncode == 1 and "SK0809" in done.stderr and "`--cache-shared`" in done.stderr
    assert run(tmp_path, "cache", "import", tar, "--cache-dir", str(there), "--cache-shared").returncode == 0
