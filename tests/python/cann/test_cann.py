"""The CANN toolchain, end to end: strict stand-ins take the place of the vendor's tools and make real ELF files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import superkernel
from cann_tools import Toolkit, arch
from device_linker import joined
from device_objects import DeviceObject, ObjectFile
from kernel_library import AIC, MIX_1_1, MIX_1_2, KernelLibrary, functions_of
from superkernel import _build, elf

EARLY_START = [
    "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START",
    "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END",
    "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2",
]


@pytest.fixture
def library(device_library: KernelLibrary) -> KernelLibrary:
    """Objects for a device."""
    return device_library


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch) -> Toolkit:
    """A toolkit in PATH; results go to the test's folder."""
    kit = Toolkit(tmp_path / "cann", _build.INCLUDE_DIR)
    monkeypatch.setenv("PATH", f"{kit.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(kit.folder))
    monkeypatch.delenv("ASCENDC_CCACHE_EXECUTABLE", raising=False)
    return kit


@pytest.fixture(autouse=True)
def out(tmp_path: Path):
    with superkernel.configure(kernel_meta_parent_dir=str(tmp_path / "out"), cache_dir="", toolchain="auto"):
        yield tmp_path / "out" / "kernel_meta"


def mllvm(*arguments: str) -> list[str]:
    return [word for argument in arguments for word in ("-mllvm", argument)]


def kernel_command(
    kit: Toolkit,
    name: str,
    kind: str,
    *,
    chip: str = "c220",
    source: str | None = None,
    level: tuple[str, ...] = ("-O3",),
    language: tuple[str, ...] = ("-x", "cce"),
    defines: list[str] | None = None,
    options: tuple[str, ...] = (),
    dump: tuple[str, ...] = (),
    split: bool = True,
    mix: tuple[str, ...] = ("-D__MIX_CORE_MACRO__=1",),
    extra: tuple[str, ...] = (),
) -> list[str]:
    """The documented command line, written down a second time."""
    c310 = chip == "c310"
    unit = {"aic": "cube", "aiv": "vec"}[kind]
    return [
        "-c", *level, *language, *kit.include_arguments(),
        *([*EARLY_START, "-DASCENDC_DUMP=0"] if defines is None else defines), *options,
        "--cce-disable-kernel-global-attr-check", *dump, *(["--cce-no-dcache-flush"] if c310 else []),
        source or f"{name}_{os.getpid()}_kernel.cpp", f"--cce-aicore-arch=dav-{chip}-{unit}",
        *(["-D__DAV_C310__"] if c310 else []), "--cce-aicore-only", "-o", f"{name}_mix_{kind}.o",
        *mllvm("-cce-aicore-stack-size=0x8000", "-cce-aicore-function-stack-size=0x8000"),
        *mllvm("-cce-aicore-record-overflow=false", "-cce-aicore-addr-transform"),
        *(mllvm("--cce-aicore-jump-expand=true") if c310 else []), *mllvm("-cce-aicore-dcci-insert-for-scalar=false"),
        *([*mllvm("-cce-aicore-jump-expand=true"), "--cce-long-call=true", *mllvm("-cce-aicore-long-call")] if split
          else []),
        "-std=c++17", f"-Dauto_gen_{name}_kernel={name}_mix_{kind}", *mix, "-DTILING_KEY_VAR=0UL",
        f"-D{name}={name}_0_tilingkey", *extra,
    ]  # fmt: skip


def entry_command(kit: Toolkit, name: str, kind: str, chip: str = "c220") -> list[str]:
    unit = {"aic": "cube", "aiv": "vec"}[kind]
    stem = f"{name}_mix_{kind}_entry"
    return [
        "-x", "cce", *kit.include_arguments(),
        *(["-D__DAV_C310__"] if chip == "c310" else []), "-O3", f"--cce-aicore-arch=dav-{chip}-{unit}",
        "--cce-aicore-only", *mllvm("-cce-aicore-addr-transform", "-cce-aicore-dcci-insert-for-scalar=false"),
        *mllvm("-cce-aicore-stack-size=0x8000"), "-std=c++17", "-DTILING_KEY_VAR=0", "-o", f"{stem}.o",
        "-c", f"{stem}.cpp",
    ]  # fmt: skip


def check_kernel(out: Path, name: str, inner: list[str], kinds: tuple[str, ...] = ("aic", "aiv")) -> bytes:
    """The published kernel: an executable with its relocations, entries global, sub-kernels local."""
    description = json.loads((out / f"{name}.json").read_text())
    content = (out / f"{name}.o").read_bytes()
    assert hashlib.sha256(content).hexdigest() == description["sha256"]
    assert "toolchain" not in description
    assert elf.identity(content).kind == 2
    assert any(section.name.startswith(".rela") for section in elf.sections(content))
    visible = {s.name for s in elf.symbols(content) if s.is_defined and s.binding != "local"}
    local = {s.name for s in elf.symbols(content) if s.is_defined and s.binding == "local"}
    assert {f"{name}_mix_{kind}" for kind in kinds} | {"g_opSystemRunCfg"} <= visible
    assert set(inner) <= local
    assert not visible & set(inner)
    return content


def whole(group: str) -> list[str]:
    """How the linker is given all sub-kernels of a group."""
    return ["--whole-archive", f"objects_{group}.a", "--no-whole-archive"]


def packed(out: Path, name: str) -> dict[str, list[str]]:
    """The objects in the archive of each group, as the log says it was made."""
    lines = re.findall(r"^llvm-ar rcS .*", (out / f"{name}_{os.getpid()}.log").read_text(), re.MULTILINE)
    found = [[Path(word).name for word in shlex.split(line)[2:]] for line in lines]
    return {archive[len("objects_") : -len(".a")]: objects for archive, *objects in found}


@pytest.mark.parametrize("name", ["class", "int", "AscendC", "__private"])
def test_a_kernel_may_be_called_like_a_word_of_the_language(
    library: KernelLibrary, toolkit: Toolkit, out: Path, name: str
):
    """As a macro such a name would change every header."""
    superkernel.compile(library.infos(library.op("one"), options="split-mode=2"), name)
    check_kernel(out, name, ["one_mix_aiv"] if "one_mix_aiv" in library.op("one").functions else [], kinds=("aiv",))
    assert not [word for call in toolkit.calls("bisheng") for word in call if word.startswith(f"-D{name}=")]


def test_a_mixed_kernel_by_the_documented_commands(library: KernelLibrary, toolkit: Toolkit, out: Path):
    ops = [library.op("one"), library.op("mixed", MIX_1_2), library.op("cube", AIC)]
    superkernel.compile(library.infos(*ops), "device")
    kernels = sorted(toolkit.calls("bisheng"))
    assert kernels == sorted(kernel_command(toolkit, "device", kind) for kind in ("aic", "aiv"))
    assert sorted(toolkit.calls("ccec")) == sorted(entry_command(toolkit, "device", kind) for kind in ("aic", "aiv"))
    merge, place = toolkit.calls("ld.lld")
    objects = merge[merge.index("-x") + 1 : -3]
    own = {kind: [f"device_mix_{kind}_entry.o", *(f"device_mix_{kind}_copy{n}.o" for n in range(4))]
           for kind in ("aic", "aiv")}  # fmt: skip
    subs = [[f"{n:04}{f'_split{copy}' if copy else ''}.o" for copy in range(4)] for n in range(4)]
    assert objects == [*own["aic"], *whole("aic"), *own["aiv"], *whole("aiv")]
    # Cube: the mixed op and the cube op, in op order; vector: the first op and the mixed op.
    assert packed(out, "device") == {"aic": subs[0] + subs[1], "aiv": subs[2] + subs[3]}
    assert merge == ["-m", "aicorelinux", "-r", "-Ttext=0", "-q", "-x", *objects, "-static", "-o", "linked.o"]
    assert place == ["-m", "aicorelinux", "-Ttext=0", "linked.o", "-static", "-o", "linked.o", "-q"]
    inner = functions_of(ops, 4) + [f"_sk_device_mix_{k}{f'_{n}' if n else ''}" for k in own for n in range(4)]
    content = check_kernel(out, "device", inner)
    ratio = bytes([1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 2, 0])
    for kind in ("aic", "aiv"):
        assert elf.section_bytes(content, f".ascend.meta.device_mix_{kind}") == ratio
    assert sorted(path.name for path in out.iterdir()) == sorted(
        ["device.o", "device.json", "device.manifest.json", f"device_{os.getpid()}.log"]
    )


def test_every_tool_counts(library: KernelLibrary, toolkit: Toolkit, out: Path):
    """A kernel made with another compiler or linker is another kernel."""
    infos = library.infos(library.op("one"), options="split-mode=2")
    superkernel.compile(infos, "k")
    for tool in ("bisheng", "ccec", "ld.lld"):
        assert _build.compare(infos, "k")[0] == "up to date"
        before = (toolkit.bin / tool).stat()
        os.utime(toolkit.bin / tool, (5, 5))
        standing, reasons = _build.compare(infos, "k")
        assert standing == "outdated" and len(reasons) == 1 and tool in reasons[0]
        os.utime(toolkit.bin / tool, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("kind", ["aic", "aiv"])
@pytest.mark.parametrize("split", [1, 2, 4])
def test_one_core_kind(library: KernelLibrary, toolkit: Toolkit, out: Path, kind: str, split: int):
    op = library.op("one") if kind == "aiv" else library.op("cube", AIC)
    superkernel.compile(library.infos(op, op, options=f"split-mode={split}"), "single")
    command = kernel_command(toolkit, "single", kind, split=split > 1, mix=())
    assert toolkit.calls("bisheng") == [command]
    assert toolkit.calls("ccec") == ([entry_command(toolkit, "single", kind)] if split > 1 else [])
    merge = toolkit.calls("ld.lld")[0]
    own = [f"single_mix_{kind}_entry.o", *(f"single_mix_{kind}_copy{n}.o" for n in range(split))]
    assert merge[6:-3] == (own if split > 1 else [f"single_mix_{kind}.o"]) + whole(kind)
    assert packed(out, "single") == {kind: [f"0000{f'_split{copy}' if copy else ''}.o" for copy in range(split)]}
    check_kernel(out, "single", functions_of([op], split), (kind,))


def test_c310_with_debug_output_and_a_dynamic_op(library: KernelLibrary, toolkit: Toolkit, out: Path):
    loud = library.op("loud", MIX_1_1, soc="Ascend950", debug_options=["printf"], debug_size=108000)
    sink = library.op("sink", MIX_1_1, soc="Ascend950", tiling_keys={3: MIX_1_1})
    options = "split-mode=2:feed-sync-all=1:early-start=0:compile-options=-DUSER=1,-Wall"
    with superkernel.configure(soc="Ascend950"):
        # `-Wall` is no argument the stand-in knows: whatever the user wrote reaches the tool.
        with pytest.raises(superkernel.SuperKernelError, match="unknown argument -Wall"):
            superkernel.compile(library.infos(loud, sink, options=options), "big")
        toolkit.record.unlink()
        superkernel.compile(library.infos(loud, sink, options=options.replace(",-Wall", "")), "big")
    defines = [
        "-D__ASCENDC_DAVID_SPLIT_CORE__",
        "-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__",
        "-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__",
        "-DASCENDC_DUMP",
    ]
    mix = ("-D__MIX_CORE_MACRO__=1", "-D__MIX_CORE_AIC_RATION__=1")
    expected = [
        kernel_command(toolkit, "big", kind, chip="c310", defines=defines, options=("-DUSER=1",), mix=mix,
                       dump=("-DONE_CORE_DUMP_SIZE=1000",))
        for kind in ("aic", "aiv")
    ]  # fmt: skip
    assert sorted(toolkit.calls("bisheng")) == sorted(expected)
    assert sorted(toolkit.calls("ccec")) == sorted(
        entry_command(toolkit, "big", kind, "c310") for kind in ("aic", "aiv")
    )
    check_kernel(out, "big", functions_of([loud, sink], 2))
    # Dynamic objects come last.
    merge = toolkit.calls("ld.lld")[0]
    assert merge[merge.index("-x") + 1 : -3][-3:] == whole("dynamic")
    assert packed(out, "big")["dynamic"] == ["0002.o", "0002_split1.o"]


def test_debug_flags(library: KernelLibrary, toolkit: Toolkit, out: Path):
    with superkernel.configure(op_debug_config=["ccec_O0", "ccec_g"]):
        superkernel.compile(library.infos(library.op("one"), options="split-mode=1"), "debug")
    expected = kernel_command(toolkit, "debug", "aiv", level=("-O0", "-g"), split=False, mix=())
    assert toolkit.calls("bisheng") == [expected]
    assert "-x" not in toolkit.calls("ld.lld")[0]


@pytest.mark.parametrize("layout", ["2025", "2026"])
def test_headers_of_both_layouts_are_found(library: KernelLibrary, monkeypatch, out: Path, tmp_path: Path, layout: str):
    """`kernel_operator.h` includes headers from folders that only toolkits of its year have."""
    kit = Toolkit(tmp_path / f"cann-{layout}", _build.INCLUDE_DIR, layout)
    monkeypatch.setenv("PATH", f"{kit.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(kit.folder))
    superkernel.compile(library.infos(library.op("one"), options="split-mode=1"), "found")
    (arguments,) = kit.calls("bisheng")
    assert [word for word in arguments if word.startswith("-I")] == kit.include_arguments()
    assert (f"-I{kit.asc}/impl/micro_api" in arguments) == (layout == "2025")


def test_memory_checks(library: KernelLibrary, toolkit: Toolkit, out: Path):
    infos = library.infos(library.op("one"), options="split-mode=1:compile-options=-DUSER")
    with superkernel.configure(op_debug_config="oom"):
        superkernel.compile(infos, "checked")
        expected = [*EARLY_START, "-DASCENDC_DUMP=0", "-DASCENDC_OOM=1"]
        assert toolkit.calls("bisheng")[-1] == kernel_command(
            toolkit, "checked", "aiv", defines=expected, options=("-DUSER",), split=False, mix=()
        )
        with superkernel.configure(soc="Ascend950"):
            superkernel.compile(library.infos(library.op("one", soc="Ascend950"), options="split-mode=1"), "checked")
        words = toolkit.calls("bisheng")[-1]
        assert words[words.index("-cce-block-local-relocate=false") - 1] == "-mllvm"


def test_coverage_needs_debug_information(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch):
    infos = library.infos(library.op("one"), options="split-mode=1")
    superkernel.compile(infos, "covered")
    monkeypatch.setenv("ASCENDC_COV", "0")
    superkernel.compile(infos, "covered")
    assert len(toolkit.calls("bisheng")) == 1
    monkeypatch.setenv("ASCENDC_COV", "1")
    superkernel.compile(infos, "covered")
    expected = kernel_command(toolkit, "covered", "aiv", level=("-O3", "-g"), split=False, mix=())
    assert toolkit.calls("bisheng")[1:] == [expected]
    assert "-x" not in toolkit.calls("ld.lld")[-2]


@pytest.mark.parametrize(
    ("config", "options", "asked"),
    [
        ("sanitizer", "", "`sanitizer` in the debug config"),
        ("", "compile-options=-sanitizer", "option `compile-options=-sanitizer`"),
    ],
)
def test_the_sanitizer_is_refused(
    library: KernelLibrary, host_library: KernelLibrary, toolkit: Toolkit, out: Path, config, options, asked
):
    infos = library.infos(library.op("one"), options=options)
    with superkernel.configure(op_debug_config=config):
        with pytest.raises(superkernel.SuperKernelError) as caught:
            superkernel.compile(infos, "sane")
        assert caught.value.errorinfo["errId"] == "SK0808"
        assert asked in str(caught.value)
        assert toolkit.calls() == [] and not list(out.glob("*.o"))
        # The host compiler does without options it does not know.
        with superkernel.configure(toolchain="host"):
            superkernel.compile(host_library.infos(host_library.op("one"), options=options), "sane")


def test_on_ascend950_a_1_to_1_kernel_is_told_so(library: KernelLibrary, toolkit: Toolkit, out: Path):
    """Without the define its early start waits for a vector core that is not there."""
    with superkernel.configure(soc="Ascend950"):
        one_to_one = library.op("pair", MIX_1_1, soc="Ascend950")
        superkernel.compile(library.infos(one_to_one, options="split-mode=1"), "paired")
        superkernel.compile(library.infos(library.op("one", soc="Ascend950"), options="split-mode=1"), "single")
    told = {call[call.index("-o") + 1]: "-D__ASCENDC_DAVID_SPLIT_CORE__" in call for call in toolkit.calls("bisheng")}
    assert told == {"paired_mix_aic.o": True, "paired_mix_aiv.o": True, "single_mix_aiv.o": False}
    command = next(call for call in toolkit.calls("bisheng") if "paired_mix_aic.o" in call)
    defines = [word for word in command if word.startswith("-D__ASCENDC") or word.startswith("-D__SUPER")]
    assert defines[0] == "-D__ASCENDC_DAVID_SPLIT_CORE__"


def test_device_objects_never_go_to_the_host(library: KernelLibrary, out: Path, monkeypatch, tmp_path: Path):
    """`auto` without a device compiler, and objects that are not of this machine."""
    one = library.op("one")
    shutil.copy(one.bin_path, tmp_path / "one.o")
    infos = library.infos({**one.entry(), "bin_path": str(tmp_path / "one.o")})
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "cann"))
    with pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(infos, "lost")
    assert caught.value.errorinfo["errId"] == "SK0701"
    message = str(caught.value)
    assert f"`{tmp_path}/one.o` is for a device (machine 0x1029)" in message
    assert "`bisheng` in `PATH`" in message
    assert f"`{tmp_path}/cann/{arch()}-linux/ccec_compiler/bin/bisheng`" in message
    assert not out.exists() or not list(out.iterdir())


def test_both_kinds_are_compiled_at_the_same_time(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch):
    monkeypatch.setenv("SK_STANDIN_BEHAVIOUR", "bisheng:slow")
    superkernel.compile(library.infos(library.op("mixed", MIX_1_2), options="split-mode=1"), "parallel")
    (start, end), (other_start, other_end) = toolkit.spans("bisheng")
    assert max(start, other_start) < min(end, other_end)


@pytest.mark.parametrize(
    ("debug", "levels"),
    [
        ([], [("-O3",), ("-O3",), ("-O3",)]),
        (["ccec_O0"], [("-O0",), ("-O0",), ("-O0",)]),
        (["ccec_g"], [("-O3", "-g"), ("-O3", "-g"), ("-O3", "-g")]),
        (["ccec_g", "ccec_O0"], [("-O0", "-g"), ("-O2",), ("-O2",), ("-O2",)]),
    ],
)
def test_all_attempts_fail(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch, debug: Any, levels: Any):
    """Each attempt is gentler than the one before; the first failure is reported."""
    monkeypatch.setenv("SK_STANDIN_BEHAVIOUR", "bisheng:fail")
    with superkernel.configure(op_debug_config=debug), pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(library.op("one"), options="split-mode=1"), "failing")
    licm = tuple(mllvm("-disable-machine-licm"))
    gentle = [licm, (*licm, *mllvm("-disable-lsr"), "-fno-unroll-loops")]
    extras = [(), *([()] if len(levels) == 4 else []), *gentle]
    expected = [
        kernel_command(toolkit, "failing", "aiv", level=level, split=False, mix=(), extra=extra)
        for level, extra in zip(levels, extras)
    ]
    assert toolkit.calls("bisheng") == expected
    assert caught.value.errorinfo["errId"] == "SK0703"
    message = str(caught.value)
    assert f"internal compiler error: first {levels[0][0]}" in message
    log = next(out.glob("failing_*.log"))
    assert f"log: {log}" in message
    assert [path.name for path in out.iterdir()] == [log.name]


