// exp(x - max) / sum of each row, without leaving the vector unit: extremes and sums are spread by Brcb.
#include "rows.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void softmax(GM_ADDR x, GM_ADDR y) {
    constexpr uint32_t REPEATS = COLUMNS / 64;
    Rows<float> rows;
    rows.Init(x, y);
    TBuf<TPosition::VECCALC> scratch;
    rows.pipe.InitBuffer(scratch, 1024);
    LocalTensor<float> few = scratch.Get<float>(), one = few[64], spread = few[128];
    const BinaryRepeatParams byRow{1, 1, 0, 8, 8, 0};
    rows.ForEach([&](LocalTensor<float> output, LocalTensor<float> input, uint32_t) {
        WholeReduceMax(few, input, 64, REPEATS, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
        PipeBarrier<PIPE_V>();
        WholeReduceMax(one, few, REPEATS, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
        PipeBarrier<PIPE_V>();
        Brcb(spread, one, 1, {1, 8});
        PipeBarrier<PIPE_V>();
        Sub(output, input, spread, 64, REPEATS, byRow);
        PipeBarrier<PIPE_V>();
        Exp(output, output, COLUMNS);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(few, output, 64, REPEATS, 1, 1, 8);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(one, few, REPEATS, 1, 1, 1, 8);
        PipeBarrier<PIPE_V>();
        Brcb(spread, one, 1, {1, 8});
        PipeBarrier<PIPE_V>();
        Div(output, output, spread, 64, REPEATS, byRow);
    });
}
