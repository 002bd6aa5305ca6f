"""Objects of real compilers joined: the same as other linkers make, and programs that compute the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from elf_objects import CPP_SOURCE, LINKERS, TLS_SOURCE, Meaning, Recipe, Workshop, complaints, recipes, run
from superkernel import SuperKernelError, elf
from superkernel.cli import main

RECIPES = recipes()
OF_THIS_MACHINE = [recipe for recipe in RECIPES if not any("--target" in flag for flag in recipe.flags)]
MERGED = 0x10


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("joined"))


def split(data: bytes) -> tuple[bytes, bytes]:
    """An object and a copy of it, whose definitions have other names."""
    names = {name: f"{name}_copy" for name in Meaning(data).exported()}
    return data, elf.edit(data, rename=names)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_an_object_and_its_copy(workshop: Workshop, recipe: Recipe) -> None:
    path = workshop.compile(recipe)
    first, second = split(path.read_bytes())
    joined = elf.join([first, second])
    result = workshop.write("joined.o", joined)
    # Nothing is wrong with it that was not wrong before.
    assert {line.split(":")[-1] for line in complaints(result)} <= {line.split(":")[-1] for line in complaints(path)}
    before, after = [Meaning(first), Meaning(second)], Meaning(joined)
    assert after.exported() == sorted({name for meaning in before for name in meaning.exported()})
    # Every relocation is there.
    assert sum(len(rows) for rows in after.relocations.values()) == sum(
        len(rows) for meaning in before for rows in meaning.relocations.values()
    )
    if "bpf" in recipe.name or "lld" not in LINKERS:
        return
    theirs = workshop.directory / "theirs.o"
    paths = [workshop.write("first.o", first), workshop.write("second.o", second)]
    run("ld.lld", "-r", *map(str, paths), "-o", str(theirs))
    wanted = Meaning(theirs.read_bytes())
    merged = {place for place, header in zip(wanted._places.values(), wanted.headers) if header.flags & MERGED}

    def shown(meaning: Meaning) -> list[object]:
        # Strings that LLD keeps once are elsewhere in its result.
        symbols = [symbol for symbol in meaning.symbols if symbol.binding and symbol.place not in merged]
        # LLD adds marks of its own to functions of some machines.
        rows = ((s.name, s.binding, s.kind, s.other & 3, s.place, s.value, s.size) for s in symbols)
        return [row for row in rows if row[4] != "undefined"]

    assert shown(after) == shown(wanted)
    # What describes a section stays beside the others that do.
    separate = (".eh_frame", ".note", "__patchable", ".stack_sizes")
    ours = {(name, size) for name, _, flags, _, size, _, _ in after.sections if flags & 2 and not flags & MERGED}
    others = {(name, size) for name, _, flags, _, size, _, _ in wanted.sections if flags & 2 and not flags & MERGED}
    assert {(name, size) for name, size in ours if not name.startswith(separate)} <= others


def joined_as(meaning: Meaning, apart: set[str]) -> dict[str, list[Any]]:
    """What linkers must agree on, but for the contents of sections; ``apart``: sections that only one of them joins."""
    places = dict(zip(meaning._places.values(), meaning.headers))
    loaded = {place: part for place, part in places.items() if part.flags & 2 and part.name not in apart}
    return {
        "sections": sorted((place, part.kind, part.flags, part.align) for place, part in loaded.items()),
        "symbols": sorted(
            # What kind of thing a reference means, its definition says.
            (s.name, s.binding, s.kind if s.place != "undefined" else 0, s.other & 3, s.place, s.value, s.size)
            for s in meaning.symbols
            if s.binding
        ),
        "relocations": sorted(
            repr((place, offset, kind, addend, symbol.name or (symbol.place, symbol.value)))
            for place, rows in meaning.relocations.items()
            for offset, kind, addend, symbol in rows
            if place in loaded
        ),
        "groups": sorted((flag, signature, sorted(members)) for flag, signature, members in meaning.groups),
    }


@pytest.mark.skipif("bfd" not in LINKERS, reason="GNU ld is not installed")
@pytest.mark.parametrize("recipe", OF_THIS_MACHINE, ids=lambda recipe: recipe.name)
def test_gnu_ld_joins_the_same(workshop: Workshop, recipe: Recipe) -> None:
    """Objects of this machine, which are those that it can read: symbols, relocations, groups, sections, contents."""
    pair = split(workshop.compile(recipe).read_bytes())
    paths = [workshop.write(name, data) for name, data in zip(("first.o", "second.o"), pair)]
    result = workshop.directory / "theirs.o"
    run("ld.bfd", "-r", *map(str, paths), "-o", str(result))
    ours, theirs = Meaning(elf.join(pair)), Meaning(result.read_bytes())
    # GNU ld joins sections that describe one section each.
    apart = {"__patchable_function_entries"}
    assert joined_as(ours, apart) == joined_as(theirs, apart)
    inputs = [{place: part for place, part in zip(m._places.values(), m.headers)} for m in map(Meaning, pair)]
    other = dict(zip(theirs._places.values(), theirs.headers))
    compared = 0
    for place, part in zip(ours._places.values(), ours.headers):
        if not part.flags & 2 or not part.data or part.name in apart | {".eh_frame"}:
            # It fills up `.eh_frame` differently.
            continue
        first, second = (len(found[place].data) if place in found else 0 for found in inputs)
        assert part.data[:first] == other[place].data[:first], place
        # What is between them is filled with instructions that do nothing.
        assert part.data[len(part.data) - second :] == other[place].data[len(part.data) - second :], place
        compared += 1
    assert compared


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize(
    "flags",
    [("-O0",), ("-O2", "-ffunction-sections", "-fdata-sections"), ("-O1", "-g", "-fPIC", "-fno-plt")],
    ids=" ".join,
)
def test_a_joined_program_computes_the_same(
    workshop: Workshop, linker: str, compiler: str, flags: tuple[str, ...]
) -> None:
    # Templates in COMDAT groups of both objects, static locals, virtual functions, thread-locals, constructors.
    name = "-".join([linker, compiler, *flags]).replace("/", "")
    kernel = workshop.source(f"kernel{name}.cpp", CPP_SOURCE, *flags, compiler=compiler)
    threads = workshop.source(f"threads{name}.c", TLS_SOURCE.replace("entry", "per_thread_entry"), "-O1")
    caller = workshop.source(
        f"caller{name}.cpp",
        """
        #include <cstdio>
        template <class T> struct Box {
          T value; explicit Box(T x) : value(x) {} virtual ~Box() {}
          virtual T get() const { return value * factor(); }
          static T factor() { static T once = T(3); return once; }
        };
        thread_local int foreign_value = 4;
        extern "C" { thread_local int foreign = 5; int outside(int x) { return x; } }
        extern "C" int entry(int), other(int), per_thread_entry(int);
        int main() {
          try { throw 3; } catch (int thrown) { printf("%d ", thrown); }
          printf("%d %d %d %d %ld", entry(5), entry(5), other(1), per_thread_entry(2), Box<long>(2).get());
        }""",
        *flags,
        compiler=compiler,
    )
    objects = [caller, kernel, threads]

    def output(*paths: Path) -> str:
        program = workshop.directory / "program"
        run("g++", f"-fuse-ld={linker}", *map(str, paths), "-o", str(program))
        return run(str(program))

    expected = output(*objects)
    joined = elf.join([path.read_bytes() for path in objects])
    assert output(workshop.write("whole.o", joined)) == expected
    # With nothing but the entry to be seen, and without local symbols.
    hidden = elf.join([path.read_bytes() for path in objects], keep_global=["main"], discard_locals=True)
    assert [symbol.name for symbol in elf.symbols(hidden) if symbol.binding == "global" and symbol.is_defined] == [
        "main"
    ]
    assert output(workshop.write("hidden.o", hidden)) == expected
    assert len(elf.symbols(hidden)) < len(elf.symbols(joined))


def test_joining_twice_or_at_once_is_the_same(workshop: Workshop) -> None:
    objects = [
        workshop.source(f"part{n}.c", f"int part{n}(int x) {{ return x + {n}; }}").read_bytes() for n in (1, 2, 3)
    ]
    at_once = elf.join(objects)
    assert elf.join(objects) == at_once
    assert Meaning(elf.join([elf.join(objects[:2]), objects[2]])).symbols == Meaning(at_once).symbols
    assert elf.join([bytearray(objects[0]), *map(memoryview, objects[1:])]) == at_once


def test_errors_name_the_objects(workshop: Workshop) -> None:
    one = workshop.source("one.c", "int same(int x) { return x; }").read_bytes()
    with pytest.raises(SuperKernelError, match=r"`same` is defined by `a\.o` and by `b\.o`") as caught:
        elf.join([("a.o", one), ("b.o", one)])
    assert caught.value.errorinfo["errId"] == "SK0634"
    with pytest.raises(SuperKernelError, match="`object 2`: not an ELF file"):
        elf.join([one, b"text"])
    with pytest.raises(SuperKernelError, match="no objects"):
        elf.join([])
    with pytest.raises(SuperKernelError, match="only those of AI cores") as caught:
        elf.link([("a.o", one)])
    assert caught.value.errorinfo["errId"] == "SK0633"
    with pytest.raises(ValueError, match="not both"):
        elf.join([one], localize=["same"], keep_global=[])
    with pytest.raises(TypeError, match="not the string"):
        elf.join([one], localize="same")


def test_the_commands(workshop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two, three = (workshop.source(f"{name}.c", f"int {name};") for name in ("red", "green", "blue"))
    archive, out = tmp_path / "lib.a", tmp_path / "out.o"
    assert main(["elf", "pack", str(archive), str(two), str(three)]) == 0
    assert main(["elf", "join", str(one), str(archive), "-o", str(out), "--keep-global", "green", "-x"]) == 0
    seen = {symbol.name: symbol.binding for symbol in elf.symbols(out.read_bytes()) if symbol.name}
    assert seen == {"red": "local", "green": "global", "blue": "local"}
    assert main(["elf", "link", str(one), "-o", str(tmp_path / "kernel.o")]) == 1
    error = capsys.readouterr().err
    assert "SK0633" in error and str(one) in error
    assert not (tmp_path / "kernel.o").exists()
    assert main(["elf", "join", str(one), "-o", str(out), "--keep-global", "a", "--localize", "b"]) == 1
    assert "SK0608" in capsys.readouterr().err