def test_a_gentler_attempt_succeeds(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch, caplog):
    monkeypatch.setenv("SK_STANDIN_BEHAVIOUR", "bisheng:fail-without=-disable-machine-licm")
    superkernel.compile(library.infos(library.op("one")), "retried")
    assert len(toolkit.calls("bisheng")) == 2
    check_kernel(out, "retried", functions_of([library.op("one")], 4), ("aiv",))
    assert any("the compiler failed with the usual arguments" in record.getMessage() for record in caplog.records)
    manifest = json.loads((out / "retried.manifest.json").read_text())
    assert any("-disable-machine-licm" in command for command in manifest["commands"])


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        *(("bisheng", action) for action in ("garbage", "truncated", "nothing", "empty-object")),
        *(("ccec", action) for action in ("garbage", "nothing", "fail")),
        *(("ld.lld", action) for action in ("garbage", "nothing", "empty-object", "fail")),
    ],
)
def test_a_tool_that_misbehaves(
    library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch, tool: str, action: str
):
    """Nothing is published, the old kernel stays, the message says what is wrong."""
    superkernel.compile(library.infos(library.op("one")), "stable")
    before = {name: (out / name).read_bytes() for name in ("stable.o", "stable.json")}
    monkeypatch.setenv("SK_STANDIN_BEHAVIOUR", f"{tool}:{action}")
    with pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(library.op("one"), library.op("two")), "stable")
    expected = {"SK0703"} if action == "fail" else {"SK0802", "SK0803"}
    # What the first link wrote is the input of the second: garbage there makes the linker itself fail.
    if tool == "ld.lld":
        expected |= {"SK0703", "SK0803"}
    assert caught.value.errorinfo["errId"] in expected, str(caught.value)
    assert {name: (out / name).read_bytes() for name in before} == before
    assert not list(out.glob(".superkernel*"))


