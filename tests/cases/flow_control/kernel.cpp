#if 1
// Calls and their order, no instructions: headers of hosts leave the rest of AscendC out.
#define SK_CONTROL_ONLY
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

#if defined(__DAV_CUBE__) && __NPU_ARCH__ == 2201
SK_FUNCTION(cube_aic)

// What several ops have in common between them.
SK_SHARED void sk_between_0() {
    sk_meet_aic();
    sk_tell_aiv();
}

SK_SHARED void sk_between_1() {
    sk_meet_aic();
    sk_tell_aiv();
    sk_wait_for_aiv();
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    const uint64_t sk_code_cube_aic = SK_COPY(cube_aic);
    // op 0: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 0, 1);
    sk_between_0(); // same stream 0, event 0
    // op 2: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 2, 5);
    sk_between_0(); // same stream 0, event 1
    // op 4: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 4, 9);
    sk_between_0(); // same stream 0, event 2
    // op 6: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 6, 13);
    sk_between_0(); // same stream 0, event 3
    // op 8: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 8, 17);
    sk_between_0(); // same stream 0, event 4
    // op 10: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 10, 21);
    sk_between_0(); // same stream 0, event 5
    // op 12: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 12, 25);
    sk_between_0(); // same stream 0, event 6
    // op 14: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 14, 29);
    sk_between_0(); // same stream 0, event 7
    // op 16: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 16, 33);
    sk_between_0(); // same stream 0, event 8
    // op 18: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 18, 37);
    sk_between_0(); // same stream 0, event 9
    // op 20: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 20, 41);
    sk_between_0(); // same stream 0, event 10
    // op 22: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 22, 45);
    sk_between_0(); // same stream 0, event 11
    // op 24: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_call(sk_code_cube_aic, 24, 49);
    // op 26: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_between_1(); // same stream 0, event 12, flow control
    sk_call(sk_code_cube_aic, 26, 53);
    // op 28: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 0)
    sk_between_1(); // same stream 0, event 13, flow control
    sk_call(sk_code_cube_aic, 28, 57);
    sk_between_0(); // event 14
    // op 30: cube (KERNEL_TYPE_AIC_ONLY, 2 blocks, stream 2)
    sk_call(sk_code_cube_aic, 30, 61);
}
#endif
#if defined(__DAV_VEC__) && __NPU_ARCH__ == 2201
SK_FUNCTION(vector_aiv)

// What several ops have in common between them.
SK_SHARED void sk_between_0() {
    sk_meet_aiv();
    sk_tell_aic();
    sk_wait_for_aic();
}

SK_SHARED void sk_between_1() {
    sk_meet_aiv();
    sk_wait_for_aic();
}

extern "C" __global__ __attribute__((aligned(512))) __aicore__ void auto_gen_te_superkernel_test_kernel(void) {
    [[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();
    if (GM_ADDR scheduler = param_base[0]) {
        set_ffts_base_addr((uint64_t)scheduler);
    }
    // op 1: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_wait_for_aic(); // event 0
    const uint64_t sk_code_vector_aiv = SK_COPY(vector_aiv);
    sk_call(sk_code_vector_aiv, 1, 3);
    // op 3: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_0(); // same stream 1, flow control, event 1
    sk_call(sk_code_vector_aiv, 3, 7);
    // op 5: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_0(); // same stream 1, flow control, event 2
    sk_call(sk_code_vector_aiv, 5, 11);
    // op 7: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 3
    sk_call(sk_code_vector_aiv, 7, 15);
    // op 9: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 4
    sk_call(sk_code_vector_aiv, 9, 19);
    // op 11: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 5
    sk_call(sk_code_vector_aiv, 11, 23);
    // op 13: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 6
    sk_call(sk_code_vector_aiv, 13, 27);
    // op 15: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 7
    sk_call(sk_code_vector_aiv, 15, 31);
    // op 17: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 8
    sk_call(sk_code_vector_aiv, 17, 35);
    // op 19: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 9
    sk_call(sk_code_vector_aiv, 19, 39);
    // op 21: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 10
    sk_call(sk_code_vector_aiv, 21, 43);
    // op 23: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 11
    sk_call(sk_code_vector_aiv, 23, 47);
    // op 25: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 12
    sk_call(sk_code_vector_aiv, 25, 51);
    // op 27: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 13
    sk_call(sk_code_vector_aiv, 27, 55);
    // op 29: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_between_1(); // same stream 1, event 14
    sk_call(sk_code_vector_aiv, 29, 59);
    sk_meet_aiv(); // same stream 1
    // op 31: vector (KERNEL_TYPE_AIV_ONLY, 4 blocks, stream 1)
    sk_call(sk_code_vector_aiv, 31, 62);
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
