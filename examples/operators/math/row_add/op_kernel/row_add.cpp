// x1 + x2, or a copy of x1.
#include "../../norm/row_common/op_kernel/row_common.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void row_add(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const uint32_t columns = data.columns;
    RowPipe<float> rows;
    rows.Init(x1, y, data.rows, columns);
    TQue<TPosition::VECIN, 1> others;
    rows.pipe.InitBuffer(others, 1, columns * sizeof(float));
    GlobalTensor<float> second;
    second.SetGlobalBuffer((__gm__ float *)x2, data.rows * columns);
    rows.ForEach([&](LocalTensor<float> output, LocalTensor<float> input, uint32_t row) {
        if (TILING_KEY_IS(2)) {
            LocalTensor<float> other = others.AllocTensor<float>();
            DataCopy(other, second[row * columns], columns);
            others.EnQue(other);
            other = others.DeQue<float>();
            Add(output, input, other, columns);
            others.FreeTensor(other);
        } else if (TILING_KEY_IS(1)) {
            Muls(output, input, 1.0f, columns);
        }
    });
}
