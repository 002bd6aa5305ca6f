// Reductions.
#ifndef SK_HOST_VECTOR_REDUCE_H
#define SK_HOST_VECTOR_REDUCE_H

namespace AscendC {
namespace {

// -- One result per repeat, per block or per pair ------------------------------------------------------------------------

// A mask as it is given here.
inline uint64_t sk_host_mask(int32_t count) { return static_cast<uint64_t>(static_cast<int64_t>(count)); }
inline const uint64_t *sk_host_mask(const uint64_t *bits) { return bits; }

// Results need no block border: only that they lie inside their tensor.
template <class T>
inline T *sk_host_results_in(const LocalTensor<T> &tensor, uint64_t count, const char *call, sk_host::Site site) {
    if (tensor.SkHostData() == nullptr || count > tensor.GetSize()) {
        sk_host::Violation(site, "%s: %llu results wanted, but the local tensor has only %u elements", call,
                           (unsigned long long)count, tensor.GetSize());
    }
    return tensor.SkHostData();
}

// `size`: elements of the result of a repeat, which a stride of 1 moves on by.
#define SK_HOST_REDUCE(name, intrinsic)                                                                                \
    template <class T>                                                                                                 \
    inline void sk_host_issue_##name(const SkHostElements &elements, const LocalTensor<T> &dst,                        \
                                     const LocalTensor<T> &src, uint64_t size, int32_t dstRepStride,                   \
                                     int32_t srcBlkStride, int32_t srcRepStride, uint64_t order,                       \
                                     sk_host::Site site) {                                                             \
        SK_HOST_REQUIRE_TYPE(#name, T, half, float);                                                                   \
        sk_host_require_vector_core(#name, site);                                                                      \
        const uint64_t moves = static_cast<uint64_t>(dstRepStride);                                                    \
        T *out = sk_host_results_in(dst, sk_host::Span(elements.Repeats(), size, moves * size), #name, site);          \
        T *in = elements.In(src, static_cast<uint64_t>(srcBlkStride), static_cast<uint64_t>(srcRepStride), #name,      \
                            site);                                                                                     \
        intrinsic(out, in, elements.Repeats(), moves, static_cast<uint64_t>(srcBlkStride),                             \
                  static_cast<uint64_t>(srcRepStride), order, sk_host_source(site));                                   \
    }

SK_HOST_REDUCE(WholeReduceSum, vcadd)
SK_HOST_REDUCE(WholeReduceMax, vcmax)
SK_HOST_REDUCE(WholeReduceMin, vcmin)
SK_HOST_REDUCE(BlockReduceSum, vcgadd)
SK_HOST_REDUCE(BlockReduceMax, vcgmax)
SK_HOST_REDUCE(BlockReduceMin, vcgmin)
SK_HOST_REDUCE(PairReduceSum, vcpadd)
#undef SK_HOST_REDUCE

#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, bool isSetMask = true>                                                                          \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, maskParameter, int32_t repeats,             \
                     int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                                 \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_issue_##name(SkHostElements::Masked<T, isSetMask>(sk_host_mask(mask), repeats, #name, site), dst, src, \
                             1, dstRepStride, srcBlkStride, srcRepStride, 0, site);                                 \
    }
SK_HOST_MASKED(WholeReduceSum, int32_t mask)
SK_HOST_MASKED(WholeReduceSum, const uint64_t mask[])
#undef SK_HOST_MASKED

// Elements of the result of one repeat: value and index, or one of them. An index alone has 4 bytes.
template <class T> constexpr uint64_t sk_host_extreme_size(ReduceOrder order) {
    return order == ReduceOrder::ORDER_ONLY_VALUE ? 1 : order == ReduceOrder::ORDER_ONLY_INDEX ? 4 / sizeof(T) : 2;
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, bool isSetMask = true>                                                                          \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, maskParameter, int32_t repeats,             \
                     int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                                 \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,                                               \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        const uint64_t size = sk_host_extreme_size<T>(order);                                                          \
        sk_host_issue_##name(SkHostElements::Masked<T, isSetMask>(sk_host_mask(mask), repeats, #name, site), dst, src, \
                             size, dstRepStride, srcBlkStride, srcRepStride, static_cast<uint64_t>(order),       \
                             site);                                                                                    \
    }
SK_HOST_MASKED(WholeReduceMax, int32_t mask)
SK_HOST_MASKED(WholeReduceMax, const uint64_t mask[])
SK_HOST_MASKED(WholeReduceMin, int32_t mask)
SK_HOST_MASKED(WholeReduceMin, const uint64_t mask[])
#undef SK_HOST_MASKED

// Here the number of repeats comes first. 8 results per repeat, or half as many as elements.
#define SK_HOST_MASKED(name, results, maskParameter)                                                                   \
    template <class T, bool isSetMask = true>                                                                          \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeats, maskParameter,             \
                     int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                                 \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_issue_##name(SkHostElements::Masked<T, isSetMask>(sk_host_mask(mask), repeats, #name, site), dst, src, \
                             results, dstRepStride, srcBlkStride, srcRepStride, 0, site);                     \
    }
