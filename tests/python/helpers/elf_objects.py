"""Objects from real compilers, and a reader of its own that tells what an object means.

``meaning`` takes away what an edit may change freely (file offsets, table order, indices) and keeps the rest, so that
results of two tools can be compared.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

C_SOURCE = r"""
extern int outside(int);
extern int maybe(void) __attribute__((weak));
int exported = 41;
int table[4] = {1, 2, 3, 4};
static int hidden_state;
__attribute__((visibility("hidden"))) int concealed = 7;
__attribute__((weak)) int weak_one(int x) { return x + 1; }
static __attribute__((noinline)) int helper(int x) { return x * exported + hidden_state++; }
int helper_of(int x) { return helper(x) + weak_one(x); }
int alias_of(int x) __attribute__((alias("helper_of")));
const char *word(int n) {
  switch (n) { case 0: return "zero"; case 1: return "one"; case 2: return "two"; case 3: return "three";
               case 4: return "four"; case 5: return "five"; case 6: return "six"; default: return "many"; }
}
int entry(int x) {
  return x <= 0 ? outside(x) + concealed : entry(x - 1) + helper(x) + table[x & 3] + (maybe ? maybe() : 0);
}
"""

TLS_SOURCE = r"""
__thread int per_thread = 3;
static __thread int own;
extern __thread int foreign;
int constructed;
__attribute__((constructor)) static void start(void) { constructed = 1; }
__attribute__((destructor)) static void stop(void) { constructed = 2; }
int entry(int x) { return per_thread + own++ + foreign + constructed + x; }
"""

CPP_SOURCE = r"""
template <class T> struct Box {
  T value;
  explicit Box(T x) : value(x) {}
  virtual ~Box() {}
  virtual T get() const { return value * factor(); }
  static T factor() { static T once = T(3); return once; }
};
struct Base { virtual int run(int) = 0; virtual ~Base() {} };
struct Derived : Base { int run(int x) override { return x + state; } int state = 5; };
inline int shared_inline(int x) { static int calls = 0; return x + ++calls; }
template <int N> int power(int x) { return x * power<N - 1>(x); }
template <> int power<0>(int) { return 1; }
int global_value = 11;
thread_local int local_to_thread = 2;
namespace { struct Quiet { int v; Quiet() : v(global_value) {} } quiet; }
extern "C" int entry(int x) {
  Derived d; Base &b = d;
  return Box<int>(x).get() + Box<long>(x).get() + b.run(x) + power<3>(x) + shared_inline(x) + local_to_thread + quiet.v;
}
extern "C" int other(int x) { return shared_inline(x) + (int)Box<long>(x).get(); }
"""

META_SOURCE = r"""
struct Meta { unsigned type, length, value; };
__attribute__((used, section(".ascend.meta.entry"))) static const struct Meta entry_section = {1, 4, 2};
int counter = 10;
int bump(void) { return ++counter; }
int entry(int x) { return x + bump(); }
"""

SOURCES = {"plain.c": C_SOURCE, "tls.c": TLS_SOURCE, "templates.cpp": CPP_SOURCE, "meta.c": META_SOURCE}


@dataclass(frozen=True)
class Recipe:
    """How an object is compiled."""

    source: str
    compiler: str
    flags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "-".join([self.source.partition(".")[0], self.compiler, *(flag.lstrip("-") for flag in self.flags)])


FLAGS: list[tuple[str, ...]] = [
    ("-O0",),
    ("-O2", "-ffunction-sections", "-fdata-sections"),
    ("-O2", "-g"),
    ("-O1", "-fPIC", "-fno-plt"),
]
# Other machines, REL instead of RELA (bpf), another layout of `r_info` (mips64el), many relocations (riscv64).
TARGETS = ["aarch64-linux-gnu", "riscv64-linux-gnu", "mips64el-linux-gnuabi64", "bpf"]


def recipes() -> list[Recipe]:
    """Everything that is compared."""
    found = []
    for source in SOURCES:
        compilers = ("g++", "clang++") if source.endswith(".cpp") else ("gcc", "clang")
        found += [Recipe(source, compiler, flags) for compiler in compilers for flags in FLAGS]
    for target in TARGETS:
        for source in ("plain.c", "templates.cpp", "meta.c"):
            # bpf knows neither thread-locals nor calls through pointers in data.
            if target == "bpf" and source == "templates.cpp":
                continue
            compiler = "clang++" if source.endswith(".cpp") else "clang"
            found.append(
                Recipe(source, compiler, ("-O2", "-ffunction-sections", "-ffreestanding", f"--target={target}"))
            )
    clang = "clang"
    found += [
        Recipe("plain.c", clang, ("-O2", "-g", "-gz")),
        Recipe("plain.c", clang, ("-O1", "-fstack-size-section", "-ffunction-sections")),
        Recipe("plain.c", clang, ("-O1", "-ffunction-sections", "-fno-unique-section-names")),
        Recipe("templates.cpp", "clang++", ("-O2", "-fno-integrated-as")),
        Recipe("plain.c", "gcc", ("-O1", "-fpatchable-function-entry=2", "-ffunction-sections")),
        Recipe("plain.c", "gcc", ("-O2", "-mcmodel=large")),
        Recipe("plain.c", "gcc", ("-O2", "-fsanitize=address")),
    ]
    return found


class Workshop:
    """Compiles recipes once, in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._made: dict[Recipe, Path] = {}
        for name, text in SOURCES.items():
            (directory / name).write_text(text)

    def compile(self, recipe: Recipe) -> Path:
        if recipe not in self._made:
            target = self.directory / (recipe.name.replace("/", "_") + ".o")
            run(recipe.compiler, *recipe.flags, "-c", str(self.directory / recipe.source), "-o", str(target))
            self._made[recipe] = target
        return self._made[recipe]

    def source(self, name: str, text: str, *flags: str, compiler: str | None = None) -> Path:
        """Compiles a source of a test."""
        source = self.directory / name
        source.write_text(text)
        target = source.with_suffix(".o")
        compiler = compiler or ("g++" if name.endswith(".cpp") else "gcc")
        run(compiler, *flags, "-c", str(source), "-o", str(target))
        return target

    def write(self, name: str, data: bytes) -> Path:
        path = self.directory / name
        path.write_bytes(data)
        return path


