// Early start: the barrier between two operators, split into a set by the previous and a wait by the next one.
#ifndef SK_HOST_EARLY_START_H
#define SK_HOST_EARLY_START_H

namespace AscendC {
namespace {

template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false> inline void SetNextTaskStart() {
#if defined(__ASCENDC_ENABLE_SET_NEXT_TASK_START)
    constexpr bool active = true;
#else
    constexpr bool active = FORCE;
#endif
    if constexpr (active) {
        sk_rt_note(SK_NOTE_SET_NEXT_TASK, 0);
        if ASCEND_IS_AIC {
            ffts_cross_core_sync(AIC_PIPE, GetffstMsg(0, SYNC_AIC_FLAG));
        } else {
            ffts_cross_core_sync(AIV_PIPE, GetffstMsg(0, SYNC_AIV_ONLY_ALL));
        }
    }
}

// What a cube core does in the wait; `config` = class of the previous operator << 2 | class of the next one, with
// AIC 0, AIV 1, MIX 2.
inline void sk_host_wait_pre_task_cube(uint32_t config, bool inBlock) {
    switch (config) {
    case 0: // AIC to AIC
        sk_host_wait_flag(SYNC_AIC_FLAG);
        break;
    case 1: // AIC to AIV
    case 2: // AIC to MIX
    case 9: // MIX to AIV
        sk_host_wait_flag(SYNC_AIC_FLAG);
        sk_host_cube_releases_vectors(inBlock);
        break;
    case 4: // AIV to AIC
    case 6: // AIV to MIX
        sk_host_cube_waits_for_vectors(inBlock);
        break;
    case 5: // AIV to AIV
        break;
    case 8: // MIX to AIC
        sk_host_wait_flag(SYNC_AIC_FLAG);
        sk_host_cube_waits_for_vectors(inBlock);
        break;
    case 10: // MIX to MIX
        sk_host_wait_flag(SYNC_AIC_FLAG);
        sk_host_cube_releases_vectors(inBlock);
        sk_host_cube_waits_for_vectors(inBlock);
        break;
    default:
        sk_rt_fault(SK_FAULT_API, "early start: the configuration names no pair of core kinds", __FILE__, __LINE__);
    }
}

inline void sk_host_wait_pre_task_vector(uint32_t config, bool inBlock) {
    switch (config) {
    case 0: // AIC to AIC
        break;
    case 1: // AIC to AIV
    case 2: // AIC to MIX
        sk_host_vector_waits_for_cube(inBlock);
        break;
    case 4: // AIV to AIC
    case 6: // AIV to MIX
    case 8: // MIX to AIC
        sk_host_wait_flag(SYNC_AIV_ONLY_ALL);
        sk_host_vector_tells_cube(inBlock);
        break;
    case 5: // AIV to AIV
        sk_host_wait_flag(SYNC_AIV_ONLY_ALL);
        break;
    case 9: // MIX to AIV
        sk_host_wait_flag(SYNC_AIV_ONLY_ALL);
        sk_host_vector_waits_for_cube(inBlock);
        break;
    case 10: // MIX to MIX
        sk_host_wait_flag(SYNC_AIV_ONLY_ALL);
        sk_host_vector_tells_cube(inBlock);
        sk_host_vector_waits_for_cube(inBlock);
        break;
    default:
        sk_rt_fault(SK_FAULT_API, "early start: the configuration names no pair of core kinds", __FILE__, __LINE__);
    }
}

inline void sk_host_wait_pre_task(uint32_t config, bool inBlock) {
    const char *before = sk_host_begin_activity("WaitPreTaskEnd");
    sk_rt_note(SK_NOTE_WAIT_PRE_BEGIN, config);
    if ASCEND_IS_AIC {
        sk_host_wait_pre_task_cube(config, inBlock);
    } else {
        sk_host_wait_pre_task_vector(config, inBlock);
    }
    sk_rt_note(SK_NOTE_WAIT_PRE_END, config);
    sk_host_end_activity(before);
}

// How a super kernel's own code exchanges flags inside a block: on 3510 as for 1:2 launches, unless it is told at compile
// time that its launches are 1:1. One that is not told waits there for the second vector core of each block.
inline constexpr bool sk_host_early_start_in_block() {
#if __NPU_ARCH__ == 3510 && !defined(__ASCENDC_DAVID_SPLIT_CORE__)
    return true;
#else
    return false;
#endif
}

// A configuration of -1 means the one the super kernel stored for this core: that is how a sub-kernel waits, which is
// compiled once and runs in launches of either ratio, so there the launch decides.
template <int8_t config = -1, bool FORCE = false> inline void WaitPreTaskEndImpl() {
#if defined(__ASCENDC_ENABLE_WAIT_PRE_TASK_END)
    constexpr bool active = true;
#else
    constexpr bool active = FORCE;
#endif
    if constexpr (active) {
        if constexpr (config < 0) {
            sk_host_wait_pre_task(g_super_kernel_early_start_config, sk_host_in_block_exchange());
        } else {
            sk_host_wait_pre_task(static_cast<uint32_t>(config), sk_host_early_start_in_block());
        }
    }
}

template <bool FORCE = false> inline void WaitPreTaskEnd() { WaitPreTaskEndImpl<-1, FORCE>(); }

} // namespace
} // namespace AscendC

#endif
