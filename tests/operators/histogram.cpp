// How often each of 64 numbers occurs: every core counts in UB, then adds its counts to those of the others.
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t COUNT = 3000, BINS = 64, PART = 256;

extern "C" __global__ __aicore__ void histogram(GM_ADDR x, GM_ADDR y) {
    GlobalTensor<int32_t> source, target;
    source.SetGlobalBuffer((__gm__ int32_t *)x, COUNT);
    target.SetGlobalBuffer((__gm__ int32_t *)y, BINS);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, PART * sizeof(int32_t));
    pipe.InitBuffer(out, 1, BINS * sizeof(int32_t));
    LocalTensor<int32_t> counts = out.AllocTensor<int32_t>();
    Duplicate(counts, 0, BINS);
    for (uint32_t first = GetBlockIdx() * PART; first < COUNT; first += GetBlockNum() * PART) {
        const uint32_t here = COUNT - first < PART ? COUNT - first : PART;
        LocalTensor<int32_t> input = in.AllocTensor<int32_t>();
        const DataCopyExtParams size{1, static_cast<uint32_t>(here * sizeof(int32_t)), 0, 0, 0};
        DataCopyPad(input, source[first], size, DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
        in.EnQue(input);
        input = in.DeQue<int32_t>();
        const event_t arrived = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_S));
        SetFlag<HardEvent::MTE2_S>(arrived);
        WaitFlag<HardEvent::MTE2_S>(arrived);
        for (uint32_t i = 0; i < here; ++i) {
            const int32_t number = input.GetValue(i);
            counts.SetValue(number, counts.GetValue(number) + 1);
        }
        in.FreeTensor(input);
    }
    const event_t counted = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_MTE3));
    SetFlag<HardEvent::S_MTE3>(counted);
    WaitFlag<HardEvent::S_MTE3>(counted);
    out.EnQue(counts);
    counts = out.DeQue<int32_t>();
    SetAtomicAdd<int32_t>();
    DataCopy(target, counts, BINS);
    SetAtomicNone();
    out.FreeTensor(counts);
}
