// Output and assertions of kernel code.
#ifndef SK_HOST_DEBUG_H
#define SK_HOST_DEBUG_H

namespace AscendC {
namespace {

// 16-bit floats are promoted like float; everything else passes as it is.
template <class T> inline T sk_host_vararg(T value) { return value; }
inline double sk_host_vararg(half value) { return static_cast<float>(value); }
inline double sk_host_vararg(bfloat16_t value) { return static_cast<float>(value); }

template <class... Values> inline void printf(const char *format, Values... values) {
    char text[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-zero-length"
    const int length = __builtin_snprintf(text, sizeof(text), format, sk_host_vararg(values)...);
#pragma GCC diagnostic pop
    if (length > 0) {
        sk_rt_print(text, static_cast<uint64_t>(length) < sizeof(text) ? static_cast<uint64_t>(length) : sizeof(text) - 1);
    }
}

template <class... Values> inline void PRINTF(const char *format, Values... values) { printf(format, values...); }

inline void InitDump(bool, GM_ADDR, uint32_t) {}

[[noreturn]] inline void sk_host_assert_failed(const char *condition, const char *file, uint32_t line) {
    sk_rt_fault(SK_FAULT_ASSERT, condition, file, line);
}

template <class... Values>
[[noreturn]] inline void sk_host_assert_failed(const char *condition, const char *file, uint32_t line,
                                               const char *format, Values... values) {
    printf(format, values...);
    sk_rt_fault(SK_FAULT_ASSERT, condition, file, line);
}

} // namespace
} // namespace AscendC

using AscendC::printf;

#undef assert
#define assert(condition, ...)                                                                                         \
    ((condition) ? (void)0 : AscendC::sk_host_assert_failed(#condition, __FILE__, __LINE__, ##__VA_ARGS__))
#define ascendc_assert(condition, ...) assert(condition, ##__VA_ARGS__)
#define ASCENDC_ASSERT(condition, behaviour)                                                                           \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            behaviour;                                                                                                 \
            AscendC::sk_host_assert_failed(#condition, __FILE__, __LINE__);                                            \
        }                                                                                                              \
    } while (0)
#define KERNEL_LOG(level, format, ...) AscendC::printf(format "\n", ##__VA_ARGS__)

#endif
