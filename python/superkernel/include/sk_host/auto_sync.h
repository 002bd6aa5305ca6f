// Feed-sync-all: announcements through global memory, so that cores which do not run an operator can join its SyncAll.
#ifndef SK_HOST_AUTO_SYNC_H
#define SK_HOST_AUTO_SYNC_H

namespace AscendC {

#if defined(__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__)
// One instance per core across all files of the kernel.
SK_HOST_SHARED(g_superKernelAutoSyncAllConfigGmBaseAddr) uint8_t *g_superKernelAutoSyncAllConfigGmBaseAddr = nullptr;
SK_HOST_SHARED(g_superKernelAutoSyncAllConfigGmAddr) uint8_t *g_superKernelAutoSyncAllConfigGmAddr = nullptr;
SK_HOST_SHARED(g_superKernelAutoSyncAllSyncIdx) uint32_t g_superKernelAutoSyncAllSyncIdx = 0;
SK_HOST_SHARED(g_superKernelAutoSyncAllEnable) uint32_t g_superKernelAutoSyncAllEnable = 0;
#endif

namespace {

inline void sk_host_sync_all_barrier(bool vectorsOnly);

#if defined(__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__)

// The record of a slot: byte 0 valid (0 = valid), byte 1 is-end, bytes 2-3 sync type, bytes 4-7 sync index.
inline void sk_host_announce(uint32_t isEnd, uint32_t vectorsOnly) {
    g_superKernelAutoSyncAllSyncIdx += 1;
    volatile uint64_t *slot = reinterpret_cast<volatile uint64_t *>(g_superKernelAutoSyncAllConfigGmAddr);
    *slot = static_cast<uint64_t>(g_superKernelAutoSyncAllSyncIdx) << 32 | static_cast<uint64_t>(vectorsOnly) << 16 |
            static_cast<uint64_t>(isEnd) << 8;
    dcci(slot, SINGLE_CACHE_LINE, CACHELINE_OUT);
}

// The first core of each kind speaks for its kind.
inline void sk_host_announce_sync_all(bool vectorsOnly) {
    if (g_superKernelAutoSyncAllEnable && GetBlockIdxImpl() == 0) {
        sk_host_announce(0, vectorsOnly ? 1 : 0);
    }
}

inline void SuperKernelAutoSyncAllEndImpl() {
    if (g_superKernelAutoSyncAllEnable && GetBlockIdxImpl() == 0) {
        sk_host_announce(1, 0);
    }
}

inline void SuperKernelAutoSyncAllComplementImpl() {
    if (!g_superKernelAutoSyncAllEnable) {
        return;
    }
    const char *before = sk_host_begin_activity("feed-sync-all complement");
    sk_rt_note(SK_NOTE_COMPLEMENT_BEGIN, 0);
    volatile uint64_t *slot = reinterpret_cast<volatile uint64_t *>(g_superKernelAutoSyncAllConfigGmAddr);
    for (;;) {
        dcci(slot, SINGLE_CACHE_LINE, CACHELINE_OUT);
        const uint64_t record = *slot;
        if ((record & 0xff) != 0) {
            sk_rt_fault(SK_FAULT_TRAP, "feed-sync-all: the record of this operator is not valid", __FILE__, __LINE__);
        }
        if ((record >> 8 & 0xff) == 1) {
            g_superKernelAutoSyncAllSyncIdx += 1;
            break;
        }
        if (static_cast<uint32_t>(record >> 32) > g_superKernelAutoSyncAllSyncIdx) {
            sk_host_sync_all_barrier((record >> 16 & 0xffff) == 1);
            g_superKernelAutoSyncAllSyncIdx += 1;
        }
    }
    sk_rt_note(SK_NOTE_COMPLEMENT_END, 0);
    sk_host_end_activity(before);
}

#else

inline void sk_host_announce_sync_all(bool) {}

#endif

} // namespace
} // namespace AscendC

#endif
