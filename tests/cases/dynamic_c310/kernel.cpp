#if 1
// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.
#define SK_CONTROL_ONLY
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_2, 32 blocks, 3 ops, one stream.

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
    dcci(lock, 0, 2);
    *lock = 0;
    dcci(lock, 0, 2);
}

// Writes back and drops the whole data cache.
SK_HELPER void sk_flush() {
    dcci((__gm__ uint64_t *)0, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
}

#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 3510
SK_FUNCTION(k1_10_aic)
SK_FUNCTION(k1_11_aic)
SK_FUNCTION(k1_10000_aic)
SK_FUNCTION(k1_18446744073709551615_aic)

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
    if (key < 11ULL) {
        if (key < 10ULL) {
            if (key == 7ULL) {
                // KERNEL_TYPE_AIV_ONLY
                return SkPicked{0, 0ULL << 32 | blocks};
            }
        } else {
            if (key == 10ULL) {
                // KERNEL_TYPE_AIC_ONLY
                return SkPicked{SK_COPY(k1_10_aic), 1ULL << 32 | blocks};
            }
        }
    } else {
        if (key < 10000ULL) {
            if (key == 11ULL) {
                // KERNEL_TYPE_MIX_AIC_1_0
                return SkPicked{SK_COPY(k1_11_aic), 5ULL << 32 | blocks};
            }
        } else {
            if (key < 18446744073709551615ULL) {
                if (key == 10000ULL) {
                    // KERNEL_TYPE_MIX_AIC_1_2
                    return SkPicked{SK_COPY(k1_10000_aic), 7ULL << 32 | blocks};
                }
            } else {
                if (key == 18446744073709551615ULL) {
                    // KERNEL_TYPE_MIX_AIC_1_1
                    return SkPicked{SK_COPY(k1_18446744073709551615_aic), 6ULL << 32 | blocks};
                }
            }
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
    if (type == 1 || type == 5 || type == 6 || type == 7) {
        if (blocks == 0 || blocks > 32) {
            trap();
        }
        sk_call(picked.code, position, offset);
    }
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] SkPicked picked = {0, 0};
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    // op 1: k1 (KERNEL_TYPE_MIX_AIC_1_2, 32 blocks, stream 0)
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    GM_ADDR const sk_word_5 = param_base[5];
    picked = sk_switch_0(param_base + 3, sk_word_5); // tiling at run time
    sk_meet_all(); // all have polled
    sk_flush();
    sk_call_picked(picked, 1, 2);
    sk_flush();
    if (block_index == 0) { sk_clear(sk_word_5); }
    // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 64 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 9;
    sk_wait_previous<9>(); // list order
}
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 3510
SK_FUNCTION(k0_aiv)
SK_FUNCTION(k1_7_aiv)
SK_FUNCTION(k1_10000_aiv)
SK_FUNCTION(k1_18446744073709551615_aiv)
SK_FUNCTION(k2_3_aiv)

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
    if (key < 11ULL) {
        if (key < 10ULL) {
            if (key == 7ULL) {
                // KERNEL_TYPE_AIV_ONLY
                return SkPicked{SK_COPY(k1_7_aiv), 0ULL << 32 | blocks};
            }
        } else {
            if (key == 10ULL) {
                // KERNEL_TYPE_AIC_ONLY
                return SkPicked{0, 1ULL << 32 | blocks};
            }
        }
    } else {
        if (key < 10000ULL) {
            if (key == 11ULL) {
                // KERNEL_TYPE_MIX_AIC_1_0
                return SkPicked{0, 5ULL << 32 | blocks};
            }
        } else {
            if (key < 18446744073709551615ULL) {
                if (key == 10000ULL) {
                    // KERNEL_TYPE_MIX_AIC_1_2
                    return SkPicked{SK_COPY(k1_10000_aiv), 7ULL << 32 | blocks};
                }
            } else {
                if (key == 18446744073709551615ULL) {
                    // KERNEL_TYPE_MIX_AIC_1_1
                    return SkPicked{SK_COPY(k1_18446744073709551615_aiv), 6ULL << 32 | blocks};
                }
            }
        }
    }
    SK_UNKNOWN_KEY(slots);
    trap();
    return SkPicked{0, 0xffULL << 32 | blocks};
}

SK_HELPER SkPicked sk_switch_1(GM_ADDR *slots, GM_ADDR lock) {
    sk_wait_until_set(lock);
    [[maybe_unused]] const uint64_t key = *(__gm__ volatile uint64_t *)slots[0];
    const uint64_t blocks = *(__gm__ volatile uint64_t *)slots[1] & 0xffffffffULL;
    if (key == 3ULL) {
        // KERNEL_TYPE_MIX_AIV_1_0
        return SkPicked{SK_COPY(k2_3_aiv), 4ULL << 32 | blocks};
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
        if (blocks == 0 || blocks > 32) {
            trap();
        }
        sk_call(picked.code, position, offset);
    }
    if (type == 0 || type == 4) {
        if (blocks == 0 || blocks > 64) {
            trap();
        }
        sk_call(picked.code, position, offset);
    }
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    [[maybe_unused]] SkPicked picked = {0, 0};
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    const uint64_t sk_code_k0_aiv = SK_COPY(k0_aiv);
    sk_preload_below(core_index, 8, sk_code_k0_aiv, 2);
    // op 0: k0 (KERNEL_TYPE_AIV_ONLY, 8 blocks, stream 0)
    sk_call_below(core_index, 8, sk_code_k0_aiv, 0, 0);
    // op 1: k1 (KERNEL_TYPE_MIX_AIC_1_2, 32 blocks, stream 0)
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 6;
    sk_wait_previous<6>(); // list order
    if (core_index == 0) {
        sk_publish(param_base[1], 1); // outer event 7
    }
    picked = sk_switch_0(param_base + 3, param_base[5]); // tiling at run time
    sk_meet_all(); // all have polled
    sk_flush();
    sk_call_picked(picked, 1, 2);
    sk_flush();
    GM_ADDR sk_word_10 = nullptr;
    // op 2: k2 (KERNEL_TYPE_AIV_ONLY, 64 blocks, stream 0)
    if (core_index == 0) {
        sk_wait_until_set(sk_word_10 = param_base[10]); // outer event 9
    }
    GM_ADDR const sk_word_9 = param_base[9];
    picked = sk_switch_1(param_base + 7, sk_word_9); // tiling at run time
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 9;
    sk_wait_previous<9>(); // list order
    sk_call_picked(picked, 2, 6);
    if (core_index == 0) {
        sk_clear(sk_word_9);
        sk_clear(sk_word_10); // outer event 9
    }
}
#endif

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
