// c = a x b + bias: the cube core of a block multiplies its rows, the block's two vector cores add the bias. They talk
// through flags: 5 says that the rows are there, 6 that they have been read. (ONE_ANSWERS: only one vector core answers.)
#include "kernel_operator.h"

constexpr uint32_t SIZE = 32;

extern "C" __global__ __aicore__ void product_plus_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace)
{
    auto *left = (__gm__ int32_t *)a;
    auto *right = (__gm__ int32_t *)b;
    auto *added = (__gm__ int32_t *)bias;
    auto *result = (__gm__ int32_t *)c;
    auto *product = (__gm__ int32_t *)workspace;
    const uint32_t blocks = AscendC::GetBlockNum();
    if ASCEND_IS_AIC {
        for (uint32_t row = AscendC::GetBlockIdx(); row < SIZE; row += blocks) {
            for (uint32_t column = 0; column < SIZE; ++column) {
                int32_t sum = 0;
                for (uint32_t k = 0; k < SIZE; ++k) {
                    sum += left[row * SIZE + k] * right[k * SIZE + column];
                }
                product[row * SIZE + column] = sum;
            }
            dcci((__gm__ int32_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT);
            AscendC::CrossCoreSetFlag<2, PIPE_FIX>(5);
            // The next row may only be announced when this one has been read: a flag counts no further than 15.
            AscendC::CrossCoreWaitFlag(6);
        }
    }
    if ASCEND_IS_AIV {
        const uint32_t block = AscendC::GetBlockIdx() / AscendC::GetTaskRatio();
        // Each a part of the row, in cache lines of its own.
        const uint32_t part = SIZE / AscendC::GetTaskRatio();
        const uint32_t first = part * AscendC::GetSubBlockIdx();
        for (uint32_t row = block; row < SIZE; row += blocks) {
            AscendC::CrossCoreWaitFlag(5);
            for (uint32_t column = first; column < first + part; ++column) {
                result[row * SIZE + column] = product[row * SIZE + column] + added[column];
            }
#if defined(ONE_ANSWERS)
            if (AscendC::GetSubBlockIdx() == 0) {
                AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(6);
            }
#else
            AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(6);
#endif
        }
        dcci((__gm__ int32_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT);
    }
}
