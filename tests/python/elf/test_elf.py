"""``superkernel.elf`` as users call it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from elf_objects import C_SOURCE, META_SOURCE, Workshop, run
from superkernel import SuperKernelError, elf


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("elf"))


@pytest.fixture(scope="module")
def plain(workshop: Workshop) -> bytes:
    return workshop.source("sample.c", C_SOURCE, "-O1").read_bytes()


def by_name(data: bytes) -> dict[str, elf.Symbol]:
    return {symbol.name: symbol for symbol in elf.symbols(data)}


def test_symbols(plain: bytes) -> None:
    symbols = by_name(plain)
    assert symbols["entry"].binding == "global" and symbols["entry"].kind == "function"
    assert symbols["weak_one"].binding == "weak"
    assert symbols["concealed"].visibility == "hidden"
    assert symbols["hidden_state"].binding == "local" and symbols["hidden_state"].kind == "object"
    assert symbols["outside"].place == "undefined" and not symbols["outside"].is_defined
    assert symbols["maybe"].binding == "weak" and symbols["maybe"].section is None
    section = elf.sections(plain)[symbols["entry"].section or 0]
    assert section.name == ".text" and elf.text_size(plain) == section.size
    assert elf.section_bytes(plain, ".text") == plain[section.offset : section.offset + section.size]
    assert elf.section_bytes(plain, ".nowhere") is None


def test_bytes_like_arguments(plain: bytes) -> None:
    for given in (bytearray(plain), memoryview(plain), memoryview(bytearray(plain))):
        assert elf.symbols(given) == elf.symbols(plain)
        edited = elf.rename_symbols(given, {"entry": "renamed"})
        assert isinstance(edited, bytes) and edited == elf.rename_symbols(plain, {"entry": "renamed"})
        assert elf.edit(given) == plain
    for wrong in ("text", 5, None, [1, 2]):
        with pytest.raises(TypeError):
            elf.symbols(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="list of names"):
        elf.localize_symbols(plain, "entry")


def test_no_change_is_the_same_object(plain: bytes) -> None:
    assert elf.edit(plain) is plain
    assert elf.edit(plain, localize=["hidden_state"]) is plain
    assert elf.edit(plain, rename={"entry": "entry"}) is plain


def test_edits_combine_and_mean_names_of_the_input(plain: bytes) -> None:
    edited = by_name(elf.edit(plain, rename={"entry": "renamed", "table": "entry"}, localize=["entry"], strip=["word"]))
    assert edited["renamed"].binding == "local"
    assert edited["entry"].kind == "object"
    assert "word" not in edited


@pytest.mark.parametrize("action", [elf.strip_symbols, elf.localize_symbols])
def test_missing_names(plain: bytes, action) -> None:
    with pytest.raises(SuperKernelError) as failure:
        action(plain, ["helper_off"])
    info = failure.value.errorinfo
    assert info["errId"] == "SK0605" and info["errCode"] == "EB0500"
    assert "`helper_off`" in info["message"] and "did you mean `helper_of`" in info["message"]
    assert action(plain, ["helper_off"], missing_ok=True) is plain
    with pytest.raises(SuperKernelError):
        elf.rename_symbols(plain, {"helper_off": "x"})
    assert elf.rename_symbols(plain, {"helper_off": "x"}, missing_ok=True) is plain


def test_stripped_but_used(plain: bytes) -> None:
    stripped = by_name(elf.strip_symbols(plain, ["exported", "alias_of"]))
    assert stripped["exported"].place == "undefined" and stripped["exported"].binding == "global"
    assert "alias_of" not in stripped


def test_duplicates_and_contradictions(plain: bytes) -> None:
    with pytest.raises(SuperKernelError, match="two global symbols named `table`"):
        elf.rename_symbols(plain, {"entry": "table"})
    with pytest.raises(SuperKernelError, match="rename and strip"):
        elf.edit(plain, rename={"entry": "x"}, strip=["entry"])
    with pytest.raises(ValueError, match="not both"):
        elf.edit(plain, localize=["entry"], keep_global=["entry"])


def test_split_copies(workshop: Workshop) -> None:
    before = workshop.source("meta_sample.c", META_SOURCE, "-O1").read_bytes()
    copies = elf.split_copies(before, ["entry", "bump"], 3)
    for number, copy in enumerate(copies, 1):
        exported = [symbol.name for symbol in elf.symbols(copy) if symbol.binding != "local"]
        assert sorted(exported) == [f"bump_split{number}", f"entry_split{number}"]
        assert elf.section_bytes(copy, ".ascend.meta.entry") is None
    assert elf.split_copies(before, "entry", 1) == []
    for count in (0, -1):
        with pytest.raises(SuperKernelError, match="cannot split into 0 copies"):
            elf.split_copies(before, "entry", count)
    with pytest.raises(SuperKernelError, match="cannot rename symbol `entri`"):
        elf.split_copies(before, "entri", 2)


@pytest.mark.parametrize(
    ("change", "message", "error_id"),
    [
        (lambda data: b"", "not an ELF file: the first bytes are missing", "SK0601"),
        (lambda data: b"\x7fELF", "`e_ident` at offset 0x0", "SK0603"),
        (lambda data: data[:4] + b"\x01" + data[5:], "`EI_CLASS` at offset 0x4 is 1", "SK0602"),
        (lambda data: data[:5] + b"\x02" + data[6:], "`EI_DATA` at offset 0x5 is 2", "SK0602"),
        (lambda data: data[: len(data) // 2], "`e_shoff` at offset 0x28 reaches", "SK0603"),
        (lambda data: data[:60] + b"\xff\xfe" + data[62:], "`e_shnum` at offset 0x3c reaches", "SK0603"),
    ],
)
def test_damage_is_located(plain: bytes, change, message: str, error_id: str) -> None:
    with pytest.raises(SuperKernelError, match=message) as failure:
        elf.symbols(change(plain))
    assert failure.value.errorinfo["errId"] == error_id


def test_threads_work_at_the_same_time(plain: bytes) -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda number: elf.rename_symbols(plain, {"entry": f"e{number}"}), range(200)))
    assert all(f"e{number}" in by_name(result) for number, result in enumerate(results))


# -- command line ----------------------------------------------------------------------------------------------------


def superkernel(*arguments: object, status: int = 0) -> tuple[str, str]:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "superkernel", "elf", *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_show(workshop: Workshop, plain: bytes) -> None:
    path = workshop.write("show.o", plain)
    shown, _ = superkernel("show", path)
    assert f"{path}: relocatable object, x86-64" in shown
    assert f"code (first .text section): {elf.text_size(plain):,} bytes" in shown
    assert " entry\n" in shown and "hidden_state" not in shown
    assert "hidden_state" in superkernel("show", "--all", path)[0]
    import json

    (parsed,) = json.loads(superkernel("show", "--json", path)[0])
    assert parsed["machine"] == 62 and "entry" in [symbol["name"] for symbol in parsed["symbols"]]


def test_show_archive(workshop: Workshop, plain: bytes) -> None:
    archive = workshop.write("lib.a", elf.write_archive([("one.o", plain), ("two.o", plain)]))
    shown, _ = superkernel("show", archive)
    assert f"{archive}(one.o): relocatable" in shown and f"{archive}(two.o): relocatable" in shown


def test_edit_in_place(workshop: Workshop, plain: bytes) -> None:
    path = workshop.write("edit.o", plain)
    superkernel("edit", path, "-o", path, "--rename", "entry=renamed", "--localize", "table", "--strip", "word")
    assert path.read_bytes() == elf.edit(plain, rename={"entry": "renamed"}, localize=["table"], strip=["word"])
    superkernel("edit", path, "-o", path, "--keep-global", "renamed", "--missing-ok", "--dissolve-groups")
    assert [s.name for s in elf.symbols(path.read_bytes()) if s.binding != "local" and s.is_defined] == ["renamed"]
    _, message = superkernel("edit", path, "-o", path, "--strip", "nothing_like_it", status=1)
    assert f"[SK0605]: `{path}`: cannot strip symbol `nothing_like_it`" in message
    superkernel("edit", path, "-o", path, "--rename", "no_equals_sign", status=1)
    superkernel("edit", workshop.directory / "nowhere.o", "-o", path, status=1)


def test_split_pack_unpack(workshop: Workshop, plain: bytes, tmp_path: Path) -> None:
    path = workshop.write("kernel.o", plain)
    made, _ = superkernel("split", path, "entry", "-n", 3, "-d", tmp_path)
    copies = [Path(line) for line in made.splitlines()]
    assert [copy.name for copy in copies] == ["kernel_split1.o", "kernel_split2.o"]
    assert [copy.read_bytes() for copy in copies] == elf.split_copies(plain, "entry", 3)
    archive = tmp_path / "kernel.a"
    superkernel("pack", archive, path, *copies)
    assert run("ar", "t", str(archive)).split() == ["kernel.o", "kernel_split1.o", "kernel_split2.o"]
    superkernel("unpack", archive, "-d", tmp_path / "out")
    assert (tmp_path / "out" / "kernel.o").read_bytes() == plain
    # A member cannot leave the directory, nor overwrite another.
    sly = workshop.write("sly.a", elf.write_archive([("../../kernel.o", b"x")]))
    superkernel("unpack", sly, "-d", tmp_path / "out")
    assert (tmp_path / "out" / "kernel.o").read_bytes() == b"x"
    twice = workshop.write("twice.a", elf.write_archive([("a/x.o", b"1"), ("b/x.o", b"2")]))
    superkernel("unpack", twice, "-d", tmp_path / "out", status=1)
