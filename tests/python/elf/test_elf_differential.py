"""Edits compared with the tools that do them elsewhere: equal symbols, relocations, sections and groups, by meaning."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from device_linker import joined
from device_objects import GLOBAL, WEAK, DeviceObject, ObjectFile
from elf_objects import LINKERS, Meaning, Recipe, Workshop, complaints, recipes, run
from superkernel import elf

RECIPES = recipes()


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("objects"))


def objcopy(tool: str, path: Path, *arguments: str) -> bytes:
    target = path.with_suffix(".objcopy")
    run(tool, *arguments, str(path), str(target))
    return target.read_bytes()


def assert_same(ours: bytes, theirs: bytes, before: bytes) -> None:
    mine, wanted = Meaning(ours), Meaning(theirs)
    assert mine.symbols == wanted.symbols
    assert mine.relocations == wanted.relocations
    assert mine.sections == wanted.sections
    # llvm-objcopy takes COMDAT from every group whose signature is local; assemblers make such groups on purpose
    # (one for both constructors of a class), and they must stay what they are.
    assert [group[1:] for group in mine.groups] == [group[1:] for group in wanted.groups]
    bindings = {symbol.name: symbol.binding for symbol in Meaning(before).symbols}
    for (flag, signature, _), (wanted_flag, _, _) in zip(mine.groups, wanted.groups):
        if bindings.get(signature, 1) != 0:
            assert flag <= wanted_flag


def assert_valid(workshop: Workshop, before: Path, data: bytes) -> None:
    """The binary utilities find nothing wrong with the result that was not wrong before."""
    path = workshop.write("valid.o", data)
    assert complaints(path) <= complaints(before)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_edits_equal_llvm_objcopy(workshop: Workshop, recipe: Recipe) -> None:
    path = workshop.compile(recipe)
    before = path.read_bytes()
    meaning = Meaning(before)
    exported = meaning.exported()
    assert "entry" in exported
    assert elf.edit(before) == before

    undefined = sorted(symbol.name for symbol in meaning.symbols if symbol.place == "undefined" and symbol.name)
    renames = {name: f"{name}_split1" for name in [*exported[:2], *undefined[:1], "entry"]}
    renamed = elf.rename_symbols(before, renames)
    arguments = [f"--redefine-sym={old}={new}" for old, new in renames.items()]
    assert_same(renamed, objcopy("llvm-objcopy", path, *arguments), before)

    some = exported[::2]
    localized = elf.localize_symbols(before, some)
    assert_same(localized, objcopy("llvm-objcopy", path, *(f"--localize-symbol={name}" for name in some)), before)

    kept = elf.edit(before, keep_global=["entry"])
    assert_same(kept, objcopy("llvm-objcopy", path, "--keep-global-symbol=entry"), before)

    used = {symbol.name for symbol in meaning.used()} | {group[1] for group in meaning.groups}
    unused = [symbol.name for symbol in meaning.symbols if symbol.name not in used and symbol.kind not in (3, 4)]
    unused = sorted({name for name in unused if name and name != "entry"})[:3]
    everything = elf.edit(
        before, rename={"entry": "renamed"}, localize=[n for n in some if n not in unused], strip=unused
    )
    arguments = ["--redefine-sym=entry=renamed", *(f"--localize-symbol={name}" for name in some if name not in unused)]
    arguments += [f"--strip-symbol={name}" for name in unused]
    assert_same(everything, objcopy("llvm-objcopy", path, *arguments), before)

    for result in (renamed, localized, kept, everything):
        assert_valid(workshop, path, result)


# On MIPS, and only there, the machine decides where a relocation keeps its symbol.
@pytest.mark.parametrize("recipe", [r for r in RECIPES if "mips" not in r.name], ids=lambda recipe: recipe.name)
def test_the_machine_does_not_matter(workshop: Workshop, recipe: Recipe) -> None:
    # An unknown machine gives the same bytes but for its number.

    def as_unknown(data: bytes) -> bytes:
        return data[:18] + (0x1029).to_bytes(2, "little") + data[20:]

    before = workshop.compile(recipe).read_bytes()
    edited = elf.split_copies(before, "entry", 3)
    assert elf.split_copies(as_unknown(before), "entry", 3) == [as_unknown(copy) for copy in edited]


def all_keys() -> DeviceObject:
    """A tiling-sink operator: the functions of all keys in one section."""
    made = DeviceObject("c220", "cube")
    for key in range(40):
        made.function(f"Add_{key}_mix_aic", long_calls=["helper"], block_local=["g_cubeTPipePtr", "own"])
        made.function(f"Add_{key}_mix_aiv", addresses=["g_opSystemRunCfg"], block_local=["g_vecTPipePtr"])
        made.tiling(f"Tiling{key}")
    made.function("helper").variable("g_vecTPipePtr").variable("g_cubeTPipePtr").variable("own", 4, binding=GLOBAL)
    return made.stack_record(*[0x8000] * 80)


def per_function() -> DeviceObject:
    """An operator compiled function by function."""
    made = DeviceObject().function("Add_0_mix_aic", calls=["_Z6helperIiEvv"], block_local=["g_vecTPipePtr"])
    made.function("Add_0_mix_aiv", own_section=True).function("_Z6helperIiEvv", own_section=True, binding=WEAK)
    return made.variable("g_vecTPipePtr").variable("_ZN7AscendC11g_kfcClientE").meta("Add_0", bytes(8))


@pytest.mark.parametrize("made", [all_keys(), per_function()], ids=["all_keys", "per_function"])
def test_device_objects_are_edited_alike(workshop: Workshop, made: DeviceObject) -> None:
    before = made.bytes()
    path = workshop.write("device.o", before)
    assert elf.edit(before) == before
    assert elf.identity(before) == (1, 0x1029)
    renames = {name: f"{name}_split1" for name in ("Add_0_mix_aic", "g_vecTPipePtr")}
    arguments = [f"--redefine-sym={old}={new}" for old, new in renames.items()]
    assert_same(elf.rename_symbols(before, renames), objcopy("llvm-objcopy", path, *arguments), before)
    some = ["Add_0_mix_aiv", "g_vecTPipePtr"]
    arguments = [f"--localize-symbol={name}" for name in some]
    assert_same(elf.localize_symbols(before, some), objcopy("llvm-objcopy", path, *arguments), before)
    kept = elf.edit(before, keep_global=["Add_0_mix_aic"])
    assert_same(kept, objcopy("llvm-objcopy", path, "--keep-global-symbol=Add_0_mix_aic"), before)
    dropped = elf.edit(before, drop_sections=[".ascend.meta."])
    arguments = ["--wildcard", "--remove-section=.ascend.meta.*"]
    assert_same(dropped, objcopy("llvm-objcopy", path, *arguments), before)
    # llvm-objcopy leaves the groups of sections that are gone, with signatures that are no symbols.
    bare = Meaning(elf.edit(before, drop_sections=[".ascendc_tiling."]))
    assert not [section for section in elf.sections(elf.edit(before, drop_sections=[".ascendc_tiling."]))
                if section.name.startswith(".ascendc_tiling")]  # fmt: skip
    assert {group[1] for group in bare.groups} == {
        group[1] for group in Meaning(before).groups if not group[1].startswith("Tiling")
    }


@pytest.mark.parametrize("made", [all_keys(), per_function()], ids=["all_keys", "per_function"])
def test_copies_of_device_objects_share_block_local_variables(made: DeviceObject) -> None:
    """Weak ones, which a linker merges. Whatever else an object defines is the copy's own."""
    functions = ["Add_0_mix_aic", "Add_0_mix_aiv"]
    before = made.bytes()
    copies = elf.split_copies(before, functions, 3)
    for number, copy in enumerate(copies, 1):
        visible = {s.name: s.binding for s in elf.symbols(copy) if s.is_defined and s.binding != "local"}
        shared = {s.name for s in elf.symbols(before) if s.binding == "weak" and s.size == 8 and s.kind == "object"}
        shared = {name for name in shared if not name.startswith("Tiling")}
        assert visible == {f"{name}_split{number}": "global" for name in functions} | dict.fromkeys(shared, "weak")
        groups = {group.signature.name for group in ObjectFile.read(bytes(copy)).groups}
        assert groups == shared
    linked = joined([ObjectFile.read(bytes(one)) for one in (before, *copies)])
    for name in ("g_vecTPipePtr",):
        assert len([symbol for symbol in linked.symbols if symbol.name == name]) == 1


