"""The emulation header: compiles cleanly, and is seen in a kernel object by what all objects of a kernel share."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from superkernel import elf
from superkernel.sim import INCLUDE_DIR

# Every name generated code uses, on both chips.
SOURCE = """
#include "kernel_operator.h"
#if __NPU_ARCH__ == 3510
#define WAIT(flag) wait_flag_dev(PIPE_S, flag)
#else
#define WAIT(flag) wait_flag_dev(flag)
#endif
__gm__ struct OpSystemRunCfg g_opSystemRunCfg = {0};
static_assert(AscendC::GetffstMsg(0, 11) == 0xB01 && AscendC::GetffstMsg(0, 14) == 0xE01, "");
static_assert(AscendC::GetffstMsg(2, 12) == 0xC21 && AscendC::GetffstMsg(2, 13) == 0xD21, "");
static_assert(PIPE_FIX == 10 && (int)AscendC::HardEvent::MTE2_MTE3 == 20 && (int)AscendC::HardEvent::V_MTE3 == 7, "");
static_assert((int)AscendC::HardEvent::FIX_FIX == 34 && TILING_KEY_VAR == 0, "");
static_assert(UFMode2 == 2 && UFMode3 == 3, "");
extern "C" __aicore__ void sub(uint64_t args_offset);
extern "C" __global__ __attribute__((aligned(512))) __aicore__ void entry(void) {
    GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    uint64_t address = get_para_base() + 8;
    if (param_base[0] != nullptr) { set_ffts_base_addr((uint64_t)param_base[0]); }
    AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = param_base[3];
    AscendC::g_superKernelAutoSyncAllConfigGmAddr = AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr + 64;
    AscendC::g_superKernelAutoSyncAllSyncIdx = 0;
    AscendC::g_superKernelAutoSyncAllEnable = true;
    g_super_kernel_early_start_config = (0 << 2) | 1;
    ::g_super_kernel_dynamic_block_num = static_cast<uint32_t>(address);
    if ASCEND_IS_AIC { pipe_barrier(PIPE_ALL); } else { AscendC::PipeBarrier<PIPE_ALL>(); }
    if ASCEND_IS_AIV{ AscendC::SetNextTaskStart(); }
    if ASCEND_IS_NOT_AIC { AscendC::WaitPreTaskEnd(); }
    if ASCEND_IS_NOT_AIV { AscendC::WaitPreTaskEndImpl<10>(); }
    AscendC::WaitPreTaskEndImpl<-1>();
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIC_FLAG));
    WAIT(AscendC::SYNC_AIC_AIV_FLAG);
    AscendC::SyncAll<false>();
    AscendC::SyncAll();
    preload((const void *)sub, 3);
    AscendC::PreLoad(8);
    dc_preload((__gm__ uint64_t *)param_base[1], 0);
    dcci((__gm__ uint64_t *)0, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
    __gm__ volatile uint64_t *lock = (__gm__ volatile uint64_t *)param_base[5];
    while (*lock != 1) { dcci(lock, 0, 2); dcci(lock, 0); }
    create_cbuf_matrix((__cbuf__ uint32_t *)0, 0x10010, 0);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    copy_cbuf_to_gm(param_base[3], (__cbuf__ void *)0, 0, 1, 16, 1, 1);
    AscendC::DuplicateImpl((__ubuf__ uint32_t *)0, (uint32_t)0, 128);
    copy_ubuf_to_gm(param_base[3], (__ubuf__ void *)0, 0, 1, 16, 1, 1);
    copy_ubuf_to_gm_align_v2(param_base[3], (__ubuf__ void *)0, 0, 1, 512, 0, 512, 512);
    AscendC::InitDump(true, param_base[3] + 128, 0);
    if (AscendC::GetBlockIdx() < 3 && AscendC::GetBlockIdxImpl() < get_block_num()) { sub(4); }
    void (*chosen)(uint64_t) = (void (*)(uint64_t))(*lock);
    chosen(get_coreid() % 4 + get_subblockid() + get_subblockdim() + get_block_idx());
    AscendC::SuperKernelAutoSyncAllEndImpl();
    AscendC::SuperKernelAutoSyncAllComplementImpl();
    if (AscendC::GetSystemCycle() < 0 || g_coreType == AscendC::AIC) { trap(); }
    AscendC::printf("core %ld\\n", get_block_idx());
    SK_OP_BEGIN(1); SK_OP_END(1);
}
static const struct FunLevelMixCoreType entry_section __attribute__((used, section(".ascend.meta.entry"))) = {
    {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
    {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 2}};
static const struct FunLevelKType only_section __attribute__((used, section(".ascend.meta.only"))) = {
    {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_AIV}};
"""

DEFINES = [
    "-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__",
    "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START",
    "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END",
    "-DASCENDC_DUMP=0",
    "-DTILING_KEY_VAR=0UL",
]


def _compile(compiler: str, output: Path, *flags: str) -> None:
    source = output.with_suffix(".cpp")
    source.write_text(SOURCE)
    warnings = ["-Wall", "-Wextra", "-Werror"]
    command = [compiler, "-std=c++17", "-fPIC", *warnings, f"-I{INCLUDE_DIR}", *DEFINES, *flags]
    done = subprocess.run([*command, "-c", str(source), "-o", str(output)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# Through these a super kernel talks to its operators.
SHARED = {
    "g_super_kernel_early_start_config": 4,
    "g_super_kernel_dynamic_block_num": 4,
    "_ZN7AscendC40g_superKernelAutoSyncAllConfigGmBaseAddrE": 8,
    "_ZN7AscendC36g_superKernelAutoSyncAllConfigGmAddrE": 8,
    "_ZN7AscendC31g_superKernelAutoSyncAllSyncIdxE": 4,
    "_ZN7AscendC30g_superKernelAutoSyncAllEnableE": 4,
}


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_compiles_cleanly_for_both_kinds_and_chips(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    for (kind, arch), level in zip(itertools.product(["CUBE", "VEC"], [2201, 3510]), ["-O0", "-O2", "-O2", "-O0"]):
        output = tmp_path / f"{kind}{arch}{level}.o"
        _compile(compiler, output, f"-D__DAV_{kind}__=1", f"-D__NPU_ARCH__={arch}", level)
        symbols = elf.symbols(output.read_bytes())
        sections = elf.sections(output.read_bytes())
        defined = {symbol.name: symbol for symbol in symbols if symbol.binding != "local" and symbol.is_defined}
        assert defined.keys() == {"entry", "g_opSystemRunCfg"} | SHARED.keys()
        for name, size in SHARED.items():
            symbol = defined[name]
            section = sections[symbol.section]
            # GCC binds inline variables as unique ones.
            assert (symbol.binding, symbol.size) in {("weak", size), ("binding-10", size)}
            assert section.name.startswith(".bl.uninit.") and section.flags & 0x200, "in a group of its own"
        undefined = {symbol.name for symbol in symbols if not symbol.is_defined and symbol.name}
        foreign = {name for name in undefined if not name.startswith("sk_rt_")}
        assert foreign <= {"sub", "_GLOBAL_OFFSET_TABLE_", "memcpy", "memmove", "memset", "snprintf"}


def test_helpers_that_kernels_share_are_constants(tmp_path: Path) -> None:
    """Beside the vendor's headers, under the names of an installed toolkit."""
    source = tmp_path / "kernel.cpp"
    source.write_text("""
#include <cstdint>
#include <type_traits>
#define __aicore__
#include "op_kernel/math_util.h"
#include "op_kernel/platform_util.h"
#include "platform/platform_infos_def.h"
using namespace Ops::Base;
static_assert(CeilDiv(33, 16U) == 3 && CeilDiv(7, 0) == 7 && CeilAlign(33, 16L) == 48, "");
static_assert(FloorDiv(33, 16) == 2 && FloorAlign(33, 16) == 32 && FloorDiv(3, 0) == 3, "");
static_assert(std::is_same<decltype(CeilDiv(int64_t(1), 2U)), int64_t>::value, "");
constexpr uint32_t BLOCK = GetUbBlockSize();
static_assert(BLOCK == 32 && GetVRegSize() == 256, "");
""")
    compiler = shutil.which("g++") or "c++"
    words = ["-std=c++17", "-Wall", "-Werror", "-fsyntax-only", "-I", f"{INCLUDE_DIR}/sk_cpu", str(source)]
    told = subprocess.run([compiler, *words], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


def test_meta_sections_have_the_bytes_of_the_format(tmp_path: Path) -> None:
    output = tmp_path / "kernel.o"
    _compile(shutil.which("g++") or "c++", output)
    data = output.read_bytes()
    assert bytes(elf.section_bytes(data, ".ascend.meta.entry")).hex(" ") == (
        "01 00 04 00 04 00 00 00 03 00 04 00 01 00 02 00"
    )
    assert bytes(elf.section_bytes(data, ".ascend.meta.only")).hex(" ") == "01 00 04 00 03 00 00 00"
