// Cores that wait for each other by words in global memory, 32 bytes apart, all 0 before the first use.
#ifndef SK_HOST_BLOCK_ORDER_H
#define SK_HOST_BLOCK_ORDER_H

namespace AscendC {
namespace {

constexpr uint64_t SK_HOST_WORD_STEP = 8;

// Two words share a line, so that none goes through a cache: the device moves them.
inline void sk_host_store_word(volatile int32_t *word, int32_t value) {
    sk_rt_bypass(word, sizeof(int32_t), 1, static_cast<uint32_t>(value));
}
inline void sk_host_await_word(volatile int32_t *word, int32_t value) {
    do {
        dcci(word, SINGLE_CACHE_LINE, CACHELINE_OUT);
    } while (*word != value);
}

// The word of an event of a core.
inline volatile int32_t *sk_host_event_word(const GlobalTensor<int32_t> &words, int32_t core, int32_t event,
                                            const char *call, sk_host::Site site) {
    const int64_t cores = GetBlockNum();
    if (core < 0 || core >= cores || event < 0) {
        sk_host::Violation(site, "%s: core %d, event %d; cores are 0 to %lld, events not below 0", call, core, event,
                           (long long)cores - 1);
    }
    const uint64_t at = (static_cast<uint64_t>(cores) * static_cast<uint64_t>(event) + static_cast<uint64_t>(core)) *
                        SK_HOST_WORD_STEP;
    return words.SkHostRange((at + 1) * sizeof(int32_t), site) + at;
}

// One core tells, another one waits for it and takes the word back.
template <bool isAIVOnly = true>
inline void IBSet(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &, int32_t blockIdx,
                  int32_t eventID, sk_host::Site site = sk_host::Site::Here()) {
    const char *before = sk_host_begin_activity("IBSet");
    volatile int32_t *word = sk_host_event_word(gmWorkspace, blockIdx, eventID, "IBSet", site);
    pipe_barrier(PIPE_ALL);
    sk_host_await_word(word, 0);
    sk_host_store_word(word, 1);
    sk_host_end_activity(before);
}
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &, int32_t blockIdx,
                   int32_t eventID, sk_host::Site site = sk_host::Site::Here()) {
    const char *before = sk_host_begin_activity("IBWait");
    volatile int32_t *word = sk_host_event_word(gmWorkspace, blockIdx, eventID, "IBWait", site);
    pipe_barrier(PIPE_ALL);
    sk_host_await_word(word, 1);
    sk_host_store_word(word, 0);
    sk_host_end_activity(before);
}

// Cores take turns, round after round: core 0, core 1, ... Each has a word that says how many rounds it has done; which
// round is next a core keeps behind the words in its local tensor.
inline volatile int32_t *sk_host_rounds(GlobalTensor<int32_t> &words, int64_t core, sk_host::Site site) {
    const uint64_t at = static_cast<uint64_t>(core) * SK_HOST_WORD_STEP;
    return words.SkHostRange((at + 1) * sizeof(int32_t), site) + at;
}
inline uint32_t sk_host_round_place() { return static_cast<uint32_t>(GetBlockNum()) * SK_HOST_WORD_STEP; }

inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace,
                                          sk_host::Site site = sk_host::Site::Here()) {
    if ASCEND_IS_AIC {
        return;
    }
    pipe_barrier(PIPE_ALL);
    // Nobody waits for the 0, so nobody can be late.
    sk_host_store_word(sk_host_rounds(gmWorkspace, GetBlockIdx(), site), 0);
    ubWorkspace.SetValue(sk_host_round_place(), 1, site);
}
inline void WaitPreBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace,
                         sk_host::Site site = sk_host::Site::Here()) {
    if ASCEND_IS_AIC {
        return;
    }
    const char *before = sk_host_begin_activity("WaitPreBlock");
    pipe_barrier(PIPE_ALL);
    const int32_t round = ubWorkspace.GetValue(sk_host_round_place(), site);
    if (GetBlockIdx() > 0) {
        sk_host_await_word(sk_host_rounds(gmWorkspace, GetBlockIdx() - 1, site), round);
    } else if (round > 1) {
        sk_host_await_word(sk_host_rounds(gmWorkspace, GetBlockNum() - 1, site), round - 1);
    }
    sk_host_end_activity(before);
}
inline void NotifyNextBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace,
                            sk_host::Site site = sk_host::Site::Here()) {
    if ASCEND_IS_AIC {
        return;
    }
    pipe_barrier(PIPE_ALL);
    const int32_t round = ubWorkspace.GetValue(sk_host_round_place(), site);
    sk_host_store_word(sk_host_rounds(gmWorkspace, GetBlockIdx(), site), round);
    ubWorkspace.SetValue(sk_host_round_place(), round + 1, site);
}

} // namespace
} // namespace AscendC

#endif
