// Rows with mean 0 and variance 1, scaled and shifted by columns.
#include "rows.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y) {
    Rows<float> rows;
    rows.Init(x, y);
    TBuf<TPosition::VECCALC> scratch, weights;
    rows.pipe.InitBuffer(scratch, 3 * COLUMNS * sizeof(float));
    rows.pipe.InitBuffer(weights, 2 * COLUMNS * sizeof(float));
    LocalTensor<float> centred = scratch.Get<float>(), squares = centred[COLUMNS], work = centred[2 * COLUMNS];
    LocalTensor<float> scale = weights.Get<float>(), shift = scale[COLUMNS];
    GlobalTensor<float> scales, shifts;
    scales.SetGlobalBuffer((__gm__ float *)gamma, COLUMNS);
    shifts.SetGlobalBuffer((__gm__ float *)beta, COLUMNS);
    DataCopy(scale, scales, COLUMNS);
    DataCopy(shift, shifts, COLUMNS);
    const event_t arrived = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_V));
    SetFlag<HardEvent::MTE2_V>(arrived);
    WaitFlag<HardEvent::MTE2_V>(arrived);
    rows.ForEach([&](LocalTensor<float> output, LocalTensor<float> input, uint32_t) {
        ReduceSum(squares, input, work, COLUMNS);
        const float mean = squares.GetValue(0) / COLUMNS;
        Adds(centred, input, -mean, COLUMNS);
        Mul(squares, centred, centred, COLUMNS);
        ReduceSum(squares, squares, work, COLUMNS);
        const float variance = squares.GetValue(0) / COLUMNS;
        Duplicate(squares, variance + 1e-5f, 64);
        Sqrt(squares, squares, 64);
        const float deviation = squares.GetValue(0);
        Muls(centred, centred, 1.0f / deviation, COLUMNS);
        Mul(centred, centred, scale, COLUMNS);
        Add(output, centred, shift, COLUMNS);
    });
}
