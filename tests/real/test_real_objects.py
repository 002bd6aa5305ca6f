"""What is done to objects must be right for those that the vendor's compiler has made. Counts are printed."""

from __future__ import annotations

import itertools
import json
import os
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import superkernel
from cann_tools import Toolkit
from conftest import REL, RealObjects, header
from elf_objects import Meaning, run
from superkernel import SuperKernelError, _build, elf

RELA = 4


def functions(data: bytes) -> dict[str, elf.Symbol]:
    """All functions that a file defines."""
    found = (symbol for symbol in elf.symbols(data) if symbol.kind == "function" and symbol.is_defined)
    return {symbol.name: symbol for symbol in found}


def is_part(own: dict[str, elf.Symbol], linked: dict[str, elf.Symbol]) -> bool:
    """Was it linked from the object with these functions? Other chips have functions of the same names, not sizes."""
    return bool(own) and all(name in linked and linked[name].size == symbol.size for name, symbol in own.items())


def pairs(real: RealObjects) -> list[tuple[str, bytes, list[bytes]]]:
    """Linked files, each once, with the objects that they were linked from: those whose functions they hold."""
    found = []
    seen = set()
    for name, files in real.containers.items():
        distinct = list(dict.fromkeys(files))
        objects = [(data, functions(data)) for data in distinct if header(data)[0] == REL]
        for linked in (data for data in distinct if header(data)[0] != REL and objects):
            there = functions(linked)
            parts = [part for part, own in objects if is_part(own, there)]
            if parts and linked not in seen:
                seen.add(linked)
                parts.sort(key=lambda part: min(there[function].value for function in functions(part)))
                found.append((name, linked, parts))
    return found


def contents(data: bytes, name: str) -> list[bytes]:
    return [header.data for header in Meaning(data).headers if header.name == name]


def visible(data: bytes) -> list[tuple[object, ...]]:
    sections = elf.sections(data)
    symbols = (symbol for symbol in elf.symbols(data) if symbol.binding != "local")
    return [
        (s.name, s.binding, s.kind, s.visibility, s.value, s.size, s.section and sections[s.section].name)
        for s in symbols
    ]


def relocations(data: bytes) -> list[tuple[object, ...]]:
    meaning = Meaning(data)
    return [
        (place, offset, kind, addend, symbol.name, symbol.value)
        for place, rows in meaning.relocations.items()
        for offset, kind, addend, symbol in rows
    ]


