// The operators between the fragments. Which one is compiled is decided by the function that is asked for.
#include "model.h"

namespace {

using model::LANES;
using model::TOKENS;
using model::WIDTH;

__aicore__ AscendC::GlobalTensor<float> Floats(GM_ADDR address, uint32_t length)
{
    AscendC::GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer((__gm__ float *)address, length);
    return tensor;
}

} // namespace

// y = x turned around: WIDTH rows of TOKENS.
extern "C" __global__ __aicore__ void transpose(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> input = Floats(x, TOKENS * WIDTH);
    AscendC::GlobalTensor<float> output = Floats(y, WIDTH * TOKENS);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, (TOKENS * WIDTH + TOKENS) * sizeof(float));
    AscendC::LocalTensor<float> all = memory.Get<float>(TOKENS * WIDTH);
    AscendC::LocalTensor<float> row = memory.GetWithOffset<float>(TOKENS, TOKENS * WIDTH * sizeof(float));
    AscendC::DataCopy(all, input, TOKENS * WIDTH);
    AscendC::PipeBarrier<PIPE_ALL>();
    for (uint32_t r = AscendC::GetBlockIdx(); r < WIDTH; r += AscendC::GetBlockNum()) {
        for (uint32_t i = 0; i < TOKENS; ++i) {
            row.SetValue(i, all.GetValue(i * WIDTH + r));
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(output[r * TOKENS], row, TOKENS);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}

// y = mean of every row of x, WIDTH rows of TOKENS; LANES results at a time.
extern "C" __global__ __aicore__ void reduce_mean_d(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> input = Floats(x, WIDTH * TOKENS);
    AscendC::GlobalTensor<float> output = Floats(y, WIDTH);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, (LANES * TOKENS + LANES) * sizeof(float));
    AscendC::LocalTensor<float> rows = memory.Get<float>(LANES * TOKENS);
    AscendC::LocalTensor<float> means = memory.GetWithOffset<float>(LANES, LANES * TOKENS * sizeof(float));
    for (uint32_t r = LANES * AscendC::GetBlockIdx(); r < WIDTH; r += LANES * AscendC::GetBlockNum()) {
        AscendC::DataCopy(rows, input[r * TOKENS], LANES * TOKENS);
        AscendC::PipeBarrier<PIPE_ALL>();
        for (uint32_t lane = 0; lane < LANES; ++lane) {
            float sum = 0;
            for (uint32_t i = 0; i < TOKENS; ++i) {
                sum += rows.GetValue(lane * TOKENS + i);
            }
            means.SetValue(lane, sum / (float)TOKENS);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(output[r], means, LANES);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}

// y = x repeated for every token.
extern "C" __global__ __aicore__ void tile(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> input = Floats(x, WIDTH);
    AscendC::GlobalTensor<float> output = Floats(y, TOKENS * WIDTH);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, WIDTH * sizeof(float));
    AscendC::LocalTensor<float> row = memory.Get<float>();
    AscendC::DataCopy(row, input, WIDTH);
    AscendC::PipeBarrier<PIPE_ALL>();
    for (uint32_t r = AscendC::GetBlockIdx(); r < TOKENS; r += AscendC::GetBlockNum()) {
        AscendC::DataCopy(output[r * WIDTH], row, WIDTH);
    }
}

// y = (x1 - x2) / 2 + x3
extern "C" __global__ __aicore__ void residual(GM_ADDR x1, GM_ADDR x2, GM_ADDR x3, GM_ADDR y)
{
    AscendC::GlobalTensor<float> first = Floats(x1, TOKENS * WIDTH);
    AscendC::GlobalTensor<float> second = Floats(x2, TOKENS * WIDTH);
    AscendC::GlobalTensor<float> third = Floats(x3, TOKENS * WIDTH);
    AscendC::GlobalTensor<float> output = Floats(y, TOKENS * WIDTH);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, 3 * WIDTH * sizeof(float));
    AscendC::LocalTensor<float> a = memory.Get<float>(WIDTH);
    AscendC::LocalTensor<float> b = memory.GetWithOffset<float>(WIDTH, WIDTH * sizeof(float));
    AscendC::LocalTensor<float> c = memory.GetWithOffset<float>(WIDTH, 2 * WIDTH * sizeof(float));
    for (uint32_t r = AscendC::GetBlockIdx(); r < TOKENS; r += AscendC::GetBlockNum()) {
        AscendC::DataCopy(a, first[r * WIDTH], WIDTH);
        AscendC::DataCopy(b, second[r * WIDTH], WIDTH);
        AscendC::DataCopy(c, third[r * WIDTH], WIDTH);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Sub(a, a, b, WIDTH);
        AscendC::Muls(a, a, 0.5f, WIDTH);
        AscendC::Add(a, a, c, WIDTH);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(output[r * WIDTH], a, WIDTH);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}

// y = the first WIDTH columns of x, which has no others: what is left of a slice after shapes were settled.
extern "C" __global__ __aicore__ void strided_slice_d(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> input = Floats(x, TOKENS * WIDTH);
    AscendC::GlobalTensor<float> output = Floats(y, TOKENS * WIDTH);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, WIDTH * sizeof(float));
    AscendC::LocalTensor<float> row = memory.Get<float>();
    for (uint32_t r = AscendC::GetBlockIdx(); r < TOKENS; r += AscendC::GetBlockNum()) {
        AscendC::DataCopy(row, input[r * WIDTH], WIDTH);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(output[r * WIDTH], row, WIDTH);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}
