#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, 5 ops, one stream.

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
    return (uint8_t)get_coreid() % 2u;
}

SK_HELPER void sk_preload(uint64_t address, int64_t units) {
    preload((const void *)address, units);
}

// Declares a function with its copies; sk_call_NAME and sk_address_NAME take this core's copy.
#define SK_FUNCTION(name) \
    extern "C" __aicore__ void name(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split1(uint64_t args_offset); \
    SK_HELPER void sk_call_##name(uint32_t position, uint64_t offset) { \
        SK_OP_BEGIN(position); \
        switch (sk_copy()) { \
            case 1: name##_split1(offset); break; \
            default: name(offset); break; \
        } \
        SK_OP_END(position); \
    } \
    SK_HELPER uint64_t sk_address_##name() { \
        uint64_t address = 0; \
        switch (sk_copy()) { \
            case 1: address = (uint64_t)name##_split1; break; \
            default: address = (uint64_t)name; break; \
        } \
        return address; \
    }

SK_FUNCTION(k0_aiv)
SK_FUNCTION(k1_aic)
SK_FUNCTION(k1_aiv)
SK_FUNCTION(k2_aic)
SK_FUNCTION(k3_aiv)
SK_FUNCTION(k4_aic)
SK_FUNCTION(k4_aiv)

SK_HELPER void sk_set_next() {
    AscendC::SetNextTaskStart();
}

// config: class of the op before << 2 | class of the op at hand; AIC 0, AIV 1, MIX 2.
template <int8_t config>
SK_HELPER void sk_wait_previous() {
    AscendC::WaitPreTaskEndImpl<config>();
}

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
    if ASCEND_IS_AIV {
        if (core_index < 4) { sk_preload(sk_address_k0_aiv(), 2); }
    }
    if ASCEND_IS_AIC {
        if (block_index < 8) { sk_preload(sk_address_k1_aic(), 2); }
    }
    if ASCEND_IS_AIV {
        if (block_index < 8) { sk_preload(sk_address_k1_aiv(), 2); }
    }
    // op 0: k0 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    g_super_kernel_early_start_config = 5;
    if ASCEND_IS_AIV {
        sk_set_next(); // the op waits itself
    }
    if ASCEND_IS_AIC {
        sk_wait_previous<5>(); // the op waits itself
    }
    if ASCEND_IS_AIV {
        if (core_index >= 4) {
            sk_wait_previous<5>(); // the op waits itself
        }
        if (core_index < 4) { sk_call_k0_aiv(0, 0); }
    }
    if ASCEND_IS_AIC {
        if (block_index < 6) { sk_preload(sk_address_k2_aic(), 4); }
    }
    if ASCEND_IS_AIV {
        sk_set_next(); // list order
    }
    // op 1: k1 (KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, stream 0)
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    if ASCEND_IS_AIV {
        if (core_index == 0) {
            sk_publish(param_base[1], 1); // outer event 7
            sk_wait_until_set(param_base[3]); // outer event 8
        }
    }
    sk_meet_all(); // after outer wait
    if ASCEND_IS_AIV {
        sk_set_next(); // the op waits itself
    }
    if ASCEND_IS_AIC {
        if (block_index >= 8) {
            sk_wait_previous<6>(); // the op waits itself
        }
    }
    if ASCEND_IS_AIV {
        if (block_index >= 8) {
            sk_wait_previous<6>(); // the op waits itself
        }
    }
    if ASCEND_IS_AIC {
        if (block_index < 8) { sk_call_k1_aic(1, 2); }
    }
    if ASCEND_IS_AIV {
        if (block_index < 8) { sk_call_k1_aiv(1, 2); }
        if (core_index < 16) { sk_preload(sk_address_k3_aiv(), 4); }
    }
    if ASCEND_IS_AIC {
        if (block_index >= 8) {
            sk_set_next(); // list order
        }
    }
    if ASCEND_IS_AIV {
        if (block_index >= 8) {
            sk_set_next(); // list order
        }
    }
    // op 2: k2 (KERNEL_TYPE_AIC_ONLY, 6 blocks, stream 0)
    g_super_kernel_early_start_config = 8;
    sk_wait_previous<8>(); // list order
    if ASCEND_IS_AIC {
        if (block_index < 6) { sk_call_k2_aic(2, 4); }
        if (block_index < 4) { sk_preload(sk_address_k4_aic(), 7); }
    }
    if ASCEND_IS_AIV {
        if (block_index < 4) { sk_preload(sk_address_k4_aiv(), 4); }
    }
    if ASCEND_IS_AIC {
        if (block_index >= 6) {
            sk_set_next(); // list order
        }
    }
    // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 0)
    g_super_kernel_early_start_config = 1;
    if ASCEND_IS_AIC {
        sk_wait_previous<1>(); // list order
    }
    if ASCEND_IS_AIV {
        if (core_index >= 16) {
            sk_wait_previous<1>(); // list order
        }
        if (core_index < 16) { sk_call_k3_aiv(3, 5); }
        sk_set_next(); // list order
    }
    // op 4: k4 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    if ASCEND_IS_AIC {
        if (block_index < 4) { sk_call_k4_aic(4, 6); }
    }
    if ASCEND_IS_AIV {
        if (block_index < 4) { sk_call_k4_aiv(4, 6); }
    }
    if ASCEND_IS_AIC {
        if (block_index >= 4) {
            sk_set_next(); // the op sets itself
        }
    }
    if ASCEND_IS_AIV {
        if (block_index >= 4) {
            sk_set_next(); // the op sets itself
        }
    }
    g_super_kernel_early_start_config = 10;
    sk_wait_previous<10>(); // the op sets itself
    if ASCEND_IS_AIV {
        if (core_index == 0) {
            sk_clear(param_base[3]); // outer event 8
        }
    }
}

#if TILING_KEY_VAR == 0UL
#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 3510
static const struct FunLevelMixCoreType te_superkernel_test_mix_aic_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aic"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 2}};
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 3510
static const struct FunLevelMixCoreType te_superkernel_test_mix_aiv_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aiv"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 2}};
#endif
#endif
#endif
