// y = factor * x, on vector cores; the factor and the number of blocks are known only at run time.
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 1024;

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
    for (uint32_t i = AscendC::GetBlockIdx(); i < data->length; i += AscendC::GetBlockNum()) {
        output[i] = data->factor * input[i];
    }
    dcci((__gm__ int32_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT);
}
