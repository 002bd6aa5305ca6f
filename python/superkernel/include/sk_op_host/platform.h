// What host code is told about the chip. All numbers come from the simulator's model of it, with the question (ask.h).
#ifndef SK_OP_HOST_PLATFORM_H
#define SK_OP_HOST_PLATFORM_H

#include <map>
#include <mutex>
#include <string>

#include "graph.h"

enum class NpuArch : uint32_t {
    DAV_1001 = 1001,
    DAV_2002 = 2002,
    DAV_2201 = 2201,
    DAV_3002 = 3002,
    DAV_3003 = 3003,
    DAV_3102 = 3102,
    DAV_3113 = 3113,
    DAV_3510 = 3510,
    DAV_5102 = 5102,
    DAV_RESV = 0xffff,
};

// Host code names it also where nothing of it is used.
namespace AscendC {}

namespace fe {

enum class LocalMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };

class PlatFormInfos {
  public:
    using Group = std::map<std::string, std::string>;

    bool Init() { return true; }
    bool GetPlatformRes(const std::string &group, const std::string &key, std::string &value) {
        const auto found = groups_.find(group);
        if (found == groups_.end() || found->second.count(key) == 0) {
            return false;
        }
        value = found->second[key];
        return true;
    }
    bool GetPlatformRes(const std::string &group, Group &values) {
        const auto found = groups_.find(group);
        if (found == groups_.end()) {
            return false;
        }
        values = found->second;
        return true;
    }
    bool GetPlatformResWithLock(const std::string &group, const std::string &key, std::string &value) {
        return GetPlatformRes(group, key, value);
    }
    bool GetPlatformResWithLock(const std::string &group, Group &values) { return GetPlatformRes(group, values); }
    void SetPlatformRes(const std::string &group, Group &values) { groups_[group] = values; }
    uint32_t GetCoreNum() const { return Number("SoCInfo", "ai_core_cnt"); }
    uint32_t GetCoreNumByType(const std::string &type) const {
        return Number("SoCInfo", type == "VectorCore" ? "vector_core_cnt" : "ai_core_cnt");
    }
    uint32_t GetCoreNumWithLock() const { return GetCoreNum(); }
    void SetCoreNumByCoreType(const std::string &) {}
    void SetCoreNum(const uint32_t &) {}
    void GetLocalMemSize(const LocalMemType &memory, uint64_t &bytes) {
        const auto found = sizes_.find(memory);
        bytes = found == sizes_.end() ? 0 : found->second;
    }
    void GetLocalMemBw(const LocalMemType &memory, uint64_t &bytes_per_cycle) {
        bytes_per_cycle = memory == LocalMemType::L2 || memory == LocalMemType::HBM ? far_ : near_;
    }
    void SkSet(const std::string &group, const std::string &key, const std::string &value) {
        groups_[group][key] = value;
    }
    void SkSetSize(LocalMemType memory, uint64_t bytes) { sizes_[memory] = bytes; }
    void SkSetBandwidth(uint64_t near, uint64_t far) {
        near_ = near;
        far_ = far;
    }

  private:
    uint32_t Number(const std::string &group, const std::string &key) const {
        const auto found = groups_.find(group);
        if (found == groups_.end() || found->second.count(key) == 0) {
            return 0;
        }
        return static_cast<uint32_t>(atoi(found->second.at(key).c_str()));
    }

    std::map<std::string, Group> groups_;
    std::map<LocalMemType, uint64_t> sizes_;
    uint64_t near_ = 0;
    uint64_t far_ = 0;
};

class OptionalInfos {
  public:
    bool Init() { return true; }
    std::string GetSocVersion() const { return soc_version_; }
    void SetSocVersion(std::string version) { soc_version_ = std::move(version); }
    void SetCoreType(std::string) {}
    void SetAICoreNum(uint32_t) {}
    void SetL1FusionFlag(std::string) {}

  private:
    std::string soc_version_;
};

// The chip of this process, for code that has no context at hand.
inline PlatFormInfos &SkThisPlatform() {
    static PlatFormInfos platform;
    return platform;
}

struct StrInfo {
    std::string short_soc_version;
    std::string aic_version;
    std::string ccec_aic_version;
};
struct SoCInfo {
    uint32_t ai_core_cnt = 0;
    uint32_t vector_core_cnt = 0;
    uint32_t l2_size = 0;
};
struct AiCoreSpec {
    uint64_t l0_a_size = 0;
    uint64_t l0_b_size = 0;
    uint64_t l0_c_size = 0;
    uint64_t l1_size = 0;
    uint64_t ub_size = 0;
};
struct PlatformInfo {
    StrInfo str_info;
    SoCInfo soc_info;
    AiCoreSpec ai_core_spec;
};
struct OptionalInfo {
    std::string soc_version;
    uint32_t ai_core_num = 0;
};

