#if 1
// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.
#define SK_CONTROL_ONLY
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_1, 8 blocks, 4 ops, one stream.

// Labels for a simulator; nothing on a device.
#ifndef SK_OP_BEGIN
#define SK_OP_BEGIN(position) ((void)(position))
#define SK_OP_END(position) ((void)(position))
#endif

// Code that ops share is there once: less to compile, and less to fetch.
#define SK_SHARED static __attribute__((noinline, unused)) __aicore__
// A host compiler need not look into the same helper thousands of times.
#ifdef __SK_HOST__
#define SK_HELPER SK_SHARED
#else
#define SK_HELPER static __attribute__((unused)) __aicore__ inline
#endif

// Cores fetch their instructions from different copies of the same code.
SK_SHARED uint64_t sk_copy(uint64_t sk_copy_0, uint64_t sk_copy_1, uint64_t sk_copy_2, uint64_t sk_copy_3) {
    switch ((uint8_t)get_coreid() % 4u) {
        case 1: return sk_copy_1;
        case 2: return sk_copy_2;
        case 3: return sk_copy_3;
        default: return sk_copy_0;
    }
}

SK_HELPER void sk_preload(uint64_t code, int64_t units) {
    preload((const void *)code, units);
}

SK_HELPER void sk_call(uint64_t code, uint32_t position, uint64_t offset) {
    SK_OP_BEGIN(position);
    ((void (*)(uint64_t))code)(offset);
    SK_OP_END(position);
}

// For the cores whose index is below the count.
SK_HELPER void sk_preload_below(int64_t index, int64_t count, uint64_t code, int64_t units) {
    if (index < count) {
        sk_preload(code, units);
    }
}

SK_HELPER void sk_call_below(int64_t index, int64_t count, uint64_t code, uint32_t position, uint64_t offset) {
    if (index < count) {
        sk_call(code, position, offset);
    }
}

// Declares a function with its copies; SK_COPY is the address of this core's copy.
#define SK_FUNCTION(name) \
    extern "C" __aicore__ void name(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split1(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split2(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split3(uint64_t args_offset);
#define SK_COPY(name) sk_copy((uint64_t)name, (uint64_t)name##_split1, (uint64_t)name##_split2, (uint64_t)name##_split3)

// All cores of both kinds meet.
SK_HELPER void sk_meet_all() {
    AscendC::SyncAll<false>();
}

// All cube cores meet.
SK_HELPER void sk_meet_aic() {
    ffts_cross_core_sync(PIPE_FIX, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIC_FLAG));
    wait_flag_dev(AscendC::SYNC_AIC_FLAG);
}

// All vector cores meet.
SK_HELPER void sk_meet_aiv() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIV_ONLY_ALL));
    wait_flag_dev(AscendC::SYNC_AIV_ONLY_ALL);
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
    dcci(lock, 0, 2);
    *lock = 0;
    dcci(lock, 0, 2);
}

#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 2201
SK_FUNCTION(k0_aic)
SK_FUNCTION(k1_aic)

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    const uint64_t sk_code_k0_aic = SK_COPY(k0_aic);
    // op 0: k0 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    sk_call_below(block_index, 4, sk_code_k0_aic, 0, 1);
    // op 1: k1 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // before outer notify
    GM_ADDR sk_word_5 = nullptr;
    if (block_index == 0) {
        sk_publish(param_base[2], 1); // outer event 7
        sk_wait_until_set(sk_word_5 = param_base[5]); // outer event 8
    }
    sk_meet_aic(); // after outer wait
    const uint64_t sk_code_k1_aic = SK_COPY(k1_aic);
    sk_call(sk_code_k1_aic, 1, 3);
    // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // before outer notify
    if (block_index == 0) {
        sk_publish(param_base[4], 1); // outer event 9
    }
    // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // list order
    if (block_index == 0) {
        sk_clear(sk_word_5); // outer event 8
    }
}
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
SK_FUNCTION(k0_aiv)
SK_FUNCTION(k2_aiv)
SK_FUNCTION(k3_aiv)

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    const uint64_t sk_code_k0_aiv = SK_COPY(k0_aiv);
    // op 0: k0 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    sk_call_below(block_index, 4, sk_code_k0_aiv, 0, 1);
    // op 1: k1 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
    // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // before outer notify
    sk_meet_all(); // before outer notify
    GM_ADDR sk_word_7 = nullptr;
    if (core_index == 0) {
        sk_wait_until_set(sk_word_7 = param_base[7]); // outer event 10
    }
    sk_meet_aiv(); // after outer wait
    const uint64_t sk_code_k2_aiv = SK_COPY(k2_aiv);
    sk_call(sk_code_k2_aiv, 2, 6);
    // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_meet_all(); // list order
    const uint64_t sk_code_k3_aiv = SK_COPY(k3_aiv);
    sk_call(sk_code_k3_aiv, 3, 8);
    if (core_index == 0) {
        sk_clear(sk_word_7); // outer event 10
    }
}
#endif

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
