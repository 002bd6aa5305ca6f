// What the campaign's operators have in common: integer arithmetic whose result depends on the order of operators.
//
// Every operator computes, over N unsigned 32-bit elements,
//     y[i] = A * x1[(P * i + S) % N] + (x2[i] ^ C) + B * i
// and they differ in the cores they use and in how those cores meet on the way. Elements are dealt out one by one, and
// x1 is read through a permutation: nearly every element an operator reads was written by another core, so an operator
// that starts before its predecessor has ended reads something old. `Step` gives other cores a turn at every element.
#ifndef CAMPAIGN_ORDER_H
#define CAMPAIGN_ORDER_H

#include "kernel_operator.h"

namespace order {

constexpr uint32_t N = 96;

#ifndef ORDER_A
#define ORDER_A 3u
#define ORDER_B 5u
#define ORDER_C 7u
#define ORDER_P 5u
#define ORDER_S 1u
#endif

struct Constants {
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t p;
    uint32_t s;
};

constexpr Constants FIXED = {ORDER_A, ORDER_B, ORDER_C, ORDER_P, ORDER_S};

struct Buffers {
    __gm__ uint32_t *x1;
    __gm__ uint32_t *x2;
    __gm__ uint32_t *y;
    __gm__ uint32_t *workspace;

    __aicore__ Buffers(GM_ADDR x1Address, GM_ADDR x2Address, GM_ADDR yAddress, GM_ADDR workspaceAddress)
        : x1((__gm__ uint32_t *)x1Address), x2((__gm__ uint32_t *)x2Address), y((__gm__ uint32_t *)yAddress),
          workspace((__gm__ uint32_t *)workspaceAddress)
    {
    }
};

__aicore__ inline void Step(__gm__ uint32_t *word)
{
    dcci((__gm__ uint64_t *)word, 0, 2);
}

__aicore__ inline uint32_t First(const Constants &constants, const Buffers &buffers, uint32_t i)
{
    return constants.a * buffers.x1[(constants.p * i + constants.s) % N];
}

__aicore__ inline uint32_t Second(const Constants &constants, const Buffers &buffers, uint32_t i)
{
    return (buffers.x2[i] ^ constants.c) + constants.b * i;
}

// Calls `action(i)` for the elements of `part` out of `parts`.
template <typename Action> __aicore__ inline void ForPart(uint32_t part, uint32_t parts, Action action)
{
    for (uint32_t i = part; i < N; i += parts) {
        action(i);
    }
}

// The block of this core, also on vector cores of a mixed launch.
__aicore__ inline uint32_t Block()
{
    if ASCEND_IS_AIC {
        return AscendC::GetBlockIdx();
    }
    return AscendC::GetBlockIdx() / AscendC::GetTaskRatio();
}

} // namespace order

#if defined(ORDER_WAITS)
#define ORDER_BEGIN() AscendC::WaitPreTaskEnd()
#else
#define ORDER_BEGIN() (void)0
#endif
#if defined(ORDER_SETS)
#define ORDER_END() AscendC::SetNextTaskStart()
#else
#define ORDER_END() (void)0
#endif

#endif