class PlatformInfoManager {
  public:
    static PlatformInfoManager &Instance() {
        static PlatformInfoManager manager;
        return manager;
    }
    static PlatformInfoManager &GeInstance() { return Instance(); }
    uint32_t InitializePlatformInfo() { return 0; }
    uint32_t InitRuntimePlatformInfos(const std::string &) { return 0; }
    uint32_t GetPlatformInfos(const std::string &, PlatFormInfos &platform, OptionalInfos &optional) {
        GetPlatformInfoWithOutSocVersion(platform, optional);
        return 0;
    }
    uint32_t GetPlatformInfoWithOutSocVersion(PlatFormInfos &platform, OptionalInfos &optional) {
        platform = SkThisPlatform();
        std::string version;
        platform.GetPlatformRes("version", "SoC_version", version);
        optional.SetSocVersion(version);
        return 0;
    }
    uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo &info, OptionalInfo &optional) {
        auto &platform = SkThisPlatform();
        platform.GetPlatformRes("version", "Short_SoC_version", info.str_info.short_soc_version);
        platform.GetPlatformRes("version", "SoC_version", optional.soc_version);
        optional.ai_core_num = info.soc_info.ai_core_cnt = platform.GetCoreNum();
        info.soc_info.vector_core_cnt = platform.GetCoreNumByType("VectorCore");
        platform.GetLocalMemSize(LocalMemType::L0_A, info.ai_core_spec.l0_a_size);
        platform.GetLocalMemSize(LocalMemType::L0_B, info.ai_core_spec.l0_b_size);
        platform.GetLocalMemSize(LocalMemType::L0_C, info.ai_core_spec.l0_c_size);
        platform.GetLocalMemSize(LocalMemType::L1, info.ai_core_spec.l1_size);
        platform.GetLocalMemSize(LocalMemType::UB, info.ai_core_spec.ub_size);
        return 0;
    }
    uint32_t GetPlatformInfo(const std::string &, PlatformInfo &info, OptionalInfo &optional) {
        return GetPlatformInfoWithOutSocVersion(info, optional);
    }
    uint32_t GetPlatformInstanceByDevice(uint32_t, PlatFormInfos &platform) {
        platform = SkThisPlatform();
        return 0;
    }
    uint32_t GetRuntimePlatformInfosByDevice(uint32_t, PlatFormInfos &platform) {
        platform = SkThisPlatform();
        return 0;
    }
};

} // namespace fe

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };

enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND950,
    ASCEND910_55,
    ASCEND910_95 = ASCEND950,
    AS31XM1,
    ASCEND031,
    ASCEND035,
    ASCEND310,
    ASCEND610,
    ASCEND610Lite,
    ASCEND910_93,
    BS9SX1A,
    BS9SX2A,
    HI3796CV300CS,
    HI3796CV300ES,
    MC61AM21A,
    MC62,
    SD3403,
    KIRINX90,
    KIRIN9030,
    MC32DM11A,
    ASCEND350,
    RESERVED_VERSION = 99999,
};

enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
  public:
    explicit PlatformAscendC(fe::PlatFormInfos *platform)
        : platform_(platform == nullptr ? &fe::SkThisPlatform() : platform) {}
    // Blocks of a launch: a block has a cube core where there are any.
    uint32_t GetCoreNum() const { return platform_->GetCoreNum(); }
    uint32_t GetCoreNumAic() const { return static_cast<uint32_t>(Number("SoCInfo", "cube_core_cnt")); }
    uint32_t GetCoreNumAiv() const { return static_cast<uint32_t>(Number("SoCInfo", "vector_core_cnt")); }
    // Vector cores beside whole cores, as older generations have them.
    uint32_t GetCoreNumVector() const { return 0; }
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t cubes, uint32_t vectors) const {
        if (cubes == 0 || vectors == 0 || cubes > vectors) {
            return slices;
        }
        const uint32_t per_block = vectors / cubes;
        const uint32_t blocks = (slices + per_block - 1) / per_block;
        return per_block == 2 && blocks > cubes ? 0 : blocks;
    }
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t cubes, uint32_t vectors) const {
        return CalcTschNumBlocks(slices, cubes, vectors);
    }
    uint32_t GetLibApiWorkSpaceSize() const { return static_cast<uint32_t>(Number("SkChip", "messages")); }
    // Messages of groups of cores: room enough for all cores.
    uint32_t GetResCubeGroupWorkSpaceSize() const { return 1u << 20; }
    uint32_t GetResGroupBarrierWorkSpaceSize() const { return 1u << 20; }
    void GetCoreMemSize(const CoreMemType &memory, uint64_t &bytes) const {
        platform_->GetLocalMemSize(static_cast<fe::LocalMemType>(memory), bytes);
        const bool shared = memory == CoreMemType::UB || memory == CoreMemType::L1;
        // What cores of both kinds send each other lies at the end of both.
        if (shared && GetSocVersion() == SocVersion::ASCEND910B) {
            bytes -= 256;
        }
        if (memory == CoreMemType::UB) {
            bytes -= reserved_;
        }
    }
    void GetCoreMemBw(const CoreMemType &memory, uint64_t &bytes_per_cycle) const {
        platform_->GetLocalMemBw(static_cast<fe::LocalMemType>(memory), bytes_per_cycle);
    }
    void ReserveLocalMemory(ReservedSize size) { reserved_ = 8192u << static_cast<unsigned>(size); }
    SocVersion GetSocVersion() const {
        std::string name;
        platform_->GetPlatformRes("version", "Short_SoC_version", name);
        if (name == "Ascend910B" || name == "Ascend910_93") {
            return SocVersion::ASCEND910B;
        }
        return name == "Ascend950" ? SocVersion::ASCEND950 : SocVersion::RESERVED_VERSION;
    }
    NpuArch GetCurNpuArch() const {
        const uint64_t arch = Number("version", "NpuArch");
        return arch == 0 ? NpuArch::DAV_RESV : static_cast<NpuArch>(arch);
    }
    uint32_t GetVecRegLen() const { return static_cast<uint32_t>(Number("AICoreSpec", "vector_reg_width")); }

  private:
    uint64_t Number(const char *group, const char *key) const {
        std::string text;
        platform_->GetPlatformRes(group, key, text);
        return text.empty() ? 0 : strtoull(text.c_str(), nullptr, 10);
    }

    fe::PlatFormInfos *platform_;
    uint32_t reserved_ = 0;
};

class PlatformAscendCManager {
  public:
    static PlatformAscendC *GetInstance(const char * = nullptr) {
        static PlatformAscendC platform(&fe::SkThisPlatform());
        return &platform;
    }
};

} // namespace platform_ascendc

#endif
