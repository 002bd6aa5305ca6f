// What the scalar unit does besides registers: flags between cores, accesses around the cache, conversions.
#ifndef SK_CORE_SCALAR_H
#define SK_CORE_SCALAR_H

#include "sk_core/cross_core.h"
#include "sk_core/order.h"

namespace {

inline int64_t get_block_idx() { return sk_rt_core()->blockIdx; }
inline int64_t get_block_num() { return sk_rt_core()->blockNum; }
inline int64_t get_subblockid() { return sk_rt_core()->subBlockIdx; }
inline int64_t get_subblockdim() { return sk_rt_core()->subBlockDim; }
inline int64_t get_coreid() { return sk_rt_core()->coreId; }
inline int64_t get_para_base() { return static_cast<int64_t>(sk_rt_core()->paraBase); }
inline int64_t get_arch_ver() { return static_cast<int64_t>(2201ull << 32); }
inline int64_t get_pc() { return 0; }
inline int64_t get_imm(int64_t = 0) { return 0; }
inline int64_t get_icache_prl_st() { return 0; }

template <class Mode> inline void dsb(Mode) { __asm__ volatile("" ::: "memory"); }

// Accesses to global memory around the cache. `offset` counts bytes.
template <class T> inline T ld_dev(const volatile T *address, int64_t offset) {
    __asm__ volatile("" ::: "memory");
    const uint64_t word = sk_rt_bypass(reinterpret_cast<const volatile uint8_t *>(address) + offset, sizeof(T), 0, 0);
    T value;
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
}
template <class T, class V> inline void st_dev(V value, volatile T *address, int64_t offset) {
    const T element = static_cast<T>(value);
    uint64_t word = 0;
    __builtin_memcpy(&word, &element, sizeof(T));
    sk_rt_bypass(reinterpret_cast<volatile uint8_t *>(address) + offset, sizeof(T), 1, word);
    __asm__ volatile("" ::: "memory");
}

// Conversions of one scalar.
inline half conv_f322f16o(float value) { return half::Rounded(value, sk_host_float16::Rounding::Odd); }
inline int32_t sk_core_saturated(double value) {
    return value != value                 ? 0
           : value >= 2147483647.0        ? INT32_MAX
           : value <= -2147483648.0       ? INT32_MIN
                                          : static_cast<int32_t>(value);
}
inline int32_t conv_f322s32a(float value) { return sk_core_saturated(__builtin_round(static_cast<double>(value))); }
inline int32_t conv_f322s32c(float value) { return sk_core_saturated(__builtin_ceil(static_cast<double>(value))); }
inline int32_t conv_f322s32f(float value) { return sk_core_saturated(__builtin_floor(static_cast<double>(value))); }
inline int32_t conv_f322s32r(float value) { return sk_core_saturated(__builtin_rint(static_cast<double>(value))); }

} // namespace

#endif
