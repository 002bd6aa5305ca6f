"""Archives written by ``ar`` and ``llvm-ar``, and ours read by them."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from elf_objects import LINKERS, Workshop, run
from superkernel import SuperKernelError, elf


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def objects(workshop: Workshop) -> list[Path]:
    names = ["a.c", "fifteen_chars_.c", "a_name_much_longer_than_sixteen_letters.c", "another_name_longer_than_that.c"]
    return [
        workshop.source(
            name,
            f"int f{number}(void) {{ return {number}; }}\nint v{number}; int weak{number} __attribute__((weak));",
        )
        for number, name in enumerate(names)
    ]


WRITERS = [
    ("ar", "rcs"),
    ("ar", "rcSD"),
    ("ar", "rcsU"),
    ("llvm-ar", "--format=gnu", "rcs"),
    ("llvm-ar", "--format=bsd", "rcs"),
    ("llvm-ar", "--format=darwin", "rcs"),
]


@pytest.mark.parametrize("writer", WRITERS, ids=" ".join)
def test_reads_what_tools_write(workshop: Workshop, objects: list[Path], writer: tuple[str, ...]) -> None:
    text = workshop.write("note.txt", b"odd")
    archive = workshop.directory / "lib.a"
    run(*writer, str(archive), *map(str, objects), str(text))
    members = elf.read_archive(archive.read_bytes())
    # Formats for other systems pad members; what a member means does not change.
    assert [name for name, _ in members] == [path.name for path in [*objects, text]]
    for (_, data), path in zip(members, [*objects, text]):
        assert data.startswith(path.read_bytes())
        assert len(data) - path.stat().st_size < 8


def test_same_bytes_as_llvm_ar(workshop: Workshop, objects: list[Path]) -> None:
    archive = workshop.directory / "lib.a"
    run("llvm-ar", "--format=gnu", "rcsD", str(archive), *map(str, objects))
    assert elf.write_archive([(path.name, path.read_bytes()) for path in objects]) == archive.read_bytes()


@pytest.mark.parametrize("reader", ["ar", "llvm-ar"])
def test_tools_read_what_we_write(workshop: Workshop, objects: list[Path], reader: str) -> None:
    members = [(path.name, path.read_bytes()) for path in objects] + [("note.txt", b"odd")]
    archive = workshop.write("ours.a", elf.write_archive(members))
    assert run(reader, "t", str(archive)).split() == [name for name, _ in members]
    target = workshop.directory / "out"
    target.mkdir()
    subprocess.run([reader, "x", str(archive)], cwd=target, check=True)
    assert [(target / name).read_bytes() for name, _ in members] == [data for _, data in members]
    assert elf.read_archive(archive.read_bytes()) == members


@pytest.mark.parametrize("linker", LINKERS)
def test_linkers_find_symbols_in_what_we_write(workshop: Workshop, objects: list[Path], linker: str) -> None:
    archive = workshop.write("libours.a", elf.write_archive([(path.name, path.read_bytes()) for path in objects]))
    main = workshop.source(
        "main.c", '#include <stdio.h>\nint f2(void), f3(void);\nint main(void) { printf("%d", f2() + f3()); }'
    )
    program = workshop.directory / "program"
    run("gcc", f"-fuse-ld={linker}", str(main), str(archive), "-o", str(program))
    assert run(str(program)) == "5"


def test_same_names_and_odd_sizes_survive() -> None:
    members = [("x.o", b"1"), ("x.o", b"22"), ("dir/y.o", b"333"), ("../z.o", b""), ("sp ace.o", b"5")]
    assert elf.read_archive(elf.write_archive(members)) == members
    assert elf.read_archive(elf.write_archive([])) == []
    assert elf.is_archive(elf.write_archive([])) and not elf.is_archive(b"\x7fELF")


def test_thin_archive_is_refused(workshop: Workshop, objects: list[Path]) -> None:
    archive = workshop.directory / "thin.a"
    run("ar", "rcsT", str(archive), *map(str, objects))
    assert elf.is_archive(archive.read_bytes())
    with pytest.raises(SuperKernelError, match="thin archive") as failure:
        elf.read_archive(archive.read_bytes())
    assert failure.value.errorinfo["errId"] == "SK0621"


def test_names_that_end_with_a_zero_byte() -> None:
    """As other tools than GNU's write them: in the table of long names, and padded in front of the member."""

    def header(name: str, size: int) -> bytes:
        return f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{size:<10}`\n".encode()

    table = b"first_name.o\0second_name.o/\n"
    archive = b"!<arch>\n" + header("//", len(table)) + table + header("/0", 2) + b"xx" + header("/13", 2) + b"yy"
    archive += header("#1/8", 10) + b"bsd.o\0\0\0" + b"zz" + header("#1/4", 6) + b"full" + b"ww"
    assert elf.read_archive(archive) == [
        ("first_name.o", b"xx"), ("second_name.o", b"yy"), ("bsd.o", b"zz"), ("full", b"ww"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "ends\0", "ends/"])
def test_names_that_cannot_be_stored(name: str) -> None:
    with pytest.raises(SuperKernelError) as failure:
        elf.write_archive([(name, b"")])
    assert failure.value.errorinfo["errId"] == "SK0609"


@pytest.mark.parametrize(
    ("offset", "field", "change"),
    [
        (8 + 58, "ar_fmag", b"xx"),
        (8 + 48, "ar_size", b"12x"),
        (8 + 48, "ar_size", b"99999"),
        (8, "ar_name", b"/77   "),
    ],
)
def test_damage_is_located(offset: int, field: str, change: bytes) -> None:
    archive = bytearray(elf.write_archive([("x.o", b"data")]))
    archive[offset : offset + len(change)] = change
    with pytest.raises(SuperKernelError, match=f"`{field}` at offset {offset:#x}"):
        elf.read_archive(archive)


def test_not_an_archive() -> None:
    with pytest.raises(SuperKernelError, match="the first bytes are 7f 45 4c 46"):
        elf.read_archive(struct.pack("<4s4x", b"\x7fELF"))
