// The words a hand-written super kernel is made of: what generated ones do, in short.
#ifndef CAMPAIGN_HANDMADE_H
#define CAMPAIGN_HANDMADE_H

#include "kernel_operator.h"

namespace handmade {

__aicore__ inline __gm__ volatile uint64_t *Word(uint32_t slot)
{
    return ((__gm__ volatile uint64_t **)get_para_base())[slot];
}

__aicore__ inline void Start()
{
#if __NPU_ARCH__ == 2201
    set_ffts_base_addr(*(__gm__ uint64_t *)get_para_base());
#endif
}

__aicore__ inline void Set(pipe_t pipe, uint16_t mode, uint16_t flag)
{
    ffts_cross_core_sync(pipe, AscendC::GetffstMsg(mode, flag));
}

__aicore__ inline void Wait(int64_t flag)
{
#if __NPU_ARCH__ == 2201
    wait_flag_dev(flag);
#else
    wait_flag_dev(PIPE_S, flag);
#endif
}

// All cores of the kind meet.
__aicore__ inline void KindBarrier()
{
    if ASCEND_IS_AIC {
        Set(PIPE_FIX, 0, AscendC::SYNC_AIC_FLAG);
        Wait(AscendC::SYNC_AIC_FLAG);
    } else {
        Set(PIPE_MTE3, 0, AscendC::SYNC_AIV_ONLY_ALL);
        Wait(AscendC::SYNC_AIV_ONLY_ALL);
    }
}

__aicore__ inline void SetCubeToVector()
{
    Set(PIPE_MTE3, 2, AscendC::SYNC_AIC_AIV_FLAG);
}

__aicore__ inline void SetVectorToCube()
{
    Set(PIPE_MTE3, 2, AscendC::SYNC_AIV_FLAG);
}

__aicore__ inline bool IsFirst()
{
    return AscendC::GetBlockIdx() == 0;
}

__aicore__ inline void Notify(uint32_t slot)
{
    if (IsFirst()) {
        *Word(slot) = 1;
        dcci(Word(slot), 0, 2);
    }
}

__aicore__ inline void Poll(uint32_t slot)
{
    while (*Word(slot) != 1) {
        dcci(Word(slot), 0, 2);
    }
}

__aicore__ inline void Await(uint32_t slot)
{
    if (IsFirst()) {
        Poll(slot);
    }
}

__aicore__ inline void Clear(uint32_t slot)
{
    if (IsFirst()) {
        *Word(slot) = 0;
        dcci(Word(slot), 0, 2);
    }
}

} // namespace handmade

#endif
