// z = x + y, on vector cores.
#include "kernel_operator.h"

constexpr uint32_t LENGTH = 1024;
constexpr uint32_t TILE = 128;

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    (void)workspace;
    AscendC::GlobalTensor<int32_t> left;
    AscendC::GlobalTensor<int32_t> right;
    AscendC::GlobalTensor<int32_t> result;
    left.SetGlobalBuffer((__gm__ int32_t *)x, LENGTH);
    right.SetGlobalBuffer((__gm__ int32_t *)y, LENGTH);
    result.SetGlobalBuffer((__gm__ int32_t *)z, LENGTH);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> lefts;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> rights;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> results;
    pipe.InitBuffer(lefts, 1, TILE * sizeof(int32_t));
    pipe.InitBuffer(rights, 1, TILE * sizeof(int32_t));
    pipe.InitBuffer(results, 1, TILE * sizeof(int32_t));
    for (uint32_t tile = AscendC::GetBlockIdx(); tile < LENGTH / TILE; tile += AscendC::GetBlockNum()) {
        AscendC::LocalTensor<int32_t> a = lefts.AllocTensor<int32_t>();
        AscendC::LocalTensor<int32_t> b = rights.AllocTensor<int32_t>();
        AscendC::DataCopy(a, left[tile * TILE], TILE);
        AscendC::DataCopy(b, right[tile * TILE], TILE);
        lefts.EnQue(a);
        rights.EnQue(b);
        a = lefts.DeQue<int32_t>();
        b = rights.DeQue<int32_t>();
        AscendC::LocalTensor<int32_t> sum = results.AllocTensor<int32_t>();
        AscendC::Add(sum, a, b, TILE);
        results.EnQue(sum);
        lefts.FreeTensor(a);
        rights.FreeTensor(b);
        sum = results.DeQue<int32_t>();
        AscendC::DataCopy(result[tile * TILE], sum, TILE);
        results.FreeTensor(sum);
    }
}
