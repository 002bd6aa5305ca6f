// Address spaces, function marks and per-core storage.
#ifndef SK_HOST_QUALIFIERS_H
#define SK_HOST_QUALIFIERS_H

#include <stddef.h>
#include <stdint.h>

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __host__
#define __host_aicore__
#define __forceinline__ inline __attribute__((always_inline))
#define __cube__
#define __vector__
#define __mix__(cube, vector)
#define __sk__
#define GM_ADDR uint8_t *

// Sections as on a device: inline variables of a name are one for all files of a kernel, others belong to their file.
// One section name per variable: a compiler refuses to put inline and ordinary variables into one section. The simulator
// finds all sections with these prefixes and swaps their bytes whenever another core goes on.
#define SK_HOST_TEXT_(x) #x
#define SK_HOST_TEXT(x) SK_HOST_TEXT_(x)
#define __BLOCK_LOCAL__ __attribute__((section(".bl.uninit." SK_HOST_TEXT(__COUNTER__))))
// A variable of a name that the super kernel sets and its operators read. Hidden: what GCC makes of inline variables
// would else be one for all kernels of a process.
#define SK_HOST_SHARED(name) inline __attribute__((visibility("hidden"), section(".bl.uninit." #name)))
// What only this emulation keeps per core takes no room of the device's.
#define SK_HOST_PER_CORE __attribute__((section("sk_block_local." SK_HOST_TEXT(__COUNTER__))))

#ifndef TILING_KEY_VAR
#define TILING_KEY_VAR 0UL
#endif

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif

#ifndef __CCE_AICORE__
#if __NPU_ARCH__ == 3510
#define __CCE_AICORE__ 310
#else
#define __CCE_AICORE__ 220
#endif
#endif

#if __NPU_ARCH__ != 2201 && __NPU_ARCH__ != 3510
#error "kernel_operator.h: __NPU_ARCH__ must be 2201 or 3510"
#endif

// Classes of this header live in an unnamed namespace on purpose; a kernel class that holds a TPipe or a GlobalTensor
// in a header of its own is fine, because every kernel object is made of one translation unit.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

#endif
