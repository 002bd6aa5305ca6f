// Per token: softmax over the experts, then the TOP largest with their numbers, the smaller number first among equals.
#include "model.h"

#include <math.h>

extern "C" __global__ __aicore__ void moe_gating_top_k(GM_ADDR logits, GM_ADDR scores, GM_ADDR experts)
{
    using namespace model;
    AscendC::GlobalTensor<float> input;
    AscendC::GlobalTensor<float> best;
    AscendC::GlobalTensor<int32_t> numbers;
    input.SetGlobalBuffer((__gm__ float *)logits, TOKENS * EXPERTS);
    best.SetGlobalBuffer((__gm__ float *)scores, TOKENS * TOP);
    numbers.SetGlobalBuffer((__gm__ int32_t *)experts, TOKENS * TOP);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, (EXPERTS + TOP + TOP) * sizeof(float));
    AscendC::LocalTensor<float> row = memory.Get<float>(EXPERTS);
    AscendC::LocalTensor<float> value = memory.GetWithOffset<float>(TOP, EXPERTS * sizeof(float));
    AscendC::LocalTensor<int32_t> number = memory.GetWithOffset<int32_t>(TOP, (EXPERTS + TOP) * sizeof(float));
    for (uint32_t token = AscendC::GetBlockIdx(); token < TOKENS; token += AscendC::GetBlockNum()) {
        AscendC::DataCopy(row, input[token * EXPERTS], EXPERTS);
        AscendC::PipeBarrier<PIPE_ALL>();
        float largest = row.GetValue(0);
        for (uint32_t i = 1; i < EXPERTS; ++i) {
            largest = row.GetValue(i) > largest ? row.GetValue(i) : largest;
        }
        AscendC::Adds(row, row, -largest, EXPERTS);
        AscendC::Exp(row, row, EXPERTS);
        AscendC::PipeBarrier<PIPE_ALL>();
        float sum = 0;
        for (uint32_t i = 0; i < EXPERTS; ++i) {
            sum += row.GetValue(i);
        }
        AscendC::Muls(row, row, 1.0f / sum, EXPERTS);
        AscendC::PipeBarrier<PIPE_ALL>();
        uint32_t taken = 0;
        for (uint32_t place = 0; place < TOP; ++place) {
            uint32_t found = EXPERTS;
            for (uint32_t i = 0; i < EXPERTS; ++i) {
                if ((taken >> i & 1) == 0 && (found == EXPERTS || row.GetValue(i) > row.GetValue(found))) {
                    found = i;
                }
            }
            taken |= 1u << found;
            value.SetValue(place, row.GetValue(found));
            number.SetValue(place, (int32_t)found);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(best[token * TOP], value, TOP);
        AscendC::DataCopy(numbers[token * TOP], number, TOP);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}
