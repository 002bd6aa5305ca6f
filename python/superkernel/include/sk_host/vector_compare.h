// Comparison, selection and gathering.
#ifndef SK_HOST_VECTOR_COMPARE_H
#define SK_HOST_VECTOR_COMPARE_H

namespace AscendC {
namespace {

template <class W> inline bool sk_host_compare(W a, W b, CMPMODE mode) {
    switch (mode) {
    case CMPMODE::LT:
        return a < b;
    case CMPMODE::GT:
        return a > b;
    case CMPMODE::EQ:
        return a == b;
    case CMPMODE::LE:
        return a <= b;
    case CMPMODE::GE:
        return a >= b;
    case CMPMODE::NE:
        break;
    }
    return a != b;
}

inline bool sk_host_bit(const uint8_t *bits, uint64_t index) { return (bits[index / 8] >> (index % 8) & 1) != 0; }

inline void sk_host_set_bit(uint8_t *bits, uint64_t index, bool value) {
    const uint8_t bit = static_cast<uint8_t>(1u << (index % 8));
    bits[index / 8] = static_cast<uint8_t>(value ? bits[index / 8] | bit : bits[index / 8] & ~bit);
}

template <class T> inline void sk_host_require_compare_count(uint32_t count, const char *call, sk_host::Site site) {
    if (static_cast<uint64_t>(count) * sizeof(T) % ONE_REPEAT_BYTE_SIZE != 0) {
        sk_host::Violation(site, "%s: %u elements of %u bytes are not a multiple of 256 bytes", call, count,
                           (unsigned)sizeof(T));
    }
}

// One bit per element, lowest bit first.
template <class T, class U>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode,
                    uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Compare", site);
    sk_host_require_compare_count<T>(count, "Compare", site);
    uint8_t *bits = reinterpret_cast<uint8_t *>(sk_host_operand(dst, (count + 7) / 8 / sizeof(U), "Compare", site));
    const T *a = sk_host_operand(src0, count, "Compare", site);
    const T *b = sk_host_operand(src1, count, "Compare", site);
    for (uint32_t i = 0; i < count; ++i) {
        using W = SkHostWideType<T>;
        sk_host_set_bit(bits, i, sk_host_compare(static_cast<W>(a[i]), static_cast<W>(b[i]), mode));
    }
    sk_rt_work(PIPE_V, count * sizeof(T));
}

template <class T, class U, class V>
inline void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src, const V &scalar, CMPMODE mode,
                          uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("CompareScalar", site);
    sk_host_require_compare_count<T>(count, "CompareScalar", site);
    uint8_t *bits = reinterpret_cast<uint8_t *>(sk_host_operand(dst, (count + 7) / 8 / sizeof(U), "CompareScalar", site));
    const T *a = sk_host_operand(src, count, "CompareScalar", site);
    const T right = static_cast<T>(scalar);
    for (uint32_t i = 0; i < count; ++i) {
        using W = SkHostWideType<T>;
        sk_host_set_bit(bits, i, sk_host_compare(static_cast<W>(a[i]), static_cast<W>(right), mode));
    }
    sk_rt_work(PIPE_V, count * sizeof(T));
}

// A comparison of one repeat into the compare mask register.
template <class T>
inline void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode, uint64_t mask,
                    const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Compare", site);
    sk_host_require_mask<T>(mask, "Compare", site);
    const SkHostLanes lanes = SkHostLanes::First(mask);
    const T *a = sk_host_operand(src0, sk_host_repeat_extent<T>(1, lanes, params.src0BlkStride, 0), "Compare", site);
    const T *b = sk_host_operand(src1, sk_host_repeat_extent<T>(1, lanes, params.src1BlkStride, 0), "Compare", site);
    for (uint32_t lane = 0; lane < mask; ++lane) {
        using W = SkHostWideType<T>;
        sk_host_set_bit(sk_rt_core()->compareMask, lane,
                        sk_host_compare(static_cast<W>(a[sk_host_lane<T>(0, lane, params.src0BlkStride, 0)]),
                                        static_cast<W>(b[sk_host_lane<T>(0, lane, params.src1BlkStride, 0)]), mode));
    }
    sk_rt_work(PIPE_V, mask * sizeof(T));
}

// Bit 1 takes src0, bit 0 takes src1. The compare-mask mode uses the same first bits for every repeat.
template <class T, class U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                   const LocalTensor<T> &src1, SELMODE mode, uint32_t count,
                   sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Select", site);
    const bool oneRepeat = mode == SELMODE::VSEL_CMPMASK_SPR;
    const uint64_t maskBits = oneRepeat && count > sk_host_lanes_per_repeat<T>() ? sk_host_lanes_per_repeat<T>() : count;
    const uint8_t *bits = reinterpret_cast<const uint8_t *>(
        sk_host_operand(selMask, (maskBits + 7) / 8 / sizeof(U), "Select", site));
    T *out = sk_host_operand(dst, count, "Select", site);
    const T *a = sk_host_operand(src0, count, "Select", site);
    const T *b = sk_host_operand(src1, count, "Select", site);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bit = oneRepeat ? i % sk_host_lanes_per_repeat<T>() : i;
        out[i] = sk_host_bit(bits, bit) ? a[i] : b[i];
    }
    sk_rt_work(PIPE_V, count * sizeof(T));
}

template <class T, class U, class V>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, V scalar,
                   SELMODE mode, uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Select", site);
    if (mode != SELMODE::VSEL_TENSOR_SCALAR_MODE) {
        sk_host::Violation(site, "Select: a scalar needs VSEL_TENSOR_SCALAR_MODE");
    }
    const uint8_t *bits =
        reinterpret_cast<const uint8_t *>(sk_host_operand(selMask, (count + 7ull) / 8 / sizeof(U), "Select", site));
    T *out = sk_host_operand(dst, count, "Select", site);
    const T *a = sk_host_operand(src0, count, "Select", site);
    const T other = static_cast<T>(scalar);
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = sk_host_bit(bits, i) ? a[i] : other;
    }
    sk_rt_work(PIPE_V, count * sizeof(T));
}

// dst[i] = the element at byte `base + offset[i]` of src.
template <class T>
inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,
                   uint32_t base, uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Gather", site);
    T *out = sk_host_operand(dst, count, "Gather", site);
    const uint32_t *offsets = sk_host_operand(offset, count, "Gather", site);
    const uint8_t *in = reinterpret_cast<const uint8_t *>(sk_host_operand(src, 0, "Gather", site));
    const uint64_t bytes = static_cast<uint64_t>(src.GetSize()) * sizeof(T);
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t at = static_cast<uint64_t>(base) + offsets[i];
        if (at % sizeof(T) != 0 || at + sizeof(T) > bytes) {
            sk_host::Violation(site, "Gather: element %u wants byte %llu of a tensor of %llu bytes", i,
                               (unsigned long long)at, (unsigned long long)bytes);
        }
        __builtin_memcpy(&out[i], in + at, sizeof(T));
    }
    sk_rt_work(PIPE_V, count * sizeof(T));
}

} // namespace
} // namespace AscendC

#endif
