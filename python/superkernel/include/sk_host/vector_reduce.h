// Reductions.
#ifndef SK_HOST_VECTOR_REDUCE_H
#define SK_HOST_VECTOR_REDUCE_H

namespace AscendC {
namespace {

template <class T> inline bool sk_host_before(T a, T b, bool wantsLargest) {
    using W = SkHostWideType<T>;
    return wantsLargest ? static_cast<W>(a) > static_cast<W>(b) : static_cast<W>(a) < static_cast<W>(b);
}

// The index is stored as a bit pattern in an element of the same size.
template <class T> inline void sk_host_store_index(T *target, uint64_t index) {
    if constexpr (sizeof(T) == 2) {
        const uint16_t bits = static_cast<uint16_t>(index);
        __builtin_memcpy(target, &bits, sizeof(bits));
    } else {
        const uint32_t bits = static_cast<uint32_t>(index);
        __builtin_memcpy(target, &bits, sizeof(bits));
    }
}

// The result of a sum is rounded once: the hardware keeps more precision than the element type as well.
template <class T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, int32_t count,
                      sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("ReduceSum", site);
    const T *in = sk_host_operand(src, static_cast<uint64_t>(count), "ReduceSum", site);
    SkHostWideType<T> sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        sum += static_cast<SkHostWideType<T>>(in[i]);
    }
    dst.SetValue(0, static_cast<T>(sum), site);
    sk_rt_work(PIPE_V, static_cast<uint64_t>(count) * sizeof(T));
}

template <class T>
inline void sk_host_reduce_extreme(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count, bool withIndex,
                                   bool wantsLargest, const char *call, sk_host::Site site) {
    sk_host_require_vector_core(call, site);
    if (count <= 0) {
        sk_host::Violation(site, "%s: nothing to reduce", call);
    }
    const T *in = sk_host_operand(src, static_cast<uint64_t>(count), call, site);
    int32_t best = 0;
    for (int32_t i = 1; i < count; ++i) {
        if (sk_host_before(in[i], in[best], wantsLargest)) {
            best = i;
        }
    }
    const T value = in[best];
    dst.SetValue(0, value, site);
    if (withIndex) {
        sk_host_store_index(&dst(1), static_cast<uint64_t>(best));
    }
    sk_rt_work(PIPE_V, static_cast<uint64_t>(count) * sizeof(T));
}

template <class T>
inline void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, int32_t count,
                      bool calIndex = false, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_reduce_extreme(dst, src, count, calIndex, true, "ReduceMax", site);
}

template <class T>
inline void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, int32_t count,
                      bool calIndex = false, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_reduce_extreme(dst, src, count, calIndex, false, "ReduceMin", site);
}

// Per repeat one result; the strides of the source in blocks, of the result in elements.
template <class T>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t mask, int32_t repeats,
                           int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                           sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("WholeReduceSum", site);
    sk_host_require_mask<T>(static_cast<uint64_t>(mask), "WholeReduceSum", site);
    const uint8_t rounds = static_cast<uint8_t>(repeats);
    const SkHostLanes lanes = SkHostLanes::First(static_cast<uint64_t>(mask));
    const T *in = sk_host_operand(src,
                                  sk_host_repeat_extent<T>(rounds, lanes, static_cast<uint32_t>(srcBlkStride),
                                                           static_cast<uint32_t>(srcRepStride)),
                                  "WholeReduceSum", site);
    for (uint32_t repeat = 0; repeat < rounds; ++repeat) {
        SkHostWideType<T> sum = 0;
        for (uint32_t lane = 0; lane < static_cast<uint32_t>(mask); ++lane) {
            sum += static_cast<SkHostWideType<T>>(in[sk_host_lane<T>(
                repeat, lane, static_cast<uint32_t>(srcBlkStride), static_cast<uint32_t>(srcRepStride))]);
        }
        dst.SetValue(repeat * static_cast<uint32_t>(dstRepStride), static_cast<T>(sum), site);
    }
    sk_rt_work(PIPE_V, static_cast<uint64_t>(rounds) * ONE_REPEAT_BYTE_SIZE);
}

