"""``superkernel.sim.build_op``: what the device compiler would have written, from ordinary AscendC."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import superkernel
from superkernel import elf
from superkernel.sim import BuiltOp, Device, build_op

ADD = """\
#include "kernel_operator.h"

// get_block_idx() in a comment is nobody's business, nor is "block_num" in a string
static const char *text = "get_block_num() SyncAll";

inline int Helper(int value) { return value + text[0] * 0; }
int visible_helper(int value) { return Helper(value); }

extern "C" __global__ __aicore__ void add(GM_ADDR x, __gm__ float *y, GM_ADDR workspace)
{
    y[AscendC::GetBlockIdx()] += ((float *)x)[AscendC::GetBlockIdx()] + visible_helper(0) + AscendC::GetBlockNum();
}
"""

AIV = "KERNEL_TYPE_AIV_ONLY"
AIC = "KERNEL_TYPE_AIC_ONLY"
MIX12 = "KERNEL_TYPE_MIX_AIC_1_2"


def with_body(body: str, params: str = "GM_ADDR x") -> str:
    return f'#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void op({params})\n{{\n{body}\n}}\n'


def description(op: BuiltOp) -> dict[str, Any]:
    return json.loads(Path(op.json_path).read_text())


def globals_of(obj: bytes) -> list[str]:
    return sorted(s.name for s in elf.symbols(obj) if s.binding != "local" and s.is_defined)


def test_a_plain_operator(tmp_path: Path) -> None:
    op = build_op(ADD, "add", ["x", "y", "workspace"], AIV, 8, op_type="Add", name="add_kernel", out_dir=tmp_path)
    told = description(op)
    bin_path = Path(op.bin_path)
    assert told.pop("buildDigest")
    assert told == {
        "binFileName": "add_kernel",
        "binFileSuffix": ".o",
        "kernelName": "add_kernel",
        "blockDim": 8,
        "magic": "RT_DEV_BINARY_MAGIC_ELF",
        "sha256": hashlib.sha256(bin_path.read_bytes()).hexdigest(),
        "supportSuperKernel": 1,
        "sub_operator_kernel_type": AIV,
        "sub_operator_kernel_name": {"AiCore": {"func_name": "add_kernel_middle", "obj_files": str(bin_path)}},
        "sub_operator_params": ["x", "y", "workspace"],
        "sub_operator_early_start_set_flag": False,
        "sub_operator_early_start_wait_flag": False,
        "sub_op_with_sync_all": False,
        "sub_operator_op_type": "Add",
        "sub_operator_call_dcci_before_kernel_start": False,
        "sub_operator_call_dcci_after_kernel_end": False,
        "sub_operator_call_dcci_disable_on_kernel": False,
        "toolchain": "host",
    }
    obj = bin_path.read_bytes()
    assert globals_of(obj) == ["add_kernel_middle"]
    assert elf.text_size(obj) > 0
    assert [s.name for s in elf.sections(obj) if s.name.startswith(".ascend.meta")] == [
        ".ascend.meta.add_kernel_middle"
    ]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cpp", ".json", ".o"]
    assert op.entry(stream_id=3, send_events=[1], recv_events=[2]) == {
        "json_path": str(tmp_path / "add_kernel.json"),
        "bin_path": str(bin_path),
        "stream_id": 3,
        "task_type": "normal",
        "send_event_list": [1],
        "recv_event_list": [2],
    }


@pytest.mark.parametrize(
    ("kernel_type", "meta"),
    [
        (AIV, "01000400 03000000"),
        (AIC, "01000400 02000000"),
        ("KERNEL_TYPE_MIX_AIV_1_0", "01000400 05000000 03000400 0000 0100"),
        ("KERNEL_TYPE_MIX_AIC_1_0", "01000400 04000000 03000400 0100 0000"),
        ("KERNEL_TYPE_MIX_AIC_1_1", "01000400 04000000 03000400 0100 0100"),
        (MIX12, "01000400 04000000 03000400 0100 0200"),
    ],
)
def test_every_kernel_type(tmp_path: Path, kernel_type: str, meta: str) -> None:
    op = build_op(ADD, "add", kernel_type=kernel_type, block_dim=2, name="k", out_dir=tmp_path)
    table = description(op)["sub_operator_kernel_name"]
    single = kernel_type in (AIV, AIC)
    both = kernel_type.endswith(("1_1", "1_2"))
    kinds = ["cube", "vec"] if both else ["vec" if "AIV" in kernel_type else "cube"]
    assert list(table) == (["AiCore"] if single else [f"dav-c220-{kind}" for kind in kinds])
    # Mixed operators on this chip carry the address of the cross-core scheduler in front.
    assert description(op)["sub_operator_params"] == (
        ["x", "y", "workspace"] if single else ["ffts_addr", "x", "y", "workspace"]
    )
    content = Path(op.bin_path).read_bytes()
    if both:
        members = dict(elf.read_archive(content))
        assert list(members) == [Path(entry["obj_files"]).name for entry in table.values()]
    else:
        members = {Path(entry["obj_files"]).name: content for entry in table.values()}
    for entry in table.values():
        assert set(entry) == {"func_name", "obj_files"}
        obj = members[Path(entry["obj_files"]).name]
        assert globals_of(obj) == [entry["func_name"]]
        assert elf.section_bytes(obj, f".ascend.meta.{entry['func_name']}") == bytes.fromhex(meta)


def test_split_copies_are_an_archive(tmp_path: Path) -> None:
    op = build_op(ADD, "add", kernel_type=MIX12, block_dim=2, name="k", split_mode=3, out_dir=tmp_path)
    told = description(op)
    assert told["split_mode"] == 3
    members = dict(elf.read_archive(Path(op.bin_path).read_bytes()))
    listed: list[str] = []
    for entry in told["sub_operator_kernel_name"].values():
        for number in range(3):
            name = Path(entry[f"obj_files_split{number}" if number else "obj_files"]).name
            listed.append(name)
            suffix = f"_split{number}" if number else ""
            assert globals_of(members[name]) == [entry["func_name"] + suffix]
            meta = [s.name for s in elf.sections(members[name]) if s.name.startswith(".ascend.meta")]
            assert len(meta) == (0 if number else 1)
    assert listed == list(members)


def test_the_other_chip(tmp_path: Path) -> None:
    source = ADD.replace("extern", "#if __NPU_ARCH__ != 3510\n#error chip\n#endif\nextern", 1)
    op = build_op(source, "add", kernel_type=MIX12, block_dim=2, soc="Ascend950", out_dir=tmp_path)
    told = description(op)
    assert list(told["sub_operator_kernel_name"]) == ["dav-c310-cube", "dav-c310-vec"]
    assert told["sub_operator_params"] == ["x", "y", "workspace"]
    with superkernel.configure(soc="Ascend950"):
        again = build_op(source, "add", kernel_type=MIX12, block_dim=2, out_dir=tmp_path)
    assert again.name == op.name and again.reused


def test_dynamic_operator(tmp_path: Path) -> None:
    checks = """
