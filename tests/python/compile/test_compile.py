"""``superkernel.compile`` with the host toolchain: real objects in, a real kernel out."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import superkernel
from kernel_library import AIC, AIV, MIX_1_1, MIX_1_2, MIX_AIC, MIX_AIV, KernelLibrary, functions_of
from superkernel import elf
from superkernel.sim import Device

META = {
    "aiv": bytes([1, 0, 4, 0, 5, 0, 0, 0, 3, 0, 4, 0, 0, 0, 1, 0]),
    "aic": bytes([1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 0, 0]),
    "1_1": bytes([1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 1, 0]),
    "1_2": bytes([1, 0, 4, 0, 4, 0, 0, 0, 3, 0, 4, 0, 1, 0, 2, 0]),
}


@pytest.fixture(autouse=True)
def host(tmp_path):
    """Everything here is built for this machine, into a folder of the test."""
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=str(tmp_path), cache_dir=""):
        yield


def meta(tmp_path: Path) -> Path:
    return tmp_path / "kernel_meta"


def check_pair(folder: Path, name: str) -> dict[str, Any]:
    """The description, after checking that the object is the one it describes."""
    description = json.loads((folder / f"{name}.json").read_text())
    assert hashlib.sha256((folder / f"{name}.o").read_bytes()).hexdigest() == description["sha256"]
    return description


def globals_of(path: Path) -> set[str]:
    return {symbol.name for symbol in elf.symbols(path.read_bytes()) if symbol.is_defined and symbol.binding != "local"}


@pytest.mark.parametrize("split", [1, 2, 3, 4, 5, 64])
def test_every_split_mode(library: KernelLibrary, tmp_path: Path, split: int):
    ops = [library.op("one"), library.op("mixed", MIX_1_2), library.op("cube", AIC), library.op("one")]
    superkernel.compile(library.infos(*ops, options=f"split-mode={split}"), "whatever_name")
    check_pair(meta(tmp_path), "whatever_name")
    content = (meta(tmp_path) / "whatever_name.o").read_bytes()
    entries = {"whatever_name_mix_aic", "whatever_name_mix_aiv"}
    assert globals_of(meta(tmp_path) / "whatever_name.o") == entries | {"g_opSystemRunCfg"}
    symbols = elf.symbols(content)
    local = [symbol.name for symbol in symbols if symbol.is_defined and symbol.binding == "local"]
    for function in functions_of(ops, split):
        assert local.count(function) == 1, function
    undefined = {symbol.name for symbol in symbols if not symbol.is_defined}
    # The simulator provides its own functions, and those that instrumented code calls.
    provided = ("sk_rt_", "__tsan_")
    assert all(name.startswith(provided) for name in undefined - {"_GLOBAL_OFFSET_TABLE_"}), undefined
    own = [name for name in local if name.startswith("_sk_")]
    expected = [f"_sk_{entry}{f'_{n}' if n else ''}" for entry in entries for n in range(split)] if split > 1 else []
    assert sorted(own) == sorted(expected)


@pytest.mark.parametrize(
    ("types", "ratio", "kinds"),
    [
        ([AIV], "0:1", {"mix_aiv": "aiv"}),
        ([MIX_AIV], "0:1", {"mix_aiv": "aiv"}),
        ([AIC], "1:0", {"mix_aic": "aic"}),
        ([MIX_AIC], "1:0", {"mix_aic": "aic"}),
        ([MIX_1_1], "1:1", {"mix_aic": "1_1", "mix_aiv": "1_1"}),
        ([MIX_1_2], "1:2", {"mix_aic": "1_2", "mix_aiv": "1_2"}),
        ([AIV, AIC], "1:1", {"mix_aic": "1_1", "mix_aiv": "1_1"}),
    ],
)
def test_every_type(library: KernelLibrary, tmp_path: Path, types: list[str], ratio: str, kinds: dict[str, str]):
    ops = [library.op(f"t{number}", kernel_type) for number, kernel_type in enumerate(types)]
    for split in (1, 4):
        name = f"k{split}"
        superkernel.compile(library.infos(*ops, options=f"split-mode={split}"), name)
        assert check_pair(meta(tmp_path), name)["taskRation"] == ratio
        content = (meta(tmp_path) / f"{name}.o").read_bytes()
        sections = {section.name for section in elf.sections(content) if section.name.startswith(".ascend.meta.")}
        # Host sub-kernels carry their own description; the super kernel's sections are the ones with its name.
        assert {f".ascend.meta.{name}_{kind}" for kind in kinds} == {s for s in sections if f".{name}_mix" in s}
        for kind, form in kinds.items():
            assert elf.section_bytes(content, f".ascend.meta.{name}_{kind}") == META[form]


def test_chip_c310(library: KernelLibrary, tmp_path: Path):
    with superkernel.configure(soc="Ascend950"):
        ops = [library.op("late", MIX_1_2, soc="Ascend950"), library.op("early", AIV, soc="Ascend950")]
        superkernel.compile(library.infos(*ops), "next_generation")
    check_pair(meta(tmp_path), "next_generation")


def test_every_slot_of_a_built_kernel_is_known_to_the_loader(library: KernelLibrary, tmp_path: Path):
    one, cube, mixed = library.op("one"), library.op("cube", AIC, 3), library.op("both", MIX_1_2)
    ops = [
        one.entry(stream_id=1, send_events=[7]),
        cube.entry(stream_id=2, recv_events=[7]),
        {},
        mixed.entry(stream_id=2),
    ]
    infos = library.infos(*ops, options="feed-sync-all=1:profiling=1")
    superkernel.compile(infos, "known")
    with Device("Ascend910_93") as device:
        found = device.load(meta(tmp_path) / "known.json").description.parameters
        expected = superkernel.plan(infos, "known")["slots"]
        assert [{"slot": slot.slot, "name": slot.name, "op": slot.op} for slot in found] == expected
        roles = {slot.name: slot.role for slot in found}
        assert roles["ffts_addr"] == roles["ffts_addr_3"] == "ffts-address"
        assert (roles["__ac_notify_lock_0_0"], roles["__ac_wait_lock_1_0"]) == ("notify-lock", "wait-lock")
        assert (roles["workspace"], roles["profiling"], roles["task_id"]) == ("workspace", "profiling", "task-id")
        assert {slot.role for slot in found if not slot.hidden} == {"parameter"}
        # A record of another build says nothing about this one.
        description = json.loads((meta(tmp_path) / "known.json").read_text())
        (meta(tmp_path) / "known.json").write_text(json.dumps(description))
        assert device.load(meta(tmp_path) / "known.json").description.parameters == []


@pytest.mark.quick
def test_the_description(library: KernelLibrary, tmp_path: Path):
    one, cube = library.op("one"), library.op("cube", AIC, 3)
    ops = [one.entry(stream_id=1, send_events=[7]), cube.entry(stream_id=2, recv_events=[7]), {"bin_path": "skipped"}]
    superkernel.compile(library.infos(*ops, options="feed-sync-all=1"), "described")
    description = check_pair(meta(tmp_path), "described")
    entries = description.pop("SuperkernelInfo")["kernelList"]
    del description["sha256"]
    assert description == {
        "binFileName": "described",
        "binFileSuffix": ".o",
        "blockDim": 3,
        "coreType": "MIX",
        "intercoreSync": 1,
        "kernelName": "described",
        "magic": "RT_DEV_BINARY_MAGIC_ELF",
        "memoryStamping": [],
        "opParaSize": 8,
        "parameters": [],
        "taskRation": "1:1",
        "optionalInputMode": "gen_placeholder",
        "optionalOutputMode": "gen_placeholder",
        "supportSuperKernel": 1,
        "workspace": {"num": 1, "size": [1536], "type": [0]},
        "toolchain": "host",
    }
    common = {
        "split_mode": 4,
        "sub_operator_early_start_set_flag": False,
        "sub_operator_early_start_wait_flag": False,
        "sub_operator_call_dcci_before_kernel_start": False,
        "sub_operator_call_dcci_after_kernel_end": False,
        "sub_operator_call_dcci_disable_on_kernel": False,
    }
    assert entries == {
        "aicore": [
            {
                **common,
                "func_name": one.name,
                "blockDim": 2,
                "blockNum": 2,
                "sub_operator_op_type": "One",
                "sub_operator_kernel_type": AIV,
                "streamid": 1,
                "send_event_list": [7],
                "recv_event_list": [],
                "arg_list": {"param_offset": 1, "notify_param_offset": 3, "wait_param_offset": None},
            },
            {
                **common,
                "func_name": cube.name,
                "blockDim": 3,
                "blockNum": 3,
                "sub_operator_op_type": "Cube",
                "sub_operator_kernel_type": AIC,
                "streamid": 2,
                "send_event_list": [],
                "recv_event_list": [7],
                "arg_list": {"param_offset": 4, "notify_param_offset": None, "wait_param_offset": 6},
            },
        ]
    }


def test_the_description_by_arch_and_with_debug_output(library: KernelLibrary, tmp_path: Path):
    plain, mixed = library.op("one"), library.op("mixed", MIX_1_2)
    loud = library.op("loud", AIC, debug_options=["printf", "assert"], debug_size=7500)
    superkernel.compile(library.infos(plain, mixed, loud, options="stream-fusion=1"), "fused")
    description = check_pair(meta(tmp_path), "fused")
    assert (description["debugOptions"], description["debugBufSize"]) == ("printf,assert", 7500)
    lists = description["SuperkernelInfo"]["kernelList"]
    names = {key: [entry["func_name"] for entry in entries] for key, entries in lists.items()}
    assert names == {"dav-c220-vec": [plain.name, mixed.name], "dav-c220-cube": [mixed.name, loud.name]}
    assert lists["dav-c220-cube"][1]["debug_option"] == "printf,assert"
    assert lists["dav-c220-cube"][1]["debug_size"] == 7500


def test_dynamic_ops(library: KernelLibrary, tmp_path: Path):
    sink = library.op("sink", MIX_1_2, tiling_keys={10000: MIX_1_2, 7: AIV})
    ops = [library.op("one"), sink, library.op("one")]
    superkernel.compile(library.infos(*ops, options="split-mode=2"), "dynamic")
    check_pair(meta(tmp_path), "dynamic")
    local = {s.name for s in elf.symbols((meta(tmp_path) / "dynamic.o").read_bytes()) if s.binding == "local"}
    assert set(functions_of(ops, 2)) <= local


def test_copies_that_come_with_the_archive(library: KernelLibrary, tmp_path: Path):
    split = library.op("ready", MIX_1_2, split_mode=4)
    superkernel.compile(library.infos(split, library.op("one")), "archived")
    log = read_log(tmp_path, "archived")
    unpacked = [line for stage, line in log if stage == "UNPACK"]
    assert len([line for line in unpacked if "_split" in line]) == 6
    made = [line for stage, line in log if stage == "SPLIT_SUB_OBJS" and "ready" in line]
    assert not made
    local = {s.name for s in elf.symbols((meta(tmp_path) / "archived.o").read_bytes()) if s.binding == "local"}
    assert set(functions_of([split], 4)) <= local


def test_identity_is_by_content(library: KernelLibrary, tmp_path: Path):
    """Equal objects under other names are linked once; others of the same name both."""
    one, two = library.op("one"), library.op("two")
    twin_folder, other_folder = tmp_path / "twin", tmp_path / "other"
    for folder, source in ((twin_folder, one), (other_folder, two)):
        folder.mkdir()
        shutil.copy(source.bin_path, folder / Path(one.bin_path).name)
        shutil.copy(source.json_path, folder / "op.json")
    twin = {**one.entry(), "bin_path": str(twin_folder / Path(one.bin_path).name)}
    other = {
        **two.entry(),
        "bin_path": str(other_folder / Path(one.bin_path).name),
        "json_path": str(other_folder / "op.json"),
    }
    superkernel.compile(library.infos(one, twin, other, options="split-mode=1"), "identity")
    packed = [line for _, line in read_log(tmp_path, "identity") if line.startswith("llvm-ar rcS ")]
    assert len(re.findall(r"objects/\d+\.o", packed[0])) == 2


def test_two_contents_for_one_function(library: KernelLibrary, tmp_path: Path):
    """The error names both files."""
    one = library.op("one")
    changed = tmp_path / "changed.o"
    # A byte behind the end of the sections changes the content and nothing else.
    changed.write_bytes(Path(one.bin_path).read_bytes() + b"\0")
    entry = {**one.entry(), "bin_path": str(changed)}
    with pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(one, entry), "twice")
    assert caught.value.errorinfo["errId"] == "SK0225"
    assert one.bin_path in str(caught.value) and str(changed) in str(caught.value)
    assert not meta(tmp_path).exists()


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda entry, path: os.remove(path), "SK0222"),
        (lambda entry, path: Path(path).write_bytes(b"no object"), "SK06"),
        (lambda entry, path: Path(path).write_bytes(Path(path).read_bytes()[:200]), "SK06"),
        (lambda entry, path: entry.pop("bin_path"), "SK0221"),
    ],
)
def test_bad_objects_change_nothing(library: KernelLibrary, tmp_path: Path, damage: Any, expected: str):
    one = library.op("one")
    good = library.infos(one)
    superkernel.compile(good, "victim")
    before = {path.name: path.read_bytes() for path in meta(tmp_path).iterdir()}
    path = tmp_path / "op.o"
    shutil.copy(one.bin_path, path)
    entry = {**one.entry(), "bin_path": str(path)}
    damage(entry, path)
    with pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(one, entry), "victim")
    assert caught.value.errorinfo["errId"].startswith(expected)
    assert {path.name: path.read_bytes() for path in meta(tmp_path).iterdir()} == before


def test_a_function_that_is_not_there(library: KernelLibrary, tmp_path: Path):
    one, two = library.op("one"), library.op("two")
    entry = {**one.entry(), "bin_path": two.bin_path}
    with pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(entry), "absent")
    assert caught.value.errorinfo["errId"] == "SK0223"
    assert one.functions[0] in str(caught.value)


def test_a_compile_error_is_told_with_command_and_log(library: KernelLibrary, tmp_path: Path):
    superkernel.compile(library.infos(library.op("one")), "broken")
    before = check_pair(meta(tmp_path), "broken")
    with pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(library.op("one"), options="compile-options=-Dextern=nonsense"), "broken")
    assert caught.value.errorinfo["errId"] == "SK0703"
    message = str(caught.value)
    log = next(meta(tmp_path).glob("broken_*.log"))
    assert "-Dextern=nonsense" in message and f"log: {log}" in message
    assert check_pair(meta(tmp_path), "broken") == before
    assert sorted(path.name for path in meta(tmp_path).iterdir()) == sorted(
        ["broken.o", "broken.json", "broken.manifest.json", log.name]
    )


def read_log(tmp_path: Path, name: str) -> list[tuple[str, str]]:
    text = (meta(tmp_path) / f"{name}_{os.getpid()}.log").read_text()
    entries = text.split("\n\n")
    assert entries.pop() == ""
    parsed = []
    for entry in entries:
        heading, line = entry.split("\n")
        parsed.append((re.fullmatch(r"// Stage: CompileStage\.(\w+)", heading)[1], line))
    return parsed


def test_the_log_can_be_replayed(library: KernelLibrary, tmp_path: Path):
    """All its commands, also those for what was done in memory, make the same functions again."""
    infos = library.infos(library.op("one"), library.op("mixed", MIX_1_2), options="split-mode=2")
    with superkernel.configure(op_debug_config=["dump_cce"]):
        superkernel.compile(infos, "logged")
    log = read_log(tmp_path, "logged")
    assert log[0][0] == "SPK_INPUT" and json.loads(log[0][1]) == infos
    order = list(dict.fromkeys(stage for stage, _ in log))
    assert order == ["SPK_INPUT", "UNPACK", "SPLIT_SUB_OBJS", "COMPILE", "FATBIN", "LINKRELOCATE"]
    if shutil.which("llvm-objcopy") is None:
        pytest.fail("the package `llvm` is missing: run scripts/test-packages")

    def functions() -> set[tuple[str, str]]:
        symbols = elf.symbols((meta(tmp_path) / "logged.o").read_bytes())
        return {(symbol.name, symbol.binding) for symbol in symbols if symbol.kind == "function"}

    made = functions()
    for made_file in meta(tmp_path).rglob("*.o"):
        made_file.unlink()
    scene = tmp_path / "scene"
    scene.mkdir()
    for _, line in log[1:]:
        subprocess.run(line, shell=True, check=True, cwd=scene)
    assert functions() == made
    assert not list(scene.iterdir())


def test_what_stays_and_with_which_modes(library: KernelLibrary, tmp_path: Path):
    old = os.umask(0o022)
    try:
        superkernel.compile(library.infos(library.op("one")), "modes")
        with superkernel.configure(op_debug_config="dump_cce"):
            superkernel.compile(library.infos(library.op("mixed", MIX_1_1)), "kept")
    finally:
        os.umask(old)
    pid = os.getpid()
    assert {path.name for path in meta(tmp_path).iterdir()} == {
        *("modes.o", "modes.json", "modes.manifest.json", f"modes_{pid}.log"),
        *("kept.o", "kept.json", "kept.manifest.json", f"kept_{pid}.log"),
        *(f"kept_{pid}_kernel.cpp", "kept_mix_aic.o", "kept_mix_aiv.o", "kept_repro.sh", "kept_build"),
    }
    assert stat.S_IMODE(meta(tmp_path).stat().st_mode) == 0o750
    assert stat.S_IMODE((meta(tmp_path) / "kept_build").stat().st_mode) == 0o750
    for path in meta(tmp_path).iterdir():
        # Compilers make their files as they like.
        if "_mix_" not in path.name and path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) in (0o600, 0o640), path


def test_same_inputs_same_bytes(library: KernelLibrary, tmp_path: Path):
    """In another process and another folder, too."""
    infos = library.infos(library.op("one"), library.op("mixed", MIX_1_2))
    superkernel.compile(infos, "equal")
    there = tmp_path / "there"
    script = (
        "import json, sys, superkernel\n"
        f"superkernel.configure(toolchain='host', kernel_meta_parent_dir={str(there)!r})\n"
        "superkernel.compile(json.load(sys.stdin), 'equal')\n"
    )
    subprocess.run([sys.executable, "-c", script], input=json.dumps(infos), text=True, check=True, cwd="/")
    for name in ("equal.o", "equal.json"):
        assert (meta(tmp_path) / name).read_bytes() == (there / "kernel_meta" / name).read_bytes()


@pytest.mark.parametrize("name", ["main", "half", "printf", "int", "AscendC", "k" * 150, "_", "te_superkernel_1"])
def test_any_kernel_name(library: KernelLibrary, tmp_path: Path, name: str):
    superkernel.compile(library.infos(library.op("one"), options="split-mode=2"), name)
    assert f"{name}_mix_aiv" in globals_of(meta(tmp_path) / f"{name}.o")


def test_host_takes_its_part_of_compile_options(library: KernelLibrary, tmp_path: Path, caplog):
    options = "compile-options=-DNOT_USED=1,--cce-something,-Wall"
    with caplog.at_level("INFO", logger="superkernel"):
        superkernel.compile(library.infos(library.op("one"), options=options), "optioned")
    compiled = [line for stage, line in read_log(tmp_path, "optioned") if stage == "COMPILE"]
    assert "-DNOT_USED=1" in compiled[-1] and "--cce-something" not in compiled[-1]
    assert any("--cce-something" in record.getMessage() for record in caplog.records)


def test_one_info_line_per_kernel(library: KernelLibrary, tmp_path: Path, caplog):
    with caplog.at_level("INFO", logger="superkernel"):
        superkernel.compile(library.infos(library.op("one"), library.op("one")), "told")
        superkernel.compile(library.infos(library.op("one"), library.op("one")), "told")
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("told: ")]
    assert re.fullmatch(r"told: 2 ops from 1 file, compiled in \d+ ms \(host; .*compile \d+.*\)", lines[0])
    assert re.fullmatch(r"told: 2 ops from 1 file, up to date in \d+ ms \(host.*\)", lines[1])
    assert len(lines) == 2
    # Joining in process is mostly too quick for the line, which has whole milliseconds; the report has it all the same.
    rebuilt = superkernel.compile_kernel(library.infos(library.op("one"), library.op("one")), "told", rebuild=True)
    assert {"compile", "link"} <= set(rebuilt.timings)


def test_the_interpreter_goes_on_meanwhile(library: KernelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The compiler waits for something that only another thread of this process does; but not for ever."""
    waiting, went_on = tmp_path / "waiting-c++", tmp_path / "went_on"
    waiting.write_text(
        "#!/bin/sh\n"
        'case "$*" in *-print-prog-name*) exec c++ "$@";; esac\n'
        f"touch {tmp_path}/started\n"
        f"for turn in $(seq 600); do [ -e {went_on} ] && break; sleep 0.05; done\n"
        f"[ -e {went_on} ] || touch {tmp_path}/in_vain\n"
        'exec c++ "$@"\n'
    )
    waiting.chmod(0o755)
    infos = library.infos(library.op("one"), library.op("mixed", MIX_1_2))
    monkeypatch.setenv("CXX", str(waiting))
    done = threading.Event()

    def work() -> None:
        superkernel.compile(infos, "background")
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while worker.is_alive() and not (tmp_path / "started").exists():
        time.sleep(0.001)
    went_on.touch()
    worker.join()
    assert done.is_set() and not (tmp_path / "in_vain").exists()


