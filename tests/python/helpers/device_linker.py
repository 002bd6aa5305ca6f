"""A linker for objects of the device's shape, for tests: both calls of a build, with rules written down a second time.

It refuses what the real one would refuse: two definitions of a name, references that nobody answers, values that do not
fit into the field of an instruction.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import device_objects as shape
from device_objects import Group, ObjectFile, Relocation, Section, Symbol

ARCHIVE = b"!<arch>\n"


class LinkError(Exception):
    """Why there is no result."""


def inputs(paths: Iterable[str]) -> list[ObjectFile]:
    """The objects in these files, members of archives in their order."""
    objects = []
    for path in paths:
        data = Path(path).read_bytes()
        objects += [ObjectFile.read(member) for member in (members(data) if data.startswith(ARCHIVE) else [data])]
    for one in objects:
        if one.machine != shape.MACHINE:
            raise LinkError(f"incompatible machine {one.machine:#x}")
    return objects


def members(archive: bytes) -> Iterable[bytes]:
    """The files in an archive, without its own tables."""
    at = len(ARCHIVE)
    while at + 60 <= len(archive):
        name, size = archive[at : at + 16].rstrip(), int(archive[at + 48 : at + 58])
        if name not in (b"/", b"//"):
            yield archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2


def joined(objects: list[ObjectFile]) -> ObjectFile:
    """One object of several: of each group one, of each global name one definition, sections by name."""
    result = ObjectFile(objects[0].flags)
    taken: dict[str, Group] = {}
    gone: set[int] = set()
    for one in objects:
        for group in one.groups:
            if taken.setdefault(group.signature.name, group) is group:
                result.groups.append(group)
            else:
                gone.update(id(member) for member in group.members)
    kept = {id(member) for group in result.groups for member in group.members}
    places: dict[int, tuple[Section, int]] = {}
    by_name: dict[str, Section] = {}
    for section in (section for one in objects for section in one.sections if id(section) not in gone):
        if id(section) in kept:
            result.sections.append(section)
            places[id(section)] = (section, 0)
            continue
        into = by_name.get(section.name)
        if into is None:
            into = by_name[section.name] = Section(section.name, flags=section.flags, kind=section.kind)
            result.sections.append(into)
        places[id(section)] = (into, _append(into, section))
    symbols = _Symbols(result)
    new: dict[int, Symbol] = {}
    for one in objects:
        for symbol in one.symbols:
            place = None if symbol.section is None else places.get(id(symbol.section))
            dropped = symbol.section is not None and place is None
            if dropped and symbol.binding == shape.LOCAL:
                continue
            section, distance = place or (None, 0)
            value = symbol.value + distance
            moved = Symbol(symbol.name, symbol.binding, symbol.kind, section, value, symbol.size, symbol.visibility)
            new[id(symbol)] = symbols.add(moved)
    for one in objects:
        for section in one.sections:
            if id(section) not in places:
                continue
            into, distance = places[id(section)]
            moved_ones = []
            for relocation in section.relocations:
                if id(relocation.symbol) not in new:
                    raise LinkError(f"`{section.name}` refers to a discarded section")
                found = new[id(relocation.symbol)]
                moved_ones.append(Relocation(relocation.offset + distance, relocation.kind, found, relocation.addend))
            if into is section:
                section.relocations = moved_ones
            else:
                into.relocations += moved_ones
    for group in result.groups:
        group.signature = new[id(group.signature)]
    return result


class _Symbols:
    def __init__(self, result: ObjectFile) -> None:
        self.result = result
        self.by_name: dict[str, Symbol] = {}

    def add(self, symbol: Symbol) -> Symbol:
        """The symbol that stands for this one; a definition wins over a reference, a global one over a weak one."""
        if symbol.binding == shape.LOCAL:
            self.result.symbols.append(symbol)
            return symbol
        known = self.by_name.get(symbol.name)
        if known is None:
            self.by_name[symbol.name] = symbol
            self.result.symbols.append(symbol)
            return symbol
        if symbol.section is None:
            known.binding = shape.GLOBAL if known.section is None and symbol.binding == shape.GLOBAL else known.binding
            return known
        if known.section is not None and shape.GLOBAL == known.binding == symbol.binding:
            raise LinkError(f"duplicate symbol: {symbol.name}")
        if known.section is None or (known.binding, symbol.binding) == (shape.WEAK, shape.GLOBAL):
            known.binding, known.kind, known.section = symbol.binding, symbol.kind, symbol.section
            known.value, known.size = symbol.value, symbol.size
        return known


def _append(into: Section, section: Section) -> int:
    """Puts a section behind what is there; where it begins."""
    align = max(section.align, 1)
    into.align = max(into.align, align)
    if into.kind == shape.NOBITS:
        start = into.room + -into.room % align
        into.room = start + section.size
        return start
    into.data += bytes(-len(into.data) % align)
    start = len(into.data)
    into.data += section.data
    return start


def placed(one: ObjectFile) -> ObjectFile:
    """The file that a loader takes: every section at its address, every relocation applied and kept."""
    result = ObjectFile(one.flags, shape.EXEC)
    stems = (".text", ".rodata", ".data")
    into: dict[str, Section] = {}
    where: dict[int, tuple[Section, int]] = {}
    for section in one.sections:
        name = section.name
        if name.startswith(".bl.uninit"):
            name = ".bl_uninit"
        elif section.flags & shape.ALLOC:
            name = next((stem for stem in stems if name.startswith(f"{stem}.")), name)
        if name not in into:
            flags, kind = section.flags & ~shape.GROUPED, section.kind
            if name == ".bl_uninit":
                flags, kind = 0, shape.NOBITS
            into[name] = Section(name, flags=flags, kind=kind)
        where[id(section)] = (into[name], _append(into[name], section))
    ranks = {".text": 0, ".rodata": 1, ".data": 3, ".bl_uninit": 5}

    def rank(section: Section) -> int:
        writable = section.flags & shape.WRITE != 0
        return ranks.get(section.name, (4 if writable else 2) if section.flags & shape.ALLOC else 6)

    result.sections = sorted(into.values(), key=rank)
    end, writing = 0, False
    for section in result.sections:
        if section.flags & shape.ALLOC:
            first = bool(section.flags & shape.WRITE) and not writing
            writing |= first
            align = 0x1000 if first else max(section.align, 1)
            section.address = end + -end % align
            end = section.address + section.size
    for symbol in one.symbols:
        if symbol.section is not None:
            section, distance = where[id(symbol.section)]
            symbol.section, symbol.value = section, symbol.value + distance + section.address
        elif symbol.binding == shape.GLOBAL and any(
            relocation.symbol is symbol for part in one.sections for relocation in part.relocations
        ):
            raise LinkError(f"undefined symbol: {symbol.name}")
    result.symbols = one.symbols
    for section in one.sections:
        target, distance = where[id(section)]
        for relocation in section.relocations:
            moved = Relocation(relocation.offset + distance, relocation.kind, relocation.symbol, relocation.addend)
            target.relocations.append(moved)
            if target.flags & shape.ALLOC:
                apply(target, moved)
    return result


def apply(section: Section, relocation: Relocation) -> None:
    """Writes the value of a relocation into the instructions at its place."""
    symbol, at = relocation.symbol, relocation.offset
    value = symbol.value + relocation.addend
    distance = value - (section.address + at)

    def put(place: int, bits: int, mask: int) -> None:
        (word,) = struct.unpack_from("<I", section.data, place)
        struct.pack_into("<I", section.data, place, word & ~mask | bits & mask)

    def fits(number: int, low: int, high: int) -> None:
        if not low <= number <= high:
            of = f"relocation {relocation.kind:#x} of {symbol.name}"
            raise LinkError(f"{of} out of range: {number} is not in [{low}, {high}]")

    if relocation.kind == shape.BLOCK_LOCAL:
        fits(value, 0, 0xFFF)
        put(at, value, 0xFFF)
    elif relocation.kind == shape.CALL:
        fits(distance // 4, -0x8000, 0x7FFF)
        put(at, distance // 4, 0xFFFF)
    elif relocation.kind in (shape.LONG_CALL, shape.ADDRESS):
        long = relocation.kind == shape.LONG_CALL
        number = (distance - 12) // 4 if long else distance - 16
        for part in range(3 if long else 4):
            put(at + 4 * part, number >> 16 * part, 0xFFFF)
    elif relocation.kind == shape.ABSOLUTE:
        struct.pack_into("<q", section.data, at, value)
    elif relocation.kind == shape.ABSOLUTE_32:
        struct.pack_into("<i", section.data, at, value)
    else:
        raise LinkError(f"unknown relocation {relocation.kind:#x}")
