// x times a function of the gate: what is above zero, at most a limit, or the square.
#include "kernel_operator.h"
#include "gate_tiling_data.h"
#include "gate_tiling_key.h"

using namespace AscendC;

template <typename T, int MODE, bool LIMITED>
__global__ __aicore__ void gate(GM_ADDR x, GM_ADDR gate, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(GateTilingData);
    GET_TILING_DATA(data, tiling);
    TPipe pipe;
    TQue<TPosition::VECIN, 2> values, gates;
    TQue<TPosition::VECOUT, 2> results;
    pipe.InitBuffer(values, 2, data.part * sizeof(T));
    pipe.InitBuffer(gates, 2, data.part * sizeof(T));
    pipe.InitBuffer(results, 2, data.part * sizeof(T));
    GlobalTensor<T> source, factor, target;
    source.SetGlobalBuffer((__gm__ T *)x, data.count);
    factor.SetGlobalBuffer((__gm__ T *)gate, data.count);
    target.SetGlobalBuffer((__gm__ T *)y, data.count);
    for (uint64_t at = GetBlockIdx() * data.part; at < data.count; at += GetBlockNum() * data.part) {
        const uint32_t count = data.count - at < data.part ? data.count - at : data.part;
        LocalTensor<T> value = values.AllocTensor<T>(), mask = gates.AllocTensor<T>();
        DataCopy(value, source[at], count);
        DataCopy(mask, factor[at], count);
        values.EnQue(value);
        gates.EnQue(mask);
        value = values.DeQue<T>();
        mask = gates.DeQue<T>();
        LocalTensor<T> result = results.AllocTensor<T>();
        if constexpr (MODE == GATE_SQUARE) {
            Mul(result, mask, mask, count);
        } else {
            Relu(result, mask, count);
        }
        if constexpr (LIMITED) {
            Mins(result, result, T(data.limit), count);
        }
        Mul(result, result, value, count);
        results.EnQue(result);
        values.FreeTensor(value);
        gates.FreeTensor(mask);
        result = results.DeQue<T>();
        DataCopy(target[at], result, count);
        results.FreeTensor(result);
    }
}