def test_every_linked_file_is_linked_again(real: RealObjects, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    for name, linked, parts in pairs(real):
        keeps = any(section.kind == RELA for section in elf.sections(linked))
        ours = elf.link(parts, discard_locals=True, keep_relocations=keeps)
        for section in (".text", ".rodata", ".data"):
            assert contents(ours, section) == contents(linked, section), f"{name}: {section}"
        sizes = [[s.size for s in elf.sections(data) if s.name == ".bl_uninit"] for data in (ours, linked)]
        assert sizes[0] == sizes[1], name
        assert visible(ours) == visible(linked), name
        counts["pairs"] += 1
        if keeps:
            assert relocations(ours) == relocations(linked), name
            counts["kept relocations"] += len(relocations(linked))
    with capsys.disabled():
        print(f"\nlinked again, all alike: {dict(counts)}")
    # So many are in the two wheels that are needed.
    assert counts["pairs"] >= 56


def test_launch_data_is_read(real: RealObjects, capsys: pytest.CaptureFixture[str]) -> None:
    """Every kernel of a linked file that has a section says how it is launched; no object for super kernels does."""
    counts: Counter[str] = Counter()
    for data in real.distinct():
        found = elf.launch_data(data)
        named = [section.name for section in elf.sections(data) if section.name.startswith(".ascend.meta.")]
        assert [f".ascend.meta.{launch.function}" for launch in found] == named
        there = functions(data)
        for launch in found:
            assert launch.function in there, launch
            assert launch.kernel_type in (None, 1, 2, 3, 4, 5), launch
            # Only mixed kernels have a ratio.
            assert launch.ratio is None or launch.kernel_type in (None, 4, 5), launch
            counts[f"type {launch.kernel_type}, ratio {launch.ratio}"] += 1
    for op in real.ops.values():
        assert elf.launch_data(op.object) == []
    with capsys.disabled():
        print(f"\nlaunch data: {dict(counts)}")
    assert sum(counts.values()) > 500


def test_nothing_changes_without_an_edit(real: RealObjects, capsys: pytest.CaptureFixture[str]) -> None:
    files = real.distinct()
    for data in files:
        assert elf.edit(data) == data
    with capsys.disabled():
        print(f"\nunchanged: {len(files)} files")


def test_edits_equal_llvm_objcopy(real: RealObjects, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = real.distinct()
    chosen = [data for data in files if header(data)[0] == REL] + [d for d in files if header(d)[0] != REL][::10]
    path, other = tmp_path / "before.o", tmp_path / "after.o"
    for data in chosen:
        path.write_bytes(data)
        exported = Meaning(data).exported()
        renames = {name: f"{name}_split1" for name in exported[:2]}
        hidden = exported[2::2]
        ours = elf.edit(data, rename=renames, localize=hidden)
        arguments = [f"--redefine-sym={old}={new}" for old, new in renames.items()]
        arguments += [f"--localize-symbol={name}" for name in hidden]
        run("llvm-objcopy", *arguments, str(path), str(other))
        mine, theirs = Meaning(ours), Meaning(other.read_bytes())
        assert mine.symbols == theirs.symbols
        assert [section for section in mine.sections if section[2] & 2] == [s for s in theirs.sections if s[2] & 2]
        if header(data)[0] == REL:
            assert mine.relocations == theirs.relocations
    with capsys.disabled():
        print(f"\nedited as llvm-objcopy does: {len(chosen)} files")


def test_objects_are_joined_as_lld_joins_them(
    real: RealObjects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the number of another machine, since no usual linker knows the device's."""
    count = 0
    objects = [data for data in real.distinct() if header(data)[0] == REL]
    for first, second in itertools.pairwise(objects):
        pair = []
        for number, data in enumerate((first, second)):
            strong = [s.name for s in elf.symbols(data) if s.binding == "global" and s.is_defined]
            names = {name: f"{name}_{number}" for name in strong}
            data = elf.edit(data, rename=names)
            pair.append(data[:18] + struct.pack("<H", 62) + data[20:48] + bytes(4) + data[52:])
        paths = [tmp_path / "0.o", tmp_path / "1.o"]
        for path, data in zip(paths, pair):
            path.write_bytes(data)
        done = subprocess.run(
            ["ld.lld", "-r", *map(str, paths), "-o", str(tmp_path / "joined.o")], capture_output=True, check=False
        )
        try:
            ours = elf.join(pair)
        except SuperKernelError:
            assert done.returncode, "ours is refused, and LLD's is not"
            continue
        if done.returncode:
            continue
        mine, theirs = Meaning(ours), Meaning((tmp_path / "joined.o").read_bytes())
        assert [s for s in mine.symbols if s.binding] == [s for s in theirs.symbols if s.binding]

        def loaded(meaning: Meaning) -> list[Any]:
            return sorted((s[0], s[1], s[2], s[4], s[5], s[6]) for s in meaning.sections if s[2] & 2)

        for one, other in itertools.zip_longest(loaded(mine), loaded(theirs)):
            assert one[:5] == other[:5]
            # LLD fills gaps in code with a trap of the other machine.
            gaps = bytes(0 if byte == 0xCC and own == 0 else byte for own, byte in zip(one[5], other[5]))
            assert one[5] == gaps

        def references(meaning: Meaning) -> list[str]:
            rows = [(p, o, k, a, s.name or s.place) for p, r in meaning.relocations.items() for o, k, a, s in r]
            return sorted(map(repr, rows))

        assert references(mine) == references(theirs)
        count += 1
    with capsys.disabled():
        print(f"\njoined as ld.lld does: {count} pairs of {len(objects) - 1}")
    assert count > len(objects) // 2


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stand-ins for the vendor's compilers, and our own linker."""
    kit = Toolkit(tmp_path / "cann", _build.INCLUDE_DIR)
    monkeypatch.setenv("PATH", f"{kit.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(kit.folder))
    with superkernel.configure(
        kernel_meta_parent_dir=str(tmp_path / "out"), cache_dir="", toolchain="cann", linker="own", soc="Ascend910B"
    ):
        yield tmp_path / "out" / "kernel_meta"


Entries = list[dict[str, object]]


def infos(entries: Entries, options: str) -> dict[str, object]:
    return {"op_list": entries, "super_kernel_options": options}


def compiled(entries: Entries, options: str, out: Path) -> tuple[str, bytes]:
    """A kernel of these operators, or why there is none."""
    try:
        superkernel.compile(infos(entries, options), "k")
    except SuperKernelError as error:
        return re.sub(r"`[^`]*`", "`…`", str(error.errorinfo["errId"])) + ": " + str(error)[:300], b""
    return "", (out / "k.o").read_bytes()


def together(entries: Entries) -> list[Entries]:
    """Lists of operators of one wheel: two releases of one operator have functions of one name."""
    key = lambda entry: str(entry["kernel_name"])  # noqa: E731
    lists: list[dict[str, dict[str, object]]] = []
    for entry in entries:
        free = next((found for found in lists if key(entry) not in found), None)
        if free is None:
            free = {}
            lists.append(free)
        free[key(entry)] = entry
    return [list(found.values()) for found in lists]


def test_every_operator_is_planned(op_entries: Entries, device: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By itself and with others, without anything being built; nothing would be refused."""
    kinds: Counter[str] = Counter()
    for entry in op_entries:
        plan = superkernel.plan(infos([entry], ""), "k")
        assert len(plan["ops"]) == 1 and not [w for w in plan["warnings"] if "would fail" in w], plan["warnings"]
        kinds[plan["kernel_type"]] += 1
        typeless = not json.loads(Path(str(entry["json_path"])).read_text()).get("sub_operator_kernel_type")
        kinds["type derived"] += typeless
    for entries in together(op_entries):
        plan = superkernel.plan(infos(entries, ""), "k")
        assert len(plan["ops"]) == len(entries)
    with capsys.disabled():
        print(f"\nplanned: {len(op_entries)} operators, {dict(kinds)}")
    assert len(op_entries) >= 39 and kinds["type derived"] >= 22


@pytest.mark.parametrize("options", ["split-mode=1", "split-mode=4"])
def test_every_operator_becomes_a_kernel(
    op_entries: Entries, device: Path, options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = []
    for entry in op_entries:
        why, kernel = compiled([entry], options, device)
        if why:
            problems.append(f"{entry['kernel_name']}: {why}")
            continue
        assert elf.identity(kernel).kind == 2
        # Exactly the entries are kernels to the loader.
        kernels = {s.name for s in elf.symbols(kernel) if s.kind == "function" and s.binding == "global"}
        assert kernels <= {"k_mix_aic", "k_mix_aiv"} and kernels
        assert {launch.function for launch in elf.launch_data(kernel)} == kernels
    with capsys.disabled():
        print(f"\n{options}: {len(op_entries) - len(problems)} of {len(op_entries)} operators became kernels")
    assert not problems, "\n".join(problems)


def test_all_operators_together(op_entries: Entries, device: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for entries in together(op_entries):
        why, kernel = compiled(entries, "split-mode=4", device)
        assert not why, why
        (local,) = (section for section in elf.sections(kernel) if section.name == ".bl_uninit")
        with capsys.disabled():
            size = elf.text_size(kernel)
            print(f"\n{len(entries)} together: {size:,} bytes of code, {local.size} of block-local memory")
        assert local.size <= 4096