#if TILING_KEY_VAR != 7 && TILING_KEY_VAR != 18446744073709551615UL
#error key
#endif
#if defined __SUPER_KERNEL_STATIC_BLOCK_NUM__ || !defined __SUPER_KERNEL_DYNAMIC_BLOCK_NUM__
#error blocks
#endif
#if defined __ASCENDC_SUPERKERNEL_EARLY_START_V2
#error early start
#endif
AscendC::SetNextTaskStart();
"""
    source = with_body(checks, "GM_ADDR x, GM_ADDR tiling")
    keys = {7: AIV, 2**64 - 1: MIX12}
    op = build_op(source, "op", kernel_type=MIX12, block_dim=4, name="dyn", tiling_keys=keys, out_dir=tmp_path)
    told = description(op)
    assert told["sub_operator_kernel_name"] == {
        "dynamic_func_names": {
            "7": {"kernel_type": AIV, "AiCore": "dyn_7"},
            str(2**64 - 1): {
                "kernel_type": MIX12,
                "dav-c220-cube": f"dyn_{2**64 - 1}_mix_aic",
                "dav-c220-vec": f"dyn_{2**64 - 1}_mix_aiv",
            },
        }
    }
    assert not told["sub_operator_early_start_set_flag"] and "split_mode" not in told
    assert globals_of(Path(op.bin_path).read_bytes()) == sorted(op.functions)
    assert op.dynamic and op.entry()["task_type"] == "dynamic"
    listed = build_op(
        with_body("", "GM_ADDR x, GM_ADDR tiling"),
        "op",
        kernel_type=AIC,
        tiling_keys=[1, 2],
        name="l",
        out_dir=tmp_path,
    )
    assert listed.functions == ("l_1", "l_2")


@pytest.mark.parametrize(
    ("body", "position", "early_start", "sets", "waits"),
    [
        ("AscendC::WaitPreTaskEnd(); AscendC::SetNextTaskStart();", "middle", None, True, True),
        ("AscendC::WaitPreTaskEnd(); AscendC::SetNextTaskStart();", "start", None, True, False),
        ("AscendC::WaitPreTaskEnd(); AscendC::SetNextTaskStart();", "end", None, False, True),
        ("AscendC::WaitPreTaskEnd(); AscendC::SetNextTaskStart();", "middle", False, False, False),
        ("AscendC::SetNextTaskStart();", "middle", True, True, False),
        ("// AscendC::SetNextTaskStart();", "middle", None, False, False),
        ("#ifdef __DAV_CUBE__\nAscendC::SetNextTaskStart();\n#endif", "middle", None, True, False),
    ],
)
def test_early_start(
    tmp_path: Path, body: str, position: str, early_start: bool | None, sets: bool, waits: bool
) -> None:
    op = build_op(
        with_body(body), "op", kernel_type=MIX12, position=position, early_start=early_start, name="k", out_dir=tmp_path
    )
    told = description(op)
    assert told["sub_operator_early_start_set_flag"] is sets is op.sets_next_task_start
    assert told["sub_operator_early_start_wait_flag"] is waits is op.waits_pre_task_end
    assert told["sub_operator_kernel_name"]["dav-c220-vec"]["func_name"] == f"k_{position}_mix_aiv"
    # What is not to take effect is not even compiled: the object does not ask for the flag functions.
    members = [obj for _, obj in elf.read_archive(Path(op.bin_path).read_bytes())]
    wanted = {s.name for obj in members for s in elf.symbols(obj) if not s.is_defined}
    assert ("sk_rt_cross_core_set" in wanted) is (sets or waits)


def test_sync_all(tmp_path: Path) -> None:
    calls = with_body("AscendC::SyncAll<true>();")
    hidden = "#define MEET SyncAll\n" + with_body("AscendC::MEET();")
    assert build_op(calls, "op", out_dir=tmp_path).sync_all
    assert build_op(hidden, "op", out_dir=tmp_path).sync_all
    assert not build_op(with_body("// SyncAll"), "op", out_dir=tmp_path).sync_all
    assert build_op(with_body(""), "op", sync_all=True, out_dir=tmp_path).sync_all
    with pytest.raises(superkernel.SuperKernelError, match=r"`sync_all` cannot be `False`.*calls `SyncAll`"):
        build_op(calls, "op", sync_all=False, out_dir=tmp_path)


# Who am I, by registers: block, blocks, sub-block and the ratio, and a variable of the same name.
WHO = """\
#include "kernel_operator.h"
#define ASK get_block_idx()
extern "C" __global__ __aicore__ void who(GM_ADDR x)
{
    int64_t *row = (int64_t *)x + 8 * (AscendC::GetBlockIdx() + (ASCEND_IS_AIC ? 16 : 0));
    row[0] = 1 + ASK + block_idx;
    row[1] = get_block_num();
    row[2] = get_subblockid();
    row[3] = get_subblockdim() + 10 * get_task_ration();
    int block_idx = 7;
    row[4] = block_idx;
}
"""


def test_registers_mean_the_operator_itself(tmp_path: Path) -> None:
    """An operator of vector cores beside a mixed one: as it is alone, although the cores come in pairs."""
    vectors = build_op(WHO, "who", kernel_type=AIV, block_dim=6, name="vectors", out_dir=tmp_path)
    mixed = build_op(WHO, "who", kernel_type=MIX12, block_dim=4, name="mixed", out_dir=tmp_path)
    op_list = {"op_list": [vectors.entry(), mixed.entry()]}
    with superkernel.configure(toolchain="host", kernel_meta_parent_dir=tmp_path):
        superkernel.compile(op_list, "both")
    with Device("Ascend910_93") as device:
        kernel = device.load(tmp_path / "kernel_meta" / "both.json")
        x, y = (np.zeros((32, 8), np.int64) for _ in range(2))
        kernel.launch({"x_0": x, "x_1": y}).raise_for_status()
    assert x[:6].tolist() == [[1 + 2 * at, 6, 0, 11, 7, 0, 0, 0] for at in range(6)]
    assert not x[6:].any()
    assert y[:8].tolist() == [[1 + 2 * (at // 2), 4, at % 2, 22, 7, 0, 0, 0] for at in range(8)]
    assert y[16:20].tolist() == [[1 + 2 * at, 4, 0, 11, 7, 0, 0, 0] for at in range(4)]


def test_mistakes_are_explained(tmp_path: Path) -> None:
    def refused(match: str, error_id: str, source: str = ADD, kernel: str = "add", **arguments: Any) -> None:
        with pytest.raises(superkernel.SuperKernelError, match=match) as caught:
            build_op(source, kernel, out_dir=tmp_path, **arguments)
        assert caught.value.errorinfo["errId"] == error_id
        assert caught.value.errorinfo["errSolution"]

    refused("no function `adds`; did you mean `add`", "SK0951", kernel="adds")
    refused(r"takes 3 parameters \(x, y, workspace\), but `params` names 2 \(x, y\)", "SK0952", params=["x", "y"])
    refused("`kernel_type` cannot be `AIV`.*KERNEL_TYPE_AIV_ONLY", "SK0953", kernel_type="AIV")
    refused("`block_dim` cannot be `0`", "SK0953", block_dim=0)
    refused("`split_mode` cannot be `65`", "SK0953", split_mode=65)
    refused("`split_mode` cannot be `0`", "SK0953", split_mode=0)
    refused("`position` cannot be `first`", "SK0953", position="first")
    refused("`name` cannot be `a-b`.*identifier", "SK0953", name="a-b")
    refused("`kernel` cannot be `a b`.*identifier", "SK0953", kernel="a b")
    refused("neither `SetNextTaskStart` nor", "SK0953", early_start=True)
    refused("dynamic operator has no early start", "SK0953", early_start=True, tiling_keys=[1])
    refused("`tiling_keys` cannot be `1`.*cube cores", "SK0953", kernel_type=AIV, tiling_keys={1: AIC})
    refused("copied when the super kernel is built", "SK0953", tiling_keys=[1], split_mode=4)
    refused("error: expected", "SK0958", source=with_body("int a"), kernel="op")
    with pytest.raises(superkernel.SuperKernelError, match="cannot read"):
        build_op(tmp_path / "nowhere.cpp", "add", out_dir=tmp_path)
    with pytest.raises(superkernel.SuperKernelError, match="Ascend310"):
        build_op(ADD, "add", soc="Ascend310", out_dir=tmp_path)
    assert not list(tmp_path.glob("*.o"))


def test_equal_requests_are_built_once(tmp_path: Path) -> None:
    first = build_op(ADD, "add", block_dim=4, out_dir=tmp_path)
    stamp = Path(first.bin_path).stat().st_mtime_ns
    again = build_op(ADD, "add", block_dim=4, out_dir=tmp_path)
    assert not first.reused and again.reused and again.name == first.name
    assert Path(again.bin_path).stat().st_mtime_ns == stamp
    other = build_op(ADD, "add", block_dim=5, out_dir=tmp_path)
    assert not other.reused and other.name != first.name
    Path(first.bin_path).write_bytes(b"broken")
    assert not build_op(ADD, "add", block_dim=4, out_dir=tmp_path).reused


def test_a_changed_header_counts(tmp_path: Path) -> None:
    header = tmp_path / "own.h"
    header.write_text("#define VALUE 1\n")
    source = tmp_path / "op.cpp"
    source.write_text('#include "own.h"\n' + with_body("*x = VALUE;"))
    first = build_op(source, "op", name="op", out_dir=tmp_path / "out")
    header.write_text("#define VALUE 2\n")
    assert not build_op(source, "op", name="op", out_dir=tmp_path / "out").reused
    assert build_op(source, "op", name="op", out_dir=tmp_path / "out").reused
    assert first.name == "op"


def test_compile_options_and_include_dirs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "value.h").write_text("#define VALUE WORD\n")
    source = '#include "value.h"\n' + with_body("static_assert(VALUE == 42);")
    with caplog.at_level("INFO", logger="superkernel"):
        build_op(
            source,
            "op",
            compile_options=["-DWORD=42", "--cce-disable-kernel-global-attr-check"],
            include_dirs=[tmp_path / "inc"],
            out_dir=tmp_path / "out",
        )
    assert "--cce-disable-kernel-global-attr-check" in caplog.text


def test_debug_output_and_flushes_reach_the_json(tmp_path: Path) -> None:
    op = build_op(
        with_body("#if ASCENDC_DUMP == 0\n#error dump\n#endif"),
        "op",
        debug_options=["printf", "assert"],
        debug_size=75000,
        dcci_before_kernel_start=True,
        dcci_disable_on_kernel=True,
        out_dir=tmp_path,
    )
    told = description(op)
    assert (told["debugOptions"], told["debugBufSize"]) == ("printf,assert", 75000)
    assert told["sub_operator_call_dcci_before_kernel_start"] and told["sub_operator_call_dcci_disable_on_kernel"]
    assert not told["sub_operator_call_dcci_after_kernel_end"]


def test_debug_information_names_no_folder_of_a_single_build(tmp_path: Path) -> None:
    def build() -> BuiltOp:
        return build_op(ADD, "add", kernel_type=MIX12, compile_options=["-g"], out_dir=tmp_path)

    first = build()
    content = Path(first.bin_path).read_bytes()
    assert build().reused
    Path(first.bin_path).unlink()
    again = build()
    assert not again.reused and Path(again.bin_path).read_bytes() == content


@pytest.mark.parametrize("options", [[], ["-g"]])
def test_names_and_digests_do_not_depend_on_the_folder(tmp_path: Path, options: list[str]) -> None:
    built = [build_op(ADD, "add", compile_options=options, out_dir=tmp_path / name) for name in ("one", "two")]
    assert built[0].name == built[1].name
    digests = [description(op)["buildDigest"] for op in built]
    assert digests[0] == digests[1]
    other = build_op(ADD.replace("* 0", "* 1"), "add", compile_options=options, out_dir=tmp_path / "one")
    assert other.name != built[0].name


def test_many_at_once(tmp_path: Path) -> None:
    names: list[str] = []

    def build() -> None:
        names.append(build_op(ADD, "add", kernel_type=MIX12, out_dir=tmp_path).name)

    threads = [threading.Thread(target=build) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 6 and len(set(names)) == 1
    assert not list(tmp_path.glob(".*"))


def test_interrupting_stops_the_compiler(tmp_path: Path) -> None:
    slow = tmp_path / "slow-c++"
    slow.write_text('#!/bin/sh\ncase "$*" in *-print-prog-name*) echo ld;; *) touch started; exec sleep 600;; esac\n')
    slow.chmod(0o755)
    script = (
        "import _thread, glob, threading, time\n"
        "from superkernel.sim import build_op\n"
        "def stop():\n"
        "    while not glob.glob('out/.*/*/started'):\n"
        "        time.sleep(0.01)\n"
        "    _thread.interrupt_main()\n"
        "threading.Thread(target=stop, daemon=True).start()\n"
        "try:\n"
        "    build_op('int a;\\n{', 'k', out_dir='out')\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', glob.glob('out/.*'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "CXX": str(slow)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "stopped []\n", done.stderr


def test_what_a_killed_build_left_is_swept_by_the_next(tmp_path: Path) -> None:
    slow = tmp_path / "slow-c++"
    slow.write_text(
        '#!/bin/sh\ncase "$*" in *-print-prog-name*) echo ld;; *) echo $$ > started; exec sleep 600;; esac\n'
    )
    slow.chmod(0o755)
    out = tmp_path / "out"
    script = f"from superkernel.sim import build_op\nbuild_op('int a;\\n{{', 'k', out_dir={str(out)!r})\n"
    child = subprocess.Popen(
        [sys.executable, "-c", script], env={"PATH": "/usr/bin:/bin", "CXX": str(slow)}, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not [started for started in out.glob(".*/*/started") if started.read_text()]:
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    child.kill()
    child.wait()
    for started in out.glob(".*/*/started"):
        os.kill(int(started.read_text()), signal.SIGKILL)
    assert list(out.glob(".*"))
    build_op(ADD, "add", out_dir=out)
    assert not list(out.glob(".*"))


GATE = Path(__file__).resolve().parents[3] / "examples" / "operators" / "activation" / "gate" / "op_kernel" / "gate.cpp"


def test_template_arguments_are_read_from_the_key(tmp_path: Path):
    """Its type as well: nobody says it."""
    values, gates, result = (np.arange(64, dtype=np.float32), np.full(64, 3, np.float32), np.zeros(64, np.float32))
    tiling = np.array([64, 0, 64, 0], np.uint32).tobytes()
    # The type float, the second of the modes, no limit.
    key = 0 | 1 << 8 | 0 << 12
    build = functools.partial(build_op, GATE, "gate", kernel_type=None, out_dir=tmp_path)
    op = build(params=["x", "gate", "y", "workspace", "tiling"], tiling_keys=[key])
    assert op.kernel_type == AIV
    arguments = {"x": values, "gate": gates, "y": result, "workspace": 0, "tiling": tiling}
    with Device("Ascend910_93") as device:
        device.load(op.json_path).launch(arguments, tiling_key=key, block_dim=1).raise_for_status()
        assert (result == values * 9).all()
        # The same with its tiling in the code.
        result[:] = 0
        options = [f"-DTILING_KEY_VAR={key}UL"]
        op = build(params=["x", "gate", "y", "workspace"], tiling_data=tiling, compile_options=options)
        del arguments["tiling"]
        device.load(op.json_path).launch(arguments).raise_for_status()
    assert (result == values * 9).all()
    with pytest.raises(superkernel.SuperKernelError, match="its value 5 of `MODE` is not one of the 2 declared"):
        build(params=["x", "gate", "y", "workspace", "tiling"], tiling_keys=[5 << 8])