# The linker's limit is long enough for the tools in front of it.
@pytest.mark.parametrize(("tool", "limit"), [("bisheng", 0.5), ("ld.lld", 6)])
def test_a_tool_that_hangs(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch, tool: str, limit: float):
    monkeypatch.setenv("SK_STANDIN_BEHAVIOUR", f"{tool}:hang")
    infos = library.infos(library.op("one"), options="split-mode=1")
    with superkernel.configure(tool_timeout=limit), pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(infos, "hanging")
    assert caught.value.errorinfo["errId"] == "SK0704"
    assert tool in str(caught.value) and f"{limit} s" in str(caught.value)


@pytest.mark.parametrize("missing", ["bisheng", "ccec", "ld.lld"])
def test_a_missing_tool_is_named(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch, missing: str):
    # Built while the machine's compiler can be found.
    library.op("one")
    (toolkit.bin / missing).unlink()
    # The machine may have a linker of that name.
    monkeypatch.setenv("PATH", str(toolkit.bin))
    with superkernel.configure(toolchain="cann"), pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(library.op("one")), "nothing")
    assert caught.value.errorinfo["errId"] == "SK0701"
    assert f"`{missing}`" in str(caught.value)
    assert "set_env.sh" in caught.value.errorinfo["errSolution"]
    # Without `bisheng` there is no CANN, and `auto` means the host; with it the other tools must be there, too.
    if missing == "ld.lld":
        with pytest.raises(superkernel.SuperKernelError, match="device linker"):
            superkernel.compile(library.infos(library.op("one")), "nothing")