def test_ctrl_c_ends_a_compile_and_cleans_up(library: KernelLibrary, tmp_path: Path):
    slow = tmp_path / "slow-c++"
    slow.write_text('#!/bin/sh\ncase "$*" in *-print-prog-name*) exec c++ "$@";; esac\ntouch started\nsleep 300\n')
    slow.chmod(0o755)
    script = (
        "import json, sys, superkernel\n"
        f"superkernel.configure(toolchain='host', kernel_meta_parent_dir={str(tmp_path)!r})\n"
        "try:\n    superkernel.compile(json.load(sys.stdin), 'stopped')\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "CXX": str(slow)},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps(library.infos(library.op("one"))))
    process.stdin.close()
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("kernel_meta/.superkernel-work-*/started")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.read() == "interrupted\n"
    assert process.wait(timeout=60) == 0
    assert [path.name for path in meta(tmp_path).iterdir()] == [f"stopped_{process.pid}.log"]


def test_a_tool_that_hangs(library: KernelLibrary, tmp_path: Path, monkeypatch):
    slow = tmp_path / "hanging-c++"
    slow.write_text('#!/bin/sh\ncase "$*" in *-print-prog-name*) exec c++ "$@";; esac\nsleep 300\n')
    slow.chmod(0o755)
    monkeypatch.setenv("CXX", str(slow))
    with superkernel.configure(tool_timeout=0.3), pytest.raises(superkernel.SuperKernelError) as caught:
        superkernel.compile(library.infos(library.op("one")), "hanging")
    assert caught.value.errorinfo["errId"] == "SK0704"
    assert "hanging-c++" in str(caught.value) and "tool_timeout" in caught.value.errorinfo["errSolution"]


def test_forked_children_build_too(library: KernelLibrary, tmp_path: Path):
    """Threads do not survive a fork; a build in the child must not wait for any."""
    superkernel.plan(library.infos(library.op("one")))
    superkernel.compile(library.infos(library.op("one")), "parent")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            superkernel.plan(library.infos(library.op("one"), library.op("two")))
            superkernel.compile(library.infos(library.op("one"), library.op("two")), "child")
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + 120
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the build in the child hangs")
        time.sleep(0.05)
    assert status == 0
    check_pair(meta(tmp_path), "child")
