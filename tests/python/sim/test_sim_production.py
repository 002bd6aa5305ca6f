"""What sources of production operators expect of their compiler, and what they would otherwise lose without a word."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import sim_kernels
import superkernel
from superkernel import SuperKernelError
from superkernel.sim import INCLUDE_DIR, Device, Report, build_op

AIV = "KERNEL_TYPE_AIV_ONLY"
X = np.arange(8, dtype=np.int32)


@pytest.fixture(autouse=True)
def _built_in_headers() -> Iterator[None]:
    with superkernel.configure(ascendc=""):
        yield


def run(
    device: Device, folder: Path, body: str, before: str = "", options: Sequence[str] = (), **arguments: np.ndarray
) -> Report:
    """Launches an operator whose parameters are the arrays given."""
    params = ", ".join(f"GM_ADDR {name}" for name in arguments)
    text = (
        f'#include "kernel_operator.h"\n{before}\n'
        f'extern "C" __global__ __aicore__ void made({params})\n{{\n{body}\n}}\n'
    )
    op = build_op(text, "made", list(arguments), AIV, 1, op_type="Made", out_dir=folder, compile_options=list(options))
    return device.load(op.json_path).launch(arguments)


@pytest.mark.parametrize("soc", ["Ascend910_93", "Ascend950"])
def test_sources_tell_chips_apart_by_the_older_name(tmp_path: Path, soc: str) -> None:
    y = np.zeros(8, np.int32)
    value = {"Ascend910_93": 220, "Ascend950": 310}[soc]
    text = (
        f'#if __CCE_AICORE__ == {value} && defined(__CCE__)\n#include "kernel_operator.h"\n#endif\n'
        'extern "C" __global__ __aicore__ void made(GM_ADDR y) { ((int32_t *)y)[0] = __CCE_AICORE__; }\n'
    )
    op = build_op(text, "made", ["y"], AIV, 1, op_type="Made", out_dir=tmp_path, soc=soc)
    with Device(soc) as device:
        device.load(op.json_path).launch({"y": y}).raise_for_status()
    assert y[0] == value


def test_an_operator_that_does_nothing_says_so(device: Device, tmp_path: Path) -> None:
    y = np.zeros(8, np.int32)
    cut = "#if __CCE_AICORE__ == 100\n((int32_t *)y)[0] = 1;\n#endif"
    report = run(device, tmp_path, cut, y=y)
    assert report.ok and "made" in str(report.unchecked) and "no core issued an instruction" in str(report.unchecked)
    (warning,) = report.warnings
    assert "issued no instruction and touched no global memory on any core" in warning
    other_key = "if (TILING_KEY_IS(5)) { ((int32_t *)y)[0] = 1; }"
    assert any("TILING_KEY_IS" in text for text in run(device, tmp_path, other_key, y=y).warnings)
    for busy in (
        "((int32_t *)y)[0] = 1;",
        "copy_gm_to_ubuf((int32_t *)0, (int32_t *)y, 0, 1, 1, 0, 0);",
        'AscendC::printf("here\\n");',
        "if (AscendC::GetBlockIdx() == 7) { return; } dcci(y, 0, 2);",
    ):
        report = run(device, tmp_path, busy, y=y)
        assert report.warnings == () and report.unchecked == (), busy


def test_the_key_of_a_static_operator_is_what_its_options_say(device: Device, tmp_path: Path) -> None:
    body = "if (TILING_KEY_IS(13)) { ((int32_t *)y)[0] = TILING_KEY_VAR; }"
    for options in (["-DTILING_KEY_VAR=13"], ["-D", "TILING_KEY_VAR=13UL"]):
        y = np.zeros(8, np.int32)
        run(device, tmp_path, body, options=options, y=y).raise_for_status()
        assert y[0] == 13
    with pytest.raises(SuperKernelError, match="every function of a dynamic operator is compiled for a key of its own"):
        build_op(
            '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void made(GM_ADDR y, GM_ADDR t) {}',
            "made",
            ["y", "t"],
            AIV,
            1,
            op_type="Made",
            tiling_keys={1: AIV},
            out_dir=tmp_path,
            compile_options=["-DTILING_KEY_VAR=13"],
        )


def test_a_file_of_the_options_is_included(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a path of where the user is, though the compiler runs elsewhere."""
    (tmp_path / "number.h").write_text("#define NUMBER 7\n")
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "other.h").write_text("#define OTHER 5\n")
    monkeypatch.chdir(tmp_path)
    y = np.zeros(8, np.int32)
    options = ["-include", "number.h", "-isystem", "more"]
    run(device, tmp_path, "((int32_t *)y)[0] = NUMBER + OTHER;", "#include <other.h>", options, y=y).raise_for_status()
    assert y[0] == 12


def test_names_of_device_compilers_are_known(device: Device, tmp_path: Path) -> None:
    before = """
    __host_aicore__ inline int one() { return 1; }
    inline [host, aicore] int two() { return 2; }
    static [aicore] int three(__biasbuf__ int *, __fbuf__ int *) { return 3; }
    """
    body = """
    __bf16 half = 4.0f;
    ub_addr8_t first = VA1;
    ((int32_t *)y)[0] = one() + two() + three(0, 0) + (int)(float)half + first;
    """
    y = np.zeros(8, np.int32)
    run(device, tmp_path, body, before, y=y).raise_for_status()
    assert y[0] == 1 + 2 + 3 + 4 + 1


