// What the vendor's headers expect from below in their CPU-debug mode: marks, types, enumerations, globals.
//
// These are names of an interface, with bodies of our own; the headers themselves are the user's.
#ifndef SK_CPU_STUB_DEF_H
#define SK_CPU_STUB_DEF_H

#include <stddef.h>
#include <stdint.h>

#include <cassert>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#ifndef __SK_HOST__
#define __SK_HOST__ 1
#endif

// Marks of functions and address spaces mean nothing to a host compiler.
#define __aicore__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __ssbuf__
#define __host__
#define __host_aicore__
#define __forceinline__ inline __attribute__((always_inline))
#define __disable_kernel_type_autoinfer__
#define ASCENDC_HOST_AICORE
#define __sync_alias__
#define __check_sync_alias__
#define __simd_callee__
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __global__
#define __cube__
#define __vector__
#define __mix__(cube, vector)
#define __sk__
#define __kfc_workspace__
#define __device__
#define __launch_bounds__(...)
#define __simt_callee__
#define __WORKGROUP_LOCAL__
#define SK_HOST_TEXT_(x) #x
#define SK_HOST_TEXT(x) SK_HOST_TEXT_(x)
#define __BLOCK_LOCAL__ __attribute__((section(".bl.uninit." SK_HOST_TEXT(__COUNTER__))))
#define SK_HOST_PER_CORE __attribute__((section("sk_block_local." SK_HOST_TEXT(__COUNTER__))))

#include "sk_host/runtime.h"
#include "sk_core/types.h"
#include "sk_core/half.h"

// Storage types that this chip does not compute with.
struct fp8_e4m3fn_t {
    uint8_t bits;
};
struct fp8_e5m2_t {
    uint8_t bits;
};
struct fp8_e8m0_t {
    uint8_t bits;
};
struct fp4x2_e1m2_t {
    uint8_t bits;
};
struct fp4x2_e2m1_t {
    uint8_t bits;
};
struct vector_bool {};
struct vector_align {};
struct vector_address {};

#include "sk_core/issue.h"

// Enumerations of the device that only the vendor's headers name. Where no kernel writes the number it is ours.
enum class mem_dsb_t { ALL = 0, DDR = 1, UB = 2, SEQ = 3 };
enum addr_cal_mode_t { inc = 0, dec = 1 };
enum mem_t { SK_MEM_L1 = 0, SK_MEM_L0A = 1, SK_MEM_L0B = 2, SK_MEM_L0C = 3, SK_MEM_UB = 4, SK_MEM_BIAS = 5 };
enum pad_t {
    PAD_NONE = 0,
    PAD_MODE1 = 1,
    PAD_MODE2 = 2,
    PAD_MODE3 = 3,
    PAD_MODE4 = 4,
    PAD_MODE5 = 5,
    PAD_MODE6 = 6,
    PAD_MODE7 = 7,
    PAD_MODE8 = 8,
};
enum atomic_type_t {
    ATOMIC_NONE = 0,
    ATOMIC_F32 = 1,
    ATOMIC_F16 = 2,
    ATOMIC_S16 = 3,
    ATOMIC_S32 = 4,
    ATOMIC_S8 = 5,
    ATOMIC_BF16 = 6,
};
enum atomic_op_t { ATOMIC_SUM = 0 };

// Per core, set before the entry runs.
inline SK_HOST_PER_CORE int64_t block_idx = 0;
inline SK_HOST_PER_CORE int64_t sub_block_idx = 0;
inline SK_HOST_PER_CORE int64_t g_taskRation = 1;
inline SK_HOST_PER_CORE uint64_t g_fixpipeNdNzParam = 0;

namespace AscendC {
inline SK_HOST_PER_CORE bool g_isVdeq = false;
constexpr int AIC_TYPE = 1;
constexpr int AIV_TYPE = 2;
} // namespace AscendC

template <class T> inline T min(T a, T b) { return b < a ? b : a; }
template <class T> inline T max(T a, T b) { return a < b ? b : a; }

#endif
