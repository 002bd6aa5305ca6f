// What host code is told about the chip (`platform_ascendc::PlatformAscendC`): the numbers of the simulated one.
//
// The class is the user's: their header declares it, and what its objects are made of. This file is compiled by itself, so
// it declares the functions once more, and none of them looks into an object.
#ifndef SK_PROGRAM_PLATFORM_DEFINITIONS_H
#define SK_PROGRAM_PLATFORM_DEFINITIONS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <mutex>

// Not by its place beside this file, from where the search for a toolkit's own would start again.
#include <platform/soc_spec.h>
#include "sk_program/launch.h"

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {

enum class CoreMemType { L0_A, L0_B, L0_C, L1, L2, UB, HBM, FB, BT };
enum class SocVersion { ASCEND910B = 1 };
enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
  public:
    uint32_t GetCoreNum() const;
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    uint32_t GetCoreNumVector() const;
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t cubeCores, uint32_t vectorCores) const;
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t cubeCores, uint32_t vectorCores) const;
    uint32_t GetLibApiWorkSpaceSize() const;
    uint32_t GetResCubeGroupWorkSpaceSize() const;
    uint32_t GetResGroupBarrierWorkSpaceSize() const;
    void GetCoreMemSize(const CoreMemType &memory, uint64_t &bytes) const;
    void GetCoreMemBw(const CoreMemType &memory, uint64_t &bytesPerCycle) const;
    void ReserveLocalMemory(ReservedSize size);
    SocVersion GetSocVersion() const;
    NpuArch GetCurNpuArch() const;
    uint32_t GetVecRegLen() const;
};

class PlatformAscendCManager {
    static PlatformAscendC *platformInfo;
    static std::mutex platformInitMtx;
    static PlatformAscendC *PlatformAscendCManagerInit(const char *chip);
};

PlatformAscendC *PlatformAscendCManager::platformInfo = nullptr;
std::mutex PlatformAscendCManager::platformInitMtx;

// There is one chip. Whoever asks for another generation gets none, and hears why.
PlatformAscendC *PlatformAscendCManager::PlatformAscendCManagerInit(const char *chip) {
    // More than any header's object needs.
    alignas(16) static uint8_t place[256];
    if (chip != nullptr && strncmp(chip, "Ascend910B", 10) != 0 && strncmp(chip, "Ascend910_93", 12) != 0) {
        fprintf(stderr, "PlatformAscendCManager: there is no chip %s here, only Ascend910B and Ascend910_93\n", chip);
        return nullptr;
    }
    platformInfo = reinterpret_cast<PlatformAscendC *>(place);
    return platformInfo;
}

// A launch counts blocks, and a block has a cube core.
uint32_t PlatformAscendC::GetCoreNum() const { return GetCoreNumAic(); }
uint32_t PlatformAscendC::GetCoreNumAic() const { return sk_rt_program_cores(0); }
uint32_t PlatformAscendC::GetCoreNumAiv() const { return sk_rt_program_cores(1); }
// Vector cores beside whole cores: chips of older generations have them.
uint32_t PlatformAscendC::GetCoreNumVector() const { return 0; }

// Slices are vector cores' work if both kinds take part: as many blocks as have that many of them.
uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t slices, uint32_t cubeCores, uint32_t vectorCores) const {
    if (cubeCores == 0 || vectorCores < cubeCores) {
        return slices;
    }
    const uint32_t perBlock = vectorCores / cubeCores;
    return (slices + perBlock - 1) / perBlock;
}
uint32_t PlatformAscendC::CalcTschNumBlocks(uint32_t slices, uint32_t cubeCores, uint32_t vectorCores) const {
    return CalcTschBlockDim(slices, cubeCores, vectorCores);
}

// In front of the user's part of a workspace.
uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const {
    return static_cast<uint32_t>(sk_rt_program_memory(SK_PROGRAM_MEMORY_MESSAGES));
}
// Messages of groups of cores: room enough for all cores.
uint32_t PlatformAscendC::GetResCubeGroupWorkSpaceSize() const { return 1u << 20; }
uint32_t PlatformAscendC::GetResGroupBarrierWorkSpaceSize() const { return 1u << 20; }

static uint64_t reservedBytes = 0;

void PlatformAscendC::ReserveLocalMemory(ReservedSize size) {
    reservedBytes = 8192ull << static_cast<unsigned>(size);
}

void PlatformAscendC::GetCoreMemSize(const CoreMemType &memory, uint64_t &bytes) const {
    switch (memory) {
    case CoreMemType::L0_A:
        bytes = sk_rt_program_memory(SK_PROGRAM_MEMORY_L0A);
        return;
    case CoreMemType::L0_B:
        bytes = sk_rt_program_memory(SK_PROGRAM_MEMORY_L0B);
        return;
    case CoreMemType::L0_C:
        bytes = sk_rt_program_memory(SK_PROGRAM_MEMORY_L0C);
        return;
    case CoreMemType::L1:
        bytes = sk_rt_program_memory(SK_PROGRAM_MEMORY_L1);
        return;
    case CoreMemType::UB:
        bytes = sk_rt_program_memory(SK_PROGRAM_MEMORY_UB) - reservedBytes;
        return;
    case CoreMemType::FB:
        bytes = sk_rt_program_memory(SK_PROGRAM_MEMORY_FB);
        return;
    case CoreMemType::BT:
        bytes = sk_rt_program_memory(SK_PROGRAM_MEMORY_BT);
        return;
    // L2 and HBM belong to the device; nothing here runs out of them.
    case CoreMemType::L2:
        bytes = 192ull << 20;
        return;
    case CoreMemType::HBM:
        bytes = 64ull << 30;
        return;
    }
    bytes = 0;
}

void PlatformAscendC::GetCoreMemBw(const CoreMemType &memory, uint64_t &bytesPerCycle) const {
    const bool isDevice = memory == CoreMemType::L2 || memory == CoreMemType::HBM;
    // table: rates (make tables writes it)
    bytesPerCycle = isDevice ? 64 : 256;
    // end of table
}

SocVersion PlatformAscendC::GetSocVersion() const { return SocVersion::ASCEND910B; }
NpuArch PlatformAscendC::GetCurNpuArch() const { return NpuArch::DAV_2201; }
// This chip's vector unit works on memory.
uint32_t PlatformAscendC::GetVecRegLen() const { return 0; }

} // namespace platform_ascendc

#endif
