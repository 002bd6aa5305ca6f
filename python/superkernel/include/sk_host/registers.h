// Who am I: registers of the core, and the index functions built on them.
#ifndef SK_HOST_REGISTERS_H
#define SK_HOST_REGISTERS_H

// The kind is asked at run time even though a file is compiled once per kind: see the note on linkage in
// kernel_operator.h.
#define ASCEND_IS_AIC (sk_rt_core()->kind == 1)
#define ASCEND_IS_AIV (sk_rt_core()->kind == 2)
#define ASCEND_IS_NOT_AIC (sk_rt_core()->kind != 1)
#define ASCEND_IS_NOT_AIV (sk_rt_core()->kind != 2)

namespace {

inline int64_t get_block_idx() { return sk_rt_core()->blockIdx; }
inline int64_t get_block_num() { return sk_rt_core()->blockNum; }
inline int64_t get_subblockid() { return sk_rt_core()->subBlockIdx; }
inline int64_t get_subblockdim() { return sk_rt_core()->subBlockDim; }
inline int64_t get_coreid() { return sk_rt_core()->coreId; }
inline int64_t get_task_ration() { return sk_rt_core()->subBlockDim; }
// The register as a variable.
struct SkHostBlockIndex {
    operator int64_t() const { return get_block_idx(); }
};
constexpr SkHostBlockIndex block_idx{};
inline int64_t get_para_base() { return static_cast<int64_t>(sk_rt_core()->paraBase); }

inline int sk_host_core_type() { return static_cast<int>(sk_rt_core()->kind); }

} // namespace

// One instance per core across all files of the kernel, as on a device: the linker keeps one of each.
SK_HOST_SHARED(g_super_kernel_early_start_config) uint32_t g_super_kernel_early_start_config = 0;
SK_HOST_SHARED(g_super_kernel_dynamic_block_num) uint32_t g_super_kernel_dynamic_block_num = 0;

namespace AscendC {
namespace {

inline int64_t GetBlockIdxImpl() {
    const SkCoreState &core = *sk_rt_core();
    return core.kind == AIV ? core.blockIdx * core.subBlockDim + core.subBlockIdx : core.blockIdx;
}

inline int64_t GetBlockIdx() { return GetBlockIdxImpl(); }

inline int64_t GetBlockNum() {
#if defined(__SUPER_KERNEL_STATIC_BLOCK_NUM__)
    return __SUPER_KERNEL_STATIC_BLOCK_NUM__;
#elif defined(__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__)
    return g_super_kernel_dynamic_block_num;
#else
    return sk_rt_core()->blockNum;
#endif
}

inline int64_t GetSubBlockIdx() { return sk_rt_core()->subBlockIdx; }
inline int64_t GetSubBlockNum() { return sk_rt_core()->subBlockDim; }
inline int64_t GetTaskRatio() { return sk_rt_core()->subBlockDim; }
inline int64_t GetTaskRation() { return sk_rt_core()->subBlockDim; }
inline int64_t GetSystemCycle() { return sk_rt_system_cycle(); }

} // namespace

using ::sk_host_core_type;
} // namespace AscendC

#define g_coreType sk_host_core_type()

#endif
