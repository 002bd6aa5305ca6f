// softmax(q x k^T / 8) of blocks of 16 rows: the cube core multiplies into a workspace, its two vector cores take half of
// the rows each. Flag 5 says that a block is there, flag 6 that it has been read.
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t QUERIES = 64, KEYS = 64, DEPTH = 64, PART = 16;

__aicore__ inline void Multiply(GM_ADDR q, GM_ADDR k, GM_ADDR workspace) {
    GlobalTensor<half> left, right;
    GlobalTensor<float> product;
    left.SetGlobalBuffer((__gm__ half *)q, QUERIES * DEPTH);
    right.SetGlobalBuffer((__gm__ half *)k, KEYS * DEPTH);
    product.SetGlobalBuffer((__gm__ float *)workspace, QUERIES * KEYS);
    TPipe pipe;
    TQue<TPosition::A1, 1> a1;
    TQue<TPosition::B1, 1> b1;
    TQue<TPosition::A2, 1> a2;
    TQue<TPosition::B2, 1> b2;
    TQue<TPosition::CO1, 1> results;
    pipe.InitBuffer(a1, 1, PART * DEPTH * sizeof(half));
    pipe.InitBuffer(b1, 1, KEYS * DEPTH * sizeof(half));
    pipe.InitBuffer(a2, 1, PART * DEPTH * sizeof(half));
    pipe.InitBuffer(b2, 1, KEYS * DEPTH * sizeof(half));
    pipe.InitBuffer(results, 1, PART * KEYS * sizeof(float));
    for (uint32_t first = GetBlockIdx() * PART; first < QUERIES; first += GetBlockNum() * PART) {
        LocalTensor<half> aBlock = a1.AllocTensor<half>(), bBlock = b1.AllocTensor<half>();
        DataCopy(aBlock, left[first * DEPTH], Nd2NzParams{1, PART, DEPTH, 0, DEPTH, PART, 1, 0});
        DataCopy(bBlock, right, Nd2NzParams{1, KEYS, DEPTH, 0, DEPTH, KEYS, 1, 0});
        a1.EnQue(aBlock);
        b1.EnQue(bBlock);
        aBlock = a1.DeQue<half>();
        bBlock = b1.DeQue<half>();
        LocalTensor<half> aFractals = a2.AllocTensor<half>(), bFractals = b2.AllocTensor<half>();
        LoadData2DParams load;
        load.repeatTimes = DEPTH / 16;
        load.srcStride = 1;
        LoadData(aFractals, aBlock, load);
        // The keys are rows already: their fractals need no turning.
        load.repeatTimes = DEPTH / 16 * KEYS / 16;
        LoadData(bFractals, bBlock, load);
        a2.EnQue(aFractals);
        b2.EnQue(bFractals);
        a1.FreeTensor(aBlock);
        b1.FreeTensor(bBlock);
        aFractals = a2.DeQue<half>();
        bFractals = b2.DeQue<half>();
        LocalTensor<float> result = results.AllocTensor<float>();
        MmadParams multiply;
        multiply.m = PART;
        multiply.n = KEYS;
        multiply.k = DEPTH;
        Mmad(result, aFractals, bFractals, multiply);
        a2.FreeTensor(aFractals);
        b2.FreeTensor(bFractals);
        results.EnQue(result);
        result = results.DeQue<float>();
        FixpipeParamsV220 out;
        out.nSize = KEYS;
        out.mSize = PART;
        out.srcStride = PART;
        out.dstStride = KEYS;
        out.ndNum = 1;
        Fixpipe(product[first * KEYS], result, out);
        results.FreeTensor(result);
        CrossCoreSetFlag<2, PIPE_FIX>(5);
        CrossCoreWaitFlag(6);
    }
}

__aicore__ inline void Normalise(GM_ADDR workspace, GM_ADDR y) {
    constexpr uint32_t MINE = PART / 2;
    GlobalTensor<float> product, target;
    product.SetGlobalBuffer((__gm__ float *)workspace, QUERIES * KEYS);
    target.SetGlobalBuffer((__gm__ float *)y, QUERIES * KEYS);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> scratch;
    pipe.InitBuffer(in, 1, MINE * KEYS * sizeof(float));
    pipe.InitBuffer(out, 1, MINE * KEYS * sizeof(float));
    pipe.InitBuffer(scratch, 1024);
    LocalTensor<float> few = scratch.Get<float>(), spread = few[64];
    const BinaryRepeatParams byRow{1, 1, 0, 8, 8, 1};
    const uint32_t block = GetBlockIdx() / GetTaskRatio();
    for (uint32_t first = block * PART; first < QUERIES; first += GetBlockNum() * PART) {
        CrossCoreWaitFlag(5);
        const uint32_t start = (first + GetSubBlockIdx() * MINE) * KEYS;
        LocalTensor<float> input = in.AllocTensor<float>();
        DataCopy(input, product[start], MINE * KEYS);
        in.EnQue(input);
        input = in.DeQue<float>();
        LocalTensor<float> output = out.AllocTensor<float>();
        Muls(input, input, 0.125f, MINE * KEYS);
        WholeReduceMax(few, input, KEYS, MINE, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
        Brcb(spread, few, 1, {1, 8});
        Sub(input, input, spread, KEYS, MINE, byRow);
        Exp(input, input, MINE * KEYS);
        WholeReduceSum(few, input, KEYS, MINE, 1, 1, 8);
        Brcb(spread, few, 1, {1, 8});
        Div(output, input, spread, KEYS, MINE, byRow);
        out.EnQue(output);
        in.FreeTensor(input);
        output = out.DeQue<float>();
        DataCopy(target[start], output, MINE * KEYS);
        out.FreeTensor(output);
        CrossCoreSetFlag<2, PIPE_MTE2>(6);
    }
}

extern "C" __global__ __aicore__ void scores(GM_ADDR q, GM_ADDR k, GM_ADDR y, GM_ADDR workspace) {
    if ASCEND_IS_AIC {
        Multiply(q, k, workspace);
    }
    if ASCEND_IS_AIV {
        Normalise(workspace, y);
    }
}
