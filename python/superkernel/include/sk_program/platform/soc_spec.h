// Names of chip generations, for headers of AscendC that describe the chip to host code. A toolkit that has this file itself
// is asked first.
#ifndef SK_PROGRAM_SOC_SPEC_H
#define SK_PROGRAM_SOC_SPEC_H

#if defined(__has_include_next)
#if __has_include_next("platform/soc_spec.h")
#include_next "platform/soc_spec.h"
#define SK_PROGRAM_SOC_SPEC_FOUND
#endif
#endif

#ifndef SK_PROGRAM_SOC_SPEC_FOUND
#include <stdint.h>

enum class NpuArch : uint32_t {
    DAV_1001 = 1001,
    DAV_2002 = 2002,
    DAV_2201 = 2201,
    DAV_3002 = 3002,
    DAV_3003 = 3003,
    DAV_3113 = 3113,
    DAV_3510 = 3510,
    DAV_5102 = 5102,
    DAV_RESV = 0xffff,
};
#endif

#endif