@pytest.mark.parametrize("recipe", [r for r in RECIPES if r.source == "meta.c"], ids=lambda recipe: recipe.name)
def test_dropped_sections_equal_llvm_objcopy(workshop: Workshop, recipe: Recipe) -> None:
    path = workshop.compile(recipe)
    before = path.read_bytes()
    dropped = elf.edit(before, drop_sections=[".ascend.meta."])
    assert all(not section.name.startswith(".ascend.meta") for section in elf.sections(dropped))
    assert_valid(workshop, path, dropped)
    if "-g" in recipe.flags:
        # llvm-objcopy refuses, because debug information refers to the section. Ours then refers to nothing.
        references = [entry for entries in Meaning(dropped).relocations.values() for entry in entries]
        assert any(entry[3].name == "" and entry[3].place == "undefined" for entry in references)
        return
    # Symbols of a removed section go as well; llvm-objcopy leaves none either.
    assert_same(dropped, objcopy("llvm-objcopy", path, "--wildcard", "--remove-section=.ascend.meta.*"), before)


@pytest.mark.parametrize("recipe", [r for r in RECIPES if r.compiler in ("gcc", "g++")], ids=lambda recipe: recipe.name)
def test_edits_equal_gnu_objcopy(workshop: Workshop, recipe: Recipe) -> None:
    # GNU objcopy also rewrites section symbols and groups: compare what a linker sees.
    path = workshop.compile(recipe)
    before = path.read_bytes()
    # It leaves unique symbols (binding 10) as they are.
    unique = {symbol.name for symbol in Meaning(before).symbols if symbol.binding == 10}
    some = [name for name in Meaning(before).exported() if name != "entry" and name not in unique]
    ours = elf.edit(before, rename={"entry": "renamed"}, localize=some)
    arguments = ["--redefine-sym=entry=renamed", *(f"--localize-symbol={name}" for name in some)]
    theirs = objcopy("objcopy", path, *arguments)

    def visible(data: bytes) -> list[object]:
        return [symbol for symbol in Meaning(data).symbols if symbol.kind != 3]

    def references(data: bytes) -> dict[str, list[object]]:
        rows = Meaning(data).relocations
        return {
            place: [(row[0], row[1], row[2], row[3].name or row[3].place) for row in entries]
            for place, entries in rows.items()
        }

    assert visible(ours) == visible(theirs)
    assert references(ours) == references(theirs)


