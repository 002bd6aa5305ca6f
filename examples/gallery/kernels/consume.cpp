// z = y + weight, on vector cores; prepares its weights before it waits for the operator that writes y.
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 1024;

extern "C" __global__ __aicore__ void consume(GM_ADDR y, GM_ADDR weight, GM_ADDR z, GM_ADDR workspace)
{
    (void)workspace;
    auto *input = (__gm__ int32_t *)y;
    auto *output = (__gm__ int32_t *)z;
    AscendC::GlobalTensor<int32_t> weights;
    weights.SetGlobalBuffer((__gm__ int32_t *)weight, LENGTH);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, LENGTH * sizeof(int32_t));
    AscendC::LocalTensor<int32_t> local = buffer.Get<int32_t>();
    AscendC::DataCopy(local, weights, LENGTH);

    AscendC::WaitPreTaskEnd();

    // Whole cache lines for each core: two cores must not write to the same one.
    const uint32_t piece = LENGTH / AscendC::GetBlockNum();
    // Elements another core wrote, read from the far end.
    const uint32_t first = LENGTH - piece * (AscendC::GetBlockIdx() + 1);
    for (uint32_t at = first; at < first + piece; ++at) {
        output[at] = input[at] + local.GetValue(at);
    }
    dcci((__gm__ int32_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT);
}
