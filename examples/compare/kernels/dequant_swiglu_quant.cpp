// Per token: swish(left half · scale) · right half, then to 8 bits with a factor of its own.
#include "model.h"

#include <math.h>

extern "C" __global__ __aicore__ void dequant_swiglu_quant(GM_ADDR x, GM_ADDR weight_scale, GM_ADDR y, GM_ADDR scale)
{
    using namespace model;
    AscendC::GlobalTensor<float> input;
    AscendC::GlobalTensor<float> weightScale;
    AscendC::GlobalTensor<int8_t> output;
    AscendC::GlobalTensor<float> factors;
    input.SetGlobalBuffer((__gm__ float *)x, TOKENS * 2 * HIDDEN);
    weightScale.SetGlobalBuffer((__gm__ float *)weight_scale, HIDDEN);
    output.SetGlobalBuffer((__gm__ int8_t *)y, TOKENS * HIDDEN);
    factors.SetGlobalBuffer((__gm__ float *)scale, TOKENS * LANES);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> floats;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bytes;
    pipe.InitBuffer(floats, (4 * HIDDEN + LANES) * sizeof(float));
    pipe.InitBuffer(bytes, HIDDEN);
    AscendC::LocalTensor<float> left = floats.Get<float>(HIDDEN);
    AscendC::LocalTensor<float> right = floats.GetWithOffset<float>(HIDDEN, HIDDEN * sizeof(float));
    AscendC::LocalTensor<float> gate = floats.GetWithOffset<float>(HIDDEN, 2 * HIDDEN * sizeof(float));
    AscendC::LocalTensor<float> dequant = floats.GetWithOffset<float>(HIDDEN, 3 * HIDDEN * sizeof(float));
    AscendC::LocalTensor<float> factor = floats.GetWithOffset<float>(LANES, 4 * HIDDEN * sizeof(float));
    AscendC::LocalTensor<int8_t> result = bytes.Get<int8_t>();
    AscendC::DataCopy(dequant, weightScale, HIDDEN);
    for (uint32_t token = AscendC::GetBlockIdx(); token < TOKENS; token += AscendC::GetBlockNum()) {
        AscendC::DataCopy(left, input[token * 2 * HIDDEN], HIDDEN);
        AscendC::DataCopy(right, input[token * 2 * HIDDEN + HIDDEN], HIDDEN);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Mul(left, left, dequant, HIDDEN);
        AscendC::Muls(gate, left, -1.0f, HIDDEN);
        AscendC::Exp(gate, gate, HIDDEN);
        AscendC::Adds(gate, gate, 1.0f, HIDDEN);
        AscendC::Div(gate, left, gate, HIDDEN);
        AscendC::Mul(gate, gate, right, HIDDEN);
        AscendC::PipeBarrier<PIPE_ALL>();
        float largest = 0;
        for (uint32_t i = 0; i < HIDDEN; ++i) {
            float magnitude = fabsf(gate.GetValue(i));
            largest = magnitude > largest ? magnitude : largest;
        }
        float step = largest > 0 ? largest / 127.0f : 1.0f;
        for (uint32_t i = 0; i < HIDDEN; ++i) {
            result.SetValue(i, (int8_t)rintf(gate.GetValue(i) / step));
        }
        AscendC::Duplicate(factor, step, LANES);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(output[token * HIDDEN], result, HIDDEN);
        AscendC::DataCopy(factors[token * LANES], factor, LANES);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}
