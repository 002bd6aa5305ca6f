"""The ELF engine against starting a tool for every step, in one run on the same files, on one thread.

The task is what a super kernel needs of each sub-kernel: unpack it from its archive, read its code size, and make
three copies with the function renamed. The tools run from one shell script, so that only they are measured. Then one
large object: editing it against plainly reading and writing it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from superkernel import elf

COPIES = (1, 2, 3)


def small_object(directory: Path) -> bytes:
    """An object of about 30 KB with a few hundred functions and relocations."""
    lines = ["extern int outside(int);", "int state[64] = {1};"]
    for number in range(150):
        lines.append(f"int step_{number}(int x) {{ return outside(x + {number}) * state[{number % 64}]; }}")
    calls = " + ".join(f"step_{number}(x)" for number in range(150))
    lines.append(f"int kernel_entry(int x) {{ return {calls}; }}")
    source = directory / "small.c"
    source.write_text("\n".join(lines))
    target = source.with_suffix(".o")
    subprocess.run(["cc", "-O1", "-fno-inline", "-c", str(source), "-o", str(target)], check=True)
    return target.read_bytes()


def make_inputs(directory: Path, count: int) -> list[str]:
    """Archives with one object each, as sub-kernels come; returns the names of the objects."""
    base = small_object(directory)
    names = []
    for number in range(count):
        name = f"kernel_{number}"
        data = elf.rename_symbols(base, {"kernel_entry": name})
        (directory / f"{name}.a").write_bytes(elf.write_archive([(f"{name}.o", data)]))
        (directory / f"{name}.o").write_bytes(data)
        names.append(name)
    print(f"{count} objects of {len(base) / 1024:.0f} KB, {len(COPIES)} copies each")
    return names


def read(path: Path) -> bytes:
    """A whole file, without the detours of buffered files."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


def write(path: Path, data: bytes) -> None:
    """A whole file, without the detours of buffered files."""
    with open(path, "wb", buffering=0) as file:
        file.write(data)


def timed(work: Callable[[], object], repeat: int = 3) -> float:
    """The best of a few runs, in seconds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def shell(lines: list[str]) -> Callable[[], object]:
    script = "set -e\n" + "\n".join(lines)
    return lambda: subprocess.run(["sh"], input=script, text=True, check=True, stdout=subprocess.DEVNULL)


def compare_small(directory: Path, names: list[str]) -> None:
    inside = directory / "inside"
    outside = directory / "outside"
    inside.mkdir()
    outside.mkdir()

    def our_unpack() -> None:
        for name in names:
            for member, data in elf.read_archive(read(directory / f"{name}.a")):
                write(inside / member, data)

    def our_size() -> None:
        for name in names:
            elf.text_size(read(directory / f"{name}.o"))

    def our_copies() -> None:
        for name in names:
            data = read(directory / f"{name}.o")
            for number in COPIES:
                edited = elf.rename_symbols(data, {name: f"{name}_split{number}"})
                write(inside / f"{name}_split{number}.o", edited)

    def unpack_with(tool: str) -> list[str]:
        return [f"cd {outside}", *(f"{tool} x {directory}/{name}.a" for name in names)]

    def size_with(tool: str) -> list[str]:
        return [f"{tool} -h {directory}/{name}.o" for name in names]

    def copies_with(tool: str) -> list[str]:
        lines = []
        for name in names:
            for number in COPIES:
                target = f"{outside}/{name}_split{number}.o"
                lines.append(f"cp {directory}/{name}.o {target}")
                lines.append(f"{tool} --redefine-sym {name}={name}_split{number} {target}")
        return lines

    steps: list[tuple[str, Callable[[], None], Callable[[str], list[str]], tuple[str, str]]] = [
        ("unpack", our_unpack, unpack_with, ("llvm-ar", "ar")),
        ("code size", our_size, size_with, ("llvm-objdump", "objdump")),
        ("copies", our_copies, copies_with, ("llvm-objcopy", "objcopy")),
    ]
    ours = {name: timed(work) for name, work, _, _ in steps}
    print(f"  superkernel.elf: {sum(ours.values()):.3f} s ({', '.join(f'{k} {v:.3f}' for k, v in ours.items())})")
    for family, column in (("llvm", 0), ("GNU", 1)):
        total = 0.0
        for name, _, commands, tools in steps:
            tool = tools[column]
            if shutil.which(tool) is None:
                print(f"  {tool}: not installed")
                return
            seconds = timed(shell(commands(tool)), repeat=1)
            total += seconds
            shown = f"cp + {tool} --redefine-sym" if name == "copies" else f"{tool} {'x' if name == 'unpack' else '-h'}"
            print(f"  {name:<10} {shown:<34} {seconds:8.3f} s   {seconds / ours[name]:6.0f} times slower")
        print(f"  {family} tools, all steps: {total:.3f} s, {total / sum(ours.values()):.0f} times slower")


def large_object(directory: Path, megabytes: int) -> Path:
    """An object with tens of thousands of functions and relocations, filled up with data."""
    functions = megabytes * 1500
    lines = [".text"]
    for number in range(functions):
        name = f"function_number_{number}"
        lines.append(f".globl {name}\n{name}: call function_number_{number // 2}; ret")
    lines.append(f'.section .debug_info,"",@progbits\n.fill {megabytes * 900_000}, 1, 7')
    source = directory / "large.s"
    source.write_text("\n".join(lines) + "\n")
    target = source.with_suffix(".o")
    subprocess.run(["as", str(source), "-o", str(target)], check=True)
    return target


def compare_large(directory: Path, megabytes: int) -> None:
    path = large_object(directory, megabytes)
    size = path.stat().st_size
    target = directory / "large_edited.o"

    def plain() -> None:
        write(target, read(path))

    edits: dict[str, Callable[[bytes], bytes]] = {
        "rename one symbol": lambda data: elf.rename_symbols(data, {"function_number_0": "renamed"}),
        "localize all but one": lambda data: elf.edit(data, keep_global=["function_number_0"]),
        "split copy": lambda data: elf.split_copies(data, "function_number_0", 2)[0],
    }
    read_write = timed(plain, repeat=5)
    print(f"one object of {size / 1e6:.0f} MB with {len(elf.symbols(path.read_bytes())):,} symbols")
    print(f"  plain read and write: {read_write:.3f} s, {size / read_write / 1e6:.0f} MB/s")
    for name, work in edits.items():
        seconds = timed(lambda work=work: write(target, work(read(path))), repeat=5)
        rate = f"{size / seconds / 1e6:.0f} MB/s"
        print(f"  read, {name}, write: {seconds:.3f} s, {rate}, {read_write / seconds:.2f} of plain")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=200, help="small objects (default: 200)")
    parser.add_argument("--megabytes", type=int, default=50, help="size of the large object (default: 50)")
    options = parser.parse_args()
    # In memory where possible: the disk is not what is compared.
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="superkernel-bench-", dir=shared) as directory:
        compare_small(Path(directory), make_inputs(Path(directory), options.objects))
        compare_large(Path(directory), options.megabytes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
