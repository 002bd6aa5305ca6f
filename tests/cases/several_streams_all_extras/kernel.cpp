#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_2, 24 blocks, 5 ops, several streams.

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

// Each kind has its own record of an op's SyncAll calls.
SK_HELPER void sk_feed_sync_all(uint64_t aic_offset, uint64_t aiv_offset) {
    AscendC::g_superKernelAutoSyncAllSyncIdx = 0;
    AscendC::g_superKernelAutoSyncAllEnable = true;
    if ASCEND_IS_AIC {
        AscendC::g_superKernelAutoSyncAllConfigGmAddr =
            AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr + aic_offset;
    }
    if ASCEND_IS_AIV {
        AscendC::g_superKernelAutoSyncAllConfigGmAddr =
            AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr + aiv_offset;
    }
}

SK_HELPER void sk_end_sync_all() {
    AscendC::SuperKernelAutoSyncAllEndImpl();
}

SK_HELPER void sk_complement_sync_all() {
    AscendC::SuperKernelAutoSyncAllComplementImpl();
}

// All cores of both kinds meet.
SK_HELPER void sk_meet_all() {
    AscendC::SyncAll<false>();
}

// All cube cores meet.
SK_HELPER void sk_meet_aic() {
    ffts_cross_core_sync(PIPE_FIX, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIC_FLAG));
    wait_flag_dev(AscendC::SYNC_AIC_FLAG);
}

// All cube cores meet, each once its MTE3 pipe is done.
SK_HELPER void sk_meet_aic_after_mte3() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIC_FLAG));
    wait_flag_dev(AscendC::SYNC_AIC_FLAG);
}

// All vector cores meet.
SK_HELPER void sk_meet_aiv() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIV_ONLY_ALL));
    wait_flag_dev(AscendC::SYNC_AIV_ONLY_ALL);
}

SK_HELPER void sk_tell_aiv() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x02, AscendC::SYNC_AIC_AIV_FLAG));
}

SK_HELPER void sk_wait_for_aic() {
    wait_flag_dev(AscendC::SYNC_AIC_AIV_FLAG);
}

SK_HELPER void sk_tell_aic() {
    ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0x02, AscendC::SYNC_AIV_FLAG));
}

