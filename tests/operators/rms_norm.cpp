// Rows of halves divided by the root of their mean square, computed in floats.
#include "rows.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR y) {
    Rows<half> rows;
    rows.Init(x, y);
    TBuf<TPosition::VECCALC> scratch;
    rows.pipe.InitBuffer(scratch, 3 * COLUMNS * sizeof(float));
    LocalTensor<float> wide = scratch.Get<float>(), squares = wide[COLUMNS], work = wide[2 * COLUMNS];
    rows.ForEach([&](LocalTensor<half> output, LocalTensor<half> input, uint32_t) {
        Cast(wide, input, RoundMode::CAST_NONE, COLUMNS);
        Mul(squares, wide, wide, COLUMNS);
        ReduceSum(squares, squares, work, COLUMNS);
        const float mean = squares.GetValue(0) / COLUMNS + 1e-6f;
        Duplicate(squares, mean, 64);
        Rsqrt(work, squares, 64);
        Mul(squares, work, work, 64); // one step of Newton: the chip's estimate has few bits
        Muls(squares, squares, -0.5f * mean, 64);
        Adds(squares, squares, 1.5f, 64);
        Mul(work, work, squares, 64);
        const float factor = work.GetValue(0);
        Muls(wide, wide, factor, COLUMNS);
        Cast(output, wide, RoundMode::CAST_RINT, COLUMNS);
    });
}
