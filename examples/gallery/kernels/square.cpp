// y = x times its transpose, 16 by 16, on one cube core. The product and its way out wait for each other by the flags of
// L0C; `mistake` says which of the two does not use them. The numbers of the mistakes come from inside_a_core.py.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint16_t SIDE = 16;

extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y, GM_ADDR mistake, GM_ADDR workspace)
{
    (void)workspace;
    const uint32_t wrong = *(__gm__ uint32_t *)mistake;
    GlobalTensor<half> input;
    GlobalTensor<float> output;
    input.SetGlobalBuffer((__gm__ half *)x, SIDE * SIDE);
    output.SetGlobalBuffer((__gm__ float *)y, SIDE * SIDE);
    TPipe pipe;
    TQue<TPosition::A1, 1> matrices;
    TQue<TPosition::A2, 1> lefts;
    TQue<TPosition::B2, 1> rights;
    TBuf<TPosition::CO1> results;
    pipe.InitBuffer(matrices, 1, SIDE * SIDE * sizeof(half));
    pipe.InitBuffer(lefts, 1, SIDE * SIDE * sizeof(half));
    pipe.InitBuffer(rights, 1, SIDE * SIDE * sizeof(half));
    pipe.InitBuffer(results, SIDE * SIDE * sizeof(float));

    // One fractal: rows of L0A are columns of L0B.
    LocalTensor<half> matrix = matrices.AllocTensor<half>();
    DataCopy(matrix, input, SIDE * SIDE);
    matrices.EnQue(matrix);
    matrix = matrices.DeQue<half>();
    LocalTensor<half> left = lefts.AllocTensor<half>();
    LocalTensor<half> right = rights.AllocTensor<half>();
    LoadData2DParams load;
    load.repeatTimes = 1;
    LoadData(left, matrix, load);
    LoadData(right, matrix, load);
    lefts.EnQue(left);
    rights.EnQue(right);
    left = lefts.DeQue<half>();
    right = rights.DeQue<half>();
    matrices.FreeTensor(matrix);

    LocalTensor<float> result = results.Get<float>();
    MmadParams multiply(SIDE, SIDE, SIDE, 0, false, true);
    multiply.unitFlag = wrong == PRODUCT_RAISES_NO_FLAG ? 0 : 3;
    Mmad(result, left, right, multiply);
    FixpipeParamsV220 out(SIDE, SIDE, SIDE, SIDE, false);
    out.unitFlag = wrong == RESULT_WAITS_FOR_NO_FLAG ? 0 : 3;
    Fixpipe(output, result, out);
    lefts.FreeTensor(left);
    rights.FreeTensor(right);
}
