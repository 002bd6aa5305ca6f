#include "util/math_util.h"
#include "../inc/rows_shared.h"

namespace shared {
uint32_t RowBlocks(int64_t rows, uint32_t cores) {
    // Numbers of two types, as operators have them.
    const int64_t perBlock = Ops::Base::CeilAlign(Ops::Base::CeilDiv(rows, cores), 1U);
    return uint32_t(Ops::Base::CeilDiv(rows, perBlock));
}
} // namespace shared
