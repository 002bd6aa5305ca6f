#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_0, 8 blocks, 2 ops, one stream.

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
    return (uint8_t)get_coreid() % 3u;
}

SK_HELPER void sk_preload(uint64_t address, int64_t units) {
    preload((const void *)address, units);
}

// Declares a function with its copies; sk_call_NAME and sk_address_NAME take this core's copy.
#define SK_FUNCTION(name) \
    extern "C" __aicore__ void name(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split1(uint64_t args_offset); \
    extern "C" __aicore__ void name##_split2(uint64_t args_offset); \
    SK_HELPER void sk_call_##name(uint32_t position, uint64_t offset) { \
        SK_OP_BEGIN(position); \
        switch (sk_copy()) { \
            case 1: name##_split1(offset); break; \
            case 2: name##_split2(offset); break; \
            default: name(offset); break; \
        } \
        SK_OP_END(position); \
    } \
    SK_HELPER uint64_t sk_address_##name() { \
        uint64_t address = 0; \
        switch (sk_copy()) { \
            case 1: address = (uint64_t)name##_split1; break; \
            case 2: address = (uint64_t)name##_split2; break; \
            default: address = (uint64_t)name; break; \
        } \
        return address; \
    }

SK_FUNCTION(k0_aic)
SK_FUNCTION(k1_aic)

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

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    [[maybe_unused]] GM_ADDR workspace = param_base[3];
    AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = workspace;
    if (param_base[0] != nullptr) {
        set_ffts_base_addr((uint64_t)param_base[0]);
    }
    sk_clear_workspace(workspace, 512);
    sk_meet_aic(); // workspace cleared
    if (block_index < 4) { sk_preload(sk_address_k0_aic(), 1); }
    if (block_index < 8) { sk_preload(sk_address_k1_aic(), 2); }
    // op 0: k0 (KERNEL_TYPE_AIC_ONLY, 4 blocks, stream 0)
    sk_feed_sync_all(0, 128);
    if (block_index < 4) {
        sk_call_k0_aic(0, 1);
        sk_end_sync_all();
    }
    if (block_index >= 4) { sk_complement_sync_all(); }
    AscendC::g_superKernelAutoSyncAllEnable = false;
    sk_set_next(); // list order
    // op 1: k1 (KERNEL_TYPE_AIC_ONLY, 8 blocks, stream 0)
    g_super_kernel_early_start_config = 0;
    sk_wait_previous<0>(); // list order
    AscendC::g_superKernelAutoSyncAllEnable = false;
    if (block_index < 8) { sk_call_k1_aic(1, 2); }
}

#if TILING_KEY_VAR == 0UL
static const struct FunLevelMixCoreType te_superkernel_test_mix_aic_section
    __attribute__((used, section(".ascend.meta.te_superkernel_test_mix_aic"))) = {
        {{F_TYPE_KTYPE, sizeof(unsigned int)}, K_TYPE_MIX_AIC_MAIN},
        {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, 1, 0}};
#endif
#endif
