#ifndef ROW_NORM_TILING_H
#define ROW_NORM_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {
constexpr uint32_t RESERVED = 2 + 1;

BEGIN_TILING_DATA_DEF(RowRange)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
TILING_DATA_FIELD_DEF(uint32_t, least);
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(RowNormTilingData)
TILING_DATA_FIELD_DEF(float, epsilon);
TILING_DATA_FIELD_DEF_STRUCT(RowRange, range);
TILING_DATA_FIELD_DEF_ARR(uint32_t, RESERVED, reserved);
TILING_DATA_FIELD_DEF(float, average);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(RowRangeOp, RowRange)
REGISTER_TILING_DATA_CLASS(RowNorm, RowNormTilingData)
} // namespace optiling

#endif
