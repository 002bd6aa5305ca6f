#ifndef GATE_TILING_DATA_H
#define GATE_TILING_DATA_H

#include <cstdint>

struct GateTilingData {
    uint64_t count;
    uint32_t part;
    float limit;
};

#endif
