// relu(a x b + bias) of halves: cube cores take 32 rows each. B comes transposed from L1, the bias through its table.
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t M = 64, K = 96, N = 48, PART = 32;

extern "C" __global__ __aicore__ void dense(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c) {
    GlobalTensor<half> left, right, target;
    GlobalTensor<float> added;
    left.SetGlobalBuffer((__gm__ half *)a, M * K);
    right.SetGlobalBuffer((__gm__ half *)b, K * N);
    added.SetGlobalBuffer((__gm__ float *)bias, N);
    target.SetGlobalBuffer((__gm__ half *)c, M * N);
    TPipe pipe;
    TQue<TPosition::A1, 1> a1;
    TQue<TPosition::B1, 1> b1;
    TQue<TPosition::C1, 1> c1;
    TQue<TPosition::A2, 1> a2;
    TQue<TPosition::B2, 1> b2;
    TQue<TPosition::C2, 1> c2;
    TQue<TPosition::CO1, 1> results;
    pipe.InitBuffer(a1, 1, PART * K * sizeof(half));
    pipe.InitBuffer(b1, 1, K * N * sizeof(half));
    pipe.InitBuffer(c1, 1, N * sizeof(float));
    pipe.InitBuffer(a2, 1, PART * K * sizeof(half));
    pipe.InitBuffer(b2, 1, K * N * sizeof(half));
    pipe.InitBuffer(c2, 1, 256);
    pipe.InitBuffer(results, 1, PART * N * sizeof(float));
    for (uint32_t first = GetBlockIdx() * PART; first < M; first += GetBlockNum() * PART) {
        LocalTensor<half> aBlock = a1.AllocTensor<half>(), bBlock = b1.AllocTensor<half>();
        LocalTensor<float> row = c1.AllocTensor<float>();
        DataCopy(aBlock, left[first * K], Nd2NzParams{1, PART, K, 0, K, PART, 1, 0});
        DataCopy(bBlock, right, Nd2NzParams{1, K, N, 0, N, K, 1, 0});
        DataCopy(row, added, N);
        a1.EnQue(aBlock);
        b1.EnQue(bBlock);
        c1.EnQue(row);
        aBlock = a1.DeQue<half>();
        bBlock = b1.DeQue<half>();
        row = c1.DeQue<float>();
        LocalTensor<half> aFractals = a2.AllocTensor<half>(), bFractals = b2.AllocTensor<half>();
        LocalTensor<float> table = c2.AllocTensor<float>();
        for (uint32_t i = 0; i < PART / 16; ++i) {
            LoadData2DParams load;
            load.repeatTimes = K / 16;
            load.srcStride = PART / 16;
            LoadData(aFractals[i * 16 * K], aBlock[i * 256], load);
        }
        for (uint32_t i = 0; i < K / 16; ++i) {
            LoadData2DParams load;
            load.repeatTimes = N / 16;
            load.srcStride = K / 16;
            load.ifTranspose = true;
            LoadData(bFractals[i * 16 * N], bBlock[i * 256], load);
        }
        DataCopy(table, row, DataCopyParams{1, N * sizeof(float) / 64, 0, 0});
        a2.EnQue(aFractals);
        b2.EnQue(bFractals);
        c2.EnQue(table);
        a1.FreeTensor(aBlock);
        b1.FreeTensor(bBlock);
        c1.FreeTensor(row);
        aFractals = a2.DeQue<half>();
        bFractals = b2.DeQue<half>();
        table = c2.DeQue<float>();
        LocalTensor<float> result = results.AllocTensor<float>();
        MmadParams multiply;
        multiply.m = PART;
        multiply.n = N;
        multiply.k = K;
        multiply.cmatrixInitVal = false;
        multiply.cmatrixSource = true;
        Mmad(result, aFractals, bFractals, table, multiply);
        a2.FreeTensor(aFractals);
        b2.FreeTensor(bFractals);
        c2.FreeTensor(table);
        results.EnQue(result);
        result = results.DeQue<float>();
        FixpipeParamsV220 out;
        out.nSize = N;
        out.mSize = PART;
        out.srcStride = PART;
        out.dstStride = N;
        out.ndNum = 1;
        out.quantPre = QuantMode_t::F322F16;
        out.reluEn = true;
        Fixpipe(target[first * N], result, out);
        results.FreeTensor(result);
    }
}
