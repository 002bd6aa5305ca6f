"""Objects as device compilers leave them: what is refused before anything is built, and what comes out of a build."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import superkernel
from cann_tools import Toolkit
from device_objects import CALL, EXEC, GLOBAL, WEAK, DeviceObject, ObjectFile, Relocation
from superkernel import _build, cli, elf

AIV = "KERNEL_TYPE_AIV_ONLY"


@pytest.fixture(autouse=True)
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A toolkit in PATH; results go to the test's folder."""
    kit = Toolkit(tmp_path / "cann", Path(_build.INCLUDE_DIR))
    monkeypatch.setenv("PATH", f"{kit.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(kit.folder))
    with superkernel.configure(
        kernel_meta_parent_dir=str(tmp_path), cache_dir="", toolchain="cann", soc="Ascend910_93"
    ):
        yield kit


def entry(folder: Path, name: str, content: bytes, *, kind: str = "vec", suffix: str = ".o") -> dict[str, Any]:
    """A static op."""
    kernel_type = AIV if kind == "vec" else "KERNEL_TYPE_AIC_ONLY"
    names = {"AiCore": {"func_name": name, "obj_files": f"{name}.o"}}
    return _op(folder, name, content, suffix, sub_operator_kernel_type=kernel_type, sub_operator_kernel_name=names)


def dynamic(folder: Path, name: str, content: bytes, keys: dict[str, str], *, suffix: str = ".o") -> dict[str, Any]:
    """A tiling-sink op as compilers describe it: its type is that of its keys."""
    table = {key: {"kernel_type": AIV, "AiCore": function} for key, function in keys.items()}
    told = {"sub_operator_kernel_type": "", "sub_operator_kernel_name": {"dynamic_func_names": table}, "blockDim": -1}
    return _op(folder, name, content, suffix, **told) | {"task_type": "dynamic"}


def _op(folder: Path, name: str, content: bytes, suffix: str, **told: Any) -> dict[str, Any]:
    binary, description = folder / f"{name}{suffix}", folder / f"{name}.json"
    binary.write_bytes(content)
    usual = {
        "kernelName": name,
        "blockDim": 8,
        "sub_operator_params": ["x", "y"],
        "sub_operator_early_start_set_flag": False,
        "sub_operator_early_start_wait_flag": False,
    }
    description.write_text(json.dumps(usual | told))
    return {"json_path": str(description), "bin_path": str(binary)}


def refused(folder: Path, op: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> str:
    """What `plan --check` and a build say; both must refuse it."""
    path = folder / "infos.json"
    path.write_text(json.dumps({"op_list": [op]}))
    capfd.readouterr()
    assert cli.main(["plan", str(path), "--check", "--name", "k"]) == 1
    told = "".join(capfd.readouterr())
    with pytest.raises(superkernel.SuperKernelError) as raised:
        superkernel.compile({"op_list": [op]}, "k")
    assert f"[{raised.value.errorinfo['errId']}]" in told
    assert not list((folder / "kernel_meta").glob("k.*"))
    return str(raised.value)


def built(op: dict[str, Any], name: str = "k", options: str = "") -> ObjectFile:
    superkernel.compile({"op_list": [op], "super_kernel_options": options}, name)
    folder = Path(superkernel.current_config()["kernel_meta_parent_dir"])
    return ObjectFile.read((folder / "kernel_meta" / f"{name}.o").read_bytes())


@pytest.mark.parametrize(
    ("object_", "found"),
    [
        (DeviceObject("c310", "vec"), "dav-c310-vec (`e_flags` 0x990000), not for dav-c220-vec"),
        (DeviceObject("c220", "cube"), "dav-c220-cube (`e_flags` 0x940000), not for dav-c220-vec"),
        (DeviceObject(flags=0x8A0000), "Ascend310P (`e_flags` 0x8a0000), not for dav-c220-vec"),
        (DeviceObject(flags=0x860000), "Ascend910A (`e_flags` 0x860000)"),
    ],
)
def test_code_for_other_cores_is_refused(tmp_path: Path, capfd, object_: DeviceObject, found: str) -> None:
    told = refused(tmp_path, entry(tmp_path, "f", object_.function("f").bytes()), capfd)
    assert "SK0230" in told and found in told


def test_an_object_with_functions_of_both_kinds_has_the_flags_of_one(tmp_path: Path, capfd) -> None:
    for kind in ("vec", "cube"):
        built(dynamic(tmp_path, "d", DeviceObject("c220", kind).function("f").bytes(), {"0": "f"}), f"of_{kind}")
    other = dynamic(tmp_path, "d", DeviceObject("c310", "vec").function("f").bytes(), {"0": "f"})
    assert "dav-c310-vec (`e_flags` 0x990000), not for c220" in refused(tmp_path, other, capfd)


def test_flags_that_nobody_explains_are_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ops = [entry(tmp_path, name, DeviceObject(flags=0x950000).function(name).bytes()) for name in "abc"]
    superkernel.compile({"op_list": ops}, "k")
    (warning,) = [record.message for record in caplog.records if "e_flags" in record.message]
    assert "0x950000, name no known chip, nor do those of 2 more objects" in warning


def test_another_stack_means_other_block_local_memory(tmp_path: Path, capfd) -> None:
    def op(*record: int, chip: str = "c220") -> dict[str, Any]:
        return entry(tmp_path, "f", DeviceObject(chip).function("f").stack_record(*record).bytes())

    built(op(0x8000, 0x8000), "right")
    told = refused(tmp_path, op(0x8000, 0x4000), capfd)
    assert "SK0231" in told and "a stack of 16384 bytes" in told and "32768" in told
    with superkernel.configure(soc="Ascend950"):
        built(op(0x4000, chip="c310"), "next_chip")


def test_a_linked_file_names_its_twin(tmp_path: Path, capfd) -> None:
    linked = DeviceObject().function("Add_1_0")
    linked.file.kind = EXEC
    op = dynamic(tmp_path, "Add_1", linked.bytes(), {"0": "Add_1_relocatable_0"})
    told = refused(tmp_path, op, capfd)
    assert "SK0229" in told and "is a linked file" in told and "_relocatable.o" in told
    twin = tmp_path / "Add_1_relocatable.o"
    twin.write_bytes(DeviceObject().function("Add_1_relocatable_0").bytes())
    assert f"beside it is `{twin}`" in refused(tmp_path, op, capfd)
    built({**op, "bin_path": str(twin)})


def test_a_call_out_of_reach_is_refused(tmp_path: Path, capfd) -> None:
    def op(distance: int) -> dict[str, Any]:
        made = DeviceObject().function("f", calls=["helper"]).function("large", distance).function("helper")
        return entry(tmp_path, "f", made.bytes())

    built(op(0x1F000), "near")
    told = refused(tmp_path, op(0x20000), capfd)
    assert "SK0232" in told and "a call of `helper` in `f` goes over 131136 bytes, and a call reaches 131072" in told


def test_block_local_memory_says_who_uses_it(tmp_path: Path, capfd) -> None:
    made = DeviceObject().function("f").variable("g_oomAddrArange", 2184).variable("g_other", 2000)
    told = refused(tmp_path, entry(tmp_path, "f", made.bytes()), capfd)
    assert "SK0228" in told and "take 4184 bytes, and a core has 4096: 2184 for `g_oomAddrArange` of" in told


def test_explain_says_who_uses_block_local_memory(tmp_path: Path, capfd) -> None:
    ops = []
    for name, size in (("f", 8), ("g", 16)):
        made = DeviceObject().function(name, block_local=["g_shared"]).variable("g_shared").variable(f"g_{name}", size)
        ops.append(entry(tmp_path, name, made.bytes()))
    path = tmp_path / "infos.json"
    path.write_text(json.dumps({"op_list": ops}))

    def explained(what: Path) -> tuple[dict[str, Any], str]:
        capfd.readouterr()
        assert cli.main(["explain", str(what), "--json"]) == 0
        data = json.loads(capfd.readouterr().out)
        assert cli.main(["explain", str(what)]) == 0
        return data, capfd.readouterr().out

    data, text = explained(path)
    users = [(16, "g_g", 1, "g"), (8, "g_shared", 0, "f"), (8, "g_f", 0, "f")]
    wanted = [[size, f"`{name}` of `{tmp_path}/{op}.o of op {index} {op}`"] for size, name, index, op in users]
    assert data["block_local"] == {"bytes": 32, "users": wanted}
    assert "block-local memory of the sub-kernels: 32 bytes of 4096\n    16 for `g_g` of" in text
    superkernel.compile({"op_list": ops}, "k")
    data, text = explained(tmp_path / "kernel_meta" / "k.json")
    kernel = ObjectFile.read((tmp_path / "kernel_meta" / "k.o").read_bytes())
    (memory,) = [section for section in kernel.sections if section.name == ".bl_uninit"]
    assert memory.size >= 32 and data["built"]["block_local_bytes"] == memory.size
    assert f"block-local memory: {memory.size} bytes of 4096 in the kernel" in text


def mixed(folder: Path, name: str, cube: DeviceObject, vector: DeviceObject) -> dict[str, Any]:
    """An op with an object for each kind of core."""
    archive = elf.write_archive([(f"{name}_mix_aic.o", cube.bytes()), (f"{name}_mix_aiv.o", vector.bytes())])
    names = {
        arch: {"func_name": f"{name}_mix_{half}", "obj_files": f"{name}_mix_{half}.o"}
        for arch, half in (("dav-c220-cube", "aic"), ("dav-c220-vec", "aiv"))
    }
    told = {"sub_operator_kernel_type": "KERNEL_TYPE_MIX_AIC_1_2", "sub_operator_kernel_name": names}
    return _op(folder, name, archive, ".a", **told)


@pytest.mark.parametrize("forward", [True, False])
def test_a_call_between_objects_of_an_op_must_reach(tmp_path: Path, capfd, forward: bool) -> None:
    def halves(size: int) -> tuple[DeviceObject, DeviceObject]:
        cube, vector = DeviceObject("c220", "cube"), DeviceObject()
        caller, called = (cube, vector) if forward else (vector, cube)
        caller.function(f"m_mix_{'aic' if forward else 'aiv'}", calls=["helper"])
        called.function(f"m_mix_{'aiv' if forward else 'aic'}")
        if forward:
            called.function("large", size).function("helper")
        else:
            called.function("helper").function("large", size)
        return cube, vector

    told = refused(tmp_path, mixed(tmp_path, "m", *halves(0x20000)), capfd)
    half = "aic" if forward else "aiv"
    assert "SK0232" in told and "op 0 (`m`)" in told and f"a call of `helper` in `m_mix_{half}`" in told
    # What only lies too far apart because of others is found when it is linked, and the op is named.
    others = [entry(tmp_path, f"f{n}", DeviceObject().function(f"f{n}", 0x8000).bytes()) for n in range(5)]
    others += [
        entry(tmp_path, f"g{n}", DeviceObject("c220", "cube").function(f"g{n}", 0x8000).bytes(), kind="cube")
        for n in range(5)
    ]
    op = mixed(tmp_path, "m", *halves(64))
    with superkernel.configure(linker="own"), pytest.raises(superkernel.SuperKernelError) as raised:
        superkernel.compile({"op_list": [op, *others] if forward else [*others, op]}, "k")
    text = str(raised.value)
    assert f"{tmp_path}/m.a(m_mix_{half}.o) of op {0 if forward else 10} m" in text and "helper" in text
    assert not list((tmp_path / "kernel_meta").glob("k.o"))


def test_many_ops_take_the_block_local_memory_of_one(tmp_path: Path) -> None:
    names = ["g_sysWorkspaceReserved", "g_vecTPipePtr", "g_cubeTPipePtr", "_ZN7AscendC11g_kfcClientE"]
    ops = []
    for number in range(66):
        made = DeviceObject().function(f"op{number}", block_local=names)
        for name in names:
            made.variable(name)
        ops.append(entry(tmp_path, f"op{number}", made.stack_record(0x8000).tiling(f"Tiling{number}").bytes()))
    superkernel.compile({"op_list": ops, "super_kernel_options": "split-mode=4"}, "many")
    kernel = ObjectFile.read((tmp_path / "kernel_meta" / "many.o").read_bytes())
    (memory,) = [section for section in kernel.sections if section.name == ".bl_uninit"]
    assert 32 <= memory.size <= 64
    for name in names:
        assert len({symbol.value for symbol in kernel.symbols if symbol.name == name}) == 1, name
    assert not [section for section in kernel.sections if "tiling" in section.name]


def test_tiling_that_code_refers_to_stays(tmp_path: Path) -> None:
    made = DeviceObject().function("f", addresses=["Used"]).tiling("Used").tiling("Unused")
    kernel = built(entry(tmp_path, "f", made.bytes()))
    assert {symbol.name for symbol in kernel.symbols if symbol.name in ("Used", "Unused")} == {"Used"}


@pytest.mark.parametrize("binding", [GLOBAL, WEAK])
def test_the_code_of_an_object_lies_together(tmp_path: Path, binding: int) -> None:
    """Between a function and what it calls there is nobody else's code, in no copy: a call reaches 128 KiB."""
    ops = []
    for number in range(3):
        caller, helper = f"op{number}", f"helper{number if binding == GLOBAL else ''}"
        made = DeviceObject().function(caller, 40_000, calls=[helper], own_section=True)
        made.function(helper, 40_000, own_section=True, binding=binding)
        ops.append(entry(tmp_path, caller, made.bytes()))
    superkernel.compile({"op_list": ops, "super_kernel_options": "split-mode=4"}, "together")
    kernel = ObjectFile.read((tmp_path / "kernel_meta" / "together.o").read_bytes())
    calls = [
        (relocation, abs(relocation.symbol.value - relocation.offset))
        for section in kernel.sections
        for relocation in section.relocations
        if relocation.kind == CALL
    ]
    assert len(calls) == 12
    distances = {distance for _, distance in calls}
    assert max(distances) < 41_000
    names = [function(kernel, relocation) for relocation, _ in calls]
    assert sorted(names) == sorted(f"op{n}{f'_split{c}' if c else ''}" for n in range(3) for c in range(4))


def function(kernel: ObjectFile, relocation: Relocation) -> str:
    """The function that holds a relocation."""
    holds: Callable[..., bool] = lambda one: one.value <= relocation.offset < one.value + one.size  # noqa: E731
    return next(one.name for one in kernel.symbols if one.kind == 2 and holds(one))


def test_what_one_object_defines_for_the_loader_yields_to_the_super_kernel(tmp_path: Path) -> None:
    ops = []
    for number, binding in enumerate((GLOBAL, WEAK, GLOBAL)):
        made = DeviceObject().function(f"op{number}", addresses=["g_opSystemRunCfg", "g_sysPrintFifoSpace"])
        made.variable("g_opSystemRunCfg", 16, binding=binding, section=".data.cfg")
        made.variable("g_sysPrintFifoSpace", 8, binding=binding, section=".data.fifo")
        ops.append(entry(tmp_path, f"op{number}", made.bytes()))
    superkernel.compile({"op_list": ops, "super_kernel_options": "split-mode=2"}, "filled")
    kernel = ObjectFile.read((tmp_path / "kernel_meta" / "filled.o").read_bytes())
    for name in ("g_opSystemRunCfg", "g_sysPrintFifoSpace"):
        assert len([symbol for symbol in kernel.symbols if symbol.name == name]) == 1, name


def test_every_function_but_the_entries_is_hidden_from_the_loader(tmp_path: Path) -> None:
    """To a loader every global function is a kernel."""
    made = DeviceObject().function("f", calls=["helper"]).function("helper").function("other", binding=WEAK)
    kernel = built(entry(tmp_path, "f", made.bytes()), options="split-mode=4")
    assert [one.name for one in kernel.symbols if one.kind == 2 and one.binding != 0] == ["k_mix_aiv"]
