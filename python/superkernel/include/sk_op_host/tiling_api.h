// Tiling of the parts of AscendC that need one.
#ifndef SK_OP_HOST_TILING_API_H
#define SK_OP_HOST_TILING_API_H

#include "platform.h"
#include "sk_cpu/register/tilingdata_base.h"

#endif
