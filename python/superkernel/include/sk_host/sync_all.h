// Barriers over the whole launch.
#ifndef SK_HOST_SYNC_ALL_H
#define SK_HOST_SYNC_ALL_H

namespace AscendC {
namespace {

// Trigger and wait pipe of SyncAll on 3510; without effect here, where everything happens in program order.
struct SyncAllConfig {
    pipe_t triggerPipe;
    pipe_t waitPipe;
};
inline constexpr SyncAllConfig DEFAULT_SYNC_ALL_CONFIG = {PIPE_ALL, PIPE_ALL};

inline void sk_host_sync_all_barrier(bool vectorsOnly) {
    pipe_barrier(PIPE_ALL);
    if (vectorsOnly) {
#if __NPU_ARCH__ == 3510
        if ASCEND_IS_AIC {
            return;
        }
#endif
        // On c220 not guarded by kind: on AICs it is a barrier of all AICs on the same flag.
        sk_host_all_vectors_set();
        sk_host_wait_flag(SYNC_AIV_ONLY_ALL);
        return;
    }
    const bool inBlock = sk_host_in_block_exchange();
    if ASCEND_IS_AIC {
        sk_host_cube_waits_for_vectors(inBlock);
        sk_host_all_cubes_set();
        sk_host_wait_flag(SYNC_AIC_FLAG);
        sk_host_cube_releases_vectors(inBlock);
    } else {
        sk_host_vector_tells_cube(inBlock);
        sk_host_vector_waits_for_cube(inBlock);
    }
}

template <bool isAIVOnly = true, const SyncAllConfig &config = DEFAULT_SYNC_ALL_CONFIG> inline void SyncAll() {
#if __NPU_ARCH__ == 3510
    if (isAIVOnly && sk_host_core_type() == AIC) {
        return;
    }
#endif
    const char *before = sk_host_begin_activity(isAIVOnly ? "SyncAll<true>" : "SyncAll<false>");
    sk_rt_note(SK_NOTE_SYNC_ALL_BEGIN, isAIVOnly ? 1 : 0);
    sk_host_announce_sync_all(isAIVOnly);
    sk_host_sync_all_barrier(isAIVOnly);
    sk_rt_note(SK_NOTE_SYNC_ALL_END, isAIVOnly ? 1 : 0);
    sk_host_end_activity(before);
}

} // namespace
} // namespace AscendC

#endif
