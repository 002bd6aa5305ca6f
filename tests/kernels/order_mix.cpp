// Both kinds of core. The cube core of a block computes the first part, its vector cores the rest, some of it late; the
// cube core then has the last word on some elements. Flags 3 and 4 carry the news inside the block.
#include "order.h"

namespace {

// Elements the vector cores write only after they have told the cube core that they are done with the others.
__aicore__ inline bool IsLate(uint32_t i)
{
    return i % 8 == 7;
}

// Elements the cube core turns over at the end, so that its end matters as well. Applied twice it is undone, hence once
// by the vector cores in advance.
__aicore__ inline bool IsTurned(uint32_t i)
{
    return i % 8 < 3;
}

constexpr uint32_t TURN = 0x5a5a5a5au;

} // namespace

extern "C" __global__ __aicore__ void order_mix(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace)
{
    ORDER_BEGIN();
    order::Buffers buffers(x1, x2, y, workspace);
    const uint32_t block = order::Block();
    const uint32_t blocks = AscendC::GetBlockNum();
    if ASCEND_IS_AIC {
        order::ForPart(block, blocks, [&](uint32_t i) {
            buffers.workspace[i] = order::First(order::FIXED, buffers, i);
            order::Step(buffers.workspace + i);
        });
        AscendC::CrossCoreSetFlag<2, PIPE_FIX>(3);
        AscendC::CrossCoreWaitFlag(4);
        order::ForPart(block, blocks, [&](uint32_t i) {
            if (IsTurned(i)) {
                buffers.y[i] ^= TURN;
                order::Step(buffers.y + i);
            }
        });
    }
    if ASCEND_IS_AIV {
        const uint32_t part = block + blocks * AscendC::GetSubBlockIdx();
        const uint32_t parts = blocks * AscendC::GetTaskRatio();
        const auto write = [&](uint32_t i) {
            const uint32_t value = buffers.workspace[i] + order::Second(order::FIXED, buffers, i);
            order::Step(buffers.y + i);
            buffers.y[i] = IsTurned(i) ? value ^ TURN : value;
        };
        AscendC::CrossCoreWaitFlag(3);
        order::ForPart(part, parts, [&](uint32_t i) {
            if (!IsLate(i)) {
                write(i);
            }
        });
        AscendC::CrossCoreSetFlag<2, PIPE_MTE3>(4);
        order::ForPart(part, parts, [&](uint32_t i) {
            if (IsLate(i)) {
                write(i);
            }
        });
    }
    ORDER_END();
}
