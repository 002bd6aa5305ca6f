#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_1, 8 blocks, 4 ops, one stream.

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

SK_FUNCTION(k0_aic)
SK_FUNCTION(k0_aiv)
SK_FUNCTION(k1_aic)
SK_FUNCTION(k2_aiv)
SK_FUNCTION(k3_aiv)

// All cores of both kinds meet.
SK_HELPER void sk_meet_all() {
    AscendC::SyncAll<false>();
}

SK_HELPER void sk_publish(GM_ADDR address, uint64_t value) {
    __gm__ volatile uint64_t *lock = (__gm__ volatile uint64_t *)address;
    *lock = value;
    dcci(lock, 0, 2);
}

SK_HELPER void sk_wait_until_set(GM_ADDR address) {
    __gm__ volatile uint64_t *lock = (__gm__ volatile uint64_t *)address;
    do {
        dcci(lock, 0, 2);
    } while (*lock != 1);
}

SK_HELPER void sk_clear(GM_ADDR address) {
    __gm__ volatile uint64_t *lock = (__gm__ volatile uint64_t *)address;
    *lock = 0;
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (param_base[0] != nullptr) {
        set_ffts_base_addr((uint64_t)param_base[0]);
    }
    if ASCEND_IS_AIC {
        // op 0: k0 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
        if (block_index < 4) { sk_call_k0_aic(0, 1); }
    }
    if ASCEND_IS_AIV {
        if (block_index < 4) { sk_call_k0_aiv(0, 1); }
    }
    // op 1: k1 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // before outer notify
    if ASCEND_IS_AIC {
        if (block_index == 0) {
            sk_publish(param_base[2], 1); // outer event 7
            sk_wait_until_set(param_base[5]); // outer event 8
        }
    }
    sk_meet_all(); // after outer wait
    if ASCEND_IS_AIC {
        if (block_index < 8) { sk_call_k1_aic(1, 3); }
    }
    // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // before outer notify
    if ASCEND_IS_AIC {
        if (block_index == 0) {
            sk_publish(param_base[4], 1); // outer event 9
        }
    }
    if ASCEND_IS_AIV {
        if (core_index == 0) {
            sk_wait_until_set(param_base[7]); // outer event 10
        }
    }
    sk_meet_all(); // after outer wait
    if ASCEND_IS_AIV {
        if (core_index < 8) { sk_call_k2_aiv(2, 6); }
    }
    // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // list order
    if ASCEND_IS_AIV {
        if (core_index < 8) { sk_call_k3_aiv(3, 8); }
    }
    if ASCEND_IS_AIC {
        if (block_index == 0) {
            sk_clear(param_base[5]); // outer event 8
        }
    }
    if ASCEND_IS_AIV {
        if (core_index == 0) {
            sk_clear(param_base[7]); // outer event 10
        }
    }
}

#if TILING_KEY_VAR == 0UL
#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 2201
static const struct FunLevelMixCoreType te_superkernel_test_mix_aic_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aic"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 1}};
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
static const struct FunLevelMixCoreType te_superkernel_test_mix_aiv_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aiv"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 1}};
#endif
#endif
#endif
