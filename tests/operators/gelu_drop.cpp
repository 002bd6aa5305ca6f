// x * sigmoid(1.702 x), where a mask of bits has a 1; else 0. Kept ones are scaled by 1/0.75.
#include "rows.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void gelu_drop(GM_ADDR x, GM_ADDR mask, GM_ADDR y) {
    Rows<float> rows;
    rows.Init(x, y);
    GlobalTensor<uint8_t> bits;
    bits.SetGlobalBuffer((__gm__ uint8_t *)mask, ROWS * COLUMNS / 8);
    TQue<TPosition::VECIN, 2> masks;
    TBuf<TPosition::VECCALC> scratch;
    rows.pipe.InitBuffer(masks, 2, COLUMNS / 8);
    rows.pipe.InitBuffer(scratch, COLUMNS * sizeof(float));
    LocalTensor<float> work = scratch.Get<float>();
    rows.ForEach([&](LocalTensor<float> output, LocalTensor<float> input, uint32_t row) {
        LocalTensor<uint8_t> kept = masks.AllocTensor<uint8_t>();
        DataCopy(kept, bits[row * COLUMNS / 8], COLUMNS / 8);
        masks.EnQue(kept);
        kept = masks.DeQue<uint8_t>();
        Muls(work, input, -1.702f, COLUMNS);
        Exp(work, work, COLUMNS);
        Adds(work, work, 1.0f, COLUMNS);
        Div(work, input, work, COLUMNS);
        Muls(work, work, 1.0f / 0.75f, COLUMNS);
        Select(output, kept, work, 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, COLUMNS);
        masks.FreeTensor(kept);
    });
}