SK_HELPER void sk_wait_for_aiv() {
    wait_flag_dev(AscendC::SYNC_AIV_FLAG);
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

// Zeroes this core's share of the workspace.
SK_HELPER void sk_clear_workspace(GM_ADDR workspace, uint64_t bytes) {
    GM_ADDR share = workspace + bytes * (uint64_t)AscendC::GetBlockIdxImpl();
    AscendC::DuplicateImpl((__ubuf__ uint32_t *)0, (uint32_t)0, 128);
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    for (uint64_t done = 0; done < bytes; done += 512) {
        __gm__ void *piece = (__gm__ void *)(share + done);
        copy_ubuf_to_gm(piece, (__ubuf__ void *)0, 0, 1, 16, 1, 1);
    }
    AscendC::PipeBarrier<PIPE_ALL>();
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
SK_FUNCTION(k0_aic)
SK_FUNCTION(k2_aic)
SK_FUNCTION(k3_1_aic)
SK_FUNCTION(k4_aic)

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
    if (key < 7ULL) {
        if (key == 1ULL) {
            // KERNEL_TYPE_MIX_AIC_1_2
            return SkPicked{SK_COPY(k3_1_aic), 7ULL << 32 | blocks};
        }
    } else {
        if (key == 7ULL) {
            // KERNEL_TYPE_AIV_ONLY
            return SkPicked{0, 0ULL << 32 | blocks};
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
        if (blocks == 0 || blocks > 24) {
            trap();
        }
        sk_call(picked.code, position, offset);
    }
}

// What several ops have in common between them.
SK_SHARED void sk_between_0() {
    pipe_barrier(PIPE_ALL);
    sk_flush();
    pipe_barrier(PIPE_ALL);
    sk_meet_aic_after_mte3();
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    SkProfile profile = {nullptr, 0, 0, false};
    [[maybe_unused]] SkPicked picked = {0, 0};
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    [[maybe_unused]] GM_ADDR workspace = param_base[10];
    AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = workspace;
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_profile_start(profile, param_base[11], (uint64_t)param_base[12]);
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    sk_record(profile, 0u, 0x0, 0);
    sk_wait_for_aiv(); // workspace cleared
    AscendC::PreLoad(8);
    // op 0: k0 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
    sk_feed_sync_all(0, 320);
    sk_record(profile, 1u, 0x8, 0);
    sk_flush();
    const uint64_t sk_code_k0_aic = SK_COPY(k0_aic);
    sk_call_below(block_index, 8, sk_code_k0_aic, 0, 1);
    if (block_index < 8) { sk_end_sync_all(); }
    if (block_index >= 8) { sk_complement_sync_all(); }
    AscendC::g_superKernelAutoSyncAllEnable = false;
    pipe_barrier(PIPE_ALL); // debug-dcci-all
    sk_flush(); // debug-dcci-all
    pipe_barrier(PIPE_ALL); // debug-sync-all
    sk_meet_aic_after_mte3(); // debug-sync-all
    sk_record(profile, 1u, 0x8, 1);
    // op 2: k2 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    sk_meet_aic(); // same stream 0
    sk_tell_aiv(); // same stream 0
    sk_wait_for_aiv(); // same stream 1
    sk_feed_sync_all(128, 448);
    sk_record(profile, 3u, 0x8, 0);
    const uint64_t sk_code_k2_aic = SK_COPY(k2_aic);
    sk_call_below(block_index, 4, sk_code_k2_aic, 2, 3);
    if (block_index < 4) { sk_end_sync_all(); }
    if (block_index >= 4) { sk_complement_sync_all(); }
    AscendC::g_superKernelAutoSyncAllEnable = false;
    pipe_barrier(PIPE_ALL); // debug-dcci-all
    sk_flush(); // debug-dcci-all
    pipe_barrier(PIPE_ALL); // debug-sync-all
    sk_meet_aic_after_mte3(); // debug-sync-all
    sk_record(profile, 3u, 0x8, 1);
    // op 3: k3 (KERNEL_TYPE_MIX_AIC_1_2, 24 blocks, stream 1)
    sk_meet_all(); // before outer notify
    sk_wait_for_aiv(); // same stream 0
    GM_ADDR const sk_word_8 = param_base[8];
    picked = sk_switch_0(param_base + 6, sk_word_8); // tiling at run time
    sk_meet_all(); // all have polled
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_record(profile, 4u, 0x8, 0);
    sk_call_picked(picked, 3, 5);
    if (block_index == 0) { sk_clear(sk_word_8); }
    sk_between_0(); // debug-dcci-all, debug-sync-all
    sk_record(profile, 4u, 0x8, 1);
    // op 4: k4 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
    pipe_barrier(PIPE_ALL);
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_record(profile, 5u, 0x8, 0);
    const uint64_t sk_code_k4_aic = SK_COPY(k4_aic);
    sk_call_below(block_index, 8, sk_code_k4_aic, 4, 9);
    sk_between_0(); // debug-dcci-all, debug-sync-all
    sk_record(profile, 5u, 0x8, 1);
    sk_record(profile, 0u, 0x0, 1);
}
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
SK_FUNCTION(k1_aiv)
SK_FUNCTION(k2_aiv)
SK_FUNCTION(k3_1_aiv)
SK_FUNCTION(k3_7_aiv)

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
    if (key < 7ULL) {
        if (key == 1ULL) {
            // KERNEL_TYPE_MIX_AIC_1_2
            return SkPicked{SK_COPY(k3_1_aiv), 7ULL << 32 | blocks};
        }
    } else {
        if (key == 7ULL) {
            // KERNEL_TYPE_AIV_ONLY
            return SkPicked{SK_COPY(k3_7_aiv), 0ULL << 32 | blocks};
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
        if (blocks == 0 || blocks > 24) {
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
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    SkProfile profile = {nullptr, 0, 0, false};
    [[maybe_unused]] SkPicked picked = {0, 0};
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    [[maybe_unused]] GM_ADDR workspace = param_base[10];
    AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = workspace;
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_profile_start(profile, param_base[11], (uint64_t)param_base[12]);
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    sk_record(profile, 0u, 0x0, 0);
    sk_clear_workspace(workspace, 512);
    sk_meet_aiv(); // workspace cleared
    sk_tell_aic(); // workspace cleared
    AscendC::PreLoad(8);
    // op 1: k1 (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_feed_sync_all(64, 384);
    sk_record(profile, 2u, 0x8, 0);
    const uint64_t sk_code_k1_aiv = SK_COPY(k1_aiv);
    sk_call_below(core_index, 4, sk_code_k1_aiv, 1, 2);
    if (core_index < 4) { sk_end_sync_all(); }
    if (core_index >= 4) { sk_complement_sync_all(); }
    AscendC::g_superKernelAutoSyncAllEnable = false;
    pipe_barrier(PIPE_ALL); // debug-dcci-all
    sk_flush(); // debug-dcci-all
    pipe_barrier(PIPE_ALL); // debug-sync-all
    sk_meet_aiv(); // debug-sync-all
    sk_record(profile, 2u, 0x8, 1);
    // op 2: k2 (KERNEL_TYPE_MIX_AIC_1_2, 4 blocks, stream 0)
    sk_meet_aiv(); // same stream 1
    sk_tell_aic(); // same stream 1
    sk_wait_for_aic(); // same stream 0
    sk_feed_sync_all(128, 448);
    sk_record(profile, 3u, 0x8, 0);
    const uint64_t sk_code_k2_aiv = SK_COPY(k2_aiv);
    sk_call_below(block_index, 4, sk_code_k2_aiv, 2, 3);
    if (block_index < 4) { sk_end_sync_all(); }
    if (block_index >= 4) { sk_complement_sync_all(); }
    AscendC::g_superKernelAutoSyncAllEnable = false;
    pipe_barrier(PIPE_ALL); // debug-dcci-all
    sk_flush(); // debug-dcci-all
    pipe_barrier(PIPE_ALL); // debug-sync-all
    sk_meet_aiv(); // debug-sync-all
    sk_record(profile, 3u, 0x8, 1);
    sk_meet_all(); // before outer notify
    sk_tell_aic(); // same stream 0
    sk_record(profile, 90u, 0x4, 0);
    if (core_index == 0) {
        sk_publish(param_base[4], 1); // outer event 90
    }
    sk_record(profile, 90u, 0x4, 1);
    // op 3: k3 (KERNEL_TYPE_MIX_AIC_1_2, 24 blocks, stream 1)
    picked = sk_switch_0(param_base + 6, param_base[8]); // tiling at run time
    sk_meet_all(); // all have polled
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_record(profile, 4u, 0x8, 0);
    sk_call_picked(picked, 3, 5);
    pipe_barrier(PIPE_ALL); // debug-dcci-all
    sk_flush(); // debug-dcci-all
    pipe_barrier(PIPE_ALL); // debug-sync-all
    sk_meet_aiv(); // debug-sync-all
    sk_record(profile, 4u, 0x8, 1);
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
