// Sizes of a core that kernels of operators ask for, as toolkits install them.
#ifndef SK_CPU_OP_KERNEL_PLATFORM_UTIL_H
#define SK_CPU_OP_KERNEL_PLATFORM_UTIL_H

#include <cstdint>

namespace Ops {
namespace Base {

// Bytes of a block of the unified buffer, and of what one step of a vector instruction takes.
__aicore__ constexpr uint32_t GetUbBlockSize() { return 32; }
__aicore__ constexpr uint32_t GetVRegSize() { return 256; }

} // namespace Base
} // namespace Ops

#endif