template <class T>
inline void sk_host_whole_extreme(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t mask, int32_t repeats,
                                  int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride, ReduceOrder order,
                                  bool wantsLargest, const char *call, sk_host::Site site) {
    sk_host_require_vector_core(call, site);
    sk_host_require_mask<T>(static_cast<uint64_t>(mask), call, site);
    const uint8_t rounds = static_cast<uint8_t>(repeats);
    const SkHostLanes lanes = SkHostLanes::First(static_cast<uint64_t>(mask));
    const T *in = sk_host_operand(src,
                                  sk_host_repeat_extent<T>(rounds, lanes, static_cast<uint32_t>(srcBlkStride),
                                                           static_cast<uint32_t>(srcRepStride)),
                                  call, site);
    const bool pair = order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
    for (uint32_t repeat = 0; repeat < rounds; ++repeat) {
        T value = in[sk_host_lane<T>(repeat, 0, static_cast<uint32_t>(srcBlkStride), static_cast<uint32_t>(srcRepStride))];
        uint32_t best = 0;
        for (uint32_t lane = 1; lane < static_cast<uint32_t>(mask); ++lane) {
            const T other = in[sk_host_lane<T>(repeat, lane, static_cast<uint32_t>(srcBlkStride),
                                               static_cast<uint32_t>(srcRepStride))];
            if (sk_host_before(other, value, wantsLargest)) {
                value = other;
                best = lane;
            }
        }
        const uint32_t at = repeat * static_cast<uint32_t>(dstRepStride) * (pair ? 2u : 1u);
        if (order == ReduceOrder::ORDER_INDEX_VALUE || order == ReduceOrder::ORDER_ONLY_INDEX) {
            sk_host_store_index(&dst(at), best);
        } else {
            dst.SetValue(at, value, site);
        }
        if (order == ReduceOrder::ORDER_VALUE_INDEX) {
            sk_host_store_index(&dst(at + 1), best);
        } else if (order == ReduceOrder::ORDER_INDEX_VALUE) {
            dst.SetValue(at + 1, value, site);
        }
    }
    sk_rt_work(PIPE_V, static_cast<uint64_t>(rounds) * ONE_REPEAT_BYTE_SIZE);
}

template <class T>
inline void WholeReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t mask, int32_t repeats,
                           int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                           ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                           sk_host::Site site = sk_host::Site::Here()) {
    sk_host_whole_extreme(dst, src, mask, repeats, dstRepStride, srcBlkStride, srcRepStride, order, true,
                          "WholeReduceMax", site);
}

template <class T>
inline void WholeReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t mask, int32_t repeats,
                           int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                           ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                           sk_host::Site site = sk_host::Site::Here()) {
    sk_host_whole_extreme(dst, src, mask, repeats, dstRepStride, srcBlkStride, srcRepStride, order, false,
                          "WholeReduceMin", site);
}

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
    const int32_t cores = usedCores > 0 ? usedCores : static_cast<int32_t>(GetBlockNum() * GetTaskRatio());
    int32_t *counters = gmWorkspace.SkHostRange(static_cast<uint64_t>(cores) * 32, site);
    volatile int32_t *own = counters + GetBlockIdx() * 8;
    *own = *own + 1;
    dcci(own, SINGLE_CACHE_LINE, CACHELINE_OUT);
    const int32_t round = *own;
    for (int32_t core = 0; core < cores; ++core) {
        volatile int32_t *other = counters + core * 8;
        while (*other < round) {
            dcci(other, SINGLE_CACHE_LINE, CACHELINE_OUT);
        }
    }
    sk_host_end_activity(before);
}

} // namespace
} // namespace AscendC

#endif
