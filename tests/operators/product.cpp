// A matmul object of the high-level interface with a vector part behind it: leaky relu of a x b, tile by tile in UB.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
constexpr int M = 64, N = 96, K = 128, BASE_M = 16, BASE_N = 32;

extern "C" __global__ __aicore__ void product(GM_ADDR a, GM_ADDR b, GM_ADDR c) {
    TCubeTiling tiling{};
    const int cores = GetBlockNum() * 2, part = M / cores;
    tiling.usedCoreNum = cores;
    tiling.M = M, tiling.N = N, tiling.Ka = tiling.Kb = K;
    tiling.singleCoreM = part, tiling.singleCoreN = N, tiling.singleCoreK = K;
    tiling.baseM = BASE_M, tiling.baseN = BASE_N, tiling.baseK = 64;
    tiling.depthA1 = tiling.depthB1 = tiling.stepKa = tiling.stepKb = 2;
    tiling.stepM = tiling.stepN = tiling.dbL0C = 1;
    tiling.dbL0A = tiling.dbL0B = 2;
    GlobalTensor<half> left, right;
    GlobalTensor<float> target;
    left.SetGlobalBuffer((__gm__ half *)a, M * K);
    right.SetGlobalBuffer((__gm__ half *)b, K * N);
    target.SetGlobalBuffer((__gm__ float *)c, M * N);
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> queue;
    matmul::Matmul<matmul::MatmulType<TPosition::GM, CubeFormat::ND, half>,
                   matmul::MatmulType<TPosition::GM, CubeFormat::ND, half>,
                   matmul::MatmulType<TPosition::VECIN, CubeFormat::ND, float>,
                   matmul::MatmulType<TPosition::GM, CubeFormat::ND, float>>
        object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
    pipe.InitBuffer(queue, 1, BASE_M * BASE_N * sizeof(float));
    const int first = GetBlockIdx() * part;
    object.SetTensorA(left[first * K]);
    object.SetTensorB(right);
    int tile = 0;
    while (object.template Iterate<true>()) {
        LocalTensor<float> local = queue.AllocTensor<float>();
        object.template GetTensorC<true>(local, false, true);
        LeakyRelu(local, local, 0.25f, BASE_M * BASE_N);
        queue.EnQue(local);
        local = queue.DeQue<float>();
        const int row = first + tile % (part / BASE_M) * BASE_M, column = tile / (part / BASE_M) * BASE_N;
        DataCopy(target[row * N + column], local, DataCopyParams{BASE_M, BASE_N * 4 / 32, 0, (N - BASE_N) * 4 / 32});
        queue.FreeTensor(local);
        ++tile;
    }
    object.End();
}
