#ifndef ROW_QUANT_TILING_DATA_H
#define ROW_QUANT_TILING_DATA_H

#include <cstdint>

struct RowQuantTilingData {
    uint32_t rows;
    uint32_t columns;
    float scale;
};

#endif
