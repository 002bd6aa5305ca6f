"""Reads and edits ELF objects and archives in process, without a tool being started.

Every function takes bytes-like objects and returns new ``bytes``; nothing is changed in place. Works on ELF64
little-endian files of any machine: relocatable objects, and executables or shared objects linked with kept
relocations (``-q``), where nothing that is loaded moves. Failures are :class:`superkernel.SuperKernelError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Union

from superkernel import _core

__all__ = [
    "Identity",
    "LaunchData",
    "Section",
    "Symbol",
    "edit",
    "identity",
    "is_archive",
    "join",
    "launch_data",
    "link",
    "localize_symbols",
    "read_archive",
    "rename_symbols",
    "section_bytes",
    "sections",
    "split_copies",
    "strip_symbols",
    "symbols",
    "text_size",
    "write_archive",
]

BytesLike = Union[bytes, bytearray, memoryview]


class Identity(NamedTuple):
    """What kind of ELF file it is."""

    kind: int
    """``e_type``: 1 relocatable, 2 executable, 3 shared object."""
    machine: int
    """``e_machine``."""


class Section(NamedTuple):
    """One section, as its header describes it."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int


class Symbol(NamedTuple):
    """One symbol."""

    name: str
    binding: str
    """``local``, ``global``, ``weak`` or ``binding-<number>``."""
    kind: str
    """``none``, ``object``, ``function``, ``section``, ``file``, ``common``, ``thread-local`` or ``kind-<number>``."""
    place: str
    """``undefined``, ``absolute``, ``common``, ``section`` or ``special``."""
    section: int | None
    """The index of the section that holds the definition, or the special index."""
    value: int
    size: int
    visibility: str
    """``default``, ``internal``, ``hidden`` or ``protected``."""

    @property
    def is_defined(self) -> bool:
        """Whether the object holds what the symbol names."""
        return self.place != "undefined"


class LaunchData(NamedTuple):
    """How a kernel is launched, as its ``.ascend.meta`` section says."""

    function: str
    kernel_type: int | None
    """1 AI core, 2 cube, 3 vector, 4 mixed with cube cores in front, 5 mixed with vector cores in front."""
    ratio: tuple[int, int] | None
    """Cube and vector cores of a block."""


def identity(obj: BytesLike) -> Identity:
    """Type and machine of an ELF file."""
    return Identity(*_core.elf_identity(obj))


def text_size(obj: BytesLike) -> int:
    """Size of the first section whose name starts with ``.text``."""
    return _core.elf_text_size(obj)


def symbols(obj: BytesLike) -> list[Symbol]:
    """All symbols in file order, without the empty first entry."""
    return [Symbol(*row) for row in _core.elf_symbols(obj)]


def sections(obj: BytesLike) -> list[Section]:
    """All sections; a position in the list is a section index."""
    return [Section(*row) for row in _core.elf_sections(obj)]


def section_bytes(obj: BytesLike, name: str) -> bytes | None:
    """The bytes of the first section with this name; ``None`` when there is none."""
    return _core.elf_section_bytes(obj, name)


def launch_data(obj: BytesLike) -> list[LaunchData]:
    """What the file says about how to launch its kernels."""
    return [LaunchData(*row) for row in _core.elf_launch_data(obj)]


def edit(
    obj: BytesLike,
    *,
    rename: Mapping[str, str] | None = None,
    localize: Iterable[str] = (),
    keep_global: Iterable[str] | None = None,
    strip: Iterable[str] = (),
    drop_sections: Iterable[str] = (),
    dissolve_groups: bool = False,
    missing_ok: bool = False,
) -> bytes:
    """Several edits in one pass. All names are names of the input; the edits apply in the order of the arguments.

    :param rename: new names by old names, for definitions and references.
    :param localize: definitions that other objects no longer see.
    :param keep_global: instead of ``localize``: every definition becomes local but these.
    :param strip: symbols to remove. One that relocations still use stays, as an undefined symbol.
    :param drop_sections: prefixes of section names; such sections go with their relocations and symbols.
    :param dissolve_groups: remove all section groups (COMDAT); their sections stay.
    :param missing_ok: skip names that the object does not have instead of failing.

    Edits without any effect return the same bytes.
    """
    return _core.elf_edit(
        obj,
        list((rename or {}).items()),
        *_hidden(localize, keep_global),
        _names(strip),
        _names(drop_sections),
        dissolve_groups,
        missing_ok,
    )


