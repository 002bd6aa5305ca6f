// Rows of floats as bytes and a scale each: the largest magnitude becomes 127.
#include "rows.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void quantise(GM_ADDR x, GM_ADDR y, GM_ADDR scales) {
    Rows<float, int8_t> rows;
    rows.Init(x, y);
    TBuf<TPosition::VECCALC> scratch;
    TQue<TPosition::VECOUT, 1> scale;
    rows.pipe.InitBuffer(scratch, 3 * COLUMNS * sizeof(float));
    rows.pipe.InitBuffer(scale, 2, 32);
    GlobalTensor<float> target;
    target.SetGlobalBuffer((__gm__ float *)scales, ROWS);
    LocalTensor<float> magnitude = scratch.Get<float>(), work = magnitude[COLUMNS];
    LocalTensor<half> narrow = magnitude[2 * COLUMNS].ReinterpretCast<half>();
    rows.ForEach([&](LocalTensor<int8_t> output, LocalTensor<float> input, uint32_t row) {
        Abs(magnitude, input, COLUMNS);
        ReduceMax(work, magnitude, work, COLUMNS, false);
        const float largest = work.GetValue(0);
        Muls(magnitude, input, 127.0f / largest, COLUMNS);
        Cast(magnitude, magnitude, RoundMode::CAST_RINT, COLUMNS);
        Cast(narrow, magnitude, RoundMode::CAST_NONE, COLUMNS);
        Cast(output, narrow, RoundMode::CAST_NONE, COLUMNS);
        LocalTensor<float> one = scale.AllocTensor<float>();
        Duplicate(one, largest / 127.0f, 8);
        scale.EnQue(one);
        one = scale.DeQue<float>();
        DataCopyPad(target[row], one, DataCopyExtParams{1, sizeof(float), 0, 0, 0});
        scale.FreeTensor(one);
    });
}