SK_HOST_MASKED(BlockReduceSum, 8, int32_t mask)
SK_HOST_MASKED(BlockReduceSum, 8, const uint64_t mask[])
SK_HOST_MASKED(BlockReduceMax, 8, int32_t mask)
SK_HOST_MASKED(BlockReduceMax, 8, const uint64_t mask[])
SK_HOST_MASKED(BlockReduceMin, 8, int32_t mask)
SK_HOST_MASKED(BlockReduceMin, 8, const uint64_t mask[])
SK_HOST_MASKED(PairReduceSum, 128 / sizeof(T), int32_t mask)
SK_HOST_MASKED(PairReduceSum, 128 / sizeof(T), const uint64_t mask[])
#undef SK_HOST_MASKED

// -- One result for everything -------------------------------------------------------------------------------------------

// A bit pattern as an element.
template <class T> inline T sk_host_element(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

// What the last sum, and the last extreme, left in registers.
template <class T> inline T GetAccVal() { return sk_host_element<T>(static_cast<uint64_t>(get_acc_val())); }
template <class T, class U> inline void GetReduceMaxMinCount(U &value, U &index) {
    const uint64_t found = static_cast<uint64_t>(get_max_min_cnt());
    value = sk_host_element<U>(sizeof(U) > sizeof(T) ? found & ((1ull << 8 * sizeof(T)) - 1) : found);
    index = sk_host_element<U>(found >> 32);
}
template <class T, class U> inline void GetReduceMaxMinCount(U &value) {
    U index;
    GetReduceMaxMinCount<T>(value, index);
}

// The vector unit adds repeat by repeat and leaves the sum in a register.
template <class T>
inline void sk_host_reduce_sum(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                               const LocalTensor<T> &work, uint64_t srcRepStride, sk_host::Site site) {
    SK_HOST_REQUIRE_TYPE("ReduceSum", T, half, float);
    sk_host_require_vector_core("ReduceSum", site);
    T *in = elements.In(src, 1, srcRepStride, "ReduceSum", site);
    vcadd(sk_host_operand(work, 0, "ReduceSum", site), in, elements.Repeats(), 1, 1, srcRepStride, 1,
          sk_host_source(site));
    sk_host_scalar_waits_for_vector(site);
    dst.SetValue(0, GetAccVal<T>(), site);
    sk_host_vector_waits_for_scalar(site);
}
template <class T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, int32_t count,
                      sk_host::Site site = sk_host::Site::Here()) {
    if (count <= 0) {
        sk_host::Violation(site, "ReduceSum: nothing to reduce");
    }
    sk_host_reduce_sum(SkHostElements::InARow<T>(count), dst, src, work, 8, site);
    SkHostElements::Release();
}

// Value and index of the largest or smallest element, of as many instructions as `parts`. Each leaves pairs of all its
// repeats in the work tensor and the best of them in a register; the best of those are compared by one more.
template <class T> class SkHostExtreme {
  public:
    SkHostExtreme(const LocalTensor<T> &work, bool wantsLargest, const char *call, sk_host::Site site)
        : work_(work), site_(site), call_(call), wantsLargest_(wantsLargest) {
        SK_HOST_REQUIRE_TYPE("ReduceMax, ReduceMin", T, half, float);
        sk_host_require_vector_core(call, site);
    }

    // Repeats of one instruction: a pair of each fits into the work tensor.
    uint64_t Room() const {
        const uint64_t room = work_.GetSize() / 2;
        if (room == 0) {
            sk_host::Violation(site_, "%s: the work tensor must hold a pair of elements per repeat", call_);
        }
        return room < 255 ? room : 255;
    }

    void Part(const SkHostElements &elements, const LocalTensor<T> &src, uint64_t srcRepStride, uint64_t first) {
        if (parts_ == PARTS) {
            sk_host::Violation(site_, "%s: the work tensor is too small", call_);
        }
        T *in = elements.In(src, 1, srcRepStride, call_, site_);
        Issue(in, elements.Repeats(), srcRepStride, 0);
        GetReduceMaxMinCount<T>(bits_[parts_], indices_[parts_]);
        indices_[parts_] += static_cast<uint32_t>(first);
        parts_ += 1;
    }

    void Store(const LocalTensor<T> &dst, bool withIndex) {
        uint32_t best = 0;
        if (parts_ > 1) {
            for (uint32_t part = 0; part < parts_; ++part) {
                work_.SetValue(part, sk_host_element<T>(bits_[part]), site_);
            }
            sk_host_vector_waits_for_scalar(site_);
            const SkHostElements elements = SkHostElements::Masked<T>(parts_, 1, call_, site_);
            // The pair goes behind the values, at a block border.
            constexpr uint64_t perBlock = ONE_BLK_SIZE / sizeof(T);
            Issue(elements.In(work_, 1, 8, call_, site_), 1, 8, sk_host::RoundUp(parts_, perBlock));
            uint32_t value;
            GetReduceMaxMinCount<T>(value, best);
        }
        dst.SetValue(0, sk_host_element<T>(bits_[best]), site_);
        if (withIndex) {
            // The index is stored as a bit pattern in an element of the same size.
            dst.SetValue(1, sk_host_element<T>(indices_[best]), site_);
        }
        sk_host_vector_waits_for_scalar(site_);
    }

  private:
    static constexpr uint32_t PARTS = 64;

    void Issue(T *in, uint64_t repeats, uint64_t srcRepStride, uint64_t at) {
        T *pairs = sk_host_operand(work_, at + 2 * repeats, call_, site_) + at;
        if (wantsLargest_) {
            vcmax(pairs, in, repeats, 1, 1, srcRepStride, VALUE_INDEX, sk_host_source(site_));
        } else {
            vcmin(pairs, in, repeats, 1, 1, srcRepStride, VALUE_INDEX, sk_host_source(site_));
        }
        sk_host_scalar_waits_for_vector(site_);
    }

    LocalTensor<T> work_;
    sk_host::Site site_;
    const char *call_;
    bool wantsLargest_;
    uint32_t parts_ = 0;
    uint32_t bits_[PARTS] = {};
    uint32_t indices_[PARTS] = {};
};

