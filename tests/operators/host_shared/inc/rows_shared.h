// Host code that several operators share.
#ifndef ROWS_SHARED_H
#define ROWS_SHARED_H
#include <cstdint>
namespace shared {
// Blocks that rows are spread over.
uint32_t RowBlocks(int64_t rows, uint32_t cores);
} // namespace shared
#endif
