// One kind of core, in two rounds with all its cores meeting in between: the second round reads what neighbours wrote
// in the first. ORDER_ROUNDS meetings in a row must stay in step.
#include "order.h"

extern "C" __global__ __aicore__ void order_sync(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace)
{
    ORDER_BEGIN();
    order::Buffers buffers(x1, x2, y, workspace);
    const uint32_t part = AscendC::GetBlockIdx();
    const uint32_t parts = AscendC::GetBlockNum();
    order::ForPart(part, parts, [&](uint32_t i) {
        // Element i will be read by whoever owns the element before it.
        const uint32_t owner = (i + order::N - 1) % order::N;
        buffers.workspace[i] = order::First(order::FIXED, buffers, owner);
        order::Step(buffers.workspace + i);
    });
    for (uint32_t round = 0; round < ORDER_ROUNDS; ++round) {
        AscendC::SyncAll<true>();
        order::Step(buffers.workspace);
    }
    order::ForPart(part, parts, [&](uint32_t i) {
        const uint32_t first = buffers.workspace[(i + 1) % order::N];
        order::Step(buffers.y + i);
        buffers.y[i] = first + order::Second(order::FIXED, buffers, i);
        order::Step(buffers.y + i);
    });
    ORDER_END();
}
