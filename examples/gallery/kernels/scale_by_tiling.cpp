// y = factor * x, on vector cores; the factor and the number of blocks are known only at run time.
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 1024;
constexpr uint32_t LINE = 16;

struct Tiling {
    int32_t factor;
    uint32_t length;
};

extern "C" __global__ __aicore__ void scale_by_tiling(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    (void)workspace;
    const auto *data = (__gm__ Tiling *)tiling;
    // More cores may enter than the tiling asked for.
    if (AscendC::GetBlockIdx() >= AscendC::GetBlockNum()) {
        return;
    }
    auto *input = (__gm__ int32_t *)x;
    auto *output = (__gm__ int32_t *)y;
    // Whole cache lines for each core: a line is written back as a whole.
    for (uint32_t line = AscendC::GetBlockIdx(); line * LINE < data->length; line += AscendC::GetBlockNum()) {
        for (uint32_t i = line * LINE; i < (line + 1) * LINE && i < data->length; ++i) {
            output[i] = data->factor * input[i];
        }
    }
    dcci((__gm__ int32_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT);
}
