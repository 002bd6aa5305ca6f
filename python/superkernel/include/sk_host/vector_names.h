// Newer names of calls: reductions by kind, comparison with a scalar.
#ifndef SK_HOST_VECTOR_NAMES_H
#define SK_HOST_VECTOR_NAMES_H

namespace AscendC {
namespace {

enum class ReduceType { NONE = -1, SUM, MAX, MIN };

#define SK_HOST_SAME_TYPES(call, T, U) static_assert(IsSameType<T, U>::value, call ": the chip reduces to the same type")

#define SK_HOST_MASKED(maskParameter)                                                                                  \
    template <ReduceType type, class T, class U, bool isSetMask = true>                                                \
    inline void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, maskParameter, int32_t repeats,     \
                             int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                         \
                             ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,                                       \
                             sk_host::Site site = sk_host::Site::Here()) {                                             \
        SK_HOST_SAME_TYPES("ReduceRepeat", T, U);                                                                      \
        static_assert(type != ReduceType::NONE, "ReduceRepeat: say how to reduce");                                    \
        if constexpr (type == ReduceType::SUM) {                                                                       \
            WholeReduceSum<T, isSetMask>(dst, src, mask, repeats, dstRepStride, srcBlkStride, srcRepStride, site);     \
        } else if constexpr (type == ReduceType::MAX) {                                                                \
            WholeReduceMax<T, isSetMask>(dst, src, mask, repeats, dstRepStride, srcBlkStride, srcRepStride, order,     \
                                         site);                                                                        \
        } else {                                                                                                       \
            WholeReduceMin<T, isSetMask>(dst, src, mask, repeats, dstRepStride, srcBlkStride, srcRepStride, order,     \
                                         site);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    template <ReduceType type, class T, class U, bool isSetMask = true>                                                \
    inline void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, maskParameter, int32_t repeats,  \
                                int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                      \
                                sk_host::Site site = sk_host::Site::Here()) {                                          \
        SK_HOST_SAME_TYPES("ReduceDataBlock", T, U);                                                                   \
        static_assert(type != ReduceType::NONE, "ReduceDataBlock: say how to reduce");                                 \
        if constexpr (type == ReduceType::SUM) {                                                                       \
            BlockReduceSum<T, isSetMask>(dst, src, repeats, mask, dstRepStride, srcBlkStride, srcRepStride, site);     \
        } else if constexpr (type == ReduceType::MAX) {                                                                \
            BlockReduceMax<T, isSetMask>(dst, src, repeats, mask, dstRepStride, srcBlkStride, srcRepStride, site);     \
        } else {                                                                                                       \
            BlockReduceMin<T, isSetMask>(dst, src, repeats, mask, dstRepStride, srcBlkStride, srcRepStride, site);     \
        }                                                                                                              \
    }                                                                                                                  \
    template <ReduceType type, class T, class U, bool isSetMask = true>                                                \
    inline void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, maskParameter, int32_t repeats,   \
                               int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,                       \
                               sk_host::Site site = sk_host::Site::Here()) {                                           \
        SK_HOST_SAME_TYPES("ReducePairElem", T, U);                                                                    \
        static_assert(type == ReduceType::SUM, "ReducePairElem: pairs are added only");                                \
        PairReduceSum<T, isSetMask>(dst, src, repeats, mask, dstRepStride, srcBlkStride, srcRepStride, site);          \
    }
SK_HOST_MASKED(int32_t mask)
SK_HOST_MASKED(const uint64_t mask[])
#undef SK_HOST_MASKED
#undef SK_HOST_SAME_TYPES

template <class T> inline T GetReduceRepeatSumSpr() { return GetAccVal<T>(); }
template <class T> inline void GetReduceRepeatMaxMinSpr(T &value, T &index) { GetReduceMaxMinCount<T>(value, index); }
template <class T> inline void GetReduceRepeatMaxMinSpr(T &value) { GetReduceMaxMinCount<T>(value); }

template <class T, class U>
inline void Compares(const LocalTensor<U> &dst, const LocalTensor<T> &src, const T scalar, CMPMODE mode, uint32_t count,
                     sk_host::Site site = sk_host::Site::Here()) {
    CompareScalar(dst, src, scalar, mode, count, site);
}
#define SK_HOST_MASKED(maskParameter)                                                                                  \
    template <class T, class U, bool isSetMask = true>                                                                 \
    inline void Compares(const LocalTensor<U> &dst, const LocalTensor<T> &src, const T scalar, CMPMODE mode,           \
                         maskParameter, uint8_t repeats, const UnaryRepeatParams &params,                              \
                         sk_host::Site site = sk_host::Site::Here()) {                                                 \
        CompareScalar<T, U, isSetMask>(dst, src, scalar, mode, mask, repeats, params, site);                           \
    }
SK_HOST_MASKED(uint64_t mask)
SK_HOST_MASKED(const uint64_t mask[])
#undef SK_HOST_MASKED

} // namespace
} // namespace AscendC

#endif
