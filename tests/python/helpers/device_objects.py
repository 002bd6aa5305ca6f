"""Objects as compilers for the device leave them: described as data, written, read, made from objects of this machine.

Only the shape is the device's: sections, groups, flags, relocation types and symbols. The instructions are words that
mean nothing, with room for what relocations fill in.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

MACHINE = 0x1029
REL, EXEC = 1, 2
NULL, PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, GROUP, ADDRSIG = 0, 1, 2, 3, 4, 8, 17, 0x6FFF4C03
WRITE, ALLOC, CODE, INFO_LINK, GROUPED, EXCLUDE = 1, 2, 4, 0x40, 0x200, 0x80000000
LOCAL, GLOBAL, WEAK, UNIQUE = 0, 1, 2, 10
NOTYPE, OBJECT, FUNC, SECTION, FILE = 0, 1, 2, 3, 4

# `e_flags` by chip and core kind.
FLAGS = {("c220", "vec"): 0x930000, ("c220", "cube"): 0x940000, ("c310", "vec"): 0x990000, ("c310", "cube"): 0x9A0000}

# Relocation types.
BLOCK_LOCAL, CALL, LONG_CALL, ADDRESS = 0x123, 0x11B, 0x13A, 0x15C
ABSOLUTE, ABSOLUTE_32 = 0x101, 0x102
# Of other machines: a whole address.
WHOLE_ADDRESS = (1, 257)
# Names of the simulator and of libraries, which a device has not.
OF_HOST = ("sk_rt_", "_GLOBAL_OFFSET_", "__", "_Zd", "_Zn", "mem", "str", "snprintf", "vsnprintf")
# Bytes of the instructions that each belongs to, an indirect call included.
LENGTH = {BLOCK_LOCAL: 4, CALL: 4, LONG_CALL: 16, ADDRESS: 16, ABSOLUTE: 8, ABSOLUTE_32: 4}


@dataclass(eq=False)
class Section:
    """A section with its relocations."""

    name: str
    data: bytearray = field(default_factory=bytearray)
    flags: int = 0
    kind: int = PROGBITS
    align: int = 1
    room: int = 0
    """Bytes of a section without contents."""
    address: int = 0
    relocations: list[Relocation] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.room if self.kind == NOBITS else len(self.data)


@dataclass(eq=False)
class Symbol:
    """A symbol; without a section it is defined elsewhere."""

    name: str
    binding: int = GLOBAL
    kind: int = NOTYPE
    section: Section | None = None
    value: int = 0
    size: int = 0
    visibility: int = 0


@dataclass(eq=False)
class Relocation:
    """A place in a section that depends on a symbol."""

    offset: int
    kind: int
    symbol: Symbol
    addend: int = 0


@dataclass(eq=False)
class Group:
    """Sections of which a linker keeps one set for all objects."""

    signature: Symbol
    members: list[Section]


@dataclass(eq=False)
class ObjectFile:
    """An object, or a linked file."""

    flags: int = FLAGS["c220", "vec"]
    kind: int = REL
    machine: int = MACHINE
    sections: list[Section] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def write(self) -> bytes:
        """Its bytes; of a linked file with its program headers."""
        return _Writer(self).bytes()

    @classmethod
    def read(cls, data: bytes) -> ObjectFile:
        """The object that these bytes are."""
        return _read(data)

    def symbol(self, name: str) -> Symbol:
        """The symbol of that name, added as a reference if there is none."""
        for known in self.symbols:
            if known.name == name and known.binding != LOCAL:
                return known
        self.symbols.append(Symbol(name))
        return self.symbols[-1]


class DeviceObject:
    """Builds an object step by step, as a compiler for the device does.

    ``object.function("f", calls=["g"], block_local=["g_vecTPipePtr"])`` and so on, then ``object.bytes()``.
    """

    def __init__(self, chip: str = "c220", kind: str = "vec", *, flags: int | None = None) -> None:
        self.file = ObjectFile(FLAGS[chip, kind] if flags is None else flags)
        self.text = self._section(".text", ALLOC | CODE, align=512)
        self.stack: list[int] = []

    def _section(self, name: str, flags: int, *, align: int = 1, data: bytes = b"") -> Section:
        section = Section(name, bytearray(data), flags, align=align)
        self.file.sections.append(section)
        return section

    def function(
        self,
        name: str,
        size: int = 64,
        *,
        calls: list[str] = [],  # noqa: B006
        long_calls: list[str] = [],  # noqa: B006
        addresses: list[str] = [],  # noqa: B006
        block_local: list[str] = [],  # noqa: B006
        binding: int = GLOBAL,
        own_section: bool = False,
    ) -> DeviceObject:
        """A function that does what the lists say; in a section of its own it is grouped if it is weak."""
        section = self.text
        if own_section:
            section = self._section(f".text.{name}", ALLOC | CODE, align=512)
        section.data.extend(bytes(-len(section.data) % 16))
        start = len(section.data)
        for kind, names in ((CALL, calls), (LONG_CALL, long_calls), (ADDRESS, addresses), (BLOCK_LOCAL, block_local)):
            for used in names:
                section.relocations.append(Relocation(len(section.data), kind, self.file.symbol(used)))
                section.data.extend(_words(name + used, LENGTH[kind]))
        section.data.extend(_words(name, max(size - (len(section.data) - start), 4)))
        self._define(name, binding, FUNC, section, start, len(section.data) - start)
        if own_section and binding == WEAK:
            self._group(name, section)
        return self

    def variable(
        self, name: str, size: int = 8, *, binding: int = WEAK, section: str | None = None, grouped: bool = True
    ) -> DeviceObject:
        """A block-local variable, or one in a section of another name."""
        prefix = section or f".bl.uninit.{name}"
        place = self._section(prefix, ALLOC | WRITE, align=min(size, 8) if size in (1, 2, 4) else 8, data=bytes(size))
        self._define(name, binding, OBJECT, place, 0, size)
        if binding == WEAK and grouped:
            self._group(name, place)
        return self

    def tiling(self, name: str) -> DeviceObject:
        """A description of tiling data that no code refers to."""
        place = self._section(f".ascendc_tiling.{name}", ALLOC, align=8, data=b"\x01" * 8)
        self._define(name, WEAK, OBJECT, place, 0, 8)
        self._group(name, place)
        return self

    def stack_record(self, *sizes: int) -> DeviceObject:
        """The stack that each function needs."""
        self._section(".ascend.stack.size.record", 0, data=struct.pack(f"<{len(sizes)}Q", *sizes))
        return self

    def meta(self, kernel: str, content: bytes) -> DeviceObject:
        """What a loader reads about a kernel."""
        self._section(f".ascend.meta.{kernel}", 0, data=content)
        return self

    def bytes(self) -> bytes:
        """The object, with the notes that compilers add."""
        notes = [Section(".comment", bytearray(b"stand-in\0"), 0x30), Section(".note.GNU-stack")]
        significant = Section(".llvm_addrsig", flags=EXCLUDE, kind=ADDRSIG)
        file = self.file
        whole = ObjectFile(file.flags, file.kind, file.machine, [*file.sections, *notes, significant], file.symbols)
        whole.groups = file.groups
        return whole.write()

    def _define(self, name: str, binding: int, kind: int, section: Section, value: int, size: int) -> None:
        symbol = self.file.symbol(name)
        symbol.binding, symbol.kind, symbol.section, symbol.value, symbol.size = binding, kind, section, value, size

    def _group(self, signature: str, section: Section) -> None:
        section.flags |= GROUPED
        self.file.groups.append(Group(self.file.symbol(signature), [section]))


def _words(of: str, length: int) -> bytes:
    """Instructions of ``length`` bytes that are no other function's; the fields of relocations in them are 0."""
    mark = sum(ord(letter) * 31**place for place, letter in enumerate(of)) & 0x7F
    words = [0x40000000 | mark << 16 if place else 0x41000000 | mark << 16 for place in range((length + 3) // 4)]
    return struct.pack(f"<{len(words)}I", *words)[: length - length % 4 or 4]


def from_host(content: bytes, chip: str, kind: str) -> bytes:
    """The object of this machine ``content`` as one for the device: the same functions, data, groups and uses.

    What a relocation refers to decides what it becomes: block-local variables, code and data are reached in the ways
    that the device has. Code keeps its size.
    """
    file = ObjectFile.read(content)
    file.machine, file.flags = MACHINE, FLAGS[chip, kind]
    file.sections = [part for part in file.sections if not part.name.startswith((".eh_frame", ".note", ".init_array"))]
    file.symbols = [symbol for symbol in file.symbols if symbol.section is None or symbol.section in file.sections]
    for symbol in file.symbols:
        symbol.binding = WEAK if symbol.binding == UNIQUE else symbol.binding
        if symbol.section is None and symbol.name.startswith(OF_HOST):
            symbol.name = ""
    for section in file.sections:
        if not section.flags & ALLOC:
            section.relocations = []
            continue
        code = bool(section.flags & CODE)
        kept, taken = [], 0
        for relocation in sorted(section.relocations, key=lambda one: one.offset):
            target = relocation.symbol.section
            if relocation.symbol.name == "" and target is None:
                continue
            local = target is not None and target.name.startswith(".bl.uninit")
            called = relocation.symbol.kind == FUNC or target is None
            if code:
                relocation.kind = BLOCK_LOCAL if local else LONG_CALL if called else ADDRESS
            else:
                relocation.kind = ABSOLUTE if relocation.kind in WHOLE_ADDRESS else ABSOLUTE_32
            # Instructions here are shorter than there: each moves behind the one before.
            relocation.offset = max(relocation.offset & ~3 if code else relocation.offset, taken)
            taken = relocation.offset + LENGTH[relocation.kind]
            relocation.addend = 0 if code else relocation.addend
            kept.append(relocation)
        section.relocations = kept
        if code:
            section.align = max(section.align, 4)
            size = max(len(section.data), taken)
            section.data = bytearray(_words(section.name, size + -size % 4))
    file.symbols = [symbol for symbol in file.symbols if symbol.name or symbol.kind == SECTION]
    return file.write()


# -- bytes -------------------------------------------------------------------------------------------------------------


class _Writer:
    def __init__(self, file: ObjectFile) -> None:
        self.file = file
        self.names, self.strings = bytearray(1), bytearray(1)

    def bytes(self) -> bytes:
        file = self.file
        grouped = {id(member): group for group in file.groups for member in group.members}
        symbols = sorted(file.symbols, key=lambda symbol: symbol.binding != LOCAL)
        numbers = {id(symbol): number for number, symbol in enumerate(symbols, 1)}
        # (section, relocated section, group) in file order: a group stands before its first member.
        rows: list[tuple[Section, Section | None, Group | None]] = []
        written: set[int] = set()
        for section in file.sections:
            group = grouped.get(id(section))
            if group is not None and id(group) not in written:
                written.add(id(group))
                rows.append((Section(".group", kind=GROUP, align=4), None, group))
            rows.append((section, None, None))
            if section.relocations:
                records = Section(f".rela{section.name}", flags=INFO_LINK, kind=RELA, align=8)
                for relocation in section.relocations:
                    info = numbers[id(relocation.symbol)] << 32 | relocation.kind
                    place = relocation.offset + (section.address if file.kind == EXEC else 0)
                    records.data += struct.pack("<QQq", place, info, relocation.addend)
                rows.append((records, section, None))
        index = {id(section): number for number, (section, _, _) in enumerate(rows, 1)}
        for section, _, group in rows:
            if group is not None:
                section.data += struct.pack("<I", 1) + b"".join(
                    struct.pack("<I", index[id(member)]) for member in group.members
                )
        table = Section(".symtab", bytearray(24), kind=SYMTAB, align=8)
        for symbol in symbols:
            place = 0 if symbol.section is None else index[id(symbol.section)]
            info = symbol.binding << 4 | symbol.kind
            name = self._text(self.strings, symbol.name)
            table.data += struct.pack("<IBBHQQ", name, info, symbol.visibility, place, symbol.value, symbol.size)
        strings = Section(".strtab", self.strings, kind=STRTAB)
        names = Section(".shstrtab", self.names, kind=STRTAB)
        table_index = len(rows) + 1
        rows += [(table, None, None), (strings, None, None), (names, None, None)]
        headers, body = [bytes(64)], bytearray(64 + 56 * (3 if file.kind == EXEC else 0))
        first_global = sum(symbol.binding == LOCAL for symbol in symbols) + 1
        starts: dict[int, int] = {}
        for section, relocated, group in rows:
            link = info = entry = 0
            if section is table:
                link, info, entry = table_index + 1, first_global, 24
            elif relocated is not None:
                link, info, entry = table_index, index[id(relocated)], 24
            elif group is not None:
                link, info, entry = table_index, numbers[id(group.signature)], 4
            elif section.kind == ADDRSIG:
                link = table_index
            start = self._place(body, section)
            starts[id(section)] = start
            if section.kind != NOBITS:
                body += section.data
            name = self._text(self.names, section.name)
            headers.append(
                struct.pack(
                    "<IIQQQQIIQQ", name, section.kind, section.flags, section.address, start, section.size, link, info,
                    section.align, entry,
                )
            )  # fmt: skip
        # The names are complete only now.
        body[starts[id(names)] :] = self.names
        headers[-1] = headers[-1][:32] + struct.pack("<Q", len(self.names)) + headers[-1][40:]
        body += bytes(-len(body) % 8)
        segments = self._segments(starts) if file.kind == EXEC else b""
        count = 3 if segments else 0
        body[:64] = struct.pack(
            "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", file.kind, file.machine, 1, 0, 64 if count else 0, len(body),
            file.flags, 64, 56 if count else 0, count, 64, len(headers), len(rows),
        )  # fmt: skip
        body[64 : 64 + len(segments)] = segments
        return bytes(body) + b"".join(headers)

    def _place(self, body: bytearray, section: Section) -> int:
        """Makes room up to the section's start; what is loaded keeps the distance of offset and address."""
        align = max(section.align, 1)
        if self.file.kind == EXEC and section.flags & ALLOC and section.kind != NOBITS:
            page = 0x1000
            body += bytes((section.address + 64 + 56 * 3 - len(body)) % page)
            return len(body)
        if section.kind != NOBITS:
            body += bytes(-len(body) % align)
        return len(body)

    def _segments(self, starts: dict[int, int]) -> bytes:
        loaded = [part for part in self.file.sections if part.flags & ALLOC and part.kind != NOBITS]
        parts = ([part for part in loaded if not part.flags & WRITE], [part for part in loaded if part.flags & WRITE])
        result = b""
        for sections, flags in zip(parts, (5, 6)):
            if sections:
                start, address = starts[id(sections[0])], sections[0].address
                size = sections[-1].address + sections[-1].size - address
            else:
                start = address = size = 0
            result += struct.pack("<IIQQQQQQ", 1, flags, start, address, address, size, size, 0x1000)
        return result + struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 0)

    @staticmethod
    def _text(table: bytearray, text: str) -> int:
        if not text:
            return 0
        found = table.find(b"\0" + text.encode() + b"\0")
        if found >= 0:
            return found + 1
        table += text.encode() + b"\0"
        return len(table) - len(text.encode()) - 1


def _read(data: bytes) -> ObjectFile:
    kind, machine, _, _, _, at, flags, _, _, _, _, count, names_index = struct.unpack_from("<HHIQQQIHHHHHH", data, 16)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * number) for number in range(count)]

    def contents(number: int) -> bytes:
        _, section_kind, _, _, offset, size, *_ = headers[number]
        return b"" if section_kind == NOBITS else data[offset : offset + size]

    def text(table: bytes, start: int) -> str:
        return table[start : table.index(b"\0", start)].decode()

    names = contents(names_index)
    file = ObjectFile(flags, kind, machine)
    sections: dict[int, Section] = {}
    for number, (name, section_kind, section_flags, address, _, size, _, _, align, _) in enumerate(headers):
        if section_kind not in (NULL, SYMTAB, STRTAB, RELA, GROUP):
            section = Section(text(names, name), bytearray(contents(number)), section_flags, section_kind, align)
            section.address = address
            section.room = size if section_kind == NOBITS else 0
            sections[number] = section
            file.sections.append(section)
    symbols: list[Symbol | None] = [None]
    for number, header in enumerate(headers):
        if header[1] == SYMTAB:
            table, strings = contents(number), contents(header[6])
            for start in range(24, len(table), 24):
                name, info, other, place, value, size = struct.unpack_from("<IBBHQQ", table, start)
                section = sections.get(place)
                gone = section is None and 0 < place < 0xFF00
                symbol = Symbol(text(strings, name), info >> 4, info & 15, section, value, size, other)
                symbols.append(symbol)
                if not gone and place != 0xFFF1:
                    file.symbols.append(symbol)
    for number, header in enumerate(headers):
        if header[1] == RELA and header[7] in sections:
            target = sections[header[7]]
            for offset, info, addend in struct.iter_unpack("<QQq", contents(number)):
                symbol = symbols[info >> 32]
                assert symbol is not None, "relocations without a symbol do not occur"
                target.relocations.append(Relocation(offset, info & 0xFFFFFFFF, symbol, addend))
        if header[1] == GROUP:
            words = [word for (word,) in struct.iter_unpack("<I", contents(number))]
            signature = symbols[header[7]]
            assert signature is not None
            if words[0] & 1:
                file.groups.append(Group(signature, [sections[word] for word in words[1:] if word in sections]))
    return file
