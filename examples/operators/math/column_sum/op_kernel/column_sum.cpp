// The sum of every column: each core sums its rows into scratch memory, all cores meet, the first one adds up.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void column_sum(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    const uint32_t columns = data.columns;
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, columns * sizeof(float));
    pipe.InitBuffer(out, 1, columns * sizeof(float));
    GlobalTensor<float> source, parts, target;
    source.SetGlobalBuffer((__gm__ float *)x, data.rows * columns);
    parts.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(workspace), GetBlockNum() * columns);
    target.SetGlobalBuffer((__gm__ float *)y, columns);
    auto add_up = [&](GlobalTensor<float> from, uint32_t first, uint32_t end, uint32_t step, GlobalTensor<float> to) {
        LocalTensor<float> sum = out.AllocTensor<float>();
        Duplicate(sum, 0.0f, columns);
        for (uint32_t row = first; row < end; row += step) {
            LocalTensor<float> values = in.AllocTensor<float>();
            DataCopy(values, from[row * columns], columns);
            in.EnQue(values);
            values = in.DeQue<float>();
            Add(sum, sum, values, columns);
            in.FreeTensor(values);
        }
        out.EnQue(sum);
        sum = out.DeQue<float>();
        DataCopy(to, sum, columns);
        out.FreeTensor(sum);
    };
    add_up(source, GetBlockIdx(), data.rows, GetBlockNum(), parts[GetBlockIdx() * columns]);
    SyncAll();
    if (GetBlockIdx() == 0) {
        add_up(parts, 0, GetBlockNum(), 1, target);
    }
}
