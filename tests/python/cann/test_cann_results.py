"""What a kernel's description takes over from CANN and from the ops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import superkernel
from interpreter import STANDINS, output_of
from kernel_library import MIX_1_1, KernelLibrary
from superkernel.sim import Device, build_op

# Every core of a mixed operator has a word of its own.
OWN_WORDS = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y)
{
    int64_t word = AscendC::GetBlockIdx();
    if ASCEND_IS_AIV {
        word += 32;
    }
    ((int32_t *)y)[word] = ((int32_t *)x)[word] + 1;
}
"""

BUILD = """
import json, sys
from asc_op_compile_base.common import buildcfg, context
from asc_op_compile_base.common.platform import platform_info
platform_info.set_soc("Ascend910_93", 24, 48)
buildcfg.CONFIG.update(json.loads(sys.argv[2]))
context.ADDITIONS.update(json.loads(sys.argv[3]))
context.ACTIVE = sys.argv[4] == "in a context"
import superkernel
with superkernel.configure(toolchain="host", kernel_meta_parent_dir=sys.argv[5], op_debug_config=[], cache_dir=""):
    superkernel.compile(json.loads(sys.argv[1]), "informed")
"""
LIMITS = {"_op_aicore_num": "12", "_op_vectorcore_num": 24}


@pytest.mark.parametrize(
    ("config", "additions", "context", "expected"),
    [
        ({"deterministic_level": 2}, LIMITS, True, {"cubeCoreCnt": 12, "vectorCoreCnt": 24, "deterministicLevel": 2}),
        ({"deterministic_level": " 1 "}, {}, True, {"deterministicLevel": 1}),
        ({"deterministic_level": 0}, LIMITS, False, {"deterministicLevel": 0}),
        ({"deterministic_level": "soon"}, LIMITS, True, {"cubeCoreCnt": 12, "vectorCoreCnt": 24}),
        ({}, {"_op_aicore_num": 12}, True, None),
        ({"deterministic_level": None}, {}, False, None),
    ],
)
def test_the_platform_as_cann_s_context_tells_it(
    library: KernelLibrary, tmp_path: Path, config, additions, context, expected
):
    arguments = [
        json.dumps(library.infos(library.op("one"), options="split-mode=1")),
        json.dumps(config),
        json.dumps(additions),
        "in a context" if context else "outside",
        str(tmp_path),
    ]
    output_of(BUILD, path=[STANDINS], arguments=arguments)
    described = json.loads((tmp_path / "kernel_meta" / "informed.json").read_text())
    assert described.get("platformInfo") == expected


def test_another_platform_is_another_description(library: KernelLibrary, tmp_path: Path):
    for level in (0, 1):
        infos = json.dumps(library.infos(library.op("one"), options="split-mode=1"))
        config = json.dumps({"deterministic_level": level})
        output_of(BUILD, path=[STANDINS], arguments=[infos, config, "{}", "in a context", str(tmp_path)])
        described = json.loads((tmp_path / "kernel_meta" / "informed.json").read_text())
        assert described["platformInfo"] == {"deterministicLevel": level}


def test_without_cann_there_is_no_platform_info(library: KernelLibrary, tmp_path: Path):
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host"):
        superkernel.compile(library.infos(library.op("one"), options="split-mode=1"), "plain")
    assert "platformInfo" not in json.loads((tmp_path / "kernel_meta" / "plain.json").read_text())


@pytest.mark.parametrize(
    ("debug", "kept", "output"),
    [
        ({"debugOptions": "dump_cce", "debugBufSize": 64}, ("dump_cce", 64), None),
        ({"debugOptions": ["dump_cce"]}, ("dump_cce", 0), None),
        ({"debugOptions": "printf,dump_cce", "debugBufSize": 64}, ("printf,dump_cce", 64), "printf,dump_cce"),
        ({"debugOptions": ""}, None, None),
        ({}, None, None),
    ],
)
def test_an_op_keeps_its_debug_options(library: KernelLibrary, tmp_path: Path, debug, kept, output):
    """Whether they mean output or not; only those that do make the super kernel have some."""
    one = library.op("one")
    described = json.loads(Path(one.json_path).read_text())
    (tmp_path / "one.json").write_text(json.dumps({**described, **debug}))
    infos = library.infos({**one.entry(), "json_path": str(tmp_path / "one.json")}, options="split-mode=1")
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host"):
        superkernel.compile(infos, "debugged")
    result = json.loads((tmp_path / "kernel_meta" / "debugged.json").read_text())
    (entry,) = result["SuperkernelInfo"]["kernelList"]["aicore"]
    found = (entry["debug_option"], entry["debug_size"]) if "debug_option" in entry else None
    assert found == kept
    assert result.get("debugOptions") == output


@pytest.mark.parametrize("options", ["", ":compile-options=-U__ASCENDC_DAVID_SPLIT_CORE__"], ids=["told", "untold"])
def test_a_1_to_1_kernel_on_ascend950_starts_early_only_if_it_is_told_so(
    library: KernelLibrary, tmp_path: Path, options: str
):
    """The define is what keeps it from waiting for a vector core that is not there, here as on the device."""
    ops = [
        build_op(OWN_WORDS.replace("NAME", name), name, None, MIX_1_1, 2, soc="Ascend950", out_dir=tmp_path)
        for name in ("first", "second")
    ]
    with superkernel.configure(soc="Ascend950", kernel_meta_parent_dir=tmp_path, toolchain="host"):
        superkernel.compile(library.infos(*ops, options=f"split-mode=1{options}"), "early")
        with Device("Ascend950") as device:
            kernel = device.load(tmp_path / "kernel_meta" / "early.json")
            data = [device.buffer(64 * 4) for _ in range(4)]
            report = kernel.launch(data)
    assert report.status == ("ok" if not options else "deadlock"), report
