#if 1
// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.
#define SK_CONTROL_ONLY
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, 5 ops, one stream.

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
SK_SHARED uint64_t sk_copy(uint64_t sk_copy_0, uint64_t sk_copy_1) {
    switch ((uint8_t)get_coreid() % 2u) {
        case 1: return sk_copy_1;
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
    extern "C" __aicore__ void name##_split1(uint64_t args_offset);
#define SK_COPY(name) sk_copy((uint64_t)name, (uint64_t)name##_split1)

SK_HELPER void sk_set_next() {
    AscendC::SetNextTaskStart();
}

// config: class of the op before << 2 | class of the op at hand; AIC 0, AIV 1, MIX 2.
template <int8_t config>
SK_HELPER void sk_wait_previous() {
    AscendC::WaitPreTaskEndImpl<config>();
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
SK_FUNCTION(k1_aic)
SK_FUNCTION(k2_aic)
SK_FUNCTION(k4_aic)

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    const uint64_t sk_code_k1_aic = SK_COPY(k1_aic);
    sk_preload(sk_code_k1_aic, 2);
    // op 0: k0 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    g_super_kernel_early_start_config = 5;
    sk_wait_previous<5>(); // the op waits itself
    const uint64_t sk_code_k2_aic = SK_COPY(k2_aic);
    sk_preload_below(block_index, 6, sk_code_k2_aic, 4);
    // op 1: k1 (KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, stream 0)
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    sk_call(sk_code_k1_aic, 1, 3);
    // op 2: k2 (KERNEL_TYPE_AIC_ONLY, 6 blocks, stream 0)
    g_super_kernel_early_start_config = 8;
    sk_wait_previous<8>(); // list order
    sk_call_below(block_index, 6, sk_code_k2_aic, 2, 5);
    const uint64_t sk_code_k4_aic = SK_COPY(k4_aic);
    sk_preload_below(block_index, 4, sk_code_k4_aic, 7);
    // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 0)
    // op 4: k4 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    if (block_index >= 6) {
        sk_set_next(); // list order
    }
    g_super_kernel_early_start_config = 1;
    sk_wait_previous<1>(); // list order
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    sk_call_below(block_index, 4, sk_code_k4_aic, 4, 7);
    if (block_index >= 4) {
        sk_set_next(); // the op sets itself
    }
    g_super_kernel_early_start_config = 10;
    sk_wait_previous<10>(); // the op sets itself
}
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
SK_FUNCTION(k0_aiv)
SK_FUNCTION(k1_aiv)
SK_FUNCTION(k3_aiv)
SK_FUNCTION(k4_aiv)

// What several ops have in common between them.
SK_SHARED void sk_between_0() {
    sk_set_next();
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>();
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    const uint64_t sk_code_k0_aiv = SK_COPY(k0_aiv);
    sk_preload_below(core_index, 4, sk_code_k0_aiv, 2);
    const uint64_t sk_code_k1_aiv = SK_COPY(k1_aiv);
    sk_preload(sk_code_k1_aiv, 2);
    // op 0: k0 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    g_super_kernel_early_start_config = 5;
    sk_set_next(); // the op waits itself
    if (core_index >= 4) {
        sk_wait_previous<5>(); // the op waits itself
    }
    sk_call_below(core_index, 4, sk_code_k0_aiv, 0, 1);
    // op 1: k1 (KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, stream 0)
    sk_between_0(); // list order
    GM_ADDR sk_word_4 = nullptr;
    if (core_index == 0) {
        sk_publish(param_base[2], 1); // outer event 7
        sk_wait_until_set(sk_word_4 = param_base[4]); // outer event 8
    }
    sk_set_next(); // the op waits itself
    sk_call(sk_code_k1_aiv, 1, 3);
    const uint64_t sk_code_k3_aiv = SK_COPY(k3_aiv);
    sk_preload(sk_code_k3_aiv, 4);
    // op 2: k2 (KERNEL_TYPE_AIC_ONLY, 6 blocks, stream 0)
    g_super_kernel_early_start_config = 8;
    sk_wait_previous<8>(); // list order
    const uint64_t sk_code_k4_aiv = SK_COPY(k4_aiv);
    sk_preload_below(block_index, 4, sk_code_k4_aiv, 4);
    // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 0)
    g_super_kernel_early_start_config = 1;
    sk_call(sk_code_k3_aiv, 3, 6);
    // op 4: k4 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    sk_between_0(); // list order
    sk_call_below(block_index, 4, sk_code_k4_aiv, 4, 7);
    if (block_index >= 4) {
        sk_set_next(); // the op sets itself
    }
    g_super_kernel_early_start_config = 10;
    sk_wait_previous<10>(); // the op sets itself
    if (core_index == 0) {
        sk_clear(sk_word_4); // outer event 8
    }
}
#endif

#if TILING_KEY_VAR == 0UL
#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 2201
static const struct FunLevelMixCoreType te_superkernel_test_mix_aic_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aic"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 2}};
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
static const struct FunLevelMixCoreType te_superkernel_test_mix_aiv_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aiv"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 2}};
#endif
#endif
#endif