def test_tools_inside_the_toolkit(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch, tmp_path: Path):
    """Not in PATH: found in the toolkit, which `asc_opc` in PATH leads to, by way of a link."""
    inside = toolkit.folder / f"{arch()}-linux" / "ccec_compiler" / "bin"
    for name in ("bisheng", "ccec", "ld.lld"):
        toolkit.install(name, inside)
        (toolkit.bin / name).unlink()
    leading = toolkit.folder / "tools" / "bin"
    leading.mkdir(parents=True)
    (leading / "asc_opc").write_text("#!/bin/sh\n")
    (leading / "asc_opc").chmod(0o755)
    monkeypatch.delenv("ASCEND_HOME_PATH")
    compilers = tmp_path / "compilers"
    compilers.mkdir()
    for name in ("c++", "ld", "as"):
        (compilers / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "linked").symlink_to(leading)
    monkeypatch.setenv("PATH", f"{tmp_path}/linked:{compilers}")
    superkernel.compile(library.infos(library.op("one")), "inside")
    check_kernel(out, "inside", functions_of([library.op("one")], 4), ("aiv",))
    manifest = json.loads((out / "inside.manifest.json").read_text())
    assert manifest["parts"]["toolchain"]["family"] == "cann"
    assert all(command.startswith(f"{inside}/") for command in manifest["commands"])


