#ifndef HOST_SCALE_TILING_H
#define HOST_SCALE_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(HostScalePart)
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF_ARR(uint16_t, 3, order);
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(HostScaleTilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF_STRUCT(HostScalePart, part);
TILING_DATA_FIELD_DEF(float, factor);
TILING_DATA_FIELD_DEF(uint64_t, columns);
TILING_DATA_FIELD_DEF(uint8_t, hasBias);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(HostScale, HostScaleTilingData)

struct HostScaleCompileInfo {
    uint32_t cores = 0;
    uint64_t ubSize = 0;
};

// Defined for chips whose vector unit works on registers.
ge::graphStatus HostScaleByRegisters(gert::TilingContext *context);
} // namespace optiling
#endif
