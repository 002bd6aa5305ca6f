// x divided by the root of the sum of all squares: every core sums its part, then all meet, then each adds all parts.
#include "rows.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void global_norm(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    Rows<float> rows;
    GlobalTensor<float> parts;
    parts.SetGlobalBuffer((__gm__ float *)workspace, 8 * GetBlockNum());
    TBuf<TPosition::VECCALC> scratch;
    float factor = 1.0f;
    {
        rows.Init(x, y);
        rows.pipe.InitBuffer(scratch, 3 * COLUMNS * sizeof(float));
        LocalTensor<float> sums = scratch.Get<float>(), work = sums[COLUMNS], one = sums[2 * COLUMNS];
        Duplicate(sums, 0.0f, COLUMNS);
        rows.ForEach([&](LocalTensor<float> output, LocalTensor<float> input, uint32_t) {
            MulAddDst(sums, input, input, COLUMNS);
            Adds(output, input, 0.0f, COLUMNS);
        });
        ReduceSum(one, sums, work, COLUMNS);
        const event_t summed = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_MTE3));
        SetFlag<HardEvent::V_MTE3>(summed);
        WaitFlag<HardEvent::V_MTE3>(summed);
        DataCopyPad(parts[8 * GetBlockIdx()], one, DataCopyExtParams{1, sizeof(float), 0, 0, 0});
        SyncAll();
        const uint32_t count = 8 * GetBlockNum();
        DataCopy(work, parts, count);
        const event_t arrived = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_S));
        SetFlag<HardEvent::MTE2_S>(arrived);
        WaitFlag<HardEvent::MTE2_S>(arrived);
        float total = 0.0f;
        for (uint32_t part = 0; part < count; part += 8) {
            total += work.GetValue(part);
        }
        Duplicate(one, total, 64);
        Sqrt(one, one, 64);
        factor = 1.0f / one.GetValue(0);
    }
    rows.ForEach([&](LocalTensor<float> output, LocalTensor<float> input, uint32_t) {
        Muls(output, input, factor, COLUMNS);
    });
}
