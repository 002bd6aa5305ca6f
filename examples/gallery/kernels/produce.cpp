// y = 3 * x, on vector cores; lets the next operator start as soon as its part is written, or (TOO_EARLY) before.
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 1024;
constexpr uint32_t LINE = 16;

extern "C" __global__ __aicore__ void produce(GM_ADDR x, GM_ADDR y, GM_ADDR workspace)
{
    (void)workspace;
    auto *input = (__gm__ int32_t *)x;
    auto *output = (__gm__ int32_t *)y;
#if defined(TOO_EARLY)
    AscendC::SetNextTaskStart();
#endif
    for (uint32_t line = AscendC::GetBlockIdx(); line < LENGTH / LINE; line += AscendC::GetBlockNum()) {
        for (uint32_t i = line * LINE; i < (line + 1) * LINE; ++i) {
            output[i] = 3 * input[i];
        }
        dcci(output + line * LINE, SINGLE_CACHE_LINE, CACHELINE_OUT);
    }
#if !defined(TOO_EARLY)
    AscendC::SetNextTaskStart();
    // Work that nobody waits for: the next operator runs meanwhile.
    for (uint32_t turn = 0; turn < 40; ++turn) {
        dcci(input, SINGLE_CACHE_LINE, CACHELINE_OUT);
    }
#endif
}