HOST_RECIPES = [recipe for recipe in RECIPES if not any(flag.startswith("--target") for flag in recipe.flags)]


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("recipe", HOST_RECIPES[::3], ids=lambda recipe: recipe.name)
def test_linkers_see_the_same(workshop: Workshop, recipe: Recipe, linker: str) -> None:
    # Linked with another object by `ld -r`, our result and llvm-objcopy's give the same object.
    path = workshop.compile(recipe)
    before = path.read_bytes()
    exported = Meaning(before).exported()
    some = [name for name in exported if name != "entry"]
    other = workshop.source("beside.c", "int entry(int x) { return x; } int beside(int x) { return entry(x) + 1; }")

    def linked(data: bytes) -> Meaning:
        # The same name for both: linkers may record it.
        first = workshop.write("first.o", data)
        result = workshop.directory / "linked.o"
        run(f"ld.{linker}", "-r", str(first), str(other), "-o", str(result))
        return Meaning(result.read_bytes())

    arguments = ["--redefine-sym=entry=renamed", *(f"--localize-symbol={name}" for name in some)]
    ours = linked(elf.edit(before, rename={"entry": "renamed"}, localize=some))
    theirs = linked(objcopy("llvm-objcopy", path, *arguments))
    assert ours.symbols == theirs.symbols
    assert ours.relocations == theirs.relocations
    assert [section[:3] for section in ours.sections] == [section[:3] for section in theirs.sections]
    assert [section[6] for section in ours.sections] == [section[6] for section in theirs.sections]


