// Words handed from core to core by the scalar unit, whose data cache nobody keeps the same; `mistake` says which flush is
// missing. The numbers of the mistakes come from inside_a_core.py.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t LENGTH = 64;
// Elements of a line of the data cache.
constexpr uint32_t LINE = 16;

struct Words {
    GlobalTensor<int32_t> words;
    GlobalTensor<int32_t> result;
    uint32_t wrong;
    // Every core counts in a line of its own.
    uint32_t own;

    __aicore__ inline Words(GM_ADDR memory, GM_ADDR answer, GM_ADDR mistake)
    {
        words.SetGlobalBuffer((__gm__ int32_t *)memory, LENGTH);
        result.SetGlobalBuffer((__gm__ int32_t *)answer, LENGTH);
        wrong = *(__gm__ uint32_t *)mistake;
        own = LINE + (uint32_t)GetBlockIdx() * (wrong == TWO_CORES_IN_ONE_LINE ? 1 : LINE);
    }
};

// Every core looks at its counter, and the second one at the word that the first will write.
extern "C" __global__ __aicore__ void look(GM_ADDR memory, GM_ADDR answer, GM_ADDR mistake, GM_ADDR workspace)
{
    (void)workspace;
    Words it(memory, answer, mistake);
    int32_t seen = it.words.GetValue(it.own);
    if (GetBlockIdx() == 1) {
        seen += it.words.GetValue(0);
    }
    assert(seen == 0);
}

extern "C" __global__ __aicore__ void announce(GM_ADDR memory, GM_ADDR answer, GM_ADDR mistake, GM_ADDR workspace)
{
    (void)workspace;
    Words it(memory, answer, mistake);
    it.words.SetValue(it.own, it.words.GetValue(it.own) + 1);
    dcci(it.words.GetPhyAddr(it.own / LINE * LINE), SINGLE_CACHE_LINE, CACHELINE_OUT);
    if (GetBlockIdx() == 0) {
        it.words.SetValue(0, 7);
        if (it.wrong != NO_DCCI_AFTER_WRITE) {
            dcci(it.words.GetPhyAddr(), SINGLE_CACHE_LINE, CACHELINE_OUT);
        }
    }
}

extern "C" __global__ __aicore__ void answer(GM_ADDR memory, GM_ADDR answer, GM_ADDR mistake, GM_ADDR workspace)
{
    (void)workspace;
    Words it(memory, answer, mistake);
    if (GetBlockIdx() == 1) {
        if (it.wrong != NO_DCCI_BEFORE_READ) {
            dcci(it.words.GetPhyAddr(), SINGLE_CACHE_LINE, CACHELINE_OUT);
        }
        it.result.SetValue(0, it.words.GetValue(0));
        dcci(it.result.GetPhyAddr(), SINGLE_CACHE_LINE, CACHELINE_OUT);
    }
}
