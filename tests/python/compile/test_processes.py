"""What a build starts: the compiler, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import superkernel
from kernel_library import MIX_1_2, KernelLibrary

#: What builds of kernels have been made with.
TOOLS = (
    *("c++", "g++", "gcc", "cc", "clang++", "clang"),
    *("ld", "ld.bfd", "ld.gold", "ld.lld", "lld", "mold", "collect2"),
    *("ar", "llvm-ar", "cp", "nm", "objcopy", "llvm-objcopy", "objdump", "ranlib", "readelf", "strip"),
)
COMPILERS = {"c++", "g++", "clang++"}


def test_200_ops_need_the_compiler_and_nothing_else(
    library: KernelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, log = tmp_path / "tools", tmp_path / "started"
    tools.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            script = tools / name
            script.write_text(f'#!/bin/sh\necho "{name} $*" >> {log}\nexec {found} "$@"\n')
            script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.delenv("CXX", raising=False)
    ops = [library.op(name) for name in ("one", "two", "three")] + [library.op("mixed", MIX_1_2)]
    infos = library.infos(*(ops[number % len(ops)] for number in range(200)), options="split-mode=4")
    with superkernel.configure(kernel_meta_parent_dir=str(tmp_path), cache_dir="", toolchain="host"):
        superkernel.compile(infos, "many")
    assert (tmp_path / "kernel_meta" / "many.o").exists()
    started = log.read_text().splitlines()
    assert {line.split()[0] for line in started} <= COMPILERS, started
    assert [line for line in started if " -c " in line]
    # Nor does the compiler link.
    assert not [line for line in started if not {"-c", "-E", "--version", "-dumpversion"} & set(line.split())], started