def test_our_reader_agrees_with_readelf(workshop: Workshop) -> None:
    # `symbols` and `sections` are compared with another reader's, for every object.
    names = {0: "local", 1: "global", 2: "weak"}
    kinds = {0: "none", 1: "object", 2: "function", 3: "section", 4: "file", 5: "common", 6: "thread-local"}
    visibilities = ["default", "internal", "hidden", "protected"]
    for recipe in RECIPES:
        data = workshop.compile(recipe).read_bytes()
        meaning = Meaning(data)
        found = elf.symbols(data)
        assert len(found) == len(meaning.symbols_in_order) - 1
        for symbol, wanted in zip(found, meaning.symbols_in_order[1:]):
            assert (symbol.name, symbol.value, symbol.size) == (wanted.name, wanted.value, wanted.size)
            assert symbol.binding == names.get(wanted.binding, f"binding-{wanted.binding}")
            assert symbol.kind == kinds.get(wanted.kind, f"kind-{wanted.kind}")
            assert symbol.visibility == visibilities[wanted.other & 3]
            assert symbol.is_defined == (wanted.place != "undefined")
        sections = elf.sections(data)
        assert [(s.name, s.size, s.flags) for s in sections] == [(h.name, h.size, h.flags) for h in meaning.headers]
        first_text = next(header.size for header in meaning.headers if header.name.startswith(".text"))
        assert elf.text_size(data) == first_text
        output = run("llvm-readelf", "-sW", str(workshop.compile(recipe)))
        listed = [line.split() for line in output.splitlines() if line.strip()[:1].isdigit()]
        assert len(listed) == len(found) + 1


def test_no_symbols(workshop: Workshop) -> None:
    path = workshop.compile(RECIPES[0])
    bare = objcopy("llvm-objcopy", path, "--strip-all", "--remove-section=.rela*")
    bare = workshop.write("bare.o", bare)
    data = bare.read_bytes()
    assert elf.symbols(data) == []
    assert elf.edit(data, keep_global=[]) == data
    assert elf.edit(data, strip=["entry"], missing_ok=True) == data
    with pytest.raises(Exception, match="no such symbol"):
        elf.strip_symbols(data, ["entry"])


def test_duplicate_local_names(workshop: Workshop) -> None:
    # `ld -r` leaves several local symbols of one name; a rename means all of them, as for objcopy.
    one = workshop.source(
        "one.c", "static __attribute__((noinline)) int same(int x) { return x; } int a(int x) { return same(x); }"
    )
    two = workshop.source(
        "two.c", "static __attribute__((noinline)) int same(int x) { return -x; } int b(int x) { return same(x); }"
    )
    both = workshop.directory / "both.o"
    run("ld", "-r", str(one), str(two), "-o", str(both))
    before = both.read_bytes()
    assert [symbol.name for symbol in elf.symbols(before)].count("same") == 2
    renamed = elf.rename_symbols(before, {"same": "other"})
    assert_same(renamed, objcopy("llvm-objcopy", both, "--redefine-sym=same=other"), before)


def test_names_that_end_like_others(workshop: Workshop) -> None:
    # String tables share ends: `helper` may be stored inside of `first_helper`.
    source = "".join(
        f"int {name}(void) {{ return {n}; }}\n" for n, name in enumerate(["r", "er", "helper", "first_helper"])
    )
    path = workshop.source("ends.c", source, compiler="clang")
    before = path.read_bytes()
    assert b"first_helper\0" in before and before.count(b"er\0") < 3
    for name in ("r", "er", "helper", "first_helper"):
        renamed = elf.rename_symbols(before, {name: "changed"})
        assert_same(renamed, objcopy("llvm-objcopy", path, f"--redefine-sym={name}=changed"), before)


def test_many_sections(workshop: Workshop) -> None:
    # More sections than a 16-bit index can name.
    text = "".join(f'.section .t{n},"ax",@progbits\n.globl f{n}\nf{n}: .byte {n & 255}\n' for n in range(66_000))
    text += '.section .last,"ax",@progbits\n.globl entry\nentry: .quad f65999, f3\n'
    source = workshop.directory / "many.s"
    source.write_text(text)
    path = source.with_suffix(".o")
    run("as", str(source), "-o", str(path))
    before = path.read_bytes()
    assert len(elf.sections(before)) > 65_279
    edited = elf.edit(before, rename={"f65999": "renamed"}, keep_global=["entry"], drop_sections=[".t7"])
    assert_same(
        edited,
        objcopy(
            "llvm-objcopy",
            path,
            "--redefine-sym=f65999=renamed",
            "--keep-global-symbol=entry",
            "--wildcard",
            "--remove-section=.t7*",
        ),
        before,
    )
    workshop.write("many_edited.o", edited)
    listed = subprocess.run(
        ["readelf", "-SW", str(workshop.directory / "many_edited.o")], capture_output=True, text=True
    )
    assert listed.stderr == ""
