#if 1
// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.
#define SK_CONTROL_ONLY
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_2, 8 blocks, 10 ops, one stream.

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

// Writes back and drops the whole data cache.
SK_HELPER void sk_flush() {
    dcci((__gm__ uint64_t *)0, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
}

// This core's profiling area: word 0 magic, word 1 next free record, word 2 end. Off after the first failed check.
struct SkProfile {
    __gm__ volatile uint64_t *area;
    uint64_t next;
    uint64_t end;
    bool on;
};

SK_HELPER void sk_profile_check(SkProfile &profile) {
    profile.on = profile.area[0] == 0xbdca8756ULL && profile.next < profile.end;
}

SK_HELPER void sk_profile_write(SkProfile &profile, uint64_t header) {
    if (!profile.on) {
        return;
    }
    __gm__ volatile uint64_t *record = (__gm__ volatile uint64_t *)profile.next;
    record[0] = header;
    record[1] = (uint64_t)AscendC::GetSystemCycle();
    dcci(record, 0, 2);
    if ((profile.next & 63) == 56) {
        dcci(record + 1, 0, 2); // the record lies across two cache lines
    }
    profile.next += 16;
    profile.area[1] = profile.next;
    dcci(profile.area, 0, 2);
    sk_profile_check(profile);
}

SK_HELPER void sk_profile_start(SkProfile &profile, GM_ADDR buffer, uint64_t task_id) {
    if (buffer == nullptr) {
        return;
    }
    uint64_t core = (uint64_t)get_block_idx() + 50;
    if ASCEND_IS_AIV {
        core = (uint64_t)(get_block_idx() * get_subblockdim() + get_subblockid());
    }
    const uint64_t size = *(__gm__ volatile uint32_t *)(buffer + 12);
    profile.area = (__gm__ volatile uint64_t *)(buffer + 64 + core * size);
    profile.next = profile.area[1];
    profile.end = profile.area[2];
    sk_profile_check(profile);
    sk_profile_write(profile, (task_id & 0xffffffffULL) << 32 | core << 8 | 0xff);
}

// type: 0 super kernel, 4 notify, 8 op, 0xC wait.
SK_HELPER void sk_record(SkProfile &profile, uint32_t index, uint32_t type, uint32_t end) {
    sk_profile_write(profile, (uint64_t)index << 32 | (uint64_t)end << 12 | (uint64_t)type << 8);
}

#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 2201
SK_FUNCTION(k7_aic)
SK_FUNCTION(k8_aic)

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    SkProfile profile = {nullptr, 0, 0, false};
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    sk_profile_start(profile, param_base[11], (uint64_t)param_base[12]);
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    sk_record(profile, 0u, 0x0, 0);
    // op 0: k0 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 0)
    sk_record(profile, 1u, 0x8, 0);
    sk_record(profile, 1u, 0x8, 1);
    // op 1: k1 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    g_super_kernel_early_start_config = 5;
    sk_wait_previous<5>(); // list order
    sk_record(profile, 2u, 0x8, 0);
    sk_record(profile, 2u, 0x8, 1);
    // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    sk_wait_previous<5>(); // list order
    sk_record(profile, 3u, 0x8, 0);
    sk_record(profile, 3u, 0x8, 1);
    // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    sk_wait_previous<5>(); // list order
    sk_record(profile, 4u, 0x8, 0);
    sk_record(profile, 4u, 0x8, 1);
    // op 4: k4 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    sk_wait_previous<5>(); // list order
    sk_record(profile, 5u, 0x8, 0);
    sk_record(profile, 5u, 0x8, 1);
    // op 5: k5 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    sk_wait_previous<5>(); // list order
    sk_record(profile, 6u, 0x8, 0);
    sk_record(profile, 6u, 0x8, 1);
    const uint64_t sk_code_k7_aic = SK_COPY(k7_aic);
    sk_preload_below(block_index, 4, sk_code_k7_aic, 8);
    // op 6: k6 (KERNEL_TYPE_AIV_ONLY, 6 blocks, stream 0)
    sk_wait_previous<5>(); // list order
    sk_record(profile, 7u, 0x8, 0);
    sk_record(profile, 7u, 0x8, 1);
    const uint64_t sk_code_k8_aic = SK_COPY(k8_aic);
    sk_preload_below(block_index, 4, sk_code_k8_aic, 8);
    // op 7: k7 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    sk_record(profile, 8u, 0x8, 0);
    if (block_index < 4) {
        sk_call(sk_code_k7_aic, 7, 8);
        sk_record(profile, 8u, 0x8, 1);
        // op 8: k8 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
        sk_set_next(); // list order
        g_super_kernel_early_start_config = 10;
        sk_wait_previous<10>(); // list order
        sk_record(profile, 9u, 0x8, 0);
        sk_call(sk_code_k8_aic, 8, 9);
    } else {
        sk_record(profile, 8u, 0x8, 1);
        sk_set_next();
        g_super_kernel_early_start_config = 10;
        sk_wait_previous<10>();
        sk_record(profile, 9u, 0x8, 0);
    }
    sk_record(profile, 9u, 0x8, 1);
    // op 9: k9 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 9;
    sk_wait_previous<9>(); // list order
    sk_record(profile, 10u, 0x8, 0);
    sk_record(profile, 10u, 0x8, 1);
    sk_record(profile, 0u, 0x0, 1);
}
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
SK_FUNCTION(k0_aiv)
SK_FUNCTION(k1_aiv)
SK_FUNCTION(k2_aiv)
SK_FUNCTION(k3_aiv)
SK_FUNCTION(k4_aiv)
SK_FUNCTION(k5_aiv)
SK_FUNCTION(k6_aiv)
SK_FUNCTION(k7_aiv)
SK_FUNCTION(k8_aiv)
SK_FUNCTION(k9_aiv)

