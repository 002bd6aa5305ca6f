"""Host code of programs that asks about the chip, and data that it lays out for kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from program_files import TREE, needs_tree, trees, write
from superkernel.cli import main

# Host code that asks about the chip. The class is declared by the user's headers; this is a small one of our own.
_PLATFORM_HEADER = """
#pragma once
#include <cstdint>
#include <mutex>
#include "platform/soc_spec.h"
namespace fe { class PlatFormInfos; }
namespace platform_ascendc {
enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8 };
enum class SocVersion { ASCEND910 = 0, ASCEND910B };
enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };
class PlatformAscendC {
  public:
    explicit PlatformAscendC(fe::PlatFormInfos *infos) : infos_(infos) {}
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t cube, uint32_t vector) const;
    uint32_t GetLibApiWorkSpaceSize() const;
    void GetCoreMemSize(const CoreMemType &memory, uint64_t &bytes) const;
    void ReserveLocalMemory(ReservedSize size);
    SocVersion GetSocVersion() const;
    NpuArch GetCurNpuArch() const;
  private:
    fe::PlatFormInfos *infos_;
};
class PlatformAscendCManager {
  public:
    static PlatformAscendC *GetInstance(const char *chip = nullptr) {
        const std::lock_guard<std::mutex> lock(platformInitMtx);
        return platformInfo != nullptr ? platformInfo : PlatformAscendCManagerInit(chip);
    }
  private:
    static PlatformAscendC *platformInfo;
    static std::mutex platformInitMtx;
    static PlatformAscendC *PlatformAscendCManagerInit(const char *chip);
};
}
"""

_PLATFORM = """
#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"
#include "tiling/platform/platform_ascendc.h"
using namespace platform_ascendc;

__global__ __aicore__ void mark(GM_ADDR x) { ((__gm__ int32_t *)x)[AscendC::GetBlockIdx() * 16] = 1; }

int main() {
    if (PlatformAscendCManager::GetInstance("Ascend310P") != nullptr) {
        return 1;
    }
    PlatformAscendC *chip = PlatformAscendCManager::GetInstance();
    const uint32_t vector = chip->GetCoreNumAiv();
    puts(aclrtGetSocName());
    printf("cores %u %u %u\\n", chip->GetCoreNum(), chip->GetCoreNumAic(), vector);
    const uint32_t mixed = chip->CalcTschBlockDim(9, chip->GetCoreNumAic(), vector);
    printf("blocks %u %u\\n", mixed, chip->CalcTschBlockDim(9, 0, vector));
    for (CoreMemType memory : {CoreMemType::UB, CoreMemType::L1, CoreMemType::L0_A, CoreMemType::L0_B,
                               CoreMemType::L0_C, CoreMemType::BT, CoreMemType::FB}) {
        uint64_t bytes = 0;
        chip->GetCoreMemSize(memory, bytes);
        printf("%llu ", (unsigned long long)bytes);
    }
    chip->ReserveLocalMemory(ReservedSize::RESERVED_SIZE_16K);
    uint64_t left = 0;
    chip->GetCoreMemSize(CoreMemType::UB, left);
    printf("%llu\\n", (unsigned long long)left);
    int64_t told = 0;
    aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &told);
    const bool is_chip = chip->GetSocVersion() == SocVersion::ASCEND910B && chip->GetCurNpuArch() == NpuArch::DAV_2201;
    int32_t *x = nullptr;
    aclrtMalloc((void **)&x, vector * 64, ACL_MEM_MALLOC_NORMAL_ONLY);
    mark<<<vector, nullptr, nullptr>>>((GM_ADDR)x);
    int32_t marked = 0;
    for (uint32_t i = 0; i < vector; ++i) {
        marked += x[i * 16];
    }
    printf("%d %d %d %u\\n", (int)told, (int)is_chip, marked, chip->GetLibApiWorkSpaceSize());
    return 0;
}
"""


@pytest.mark.parametrize("tree", trees())
def test_host_code_asks_about_the_chip(tmp_path: Path, tree: str, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "own" / "tiling" / "platform"
    folder.mkdir(parents=True)
    write(folder, _PLATFORM_HEADER, "platform_ascendc.h")
    own = [] if tree else ["-I", str(tmp_path / "own")]
    sizes = "196608 524288 65536 65536 131072 1024 7168 180224"
    other = ["--soc", "Ascend910B", "--aic-num", "20", "--aiv-num", "40"]
    for soc, cores, cube, vector in (("Ascend910_93", [], 24, 48), ("Ascend910B", other, 20, 40)):
        file = write(tmp_path, _PLATFORM, "chip.asc")
        assert main(["sim", "--ascendc", tree, *own, *cores, str(file)]) == 0
        told = capfd.readouterr()
        assert "there is no chip Ascend310P here" in told.err
        first = f"{soc}\ncores {cube} {cube} {vector}\nblocks 5 9\n{sizes}\n"
        assert told.out == first + f"{vector} 1 {vector} {16 << 20}\n"


_TILING = """
#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"
#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(Scale)
TILING_DATA_FIELD_DEF(uint32_t, count);
TILING_DATA_FIELD_DEF_ARR(int32_t, 3, factors);
END_TILING_DATA_DEF
}

__global__ __aicore__ void scale(GM_ADDR x, GM_ADDR tiling) {
    auto *words = (__gm__ int32_t *)tiling;
    for (int i = 0; i < words[0]; ++i) {
        ((__gm__ int32_t *)x)[i] = i * words[1] * words[2] * words[3];
    }
}

int main() {
    optiling::Scale tiling;
    const int32_t factors[] = {2, 3, 5};
    tiling.set_count(7);
    tiling.set_factors(factors);
    int32_t *x = nullptr, *words = nullptr;
    aclrtMalloc((void **)&x, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
    aclrtMalloc((void **)&words, tiling.GetDataSize(), ACL_MEM_MALLOC_NORMAL_ONLY);
    tiling.SaveToBuffer(words, tiling.GetDataSize());
    scale<<<1, nullptr, nullptr>>>((GM_ADDR)x, (GM_ADDR)words);
    printf("%d %d %u %d\\n", (int)tiling.GetDataSize(), x[6], tiling.get_count(), tiling.get_factors()[2]);
    return 0;
}
"""


@needs_tree
def test_tiling_structures_of_a_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--ascendc", TREE, str(write(tmp_path, _TILING))]) == 0
    assert capfd.readouterr().out == "16 180 7 5\n"
