#if 1
#include "kernel_operator.h"

// Super kernel te_superkernel_test: KERNEL_TYPE_MIX_AIC_1_2, 2 blocks, 32 ops, several streams.

#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 2201
__gm__ struct OpSystemRunCfg g_opSystemRunCfg = {0};
#else
extern __gm__ struct OpSystemRunCfg g_opSystemRunCfg;
#endif

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

SK_HELPER void sk_preload(uint64_t address, int64_t units) {
    preload((const void *)address, units);
}

// Declares a function with its copies; sk_call_NAME and sk_address_NAME take this core's copy.
#define SK_FUNCTION(name) \
    extern "C" __aicore__ void name(uint64_t args_offset); \
    SK_HELPER void sk_call_##name(uint32_t position, uint64_t offset) { \
        SK_OP_BEGIN(position); \
        name(offset); \
        SK_OP_END(position); \
    } \
    SK_HELPER uint64_t sk_address_##name() { \
        uint64_t address = 0; \
        address = (uint64_t)name; \
        return address; \
    }

SK_FUNCTION(cube_aic)
SK_FUNCTION(vector_aiv)

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

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] const int64_t block_index = get_block_idx();
    [[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (param_base[0] != nullptr) {
        set_ffts_base_addr((uint64_t)param_base[0]);
    }
    if ASCEND_IS_AIC {
        // op 0: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(0, 1); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 0
        // op 2: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(2, 5); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 1
        // op 4: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(4, 9); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 2
        // op 6: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(6, 13); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 3
        // op 8: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(8, 17); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 4
        // op 10: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(10, 21); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 5
        // op 12: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(12, 25); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 6
        // op 14: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(14, 29); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 7
        // op 16: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(16, 33); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 8
        // op 18: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(18, 37); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 9
        // op 20: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(20, 41); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 10
        // op 22: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(22, 45); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 11
        // op 24: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        if (block_index < 2) { sk_call_cube_aic(24, 49); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 12
        // op 26: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        sk_wait_for_aiv(); // flow control
        if (block_index < 2) { sk_call_cube_aic(26, 53); }
        sk_meet_aic(); // same stream 0
        sk_tell_aiv(); // event 13
        // op 28: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
        sk_wait_for_aiv(); // flow control
        if (block_index < 2) { sk_call_cube_aic(28, 57); }
        sk_meet_aic(); // event 14
        sk_tell_aiv(); // event 14
        // op 30: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 2)
        if (block_index < 2) { sk_call_cube_aic(30, 61); }
    }
    if ASCEND_IS_AIV {
        // op 1: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 0
        if (core_index < 4) { sk_call_vector_aiv(1, 3); }
        sk_meet_aiv(); // same stream 1
        sk_tell_aic(); // flow control
        // op 3: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 1
        if (core_index < 4) { sk_call_vector_aiv(3, 7); }
        sk_meet_aiv(); // same stream 1
        sk_tell_aic(); // flow control
        // op 5: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 2
        if (core_index < 4) { sk_call_vector_aiv(5, 11); }
        sk_meet_aiv(); // same stream 1
        // op 7: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 3
        if (core_index < 4) { sk_call_vector_aiv(7, 15); }
        sk_meet_aiv(); // same stream 1
        // op 9: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 4
        if (core_index < 4) { sk_call_vector_aiv(9, 19); }
        sk_meet_aiv(); // same stream 1
        // op 11: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 5
        if (core_index < 4) { sk_call_vector_aiv(11, 23); }
        sk_meet_aiv(); // same stream 1
        // op 13: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 6
        if (core_index < 4) { sk_call_vector_aiv(13, 27); }
        sk_meet_aiv(); // same stream 1
        // op 15: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 7
        if (core_index < 4) { sk_call_vector_aiv(15, 31); }
        sk_meet_aiv(); // same stream 1
        // op 17: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 8
        if (core_index < 4) { sk_call_vector_aiv(17, 35); }
        sk_meet_aiv(); // same stream 1
        // op 19: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 9
        if (core_index < 4) { sk_call_vector_aiv(19, 39); }
        sk_meet_aiv(); // same stream 1
        // op 21: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 10
        if (core_index < 4) { sk_call_vector_aiv(21, 43); }
        sk_meet_aiv(); // same stream 1
        // op 23: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 11
        if (core_index < 4) { sk_call_vector_aiv(23, 47); }
        sk_meet_aiv(); // same stream 1
        // op 25: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 12
        if (core_index < 4) { sk_call_vector_aiv(25, 51); }
        sk_meet_aiv(); // same stream 1
        // op 27: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 13
        if (core_index < 4) { sk_call_vector_aiv(27, 55); }
        sk_meet_aiv(); // same stream 1
        // op 29: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        sk_wait_for_aic(); // event 14
        if (core_index < 4) { sk_call_vector_aiv(29, 59); }
        sk_meet_aiv(); // same stream 1
        // op 31: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
        if (core_index < 4) { sk_call_vector_aiv(31, 62); }
    }
}

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
