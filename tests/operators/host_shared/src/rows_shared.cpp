#include "util/math_util.h"
#include "../inc/rows_shared.h"

namespace shared {
uint32_t RowBlocks(int64_t rows, uint32_t cores) {
    const int64_t perBlock = Ops::Base::CeilDiv(rows, int64_t(cores));
    return uint32_t(Ops::Base::CeilDiv(rows, perBlock));
}
} // namespace shared
