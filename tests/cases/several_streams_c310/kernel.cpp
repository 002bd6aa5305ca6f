#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, 6 ops, several streams.

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

SK_FUNCTION(k0_aic)
SK_FUNCTION(k1_aiv)
SK_FUNCTION(k2_aiv)
SK_FUNCTION(k3_aic)
SK_FUNCTION(k3_aiv)
SK_FUNCTION(k4_aic)
SK_FUNCTION(k5_aiv)

// All cores of both kinds meet.
SK_HELPER void sk_meet_all() {
    AscendC::SyncAll<false>();
}

// All cube cores meet.
SK_HELPER void sk_meet_aic() {
    ffts_cross_core_sync(PIPE_FIX, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIC_FLAG));
    wait_flag_dev(PIPE_S, AscendC::SYNC_AIC_FLAG);
}

// All vector cores meet.
SK_HELPER void sk_meet_aiv() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIV_ONLY_ALL));
    wait_flag_dev(PIPE_S, AscendC::SYNC_AIV_ONLY_ALL);
}

SK_HELPER void sk_tell_aiv() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x02, AscendC::SYNC_AIC_AIV_FLAG));
}

SK_HELPER void sk_wait_for_aic() {
    wait_flag_dev(PIPE_S, AscendC::SYNC_AIC_AIV_FLAG);
}

SK_HELPER void sk_tell_aic() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x02, AscendC::SYNC_AIV_FLAG));
}

SK_HELPER void sk_wait_for_aiv() {
    wait_flag_dev(PIPE_S, AscendC::SYNC_AIV_FLAG);
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
    if ASCEND_IS_AIC {
        if (block_index < 8) {
            sk_preload(sk_address_k0_aic(), 1);
            sk_preload(sk_address_k3_aic(), 5);
            // op 0: k0 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
            sk_call_k0_aic(0, 0);
            sk_preload(sk_address_k4_aic(), 7);
        }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 1
        // op 3: k3 (KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, stream 0)
        sk_wait_for_aiv(); // event 2
        if (block_index < 8) { sk_call_k3_aic(3, 6); }
        sk_meet_all(); // before outer notify
        if (block_index == 0) {
            sk_publish(param_base[7], 1); // outer event 90
        }
        // op 4: k4 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
        sk_wait_for_aiv(); // same stream 0
        if (block_index < 8) { sk_call_k4_aic(4, 9); }
    }
    if ASCEND_IS_AIV {
        if (core_index < 16) {
            sk_preload(sk_address_k1_aiv(), 2);
            sk_preload(sk_address_k2_aiv(), 3);
            // op 1: k1 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 1)
            sk_call_k1_aiv(1, 2);
        }
        if (block_index < 8) { sk_preload(sk_address_k3_aiv(), 4); }
        sk_meet_aiv(); // same stream 1
        // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 1)
        sk_wait_for_aic(); // event 1
        if (core_index < 16) {
            sk_call_k2_aiv(2, 3);
            sk_preload(sk_address_k5_aiv(), 5);
        }
        sk_meet_aiv(); // event 2
        sk_tell_aic(); // event 2
        // op 3: k3 (KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, stream 0)
        if (block_index < 8) { sk_call_k3_aiv(3, 6); }
        sk_meet_all(); // before outer notify
        sk_tell_aic(); // same stream 0
        // op 5: k5 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 1)
        if (core_index == 0) {
            sk_wait_until_set(param_base[11]); // outer event 91
        }
        sk_meet_aiv(); // after outer wait
        if (core_index < 16) { sk_call_k5_aiv(5, 10); }
        if (core_index == 0) {
            sk_clear(param_base[11]); // outer event 91
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