def run(*command: str) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def complaints(path: Path) -> set[str]:
    """What ``readelf`` finds wrong with a file."""
    done = subprocess.run(["readelf", "-aW", str(path)], capture_output=True, text=True, errors="replace", timeout=120)
    lines = (done.stdout + done.stderr).splitlines()
    return {line for line in lines if "readelf: Warning" in line or "readelf: Error" in line}


LINKERS = [name for name in ("bfd", "gold", "lld") if shutil.which(f"ld.{name}")]

# -- reading ---------------------------------------------------------------------------------------------------------

SYMTAB, STRTAB, RELA, NOBITS, REL, GROUP, SHNDX = 2, 3, 4, 8, 9, 17, 18
ADDRSIG = 0x6FFF4C03
TABLES = {0, SYMTAB, STRTAB, RELA, REL, GROUP, SHNDX, ADDRSIG}
MIPS = 8


@dataclass(frozen=True)
class Header:
    """A section header."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int
    data: bytes


@dataclass(frozen=True)
class SymbolMeaning:
    """A symbol without its index."""

    name: str
    binding: int
    kind: int
    other: int
    place: str
    value: int
    size: int


def headers(data: bytes) -> list[Header]:
    """All section headers with their bytes."""
    (start,) = struct.unpack_from("<Q", data, 40)
    count, names_index = struct.unpack_from("<HH", data, 60)
    rows = []
    row = struct.Struct("<IIQQQQIIQQ")
    first = row.unpack_from(data, start)
    count = count or first[5]
    names_index = first[6] if names_index == 0xFFFF else names_index
    for index in range(count):
        rows.append(row.unpack_from(data, start + 64 * index))
    names = data[rows[names_index][4] :][: rows[names_index][5]]
    result = []
    for name, kind, flags, address, offset, size, link, info, align, entry in rows:
        contents = b"" if kind in (0, NOBITS) else data[offset : offset + size]
        assert len(contents) == (0 if kind in (0, NOBITS) else size), "a section reaches beyond the file"
        text = names[name : names.index(b"\0", name)].decode()
        result.append(Header(text, kind, flags, address, offset, size, link, info, align, entry, contents))
    return result


class Meaning:
    """What an object means."""

    def __init__(self, data: bytes) -> None:
        self.kind, self.machine = struct.unpack_from("<HH", data, 16)
        self.headers = headers(data)
        self._places = self._name_places()
        self.symbols_in_order = self._read_symbols()
        self.sections = [
            (header.name, header.kind, header.flags, header.address, header.size, header.align, header.data)
            for header in self.headers
            if header.kind not in TABLES
        ]
        self.relocations = {
            self._places[header.info]: self._read_relocations(header)
            for header in self.headers
            if header.kind in (REL, RELA) and self._is_of_symtab(header)
        }
        self.groups = [self._read_group(header) for header in self.headers if header.kind == GROUP]

    def _name_places(self) -> dict[int, str]:
        # Several sections may have one name: count them.
        seen: dict[str, int] = {}
        places = {}
        for index, header in enumerate(self.headers):
            number = seen.get(header.name, 0)
            seen[header.name] = number + 1
            places[index] = f"{header.name}#{number}"
        return places

    def _is_of_symtab(self, header: Header) -> bool:
        return self.headers[header.link].kind == SYMTAB

    def _read_symbols(self) -> list[SymbolMeaning]:
        table = next((header for header in self.headers if header.kind == SYMTAB), None)
        if table is None:
            return []
        names = self.headers[table.link].data
        extended = next((header.data for header in self.headers if header.kind == SHNDX), b"")
        symbols = []
        special = {0: "undefined", 0xFFF1: "absolute", 0xFFF2: "common"}
        for index in range(len(table.data) // 24):
            name, info, other, section, value, size = struct.unpack_from("<IBBHQQ", table.data, 24 * index)
            if section == 0xFFFF:
                (section,) = struct.unpack_from("<I", extended, 4 * index)
                place = self._places[section]
            else:
                place = special.get(section) or self._places[section]
            text = names[name : names.index(b"\0", name)].decode()
            symbols.append(SymbolMeaning(text, info >> 4, info & 15, other, place, value, size))
            assert (info >> 4 == 0) == (index < table.info), "locals come first, and sh_info tells where they end"
        return symbols

    @property
    def symbols(self) -> list[SymbolMeaning]:
        """All symbols, in an order that does not depend on the table."""
        return sorted(self.symbols_in_order[1:], key=repr)

    def _read_relocations(self, header: Header) -> list[tuple[object, ...]]:
        entries: list[tuple[object, ...]] = []
        for at in range(0, len(header.data), header.entry):
            offset, info = struct.unpack_from("<QQ", header.data, at)
            symbol, kind = info >> 32, info & 0xFFFFFFFF
            if self.machine == MIPS:
                symbol, kind = kind, symbol
            addend = struct.unpack_from("<q", header.data, at + 16)[0] if header.kind == RELA else None
            entries.append((offset, kind, addend, self.symbols_in_order[symbol]))
        return entries

    def _read_group(self, header: Header) -> tuple[int, str, tuple[str, ...]]:
        flag, *members = struct.unpack(f"<{len(header.data) // 4}I", header.data)
        return flag, self.symbols_in_order[header.info].name, tuple(self._places[member] for member in members)

    def used(self) -> set[SymbolMeaning]:
        """Symbols that relocations refer to."""
        return {entry[3] for entries in self.relocations.values() for entry in entries}  # type: ignore[misc]

    def exported(self) -> list[str]:
        """Names of global definitions with a place of their own."""
        return sorted(
            symbol.name for symbol in self.symbols if symbol.binding and symbol.place not in ("undefined", "common")
        )
