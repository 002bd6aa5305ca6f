// A tiling-sink operator: constants come from tiling data, the block count from the run. Key 1 of a mixed operator runs
// on both kinds of core, keys 2 and 3 on one.
#include "order.h"

extern "C" __global__ __aicore__ void order_dynamic(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    const auto *data = (__gm__ uint32_t *)tiling;
    const order::Constants constants = {data[0], data[1], data[2], data[3], data[4]};
    order::Buffers buffers(x1, x2, y, workspace);
    const uint32_t blocks = AscendC::GetBlockNum();
#if TILING_KEY_VAR == 1
    const uint32_t block = order::Block();
    // More cores enter than the run asked for.
    if (block >= blocks) {
        return;
    }
    uint32_t part = 2 * block;
    uint32_t parts = 2 * blocks;
    if ASCEND_IS_AIV {
        part = 2 * (block + blocks * AscendC::GetSubBlockIdx()) + 1;
        parts = 2 * blocks * AscendC::GetTaskRatio();
    }
#else
    const uint32_t part = AscendC::GetBlockIdx();
    const uint32_t parts = blocks;
    if (part >= parts) {
        return;
    }
#endif
    order::ForPart(part, parts, [&](uint32_t i) {
        const uint32_t first = order::First(constants, buffers, i);
        order::Step(buffers.y + i);
        buffers.y[i] = first + order::Second(constants, buffers, i);
        order::Step(buffers.y + i);
    });
}
