#if 1
// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.
#define SK_CONTROL_ONLY
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIV_1_0, 48 blocks, 2 ops, one stream.

#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
__gm__ struct OpSystemRunCfg g_opSystemRunCfg = {0};
#else
extern __gm__ struct OpSystemRunCfg g_opSystemRunCfg;
#endif

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
    extern "C" __aicore__ void name(uint64_t args_offset);
#define SK_COPY(name) (uint64_t)name

SK_HELPER void sk_set_next() {
    AscendC::SetNextTaskStart();
}

// config: class of the op before << 2 | class of the op at hand; AIC 0, AIV 1, MIX 2.
template <int8_t config>
SK_HELPER void sk_wait_previous() {
    AscendC::WaitPreTaskEndImpl<config>();
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

SK_FUNCTION(k0_3_aiv)
SK_FUNCTION(k0_4_aiv)
SK_FUNCTION(k1_aiv)

// Tells a simulator whose key it is; nothing on a device.
#ifndef SK_UNKNOWN_KEY
#define SK_UNKNOWN_KEY(slots) ((void)(slots))
#endif

// What a switch picked: this core's copy, and the kernel type above the block count.
struct SkPicked {
    uint64_t code;
    uint64_t type_and_blocks;
};

SK_HELPER SkPicked sk_switch_0(GM_ADDR *slots, GM_ADDR lock) {
    sk_wait_until_set(lock);
    [[maybe_unused]] const uint64_t key = *(__gm__ volatile uint64_t *)slots[0];
    const uint64_t blocks = *(__gm__ volatile uint64_t *)slots[1] & 0xffffffffULL;
    if (key < 4ULL) {
        if (key == 3ULL) {
            // KERNEL_TYPE_AIV_ONLY
            return SkPicked{SK_COPY(k0_3_aiv), 0ULL << 32 | blocks};
        }
    } else {
        if (key == 4ULL) {
            // KERNEL_TYPE_MIX_AIV_1_0
            return SkPicked{SK_COPY(k0_4_aiv), 4ULL << 32 | blocks};
        }
    }
    SK_UNKNOWN_KEY(slots);
    trap();
    return SkPicked{0, 0xffULL << 32 | blocks};
}

// All cores of the picked type's kinds call; those beyond its block count leave by themselves.
SK_HELPER void sk_call_picked(const SkPicked &picked, uint32_t position, uint64_t offset) {
    const uint32_t blocks = (uint32_t)picked.type_and_blocks;
    g_super_kernel_dynamic_block_num = blocks;
    const uint64_t type = picked.type_and_blocks >> 32;
    if (type == 6 || type == 7) {
        if (blocks == 0 || blocks > 48) {
            trap();
        }
        sk_call(picked.code, position, offset);
    }
    if (type == 0 || type == 4) {
        if (blocks == 0 || blocks > 48) {
            trap();
        }
        sk_call(picked.code, position, offset);
    }
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    [[maybe_unused]] SkPicked picked = {0, 0};
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    const uint64_t sk_code_k1_aiv = SK_COPY(k1_aiv);
    sk_preload_below(core_index, 8, sk_code_k1_aiv, 2);
    GM_ADDR const sk_word_4 = param_base[4];
    // op 0: k0 (KERNEL_TYPE_AIV_ONLY, 48 blocks, stream 0)
    picked = sk_switch_0(param_base + 2, sk_word_4); // tiling at run time
    sk_preload(picked.code, 8);
    sk_call_picked(picked, 0, 1);
    // op 1: k1 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 5;
    sk_wait_previous<5>(); // list order
    if (core_index == 0) { sk_clear(sk_word_4); }
    sk_call_below(core_index, 8, sk_code_k1_aiv, 1, 5);
}

#if TILING_KEY_VAR == 0UL
static const struct FunLevelMixCoreType te_superkernel_test_mix_aiv_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aiv"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIV_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 0, 1}};
#endif
#endif
