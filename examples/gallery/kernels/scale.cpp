// y = 2 * x + 1, on vector cores.
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 1024;
constexpr uint32_t TILE = 64;

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace)
{
    (void)workspace;
    AscendC::GlobalTensor<int32_t> input;
    AscendC::GlobalTensor<int32_t> output;
    input.SetGlobalBuffer((__gm__ int32_t *)x, LENGTH);
    output.SetGlobalBuffer((__gm__ int32_t *)y, LENGTH);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> inputs;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outputs;
    pipe.InitBuffer(inputs, 1, TILE * sizeof(int32_t));
    pipe.InitBuffer(outputs, 1, TILE * sizeof(int32_t));
    for (uint32_t tile = AscendC::GetBlockIdx(); tile < LENGTH / TILE; tile += AscendC::GetBlockNum()) {
        AscendC::LocalTensor<int32_t> in = inputs.AllocTensor<int32_t>();
        AscendC::DataCopy(in, input[tile * TILE], TILE);
        inputs.EnQue(in);
        in = inputs.DeQue<int32_t>();
        AscendC::LocalTensor<int32_t> out = outputs.AllocTensor<int32_t>();
        AscendC::Muls(out, in, (int32_t)2, TILE);
        AscendC::Adds(out, out, (int32_t)1, TILE);
        outputs.EnQue(out);
        inputs.FreeTensor(in);
        out = outputs.DeQue<int32_t>();
        AscendC::DataCopy(output[tile * TILE], out, TILE);
        outputs.FreeTensor(out);
    }
}
