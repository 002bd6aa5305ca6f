// The largest 32 of each row and where they stand, largest first.
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t ROWS = 24, COLUMNS = 128, KEPT = 32;

extern "C" __global__ __aicore__ void top_k(GM_ADDR x, GM_ADDR values, GM_ADDR indices) {
    GlobalTensor<float> source, found;
    GlobalTensor<int32_t> places;
    source.SetGlobalBuffer((__gm__ float *)x, ROWS * COLUMNS);
    found.SetGlobalBuffer((__gm__ float *)values, ROWS * KEPT);
    places.SetGlobalBuffer((__gm__ int32_t *)indices, ROWS * KEPT);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> best, where;
    TBuf<TPosition::VECCALC> numbersBuffer, sortedBuffer, mergedBuffer;
    pipe.InitBuffer(in, 2, COLUMNS * sizeof(float));
    pipe.InitBuffer(best, 2, KEPT * sizeof(float));
    pipe.InitBuffer(where, 2, KEPT * sizeof(int32_t));
    pipe.InitBuffer(numbersBuffer, COLUMNS * sizeof(int32_t));
    pipe.InitBuffer(sortedBuffer, COLUMNS * 8);
    pipe.InitBuffer(mergedBuffer, COLUMNS * 8);
    LocalTensor<int32_t> numbers = numbersBuffer.Get<int32_t>();
    CreateVecIndex(numbers, 0, COLUMNS);
    for (uint32_t row = GetBlockIdx(); row < ROWS; row += GetBlockNum()) {
        LocalTensor<float> input = in.AllocTensor<float>();
        DataCopy(input, source[row * COLUMNS], COLUMNS);
        in.EnQue(input);
        input = in.DeQue<float>();
        LocalTensor<float> sorted = sortedBuffer.Get<float>(), merged = mergedBuffer.Get<float>();
        Sort32(sorted, input, numbers.ReinterpretCast<uint32_t>(), COLUMNS / 32);
        MrgSortSrcList<float> lists(sorted, sorted[64], sorted[128], sorted[192]);
        const uint16_t lengths[4] = {32, 32, 32, 32};
        MrgSort4Info info(lengths, false, 15, 1);
        MrgSort(merged, lists, info);
        LocalTensor<float> top = best.AllocTensor<float>();
        LocalTensor<int32_t> place = where.AllocTensor<int32_t>();
        Extract(top, place.ReinterpretCast<uint32_t>(), merged, KEPT / 32);
        best.EnQue(top);
        where.EnQue(place);
        in.FreeTensor(input);
        top = best.DeQue<float>();
        place = where.DeQue<int32_t>();
        DataCopy(found[row * KEPT], top, KEPT);
        DataCopy(places[row * KEPT], place, KEPT);
        best.FreeTensor(top);
        where.FreeTensor(place);
    }
}
