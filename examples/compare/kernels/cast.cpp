// 8-bit numbers back to floats, each token by its own factor.
#include "model.h"

extern "C" __global__ __aicore__ void cast(GM_ADDR x, GM_ADDR scale, GM_ADDR y)
{
    using namespace model;
    AscendC::GlobalTensor<int8_t> input;
    AscendC::GlobalTensor<float> factors;
    AscendC::GlobalTensor<float> output;
    input.SetGlobalBuffer((__gm__ int8_t *)x, TOKENS * HIDDEN);
    factors.SetGlobalBuffer((__gm__ float *)scale, TOKENS * LANES);
    output.SetGlobalBuffer((__gm__ float *)y, TOKENS * HIDDEN);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bytes;
    AscendC::TBuf<AscendC::TPosition::VECCALC> floats;
    pipe.InitBuffer(bytes, HIDDEN);
    pipe.InitBuffer(floats, (HIDDEN + LANES) * sizeof(float));
    AscendC::LocalTensor<int8_t> row = bytes.Get<int8_t>();
    AscendC::LocalTensor<float> wide = floats.Get<float>(HIDDEN);
    AscendC::LocalTensor<float> factor = floats.GetWithOffset<float>(LANES, HIDDEN * sizeof(float));
    for (uint32_t token = AscendC::GetBlockIdx(); token < TOKENS; token += AscendC::GetBlockNum()) {
        AscendC::DataCopy(row, input[token * HIDDEN], HIDDEN);
        AscendC::DataCopy(factor, factors[token * LANES], LANES);
        AscendC::PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < HIDDEN; ++i) {
            wide.SetValue(i, (float)row.GetValue(i));
        }
        AscendC::Muls(wide, wide, factor.GetValue(0), HIDDEN);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(output[token * HIDDEN], wide, HIDDEN);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}
