// y[i] = x[0] + … + x[i], on vector cores, in two rounds: each core adds up its own piece, all cores meet, then each
// core adds what came before its piece.
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 1024;

extern "C" __global__ __aicore__ void running_sum(GM_ADDR x, GM_ADDR y, GM_ADDR workspace)
{
    auto *input = (__gm__ int32_t *)x;
    auto *output = (__gm__ int32_t *)y;
    // One cache line per core: two cores must not write to the same one.
    constexpr uint32_t LINE = 64 / sizeof(int32_t);
    auto *sums = (__gm__ int32_t *)workspace;
    const uint32_t core = AscendC::GetBlockIdx();
    const uint32_t cores = AscendC::GetBlockNum();
    const uint32_t piece = (LENGTH + cores - 1) / cores / LINE * LINE + LINE;
    const uint32_t begin = core * piece < LENGTH ? core * piece : LENGTH;
    const uint32_t end = begin + piece < LENGTH ? begin + piece : LENGTH;

    int32_t sum = 0;
    for (uint32_t i = begin; i < end; ++i) {
        sum += input[i];
    }
    sums[core * LINE] = sum;
    dcci(sums + core * LINE, SINGLE_CACHE_LINE, CACHELINE_OUT);

    AscendC::SyncAll<true>();

    int32_t running = 0;
    for (uint32_t other = 0; other < core; ++other) {
        dcci(sums + other * LINE, SINGLE_CACHE_LINE, CACHELINE_OUT);
        running += sums[other * LINE];
    }
    for (uint32_t i = begin; i < end; ++i) {
        running += input[i];
        output[i] = running;
        if (i % LINE == LINE - 1) {
            dcci(output + i, SINGLE_CACHE_LINE, CACHELINE_OUT);
        }
    }
    dcci((__gm__ int32_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT);
}
