// Launches as older host programs write them, and memory that kernels may use.
#ifndef SK_PROGRAM_CPU_DEBUG_LAUNCH_H
#define SK_PROGRAM_CPU_DEBUG_LAUNCH_H

#include "sk_program/launch.h"

// Kinds of kernels that a host program can ask for.
enum class KernelMode { MIX_MODE = 0, AIC_MODE = 1, AIV_MODE = 2, MIX_AIC_1_1 = 3 };

namespace sk_program {

inline const char *&Mode() {
    static const char *mode = SK_PROGRAM_KERNEL_TYPE;
    return mode;
}

// The tiling key of the next launches.
inline uint64_t &Key() {
    static uint64_t key = 0;
    return key;
}

// A core's own copy of it, which kernels compare (TILING_KEY_IS).
inline void TakeKey(uint64_t key) {
#ifdef SK_CPU_STUB_DEF_H
    g_tilingKey = key;
#else
    Key() = key;
#endif
}

} // namespace sk_program

#ifndef SK_CPU_STUB_DEF_H
#undef TILING_KEY_VAR
#define TILING_KEY_VAR ::sk_program::Key()
#endif

namespace AscendC {

inline void SetKernelMode(KernelMode mode) {
    static const char *const names[] = {"KERNEL_TYPE_MIX_AIC_1_2", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_AIV_ONLY",
                                        "KERNEL_TYPE_MIX_AIC_1_1"};
    sk_program::Mode() = names[static_cast<int>(mode)];
}

inline void *GmAlloc(size_t bytes) { return sk_rt_program_allocate(bytes); }
inline void GmFree(void *memory) { sk_rt_program_release(memory); }

} // namespace AscendC

#define ICPU_SET_TILING_KEY(key) (::sk_program::Key() = static_cast<uint64_t>(key))

#define ICPU_RUN_KF(kernel, blocks, ...)                                                                               \
    ::sk_program::Run(                                                                                                 \
        {#kernel, ::sk_program::Mode(), __FILE__, __LINE__}, ::sk_program::Blocks(blocks),                             \
        [key = ::sk_program::Key()](auto... values) {                                                                  \
            ::sk_program::TakeKey(key);                                                                                \
            kernel(values...);                                                                                         \
        },                                                                                                             \
        __VA_ARGS__)

#endif
