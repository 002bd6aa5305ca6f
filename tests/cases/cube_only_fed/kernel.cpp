#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_0, 8 blocks, 2 ops, one stream.

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
SK_SHARED uint64_t sk_copy(uint64_t sk_copy_0, uint64_t sk_copy_1, uint64_t sk_copy_2) {
    switch ((uint8_t)get_coreid() % 3u) {
        case 1: return sk_copy_1;
        case 2: return sk_copy_2;
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
    extern "C" __aicore__ void name##_split2(uint64_t args_offset);
#define SK_COPY(name) sk_copy((uint64_t)name, (uint64_t)name##_split1, (uint64_t)name##_split2)

SK_HELPER void sk_set_next() {
    AscendC::SetNextTaskStart();
}

// config: class of the op before << 2 | class of the op at hand; AIC 0, AIV 1, MIX 2.
template <int8_t config>
SK_HELPER void sk_wait_previous() {
    AscendC::WaitPreTaskEndImpl<config>();
}

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

// All cube cores meet.
SK_HELPER void sk_meet_aic() {
    ffts_cross_core_sync(PIPE_FIX, AscendC::GetffstMsg(0x0, AscendC::SYNC_AIC_FLAG));
    wait_flag_dev(AscendC::SYNC_AIC_FLAG);
}

// Zeroes this core's share of the workspace.
SK_HELPER void sk_clear_workspace(GM_ADDR workspace, uint64_t bytes) {
    GM_ADDR share = workspace + bytes * (uint64_t)AscendC::GetBlockIdxImpl();
    create_cbuf_matrix((__cbuf__ uint32_t *)0, 0x10010, 0);
    AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE3>(EVENT_ID0);
    for (uint64_t done = 0; done < bytes; done += 512) {
        __gm__ void *piece = (__gm__ void *)(share + done);
        copy_cbuf_to_gm(piece, (__cbuf__ void *)0, 0, 1, 16, 1, 1);
    }
    AscendC::PipeBarrier<PIPE_ALL>();
}

SK_FUNCTION(k0_aic)
SK_FUNCTION(k1_aic)

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    [[maybe_unused]] GM_ADDR workspace = param_base[3];
    AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = workspace;
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    sk_clear_workspace(workspace, 512);
    sk_meet_aic(); // workspace cleared
    const uint64_t sk_code_k0_aic = SK_COPY(k0_aic);
    sk_preload_below(block_index, 4, sk_code_k0_aic, 1);
    const uint64_t sk_code_k1_aic = SK_COPY(k1_aic);
    sk_preload(sk_code_k1_aic, 2);
    // op 0: k0 (KERNEL_TYPE_AIC_ONLY, 4 blocks, stream 0)
    sk_feed_sync_all(0, 128);
    sk_call_below(block_index, 4, sk_code_k0_aic, 0, 1);
    // op 1: k1 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
    if (block_index < 4) { sk_end_sync_all(); }
    if (block_index >= 4) { sk_complement_sync_all(); }
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_set_next(); // list order
    g_super_kernel_early_start_config = 0;
    sk_wait_previous<0>(); // list order
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_call(sk_code_k1_aic, 1, 2);
}

#if TILING_KEY_VAR == 0UL
static const struct FunLevelMixCoreType te_superkernel_test_mix_aic_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aic"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 0}};
#endif
#endif
