"""``superkernel elf``: look at objects and archives, and edit them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from superkernel.cli._parser import count

if TYPE_CHECKING:
    from superkernel.elf import Section, Symbol

KINDS = {1: "relocatable object", 2: "executable", 3: "shared object", 4: "core dump"}
MACHINES = {62: "x86-64", 183: "AArch64", 243: "RISC-V", 247: "BPF", 8: "MIPS"}
SECTION_KINDS = {
    0: "null",
    1: "contents",
    2: "symbols",
    3: "strings",
    4: "relocations",
    7: "note",
    8: "no bytes",
    9: "relocations",
    11: "dynamic symbols",
    14: "initializers",
    15: "finalizers",
    17: "group",
    18: "indices",
}
FLAG_LETTERS = ((0x1, "W"), (0x2, "A"), (0x4, "X"), (0x10, "M"), (0x20, "S"), (0x80, "L"), (0x200, "G"), (0x400, "T"))


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "elf",
        help="look at objects and archives, and edit them",
        description="Reads and edits ELF64 little-endian objects of any machine, and ar archives, in process.",
    )
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    _register_show(actions)
    _register_edit(actions)
    _register_split(actions)
    _register_link(actions)
    _register_archives(actions)


def _register_show(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    show = actions.add_parser("show", help="summarize an object, or every member of an archive")
    show.add_argument("files", nargs="+", metavar="FILE")
    show.add_argument("-a", "--all", action="store_true", help="list local and section symbols and table sections too")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=run_show)


def _register_edit(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    edit = actions.add_parser(
        "edit",
        help="rename, localize or strip symbols, drop sections",
        description="All names are names of the input, whatever else happens to their symbols in the same call.",
    )
    edit.add_argument("file", metavar="FILE")
    edit.add_argument("-o", "--output", required=True, metavar="OUT", help="may be FILE itself")
    edit.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help="definitions and references")
    edit.add_argument("--localize", action="append", default=[], metavar="NAME", help="hide a definition")
    edit.add_argument("--keep-global", action="append", metavar="NAME", help="hide every definition but these")
    edit.add_argument(
        "--strip", action="append", default=[], metavar="NAME", help="remove; what is used stays undefined"
    )
    edit.add_argument("--drop-sections", action="append", default=[], metavar="PREFIX", help="by the start of the name")
    edit.add_argument("--dissolve-groups", action="store_true", help="make members of COMDAT groups ordinary sections")
    edit.add_argument("--missing-ok", action="store_true", help="skip names that are not there")
    edit.set_defaults(run=run_edit)


def _register_split(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    split = actions.add_parser(
        "split",
        help="make the split copies of a kernel object",
        description="Writes <stem>_split1.o … beside FILE; the object itself is the first copy.",
    )
    split.add_argument("file", metavar="FILE")
    split.add_argument("functions", nargs="+", metavar="FUNCTION", help="entry functions, the only visible names")
    split.add_argument("-n", "--count", type=count, default=4, help="copies with the original (default: 4)")
    split.add_argument("-d", "--directory", metavar="DIR", help="where to write (default: beside FILE)")
    split.set_defaults(run=run_split)


def _register_link(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    join = actions.add_parser(
        "join",
        help="make one object of several, as `ld -r` does",
        description="Joins objects of any machine, and the members of archives, in the order given.",
    )
    join.set_defaults(run=run_join)
    link = actions.add_parser(
        "link",
        help="make the file that a device loads",
        description="Links objects of AI cores, and the members of archives, in the order given.",
    )
    link.add_argument("--drop-relocations", action="store_true", help="leave the record of relocations out of the file")
    link.set_defaults(run=run_link)
    for command in (join, link):
        command.add_argument("files", nargs="+", metavar="FILE")
        command.add_argument("-o", "--output", required=True, metavar="OUT", help="may be one of the files")
        command.add_argument("--localize", action="append", default=[], metavar="NAME", help="hide a definition")
        command.add_argument("--keep-global", action="append", metavar="NAME", help="hide every definition but these")
        command.add_argument(
            "-x", "--discard-locals", action="store_true", help="leave out local symbols that nothing needs"
        )


def _register_archives(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    unpack = actions.add_parser("unpack", help="write the members of an archive to files")
    unpack.add_argument("file", metavar="ARCHIVE")
    unpack.add_argument("-d", "--directory", default=".", metavar="DIR", help="where to write (default: here)")
    unpack.set_defaults(run=run_unpack)
    pack = actions.add_parser("pack", help="make an archive with a symbol table")
    pack.add_argument("output", metavar="ARCHIVE")
    pack.add_argument("files", nargs="+", metavar="FILE")
    pack.set_defaults(run=run_pack)


# -- actions ---------------------------------------------------------------------------------------------------------


def run_show(options: argparse.Namespace) -> None:
    """Prints what files hold."""
    objects = [entry for path in options.files for entry in _objects(path)]
    if options.json:
        import json

        print(json.dumps([_as_json(label, data) for label, data in objects], indent=2))
        return
    for number, (label, data) in enumerate(objects):
        if number:
            print()
        with _about(label):
            _print_object(label, data, everything=options.all)


def run_edit(options: argparse.Namespace) -> None:
    """Writes an edited object."""
    from superkernel import elf
    from superkernel._errors import make_error

    renames: dict[str, str] = {}
    for pair in options.rename:
        old, equals, new = pair.partition("=")
        if not equals:
            raise make_error("SK0609", f"`--rename {pair}` has no `=`", "write --rename OLD=NEW")
        renames[old] = new
    _check_hidden(options)
    data = _read(options.file)
    with _about(options.file):
        edited = elf.edit(
            data,
            rename=renames,
            localize=options.localize,
            keep_global=options.keep_global,
            strip=options.strip,
            drop_sections=options.drop_sections,
            dissolve_groups=options.dissolve_groups,
            missing_ok=options.missing_ok,
        )
    _write(options.output, edited)


def run_split(options: argparse.Namespace) -> None:
    """Writes the copies of an object."""
    import os

    from superkernel import elf

    with _about(options.file):
        copies = elf.split_copies(_read(options.file), options.functions, options.count)
    directory = options.directory or os.path.dirname(options.file)
    stem, extension = os.path.splitext(os.path.basename(options.file))
    for number, copy in enumerate(copies, 1):
        path = os.path.join(directory, f"{stem}_split{number}{extension}")
        _write(path, copy)
        print(path)


def run_join(options: argparse.Namespace) -> None:
    """Writes one object made of several."""
    from superkernel import elf

    _check_hidden(options)
    objects = [entry for path in options.files for entry in _objects(path)]
    joined = elf.join(
        objects,
        localize=options.localize,
        keep_global=options.keep_global,
        discard_locals=options.discard_locals,
    )
    _write(options.output, joined)


def run_link(options: argparse.Namespace) -> None:
    """Writes the file that a device loads."""
    from superkernel import elf

    _check_hidden(options)
    objects = [entry for path in options.files for entry in _objects(path)]
    linked = elf.link(
        objects,
        localize=options.localize,
        keep_global=options.keep_global,
        discard_locals=options.discard_locals,
        keep_relocations=not options.drop_relocations,
    )
    _write(options.output, linked)


def _check_hidden(options: argparse.Namespace) -> None:
    from superkernel._errors import make_error

    if options.keep_global is not None and options.localize:
        raise make_error("SK0608", "`--localize` and `--keep-global` exclude each other", "give one of them")


def run_unpack(options: argparse.Namespace) -> None:
    """Writes the members of an archive."""
    import os

    from superkernel import elf
    from superkernel._errors import make_error

    with _about(options.file):
        members = elf.read_archive(_read(options.file))
    # An archive must not choose where its members go: only the last part of a name counts.
    targets = [os.path.basename(name) for name, _ in members]
    for name, target in zip((name for name, _ in members), targets):
        if target in ("", ".", "..") or targets.count(target) > 1:
            problem = f"member `{name}` of `{options.file}` has no file name of its own"
            raise make_error("SK0609", problem, "read it with `superkernel.elf.read_archive`")
    try:
        os.makedirs(options.directory, exist_ok=True)
    except OSError as error:
        raise _file_error("create directory", options.directory, error) from None
    for target, (_, data) in zip(targets, members):
        path = os.path.join(options.directory, target)
        _write(path, data)
        print(path)


def run_pack(options: argparse.Namespace) -> None:
    """Writes an archive."""
    import os

    from superkernel import elf

    _write(options.output, elf.write_archive([(os.path.basename(path), _read(path)) for path in options.files]))


# -- printing --------------------------------------------------------------------------------------------------------


def _objects(path: str) -> list[tuple[str, bytes]]:
    from superkernel import elf

    data = _read(path)
    if not elf.is_archive(data):
        return [(path, data)]
    with _about(path):
        return [(f"{path}({name})", member) for name, member in elf.read_archive(data)]


def _print_object(label: str, data: bytes, *, everything: bool) -> None:
    from superkernel import elf

    identity, sections, symbols = elf.identity(data), elf.sections(data), elf.symbols(data)
    kind = KINDS.get(identity.kind, f"type {identity.kind}")
    machine = MACHINES.get(identity.machine, f"machine {identity.machine:#x}")
    print(f"{label}: {kind}, {machine}, {len(data):,} bytes")
    has_text = any(section.name.startswith(".text") for section in sections)
    code = f"{elf.text_size(data):,} bytes" if has_text else "none"
    print(f"  code (first .text section): {code}")
    shown = [
        (index, section) for index, section in enumerate(sections) if index and (everything or _is_content(section))
    ]
    print(f"  sections: {len(shown)} of {max(len(sections) - 1, 0)}")
    for index, section in shown:
        kind = SECTION_KINDS.get(section.kind, f"{section.kind:#x}")
        print(f"    {index:>4}  {section.size:>10}  {kind:<12} {_flags(section):<5} {section.name}")
    listed = symbols if everything else [symbol for symbol in symbols if symbol.binding != "local"]
    print(f"  symbols: {len(listed)} of {len(symbols)}")
    for symbol in listed:
        name = symbol.name or f"({symbol.kind})"
        print(
            f"    {symbol.value:#010x}  {symbol.size:>8}  {symbol.binding:<7} {symbol.kind:<12} "
            f"{_place(symbol, sections):<20} {name}"
        )


def _is_content(section: Section) -> bool:
    return section.kind not in (0, 2, 3, 4, 9, 17, 18)


def _flags(section: Section) -> str:
    return "".join(letter for bit, letter in FLAG_LETTERS if section.flags & bit)


def _place(symbol: Symbol, sections: Sequence[Section]) -> str:
    if symbol.place == "section" and symbol.section is not None:
        return sections[symbol.section].name or f"section {symbol.section}"
    return symbol.place


def _as_json(label: str, data: bytes) -> dict[str, object]:
    from superkernel import elf

    with _about(label):
        identity = elf.identity(data)
        return {
            "file": label,
            "kind": identity.kind,
            "machine": identity.machine,
            "sections": [section._asdict() for section in elf.sections(data)],
            "symbols": [symbol._asdict() for symbol in elf.symbols(data)],
        }


# -- files -----------------------------------------------------------------------------------------------------------


@contextmanager
def _about(path: str) -> Iterator[None]:
    """Names the file in errors about its content."""
    from superkernel import SuperKernelError
    from superkernel._errors import make_error

    try:
        yield
    except SuperKernelError as error:
        info = error.errorinfo
        raise make_error(info["errId"], f"`{path}`: {info['message']}", info["errSolution"]) from None


def _file_error(action: str, path: str, error: OSError) -> Exception:
    from superkernel._errors import make_error

    return make_error(
        "SK0001",
        f"cannot {action} `{path}`: {error.strerror or error}",
        "check that the path exists and that this user may access it",
    )


def _read(path: str) -> bytes:
    from superkernel.cli import _streams

    return _streams.read(path)


def _write(path: str, data: bytes) -> None:
    """Writes a whole file or nothing: the output may be the input. Streams get it as it is."""
    import os
    import stat
    import tempfile

    from superkernel.cli import _streams

    if _streams.stream_number(path) is not None or _streams.is_nowhere(path):
        _streams.write(path, data)
        return
    temporary = None
    # A link stays, and leads to the new content.
    path = os.path.realpath(path)
    try:
        mode = os.stat(path).st_mode if os.path.exists(path) else stat.S_IFREG | 0o666 & ~_umask()
        if not stat.S_ISREG(mode):
            # It would be replaced by a file.
            raise OSError(0, "it is not a regular file")
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".superkernel-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode & 0o777)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise _file_error("write", path, error) from None


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask
