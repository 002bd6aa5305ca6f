// A matrix of halves, transposed in squares of 16 x 16.
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t HIGH = 64, WIDE = 96, SIDE = 16;

extern "C" __global__ __aicore__ void turned(GM_ADDR x, GM_ADDR y) {
    GlobalTensor<half> source, target;
    source.SetGlobalBuffer((__gm__ half *)x, HIGH * WIDE);
    target.SetGlobalBuffer((__gm__ half *)y, HIGH * WIDE);
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, SIDE * SIDE * sizeof(half));
    pipe.InitBuffer(out, 2, SIDE * SIDE * sizeof(half));
    constexpr uint32_t ACROSS = WIDE / SIDE;
    for (uint32_t square = GetBlockIdx(); square < HIGH / SIDE * ACROSS; square += GetBlockNum()) {
        const uint32_t row = square / ACROSS * SIDE, column = square % ACROSS * SIDE;
        LocalTensor<half> input = in.AllocTensor<half>();
        DataCopy(input, source[row * WIDE + column], DataCopyParams{SIDE, 1, WIDE / SIDE - 1, 0});
        in.EnQue(input);
        input = in.DeQue<half>();
        LocalTensor<half> output = out.AllocTensor<half>();
        Transpose(output, input);
        out.EnQue(output);
        in.FreeTensor(input);
        output = out.DeQue<half>();
        DataCopy(target[column * HIGH + row], output, DataCopyParams{SIDE, 1, 0, HIGH / SIDE - 1});
        out.FreeTensor(output);
    }
}
