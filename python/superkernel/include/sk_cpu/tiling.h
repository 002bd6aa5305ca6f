// How operators read their tiling data, which the vendor's headers leave to the build of an operator.
#ifndef SK_CPU_TILING_H
#define SK_CPU_TILING_H

#include "sk_host/check.h"

// There they are marks for that build.
#undef REGISTER_TILING_DEFAULT
#undef REGISTER_TILING_FOR_TILINGKEY
#undef REGISTER_NONE_TILING
#undef TILING_KEY_IS
#undef KERNEL_TASK_TYPE
#undef KERNEL_TASK_TYPE_DEFAULT
#include "sk_host/tiling_macros.h"

#endif
