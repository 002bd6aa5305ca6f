"""Who links a kernel for a device: the vendor's linker, this package, or both."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import superkernel
from cann_tools import Toolkit, arch
from kernel_library import MIX_1_2, KernelLibrary
from superkernel import SuperKernelError, _build, elf


@pytest.fixture
def library(device_library: KernelLibrary) -> KernelLibrary:
    """Objects for a device."""
    return device_library


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolkit:
    kit = Toolkit(tmp_path / "cann", _build.INCLUDE_DIR)
    monkeypatch.setenv("PATH", f"{kit.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(kit.folder))
    return kit


@pytest.fixture(autouse=True)
def out(tmp_path: Path) -> Any:
    with superkernel.configure(kernel_meta_parent_dir=str(tmp_path / "out"), cache_dir="", toolchain="cann"):
        yield tmp_path / "out" / "kernel_meta"


def built(library: KernelLibrary, out: Path, linker: str, *, options: str = "") -> bytes:
    ops = [library.op("one"), library.op("mixed", MIX_1_2), library.op("two")]
    with superkernel.configure(linker=linker):
        superkernel.compile(library.infos(*ops, options=options), "k")
    return (out / "k.o").read_bytes()


def visible(kernel: bytes) -> list[tuple[object, ...]]:
    sections = elf.sections(kernel)
    return [
        (symbol.name, symbol.binding, symbol.kind, symbol.value, symbol.section and sections[symbol.section].name)
        for symbol in elf.symbols(kernel)
        if symbol.binding != "local" and symbol.visibility == "default"
    ]


@pytest.mark.parametrize("options", ["split-mode=1", "split-mode=4"])
def test_both_linkers_make_the_same(library: KernelLibrary, toolkit: Toolkit, out: Path, options: str) -> None:
    vendor = built(library, out, "vendor", options=options)
    assert "linker" not in json.loads((out / "k.json").read_text())
    calls = len(toolkit.calls("ld.lld"))
    assert calls == 2
    own = built(library, out, "own", options=options)
    assert json.loads((out / "k.json").read_text())["linker"] == "own"
    assert len(toolkit.calls("ld.lld")) == calls
    for section in (".text", ".rodata", ".data"):
        assert elf.section_bytes(own, section) == elf.section_bytes(vendor, section)
    assert visible(own) == visible(vendor)
    assert elf.identity(own) == elf.identity(vendor)
    record = json.loads((out / "k.manifest.json").read_text())
    assert "block_local" in json.dumps(record)


def test_both_reports_a_difference(
    library: KernelLibrary, toolkit: Toolkit, out: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="superkernel"):
        both = built(library, out, "both")
    assert "differ" not in caplog.text
    assert json.loads((out / "k.json").read_text())["linker"] == "both"
    # A linker that does something else with the last byte of the code.
    real = toolkit.bin / "ld.lld"
    real.rename(toolkit.bin / "ld.real")
    real.write_text(
        f"#!{sys.executable}\nimport subprocess, sys\n"
        f"done = subprocess.run([{str(toolkit.bin / 'ld.real')!r}, *sys.argv[1:]])\n"
        "if done.returncode or '-r' in sys.argv: sys.exit(done.returncode)\n"
        "path = sys.argv[sys.argv.index('-o') + 1]\n"
        "data = bytearray(open(path, 'rb').read())\n"
        "from superkernel import elf\n"
        "(text,) = (section for section in elf.sections(bytes(data)) if section.name == '.text')\n"
        "data[text.offset + text.size - 1] ^= 0x40\n"
        "open(path, 'wb').write(data)\n"
    )
    real.chmod(0o755)
    with caplog.at_level(logging.WARNING, logger="superkernel"):
        changed = built(library, out, "both")
    assert "the vendor's linker and ours differ: only the first has section `.text`" in caplog.text
    # The vendor's is taken.
    assert elf.section_bytes(changed, ".text") != elf.section_bytes(both, ".text")


def test_own_needs_no_linker(library: KernelLibrary, toolkit: Toolkit, out: Path) -> None:
    (toolkit.bin / "ld.lld").unlink()
    built(library, out, "own")
    with pytest.raises(SuperKernelError, match="device linker") as caught:
        built(library, out, "vendor")
    assert 'linker="own"' in caught.value.errorinfo["errSolution"]


def unable(folder: Path) -> Path:
    """A linker of a distribution."""
    folder.mkdir(exist_ok=True)
    tool = folder / "ld.lld"
    tool.write_text("#!/bin/sh\necho 'ld.lld: error: unknown emulation: aicorelinux' >&2\nexit 1\n")
    tool.chmod(0o755)
    return folder


def test_a_linker_for_other_machines_is_passed_over(
    library: KernelLibrary, toolkit: Toolkit, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toolkit.bin / "ld.lld").unlink()
    monkeypatch.setenv("PATH", f"{unable(tmp_path / 'usual')}:{os.environ['PATH']}")
    with pytest.raises(SuperKernelError, match=r"device linker `ld\.lld`") as caught:
        built(library, out, "vendor")
    assert caught.value.errorinfo["errId"] == "SK0701" and 'linker="own"' in caught.value.errorinfo["errSolution"]
    toolkit.install("ld.lld", toolkit.folder / f"{arch()}-linux" / "ccec_compiler" / "bin")
    built(library, out, "vendor")
    assert len(toolkit.calls("ld.lld")) == 2


def test_who_links_is_part_of_the_result(library: KernelLibrary, toolkit: Toolkit, out: Path) -> None:
    built(library, out, "own")
    before = (out / "k.o").stat().st_mtime_ns
    built(library, out, "own")
    assert (out / "k.o").stat().st_mtime_ns == before
    built(library, out, "vendor")
    assert (out / "k.o").stat().st_mtime_ns != before
    assert '"linker": "vendor"' in (out / "k.manifest.json").read_text()


def test_the_log_says_how_to_link_again(library: KernelLibrary, toolkit: Toolkit, out: Path) -> None:
    with superkernel.configure(op_debug_config="dump_cce"):
        built(library, out, "own")
    (log,) = out.glob("k_*.log")
    assert "\nsuperkernel elf link -x --localize=" in log.read_text()
    assert (out / "k_build" / "linked.o").exists()
