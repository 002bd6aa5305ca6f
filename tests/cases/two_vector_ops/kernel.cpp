#if 1
// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.
#define SK_CONTROL_ONLY
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIV_1_0, 8 blocks, 2 ops, one stream.

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

SK_HELPER void sk_set_next() {
    AscendC::SetNextTaskStart();
}

// config: class of the op before << 2 | class of the op at hand; AIC 0, AIV 1, MIX 2.
template <int8_t config>
SK_HELPER void sk_wait_previous() {
    AscendC::WaitPreTaskEndImpl<config>();
}

SK_FUNCTION(pow_aiv)
SK_FUNCTION(isinf_aiv)

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    const uint64_t sk_code_pow_aiv = SK_COPY(pow_aiv);
    sk_preload(sk_code_pow_aiv, 2);
    const uint64_t sk_code_isinf_aiv = SK_COPY(isinf_aiv);
    sk_preload(sk_code_isinf_aiv, 2);
    // op 0: pow (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_call(sk_code_pow_aiv, 0, 1);
    // op 1: isinf (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 5;
    sk_wait_previous<5>(); // list order
    sk_call(sk_code_isinf_aiv, 1, 2);
}

#if TILING_KEY_VAR == 0UL
static const struct FunLevelMixCoreType te_superkernel_test_mix_aiv_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aiv"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIV_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 0, 1}};
#endif
#endif
