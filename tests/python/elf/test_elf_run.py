"""Edited objects linked into programs and libraries, and what those compute."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from pathlib import Path

import pytest
from elf_objects import CPP_SOURCE, LINKERS, META_SOURCE, Meaning, Workshop, run
from superkernel import elf


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def link_and_run(workshop: Workshop, linker: str, *objects: Path, flags: tuple[str, ...] = ()) -> str:
    program = workshop.directory / f"program-{linker}"
    run("g++", f"-fuse-ld={linker}", *flags, *map(str, objects), "-o", str(program))
    return run(str(program))


FLAG_SETS = [
    ("-O0",),
    ("-O2", "-ffunction-sections", "-fdata-sections"),
    ("-O1", "-g", "-fPIC", "-fno-plt"),
]


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("flags", FLAG_SETS, ids=" ".join)
def test_copies_of_cpp_code(workshop: Workshop, linker: str, compiler: str, flags: tuple[str, ...]) -> None:
    # Templates (COMDAT), static locals, virtual functions and thread-locals; every copy has its own state.
    kernel = workshop.source("kernel.cpp", CPP_SOURCE, *flags, compiler=compiler)
    copies = elf.split_copies(kernel.read_bytes(), "entry", 4)
    paths = [workshop.write(f"copy{number}.o", copy) for number, copy in enumerate(copies, 1)]
    main = workshop.source(
        "main.cpp",
        """
        #include <cstdio>
        template <class T> struct Box {  // the same templates as the kernel's, from another object
          T value; explicit Box(T x) : value(x) {} virtual ~Box() {}
          virtual T get() const { return value * factor(); }
          static T factor() { static T once = T(3); return once; }
        };
        extern "C" int entry(int), entry_split1(int), entry_split2(int), entry_split3(int), other(int);
        int main() {
          int (*all[])(int) = {entry, entry_split1, entry_split2, entry_split3};
          for (int a = 0; a < 4; a++) for (int b = 0; b < a; b++) if (all[a] == all[b]) return 1;
          for (int round = 0; round < 2; round++) for (auto f : all) printf("%d ", f(5));
          printf("%d %ld", other(1), Box<long>(2).get());
        }""",
        *flags,
        compiler=compiler,
    )
    # Box<int>(5) + Box<long>(5) + 5 + state 5 + 5^3 + (5 + calls) + 2 + 11; only `calls` differs between rounds.
    first = 15 + 15 + 10 + 125 + 6 + 2 + 11
    expected = f"{first} " * 4 + f"{first + 1} " * 4 + f"{1 + 3 + 3} 6"
    assert link_and_run(workshop, linker, main, kernel, *paths) == expected


@pytest.mark.parametrize("linker", LINKERS)
def test_copies_without_the_original_helpers(workshop: Workshop, linker: str) -> None:
    kernel = workshop.source("kernel.c", META_SOURCE, "-O1", "-ffunction-sections")
    copies = elf.split_copies(kernel.read_bytes(), ["entry"], 3)
    paths = [workshop.write(f"copy{number}.o", copy) for number, copy in enumerate(copies, 1)]
    main = workshop.source(
        "main.c",
        """
        #include <stdio.h>
        int entry_split1(int), entry_split2(int);
        int main(void) {
          int first = entry_split1(0), second = entry_split1(0), third = entry_split2(0);
          printf("%d %d %d", first, second, third);
        }""",
    )
    assert link_and_run(workshop, linker, main, *paths) == "11 12 11"


def test_shared_library_of_copies(workshop: Workshop) -> None:
    kernel = workshop.source("kernel.c", META_SOURCE, "-O2", "-fPIC")
    paths = [
        workshop.write(f"copy{n}.o", c) for n, c in enumerate(elf.split_copies(kernel.read_bytes(), "entry", 3), 1)
    ]
    library = workshop.directory / "libkernel.so"
    run("gcc", "-shared", str(kernel), *map(str, paths), "-o", str(library))
    loaded = ctypes.CDLL(str(library))
    assert [loaded.entry(1), loaded.entry(1), loaded.entry_split1(1), loaded.entry_split2(1)] == [12, 13, 12, 12]
    assert not hasattr(loaded, "bump_split1")


@pytest.mark.parametrize("linker", LINKERS)
def test_localized_names_no_longer_clash(workshop: Workshop, linker: str) -> None:
    paths = []
    for number in (1, 2):
        source = f"int helper(int x) {{ return x * {number}; }} int user{number}(int x) {{ return helper(x) + 1; }}"
        before = workshop.source(f"part{number}.c", source, "-fPIC", "-O0").read_bytes()
        paths.append(workshop.write(f"local{number}.o", elf.localize_symbols(before, ["helper"])))
    main = workshop.source(
        "main.c",
        '#include <stdio.h>\nint user1(int), user2(int); int main(void) { printf("%d %d", user1(10), user2(10)); }',
    )
    assert link_and_run(workshop, linker, main, *paths) == "11 21"


@pytest.mark.parametrize("linker", LINKERS)
def test_stripped_definition_is_found_elsewhere(workshop: Workshop, linker: str) -> None:
    source = "int g_opSystemRunCfg = %d; int %s(void) { return g_opSystemRunCfg++; }"
    one = workshop.source("one.c", source % (1, "one"), "-O0")
    two = workshop.source("two.c", source % (100, "two"), "-O0").read_bytes()
    stripped = workshop.write("stripped.o", elf.strip_symbols(two, ["g_opSystemRunCfg"]))
    main = workshop.source(
        "main.c",
        "#include <stdio.h>\nint one(void), two(void);\n"
        'int main(void) { int a = one(), b = two(); printf("%d %d", a, b); }',
    )
    assert link_and_run(workshop, linker, main, one, stripped) == "1 2"


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("flag", ["-fcommon", "-fno-common"])
def test_common_symbols_become_local(workshop: Workshop, linker: str, flag: str) -> None:
    # Uninitialized variables, in common or not, are the copy's own once they are local.
    source = """
    int shared; char bytes[3]; double aligned __attribute__((aligned(64)));
    int entry(int x) {
      shared += x; bytes[1]++; aligned += 0.5;
      return shared + bytes[1] + ((unsigned long)&aligned % 64);
    }
    """
    kernel = workshop.source("kernel.c", source, flag, "-O1")
    copies = [workshop.write(f"c{n}.o", c) for n, c in enumerate(elf.split_copies(kernel.read_bytes(), "entry", 3), 1)]
    main = workshop.source(
        "main.c",
        """
        #include <stdio.h>
        int entry(int), entry_split1(int), entry_split2(int);
        extern int shared;
        int main(void) {
          shared = 1000;
          printf("%d %d ", entry(1), entry_split1(1));
          printf("%d %d", entry_split1(1), entry_split2(7));
        }""",
        "-fcommon",
    )
    assert link_and_run(workshop, linker, main, kernel, *copies) == "1002 2 4 8"


@pytest.mark.parametrize("linker", LINKERS)
def test_group_stays_valid_after_rename_and_localize(workshop: Workshop, linker: str) -> None:
    # Two objects bring the same inline function; in one it is renamed, in one localized, in one left alone.
    source = "inline int twice(int x) { static int calls; return 2 * x + 100 * calls++; }\n"
    source += 'extern "C" int user%d(int x) { return twice(x); }'
    renamed, localized, plain = (
        workshop.source(f"user{number}.cpp", source % number, "-O0").read_bytes() for number in (1, 2, 3)
    )
    paths = [
        workshop.write("renamed.o", elf.rename_symbols(renamed, {"_Z5twicei": "twice_split1"})),
        workshop.write("localized.o", elf.localize_symbols(localized, ["_Z5twicei", "_ZZ5twiceiE5calls"])),
        workshop.write("plain.o", plain),
    ]
    main = workshop.source(
        "main.cpp",
        '#include <cstdio>\nextern "C" int user1(int), user2(int), user3(int);\n'
        'int main() { int a = user1(1), b = user2(1), c = user3(1), d = user2(1); printf("%d %d %d %d", a, b, c, d); }',
    )
    # Renamed and plain share `calls`, the localized one has its own.
    assert link_and_run(workshop, linker, main, *paths) == "2 2 102 102"


def segments(data: bytes) -> list[tuple[int, ...]]:
    offset, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    return [struct.unpack_from("<IIQQQQQQ", data, offset + 56 * number) for number in range(count)]


def loaded_bytes(data: bytes) -> list[bytes]:
    # The section header offset, count and names index in the file header are the only loaded bytes that may change.
    masked = data[:40] + bytes(8) + data[48:60] + bytes(4) + data[64:]
    return [masked[row[2] : row[2] + row[5]] for row in segments(data)]


LINKED_SOURCE = r"""
#include <stdio.h>
int counter = 3;
static int quiet(int x) { return x + counter; }
__attribute__((noinline)) int add_kernel(int x) { return quiet(x) * 2; }
__attribute__((noinline)) int mul_kernel(int x) { return add_kernel(x) * counter++; }
int (*table[])(int) = {add_kernel, mul_kernel};
int main(void) {
  int first = table[0](1), second = table[1](2);
  printf("%d %d %d", first, second, add_kernel(4));
  return 0;
}
"""


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("flags", [("-no-pie",), ("-pie",), ("-static", "-no-pie")], ids=" ".join)
def test_linked_program_with_kept_relocations(workshop: Workshop, linker: str, flags: tuple[str, ...]) -> None:
    source = workshop.source("linked.c", LINKED_SOURCE, "-O0", "-fPIE" if "-pie" in flags else "-fno-pie")
    program = workshop.directory / "program"
    run("gcc", f"-fuse-ld={linker}", *flags, "-Wl,-q", str(source), "-o", str(program))
    before = program.read_bytes()
    wanted = run(str(program))
    assert wanted == "8 30 16"

    names = ["add_kernel", "mul_kernel", "counter"]
    edited = elf.edit(before, rename={"table": "renamed_table"}, localize=names)
    assert segments(edited) == segments(before)
    assert loaded_bytes(edited) == loaded_bytes(before)
    old, new = Meaning(before), Meaning(edited)
    assert [header.offset for header in old.headers if header.flags & 2] == [
        header.offset for header in new.headers if header.flags & 2
    ]
    bindings = {symbol.name: symbol.binding for symbol in new.symbols}
    assert [bindings[name] for name in names] == [0, 0, 0]
    assert bindings["renamed_table"] == 1 and "table" not in bindings

    def references(meaning: Meaning) -> dict[str, list[object]]:
        rename = {"table": "renamed_table"}
        return {
            place: [(*row[:3], rename.get(row[3].name, row[3].name), row[3].value) for row in rows]
            for place, rows in meaning.relocations.items()
        }

    assert references(old) == references(new)
    result = workshop.write("edited", edited)
    result.chmod(0o755)
    assert run(str(result)) == wanted
    complaint = subprocess.run(["readelf", "-aW", str(result)], capture_output=True, text=True).stderr
    assert complaint == subprocess.run(["readelf", "-aW", str(program)], capture_output=True, text=True).stderr


def test_shared_object_with_kept_relocations(workshop: Workshop) -> None:
    kernel = workshop.source("kernel.c", META_SOURCE, "-O0", "-fPIC")
    library = workshop.directory / "libkernel.so"
    run("gcc", "-shared", "-Wl,-q", str(kernel), "-o", str(library))
    edited = workshop.write("libedited.so", elf.edit(library.read_bytes(), keep_global=["entry"]))
    assert ctypes.CDLL(str(edited)).entry(1) == 12
    assert Meaning(edited.read_bytes()).exported() == ["entry"]


@pytest.mark.parametrize("linker", LINKERS)
def test_the_way_a_super_kernel_is_linked(workshop: Workshop, linker: str) -> None:
    # Objects and their copies are merged by `ld -r -q`, the sub-kernels are made local, and the result still links.
    kernel = workshop.source("kernel.c", META_SOURCE, "-O1", "-ffunction-sections", "-fPIC")
    copies = [workshop.write(f"c{n}.o", c) for n, c in enumerate(elf.split_copies(kernel.read_bytes(), "entry", 4), 1)]
    super_kernel = workshop.source(
        "super.c",
        "int entry(int), entry_split1(int), entry_split2(int), entry_split3(int);\n"
        "int super(int core) { int (*f[])(int) = {entry, entry_split1, entry_split2, entry_split3};"
        " return f[core % 4](core); }",
        "-O1",
        "-fPIC",
    )
    merged = workshop.directory / "merged.o"
    run(f"ld.{linker}", "-r", "-q", str(super_kernel), str(kernel), *map(str, copies), "-o", str(merged))
    functions = ["entry", *(f"entry_split{number}" for number in (1, 2, 3))]
    final = workshop.write("final.o", elf.localize_symbols(merged.read_bytes(), functions))
    assert Meaning(final.read_bytes()).exported() == ["bump", "counter", "super"]
    main = workshop.source(
        "main.c",
        '#include <stdio.h>\nint super(int);\nint main(void) { for (int c = 0; c < 8; c++) printf("%d ", super(c)); }',
    )
    # Each copy counts on its own from 10; cores 4 to 7 come second.
    assert link_and_run(workshop, linker, main, final) == "11 12 13 14 16 17 18 19 "
