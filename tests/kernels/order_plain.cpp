// One kind of core, every element computed in one go.
#include "order.h"

extern "C" __global__ __aicore__ void order_plain(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace)
{
    ORDER_BEGIN();
    order::Buffers buffers(x1, x2, y, workspace);
#if defined(ORDER_SAYS)
    AscendC::printf("part %d of %d\n", (int)AscendC::GetBlockIdx(), (int)AscendC::GetBlockNum());
#endif
    order::ForPart(AscendC::GetBlockIdx(), AscendC::GetBlockNum(), [&](uint32_t i) {
        const uint32_t first = order::First(order::FIXED, buffers, i);
        order::Step(buffers.y + i);
        buffers.y[i] = first + order::Second(order::FIXED, buffers, i);
        order::Step(buffers.y + i);
    });
    ORDER_END();
}
