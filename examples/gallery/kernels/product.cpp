// c = a x b for square matrices of whole numbers, on cube cores: rows are dealt out to the blocks.
#include "kernel_operator.h"

constexpr uint32_t SIZE = 32;

extern "C" __global__ __aicore__ void product(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace)
{
    (void)workspace;
    auto *left = (__gm__ int32_t *)a;
    auto *right = (__gm__ int32_t *)b;
    auto *result = (__gm__ int32_t *)c;
    for (uint32_t row = AscendC::GetBlockIdx(); row < SIZE; row += AscendC::GetBlockNum()) {
        for (uint32_t column = 0; column < SIZE; ++column) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < SIZE; ++k) {
                sum += left[row * SIZE + k] * right[k * SIZE + column];
            }
            result[row * SIZE + column] = sum;
        }
        // Scalar stores stay in the core's own cache until they are flushed.
        dcci(result + row * SIZE, SINGLE_CACHE_LINE, CACHELINE_OUT);
        dcci(result + row * SIZE + SIZE / 2, SINGLE_CACHE_LINE, CACHELINE_OUT);
    }
}
