// Cross-core flags.
#ifndef SK_HOST_FLAGS_H
#define SK_HOST_FLAGS_H

#include "sk_core/cross_core.h"

namespace {

// The same wait under one name for both chips.
inline void sk_host_wait_flag(int64_t flag) { sk_rt_wait_flag(PIPE_S, static_cast<uint32_t>(flag & 0xf)); }

} // namespace

namespace AscendC {
namespace {

inline constexpr uint16_t GetffstMsg(uint16_t mode, uint16_t flag) {
    return static_cast<uint16_t>(0x1 | (mode & 0x3) << 4 | (flag & 0xf) << 8);
}

// On 3510 a flag call acts only on the kind that owns the pipe; kernels rely on it to leave out the guard.
inline bool sk_host_owns_flag_pipe(pipe_t pipe) {
#if __NPU_ARCH__ == 3510
    if ASCEND_IS_AIV {
        return pipe == PIPE_S || pipe == PIPE_V || pipe == PIPE_MTE2 || pipe == PIPE_MTE3;
    }
    return pipe == PIPE_S || pipe == PIPE_MTE1 || pipe == PIPE_MTE2 || pipe == PIPE_M || pipe == PIPE_FIX;
#else
    (void)pipe;
    return true;
#endif
}

// The device would cut the id to 4 bits without a word.
inline void sk_host_require_flag(uint16_t flagId, sk_host::Site site) {
    if (flagId > 15) {
        sk_host::Violation(site, "flag id %u; ids are 0 to 15", (unsigned)flagId);
    }
}

template <uint8_t modeId, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t flagId, sk_host::Site site = sk_host::Site::Here()) {
    if (!sk_host_owns_flag_pipe(pipe)) {
        return;
    }
    if constexpr (modeId == 4) {
        sk_rt_intra_block_set(pipe, flagId);
    } else {
        static_assert(modeId <= 2, "CrossCoreSetFlag: the mode must be 0, 1, 2 or, on 3510, 4");
        sk_host_require_flag(flagId, site);
        ffts_cross_core_sync(pipe, GetffstMsg(modeId, flagId));
    }
}

template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t flagId, sk_host::Site site = sk_host::Site::Here()) {
    if (!sk_host_owns_flag_pipe(pipe)) {
        return;
    }
    if constexpr (modeId == 4) {
        sk_rt_intra_block_wait(pipe, flagId);
    } else {
        sk_host_require_flag(flagId, site);
        sk_host_wait_flag(flagId);
    }
}

// Exchange between the AIC of a block and its AIVs as SyncAll and early start use it: on 3510 with the in-block flags,
// one per AIV, elsewhere with mode 2.
//
// A 1:2 launch on 3510 uses the in-block flags, a 1:1 launch mode 2. The launch decides where the two ends may come from
// different files.
inline bool sk_host_in_block_exchange() {
#if __NPU_ARCH__ == 3510
    return sk_rt_core()->vectorCount == 2;
#else
    return false;
#endif
}

inline void sk_host_cube_releases_vectors(bool inBlock) {
    if (inBlock) {
        sk_rt_intra_block_set(PIPE_FIX, SYNC_AIC_AIV_FLAG);
        // To a core that is not there nothing is told; a wait for it never ends.
        if (sk_rt_core()->vectorCount == 2) {
            sk_rt_intra_block_set(PIPE_FIX, SYNC_AIC_AIV_FLAG + 16);
        }
    } else {
        ffts_cross_core_sync(PIPE_FIX, GetffstMsg(2, SYNC_AIC_AIV_FLAG));
    }
}

inline void sk_host_cube_waits_for_vectors(bool inBlock) {
    if (inBlock) {
        sk_rt_intra_block_wait(PIPE_S, SYNC_AIV_FLAG);
        sk_rt_intra_block_wait(PIPE_S, SYNC_AIV_FLAG + 16);
    } else {
        sk_host_wait_flag(SYNC_AIV_FLAG);
    }
}

inline void sk_host_vector_tells_cube(bool inBlock) {
    if (inBlock) {
        sk_rt_intra_block_set(PIPE_MTE3, SYNC_AIV_FLAG);
    } else {
        ffts_cross_core_sync(PIPE_MTE3, GetffstMsg(2, SYNC_AIV_FLAG));
    }
}

inline void sk_host_vector_waits_for_cube(bool inBlock) {
    if (inBlock) {
        sk_rt_intra_block_wait(PIPE_S, SYNC_AIC_AIV_FLAG);
    } else {
        sk_host_wait_flag(SYNC_AIC_AIV_FLAG);
    }
}

inline void sk_host_all_cubes_set() { ffts_cross_core_sync(PIPE_FIX, GetffstMsg(0, SYNC_AIC_FLAG)); }
inline void sk_host_all_vectors_set() { ffts_cross_core_sync(PIPE_MTE3, GetffstMsg(0, SYNC_AIV_ONLY_ALL)); }

// Names what a core is doing until the matching end. Not an object with a destructor: clean-up code for exceptions would
// bring global symbols into the object.
inline const char *sk_host_begin_activity(const char *what) {
    SkCoreState &core = *sk_rt_core();
    const char *before = core.activity;
    core.activity = what;
    return before;
}
inline void sk_host_end_activity(const char *before) { sk_rt_core()->activity = before; }

} // namespace
} // namespace AscendC

#endif
