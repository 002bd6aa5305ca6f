// The barrier made of words in global memory.
#ifndef SK_HOST_SOFTWARE_BARRIER_H
#define SK_HOST_SOFTWARE_BARRIER_H

namespace AscendC {
namespace {

// Software barrier over the first `usedCores` vector cores through GM: 32 bytes per core that start at 0. Works for
// any subset of cores; returns at once on AIC.
template <bool isAIVOnly = true>
inline void SyncAll(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
                    const int32_t usedCores = 0, sk_host::Site site = sk_host::Site::Here()) {
    (void)ubWorkspace;
    if ASCEND_IS_AIC {
        return;
    }
    const char *before = sk_host_begin_activity("software SyncAll");
    pipe_barrier(PIPE_ALL);
    const int32_t cores = usedCores > 0 ? usedCores : static_cast<int32_t>(GetBlockNum() * GetTaskRatio());
    int32_t *counters = gmWorkspace.SkHostRange(static_cast<uint64_t>(cores) * 32, site);
    volatile int32_t *own = counters + GetBlockIdx() * 8;
    dcci(own, SINGLE_CACHE_LINE, CACHELINE_OUT);
    const int32_t round = *own + 1;
    // Two counters share a line, so that none goes through a cache: the device moves them.
    sk_rt_bypass(own, sizeof(int32_t), 1, static_cast<uint32_t>(round));
    for (int32_t core = 0; core < cores; ++core) {
        volatile int32_t *other = counters + core * 8;
        do {
            dcci(other, SINGLE_CACHE_LINE, CACHELINE_OUT);
        } while (*other < round);
    }
    sk_host_end_activity(before);
}

} // namespace
} // namespace AscendC

#endif
