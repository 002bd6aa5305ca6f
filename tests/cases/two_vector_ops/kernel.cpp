#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIV_1_0, 8 blocks, 2 ops, one stream.

// Labels for a simulator; nothing on a device.
#ifndef SK_OP_BEGIN
#define SK_OP_BEGIN(position) ((void)(position))
#define SK_OP_END(position) ((void)(position))
#endif

// A host compiler need not look into the same helper thousands of times.
#ifdef __SK_HOST__
#define SK_HELPER static __attribute__((noinline, unused))
#else
#define SK_HELPER static __aicore__ inline
#endif

// Cores fetch their instructions from different copies of the same code.
SK_HELPER uint32_t sk_copy() {
    return (uint8_t)get_coreid() % 4u;
}

SK_HELPER void sk_preload(uint64_t address, int64_t units) {
    preload((const void *)address, units);
}

// Declares a function with its copies; sk_call_NAME and sk_address_NAME take this core's copy.
#define SK_FUNCTION(name) \
    extern "C" __aicore__ void name(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split1(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split2(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split3(uint64_t args_offset); \
    SK_HELPER void sk_call_##name(uint32_t position, uint64_t offset) { \
        SK_OP_BEGIN(position); \
        switch (sk_copy()) { \
            case 1: name##_split1(offset); break; \
            case 2: name##_split2(offset); break; \
            case 3: name##_split3(offset); break; \
            default: name(offset); break; \
        } \
        SK_OP_END(position); \
    } \
    SK_HELPER uint64_t sk_address_##name() { \
        uint64_t address = 0; \
        switch (sk_copy()) { \
            case 1: address = (uint64_t)name##_split1; break; \
            case 2: address = (uint64_t)name##_split2; break; \
            case 3: address = (uint64_t)name##_split3; break; \
            default: address = (uint64_t)name; break; \
        } \
        return address; \
    }

SK_FUNCTION(pow_aiv)
SK_FUNCTION(isinf_aiv)

SK_HELPER void sk_set_next() {
    AscendC::SetNextTaskStart();
}

// config: class of the op before << 2 | class of the op at hand; AIC 0, AIV 1, MIX 2.
template <int8_t config>
SK_HELPER void sk_wait_previous() {
    AscendC::WaitPreTaskEndImpl<config>();
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (param_base[0] != nullptr) {
        set_ffts_base_addr((uint64_t)param_base[0]);
    }
    if (core_index < 8) {
        sk_preload(sk_address_pow_aiv(), 2);
        sk_preload(sk_address_isinf_aiv(), 2);
        // op 0: pow (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
        sk_call_pow_aiv(0, 1);
    }
    sk_set_next(); // list order
    // op 1: isinf (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    g_super_kernel_early_start_config = 5;
    sk_wait_previous<5>(); // list order
    if (core_index < 8) { sk_call_isinf_aiv(1, 2); }
}

#if TILING_KEY_VAR == 0UL
static const struct FunLevelMixCoreType te_superkernel_test_mix_aiv_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aiv"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIV_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 0, 1}};
#endif
#endif