template <class T>
inline void sk_host_reduce_extreme(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,
                                   int32_t count, bool withIndex, bool wantsLargest, const char *call,
                                   sk_host::Site site) {
    if (count <= 0) {
        sk_host::Violation(site, "%s: nothing to reduce", call);
    }
    constexpr uint64_t lanes = sk_host_lanes_per_repeat<T>();
    SkHostExtreme<T> extreme(work, wantsLargest, call, site);
    SkHostElements::Release();
    const uint64_t all = static_cast<uint64_t>(count);
    for (uint64_t first = 0; first < all;) {
        const uint64_t left = all - first;
        const uint64_t whole = left / lanes < extreme.Room() ? left / lanes : extreme.Room();
        const uint64_t repeats = whole == 0 ? 1 : whole;
        const uint64_t mask = whole == 0 ? left : lanes;
        extreme.Part(SkHostElements::Masked<T>(mask, repeats, call, site), src[static_cast<uint32_t>(first)], 8, first);
        first += repeats * mask;
    }
    extreme.Store(dst, withIndex);
    SkHostElements::Release();
}
// With mask and repeats; the index counts the elements of whole repeats.
template <class T, class Mask>
inline void sk_host_reduce_extreme(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,
                                   Mask mask, int32_t repeats, int32_t srcRepStride, bool withIndex, bool wantsLargest,
                                   const char *call, sk_host::Site site) {
    SkHostExtreme<T> extreme(work, wantsLargest, call, site);
    extreme.Part(SkHostElements::Masked<T>(mask, static_cast<uint64_t>(repeats), call, site), src,
                 static_cast<uint64_t>(srcRepStride), 0);
    extreme.Store(dst, withIndex);
}

template <class T>
inline void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, int32_t count,
                      bool calIndex = false, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_reduce_extreme(dst, src, work, count, calIndex, true, "ReduceMax", site);
}
template <class T>
inline void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work, int32_t count,
                      bool calIndex = false, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_reduce_extreme(dst, src, work, count, calIndex, false, "ReduceMin", site);
}
#define SK_HOST_MASKED(maskParameter)                                                                                  \
    template <class T>                                                                                                 \
    inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,            \
                          maskParameter, int32_t repeats, int32_t srcRepStride,                                        \
                          sk_host::Site site = sk_host::Site::Here()) {                                                \
        sk_host_reduce_sum(                                                                                            \
            SkHostElements::Masked<T>(sk_host_mask(mask), static_cast<uint64_t>(repeats), "ReduceSum", site), dst,     \
            src, work, static_cast<uint64_t>(srcRepStride), site);                                                     \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,            \
                          maskParameter, int32_t repeats, int32_t srcRepStride, bool calIndex = false,                 \
                          sk_host::Site site = sk_host::Site::Here()) {                                                \
        sk_host_reduce_extreme(dst, src, work, sk_host_mask(mask), repeats, srcRepStride, calIndex, true, "ReduceMax", \
                               site);                                                                                  \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,            \
                          maskParameter, int32_t repeats, int32_t srcRepStride, bool calIndex = false,                 \
                          sk_host::Site site = sk_host::Site::Here()) {                                                \
        sk_host_reduce_extreme(dst, src, work, sk_host_mask(mask), repeats, srcRepStride, calIndex, false,             \
                               "ReduceMin", site);                                                                     \
    }
SK_HOST_MASKED(int32_t mask)
SK_HOST_MASKED(const uint64_t mask[])
#undef SK_HOST_MASKED

} // namespace
} // namespace AscendC

#endif