def rename_symbols(obj: BytesLike, names: Mapping[str, str], *, missing_ok: bool = False) -> bytes:
    """Renames symbols: ``{old: new}``, definitions and references."""
    return edit(obj, rename=names, missing_ok=missing_ok)


def localize_symbols(obj: BytesLike, names: Iterable[str], *, missing_ok: bool = False) -> bytes:
    """Makes global definitions local."""
    return edit(obj, localize=names, missing_ok=missing_ok)


def strip_symbols(obj: BytesLike, names: Iterable[str], *, missing_ok: bool = False) -> bytes:
    """Removes symbols; one that relocations still use stays, as an undefined symbol."""
    return edit(obj, strip=names, missing_ok=missing_ok)


def split_copies(obj: BytesLike, function: str | Sequence[str], count: int) -> list[bytes]:
    """Copies 1 to ``count - 1`` of a kernel object; the object itself is copy 0.

    In copy *i* the function (or functions) is called ``<name>_split<i>``, every other definition is local, section
    groups are dissolved and ``.ascend.meta.*`` sections are gone.
    """
    functions = [function] if isinstance(function, str) else list(function)
    return _core.elf_split_copies(obj, functions, max(count, 0))


def join(
    objects: Iterable[BytesLike | tuple[str, BytesLike]],
    *,
    localize: Iterable[str] = (),
    keep_global: Iterable[str] | None = None,
    discard_locals: bool = False,
) -> bytes:
    """One relocatable object made of several, as ``ld -r`` makes it; objects of any machine.

    Sections of one name and kind are joined in input order, of equal COMDAT groups the first stays, a definition
    replaces a weak one, and all relocations stay relocations.

    :param objects: the objects, or pairs of the name that messages call them and the object.
    :param localize: definitions of the result that other objects no longer see. Names that are not there are skipped.
    :param keep_global: instead of ``localize``: every definition becomes local but these.
    :param discard_locals: leave out local symbols that no relocation needs (``-x``).
    """
    return _core.elf_join(_named(objects), *_hidden(localize, keep_global), discard_locals)


def link(
    objects: Iterable[BytesLike | tuple[str, BytesLike]],
    *,
    localize: Iterable[str] = (),
    keep_global: Iterable[str] | None = None,
    discard_locals: bool = False,
    keep_relocations: bool = True,
) -> bytes:
    """The file that a device loads, linked from objects of AI cores (``e_machine`` 0x1029).

    The arguments are those of :func:`join`. With ``keep_relocations`` the file still says what was relocated (``-q``).
    Calls that do not reach, block-local offsets that do not fit and names without a definition are errors.
    """
    return _core.elf_link(_named(objects), *_hidden(localize, keep_global), discard_locals, keep_relocations)


def is_archive(data: BytesLike) -> bool:
    """Whether the bytes start like an ``ar`` archive (thin ones included)."""
    return _core.elf_is_archive(data)


def read_archive(data: BytesLike) -> list[tuple[str, bytes]]:
    """Names and bytes of an archive's members, in file order."""
    return _core.elf_read_archive(data)


def write_archive(members: Iterable[tuple[str, BytesLike]]) -> bytes:
    """A GNU archive of these members, with a symbol table. The same members always give the same bytes."""
    return _core.elf_write_archive(list(members))


def _names(names: Iterable[str]) -> list[str]:
    # A single string is an iterable of letters: surely not what was meant.
    if isinstance(names, str):
        raise TypeError(f"expected a list of names, not the string {names!r}")
    return list(names)


def _hidden(localize: Iterable[str], keep_global: Iterable[str] | None) -> tuple[list[str], list[str] | None]:
    localized = _names(localize)
    if keep_global is not None and localized:
        raise ValueError("give `localize` or `keep_global`, not both")
    return localized, None if keep_global is None else _names(keep_global)


def _named(objects: Iterable[BytesLike | tuple[str, BytesLike]]) -> list[tuple[str, BytesLike]]:
    pairs = enumerate(objects, 1)
    return [item if isinstance(item, tuple) else (f"object {number}", item) for number, item in pairs]