// What several ops have in common between them.
SK_SHARED void sk_between_0() {
    sk_set_next();
    sk_wait_previous<5>();
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    SkProfile profile = {nullptr, 0, 0, false};
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    sk_profile_start(profile, param_base[11], (uint64_t)param_base[12]);
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    sk_record(profile, 0u, 0x0, 0);
    const uint64_t sk_code_k0_aiv = SK_COPY(k0_aiv);
    sk_preload(sk_code_k0_aiv, 2);
    const uint64_t sk_code_k1_aiv = SK_COPY(k1_aiv);
    sk_preload_below(core_index, 4, sk_code_k1_aiv, 2);
    // op 0: k0 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 0)
    sk_record(profile, 1u, 0x8, 0);
    sk_call(sk_code_k0_aiv, 0, 1);
    sk_record(profile, 1u, 0x8, 1);
    const uint64_t sk_code_k2_aiv = SK_COPY(k2_aiv);
    sk_preload_below(core_index, 4, sk_code_k2_aiv, 3);
    // op 1: k1 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 5;
    sk_wait_previous<5>(); // list order
    sk_record(profile, 2u, 0x8, 0);
    const uint64_t sk_code_k3_aiv = SK_COPY(k3_aiv);
    const uint64_t sk_code_k4_aiv = SK_COPY(k4_aiv);
    const uint64_t sk_code_k5_aiv = SK_COPY(k5_aiv);
    const uint64_t sk_code_k6_aiv = SK_COPY(k6_aiv);
    if (core_index < 4) {
        sk_call(sk_code_k1_aiv, 1, 2);
        sk_record(profile, 2u, 0x8, 1);
        sk_preload(sk_code_k3_aiv, 4);
        // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
        sk_between_0(); // list order
        sk_record(profile, 3u, 0x8, 0);
        sk_call(sk_code_k2_aiv, 2, 3);
        sk_record(profile, 3u, 0x8, 1);
        sk_preload(sk_code_k4_aiv, 4);
        // op 3: k3 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
        sk_wait_previous<5>(); // list order
        sk_record(profile, 4u, 0x8, 0);
        sk_call(sk_code_k3_aiv, 3, 4);
        sk_flush();
        sk_record(profile, 4u, 0x8, 1);
        sk_preload(sk_code_k5_aiv, 5);
        // op 4: k4 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
        sk_between_0(); // list order
        sk_record(profile, 5u, 0x8, 0);
        sk_call(sk_code_k4_aiv, 4, 5);
        sk_record(profile, 5u, 0x8, 1);
        sk_preload_below(core_index, 6, sk_code_k6_aiv, 6);
        // op 5: k5 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 0)
        sk_between_0(); // list order
        sk_record(profile, 6u, 0x8, 0);
        sk_call(sk_code_k5_aiv, 5, 6);
    } else {
        sk_record(profile, 2u, 0x8, 1);
        sk_between_0();
        sk_record(profile, 3u, 0x8, 0);
        sk_record(profile, 3u, 0x8, 1);
        sk_set_next();
        sk_wait_previous<5>();
        sk_record(profile, 4u, 0x8, 0);
        sk_flush();
        sk_record(profile, 4u, 0x8, 1);
        sk_between_0();
        sk_record(profile, 5u, 0x8, 0);
        sk_record(profile, 5u, 0x8, 1);
        sk_preload_below(core_index, 6, sk_code_k6_aiv, 6);
        sk_between_0();
        sk_record(profile, 6u, 0x8, 0);
    }
    sk_record(profile, 6u, 0x8, 1);
    const uint64_t sk_code_k7_aiv = SK_COPY(k7_aiv);
    sk_preload_below(block_index, 4, sk_code_k7_aiv, 7);
    // op 6: k6 (KERNEL_TYPE_AIV_ONLY, 6 blocks, stream 0)
    sk_between_0(); // list order
    sk_record(profile, 7u, 0x8, 0);
    sk_call_below(core_index, 6, sk_code_k6_aiv, 6, 7);
    sk_record(profile, 7u, 0x8, 1);
    const uint64_t sk_code_k8_aiv = SK_COPY(k8_aiv);
    sk_preload_below(block_index, 4, sk_code_k8_aiv, 7);
    // op 7: k7 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    sk_record(profile, 8u, 0x8, 0);
    const uint64_t sk_code_k9_aiv = SK_COPY(k9_aiv);
    if (block_index < 4) {
        sk_call(sk_code_k7_aiv, 7, 8);
        sk_record(profile, 8u, 0x8, 1);
        sk_preload(sk_code_k9_aiv, 8);
        // op 8: k8 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
        sk_set_next(); // list order
        g_super_kernel_early_start_config = 10;
        sk_wait_previous<10>(); // list order
        sk_record(profile, 9u, 0x8, 0);
        sk_call(sk_code_k8_aiv, 8, 9);
    } else {
        sk_record(profile, 8u, 0x8, 1);
        sk_preload(sk_code_k9_aiv, 8);
        sk_set_next();
        g_super_kernel_early_start_config = 10;
        sk_wait_previous<10>();
        sk_record(profile, 9u, 0x8, 0);
    }
    sk_record(profile, 9u, 0x8, 1);
    // op 9: k9 (KERNEL_TYPE_AIV_ONLY, 16 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 9;
    sk_wait_previous<9>(); // list order
    sk_record(profile, 10u, 0x8, 0);
    sk_call(sk_code_k9_aiv, 9, 10);
    sk_record(profile, 10u, 0x8, 1);
    sk_record(profile, 0u, 0x0, 1);
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