def test_a_compiler_cache_in_front(library: KernelLibrary, toolkit: Toolkit, out: Path, monkeypatch, tmp_path: Path):
    launcher = tmp_path / "ccache"
    launcher.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/launched\nexec "$@"\n')
    launcher.chmod(0o755)
    monkeypatch.setenv("ASCENDC_CCACHE_EXECUTABLE", str(launcher))
    with superkernel.configure(op_debug_config="dump_cce"):
        superkernel.compile(library.infos(library.op("one"), options="split-mode=1"), "launched")
    expected = kernel_command(
        toolkit, "launched", "aiv", language=("--cce-aicore-lang",), split=False, mix=(), source="launched_kernel.cpp"
    )
    assert toolkit.calls("bisheng") == [expected]
    assert (tmp_path / "launched").read_text() == f"{toolkit.bin}/bisheng {' '.join(expected)}\n"
    assert (out / "launched_kernel.cpp").exists()


def test_the_toolchain_can_be_chosen(library: KernelLibrary, host_library: KernelLibrary, toolkit: Toolkit, out: Path):
    with superkernel.configure(toolchain="host"):
        superkernel.compile(host_library.infos(host_library.op("one")), "chosen")
    assert toolkit.calls() == []
    assert json.loads((out / "chosen.json").read_text())["toolchain"] == "host"
    # Another toolchain, another kernel.
    superkernel.compile(library.infos(library.op("one")), "chosen")
    assert toolkit.calls("bisheng")
    check_kernel(out, "chosen", functions_of([library.op("one")], 4), ("aiv",))


