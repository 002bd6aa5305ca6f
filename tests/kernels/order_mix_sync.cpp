// Both kinds of core, which all meet between the two parts of the work (SyncAll<false>), or the vector cores alone do
// (ORDER_VECTORS_MEET).
#include "order.h"

extern "C" __global__ __aicore__ void order_mix_sync(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace)
{
    ORDER_BEGIN();
    order::Buffers buffers(x1, x2, y, workspace);
    const uint32_t block = order::Block();
    const uint32_t blocks = AscendC::GetBlockNum();
    // Cube cores own the even elements, vector cores the odd ones.
    uint32_t part = 2 * block;
    uint32_t parts = 2 * blocks;
    if ASCEND_IS_AIV {
        part = 2 * (block + blocks * AscendC::GetSubBlockIdx()) + 1;
        parts = 2 * blocks * AscendC::GetTaskRatio();
    }
#if defined(ORDER_VECTORS_MEET)
    if ASCEND_IS_AIV {
        // Odd elements only: no cube core takes part in the meeting.
        order::ForPart(part, parts, [&](uint32_t i) {
            buffers.workspace[i] = order::First(order::FIXED, buffers, (i + order::N - 2) % order::N);
            order::Step(buffers.workspace + i);
        });
        for (uint32_t round = 0; round < ORDER_ROUNDS; ++round) {
            AscendC::SyncAll<true>();
        }
        order::ForPart(part, parts, [&](uint32_t i) {
            buffers.y[i] = buffers.workspace[(i + 2) % order::N] + order::Second(order::FIXED, buffers, i);
            order::Step(buffers.y + i);
        });
    } else {
        order::ForPart(part, parts, [&](uint32_t i) {
            buffers.y[i] = order::First(order::FIXED, buffers, i) + order::Second(order::FIXED, buffers, i);
            order::Step(buffers.y + i);
        });
    }
#else
    order::ForPart(part, parts, [&](uint32_t i) {
        buffers.workspace[i] = order::First(order::FIXED, buffers, (i + order::N - 1) % order::N);
        order::Step(buffers.workspace + i);
    });
    for (uint32_t round = 0; round < ORDER_ROUNDS; ++round) {
        AscendC::SyncAll<false>();
    }
    // Even elements now read what vector cores wrote, odd ones what cube cores wrote.
    order::ForPart(part, parts, [&](uint32_t i) {
        buffers.y[i] = buffers.workspace[(i + 1) % order::N] + order::Second(order::FIXED, buffers, i);
        order::Step(buffers.y + i);
    });
#endif
    ORDER_END();
}