#: As host code lays them out: a struct in a struct starts at a multiple of 8, and every struct ends at one.
TILINGS = """
#include <cstddef>
#include "register/tilingdata_base.h"
BEGIN_TILING_DATA_DEF(Inner)
TILING_DATA_FIELD_DEF(uint32_t, count);
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(Outer)
TILING_DATA_FIELD_DEF(uint32_t, first);
TILING_DATA_FIELD_DEF_STRUCT(Inner, inner);
TILING_DATA_FIELD_DEF(uint32_t, last);
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(Mixed)
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF_ARR(uint16_t, 3, list);
TILING_DATA_FIELD_DEF(uint64_t, large);
TILING_DATA_FIELD_DEF_STRUCT(Outer, outer);
TILING_DATA_FIELD_DEF(uint8_t, end);
END_TILING_DATA_DEF;
static_assert(sizeof(Inner) == 8 && sizeof(Outer) == 24 && offsetof(Outer, inner) == 8 && offsetof(Outer, last) == 16);
static_assert(offsetof(Mixed, list) == 2 && offsetof(Mixed, large) == 8 && offsetof(Mixed, outer) == 16);
static_assert(offsetof(Mixed, end) == 40 && sizeof(Mixed) == 48);
"""


def test_tiling_structs_are_laid_out_as_host_code_does(tmp_path: Path) -> None:
    source = tmp_path / "tilings.cpp"
    source.write_text(TILINGS)
    command = [sim_kernels.compiler(), "-std=c++17", "-fsyntax-only", f"-I{INCLUDE_DIR}/sk_cpu", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: 96 floats in, of which instructions take what `WORK` says; what is there is moved out again.
HARMLESS = """
__ubuf__ float *row = (__ubuf__ float *)0, *other = (__ubuf__ float *)8192;
__ubuf__ uint8_t *bits = (__ubuf__ uint8_t *)4096;
copy_gm_to_ubuf(row, (__gm__ float *)x, 0, 1, 12, 0, 0);
pipe_barrier(PIPE_ALL);
WORK;
pipe_barrier(PIPE_ALL);
"""


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        # Whole repeats are compared, of which 96 elements fill one and a half.
        ("vcmpvs_lt(bits, row, 1.0f, 2, 1, 1, 8, 8)", None),
        # What is computed of the rest is nobody's, as long as nobody uses it.
        ("vadds(other, row, 1.0f, 2, 1, 1, 8, 8)", None),
        (
            "vadds(other, row, 1.0f, 2, 1, 1, 8, 8); pipe_barrier(PIPE_V); vcadd(row, other, 2, 1, 1, 8, 0)",
            "never-written",
        ),
        # Narrower elements where the wider ones began, or in the middle of them.
        ("vconv_f322f16r((__ubuf__ half *)row, row, 1, 1, 1, 4, 8)", None),
        ("vconv_f322f16r((__ubuf__ half *)row + 16, row, 1, 1, 1, 4, 8)", "overlap"),
    ],
)
def test_what_does_no_harm_is_no_finding(device: Device, tmp_path: Path, work: str, kind: str | None) -> None:
    text = HARMLESS.replace("WORK", work)
    source = f'#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void made(GM_ADDR x)\n{{{text}}}\n'
    op = build_op(source, "made", ["x"], AIV, 1, op_type="Made", out_dir=tmp_path)
    report = device.load(op.json_path).launch({"x": np.zeros(96, np.float32)}, pipes="checked")
    assert [finding.kind for finding in report.findings] == ([] if kind is None else [kind]), report


TREE = os.environ.get("SUPERKERNEL_ASCENDC", "")


@pytest.mark.skipif(not TREE, reason="SUPERKERNEL_ASCENDC names no tree of AscendC headers")
def test_with_the_tree_tilings_are_read_and_one_form_of_the_headers_serves_all(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = """
    #include "kernel_operator.h"
    struct Made { uint32_t first; uint32_t second; };
    extern "C" __global__ __aicore__ void made(GM_ADDR y, GM_ADDR tiling) {
        REGISTER_TILING_DEFAULT(Made);
        GET_TILING_DATA(data, tiling);
        GET_TILING_DATA_WITH_STRUCT(Made, same, tiling);
        GET_TILING_DATA_MEMBER(Made, second, second, tiling);
        if (TILING_KEY_IS(KEY)) {
            ((__gm__ int32_t *)y)[0] = data.first + same.second + second + AscendC::GetBlockNum();
        }
    }
    """
    tiling = np.array([100, 10, 0, 0], np.uint32)
    with superkernel.configure(ascendc=TREE):
        for key, blocks in ((0, 1), (13, 1), (13, 2)):
            y = np.zeros(8, np.int32)
            options = [f"-DKEY={key}", f"-DTILING_KEY_VAR={key}", f"-DMORE_{key}_{blocks}"]
            op = build_op(
                text, "made", ["y", "tiling"], AIV, blocks, op_type="Made", out_dir=tmp_path, compile_options=options
            )
            device.load(op.json_path).launch({"y": y, "tiling": tiling}, check_order=False).raise_for_status()
            assert y[0] == 120 + blocks
    forms = [path for path in tmp_path.rglob("sk_operator_headers_*") if path.is_dir()]
    assert len(forms) == 1, forms