def test_another_toolkit_version_is_another_kernel(library: KernelLibrary, toolkit: Toolkit, out: Path, caplog):
    infos = library.infos(library.op("one"))
    superkernel.compile(infos, "versioned")
    calls = len(toolkit.calls())
    superkernel.compile(infos, "versioned")
    assert len(toolkit.calls()) == calls
    (toolkit.folder / "version.info").write_text("Version=8.2.stand-in\n")
    superkernel.compile(infos, "versioned")
    assert len(toolkit.calls()) == 2 * calls
    assert any("headers has other content" in record.getMessage() for record in caplog.records)


def test_helpers_of_a_sub_kernel_are_its_own(library: KernelLibrary, toolkit: Toolkit, out: Path, tmp_path: Path):
    """On a device, too: another sub-kernel may bring a helper of the same name."""
    one = library.op("one")
    first = ObjectFile.read(Path(one.bin_path).read_bytes())
    merged = tmp_path / "merged.o"
    merged.write_bytes(joined([first, DeviceObject().function("visible_helper").file]).write())
    entry = {**one.entry(), "bin_path": str(merged)}
    superkernel.compile(library.infos(entry, options="split-mode=2"), "helped")
    visible = {s.name for s in elf.symbols((out / "helped.o").read_bytes()) if s.is_defined and s.binding != "local"}
    assert "visible_helper" not in visible and "helped_mix_aiv" in visible
