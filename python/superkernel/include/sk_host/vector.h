// Element-wise vector instructions, in two forms: over `count` consecutive elements, and with mask and repeats.
#ifndef SK_HOST_VECTOR_H
#define SK_HOST_VECTOR_H

namespace AscendC {
namespace {

// Strides of the repeat form, in blocks of 32 bytes: from block to block within a repeat, from repeat to repeat.
struct UnaryRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t srcBlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t srcRepStride = 8;

    UnaryRepeatParams() = default;
    UnaryRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint8_t dstRep, uint8_t srcRep)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep) {}
};

struct BinaryRepeatParams {
    uint8_t dstBlkStride = 1;
    uint8_t src0BlkStride = 1;
    uint8_t src1BlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t src0RepStride = 8;
    uint8_t src1RepStride = 8;

    BinaryRepeatParams() = default;
    BinaryRepeatParams(uint8_t dstBlk, uint8_t src0Blk, uint8_t src1Blk, uint8_t dstRep, uint8_t src0Rep, uint8_t src1Rep)
        : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk), dstRepStride(dstRep),
          src0RepStride(src0Rep), src1RepStride(src1Rep) {}
};

constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr uint32_t DEFAULT_BLK_NUM = 8;
constexpr uint32_t DEFAULT_REPEAT_STRIDE = 8;

// 16-bit floats compute in float, everything else in its own type.
template <class T> struct SkHostWide {
    using Type = T;
};
template <> struct SkHostWide<half> {
    using Type = float;
};
template <> struct SkHostWide<bfloat16_t> {
    using Type = float;
};
template <class T> using SkHostWideType = typename SkHostWide<T>::Type;

template <bool first, class A, class B> struct SkHostSelect {
    using Type = B;
};
template <class A, class B> struct SkHostSelect<true, A, B> {
    using Type = A;
};

inline void sk_host_require_vector_core(const char *call, sk_host::Site site) {
    if (sk_rt_core()->kind != AIV) {
        sk_host::Violation(site, "%s: vector instructions exist on AIV cores only", call);
    }
}

// The checked start of `count` consecutive elements of an operand.
template <class T>
inline T *sk_host_operand(const LocalTensor<T> &tensor, uint64_t count, const char *call, sk_host::Site site) {
    return reinterpret_cast<T *>(sk_host_local_range(tensor, count * sizeof(T), call, site));
}

// Which lanes of a repeat are computed: the first n, or those of a bit mask.
struct SkHostLanes {
    uint64_t bits[2];

    static SkHostLanes First(uint64_t count) {
        SkHostLanes lanes{{0, 0}};
        for (uint64_t lane = 0; lane < count && lane < 128; ++lane) {
            lanes.bits[lane / 64] |= 1ull << (lane % 64);
        }
        return lanes;
    }
    bool Has(uint32_t lane) const { return (bits[lane / 64] >> (lane % 64) & 1) != 0; }
};

// Element number of lane `lane` in repeat `repeat` under the given strides.
template <class T> constexpr uint64_t sk_host_lane(uint32_t repeat, uint32_t lane, uint32_t blkStride, uint32_t repStride) {
    constexpr uint32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    return (static_cast<uint64_t>(repeat) * repStride + lane / perBlock * blkStride) * perBlock + lane % perBlock;
}

template <class T> constexpr uint32_t sk_host_lanes_per_repeat() { return ONE_REPEAT_BYTE_SIZE / sizeof(T); }

template <class T>
inline uint64_t sk_host_repeat_extent(uint8_t repeats, const SkHostLanes &lanes, uint32_t blkStride, uint32_t repStride) {
    uint64_t extent = 0;
    for (uint32_t lane = 0; lane < sk_host_lanes_per_repeat<T>() && lane < 128; ++lane) {
        if (lanes.Has(lane) && repeats > 0) {
            const uint64_t end = sk_host_lane<T>(repeats - 1u, lane, blkStride, repStride) + 1;
            extent = end > extent ? end : extent;
        }
    }
    return extent;
}

template <class T>
inline void sk_host_require_mask(uint64_t mask, const char *call, sk_host::Site site) {
    if (mask == 0 || mask > sk_host_lanes_per_repeat<T>()) {
        sk_host::Violation(site, "%s: mask %llu; a repeat has 1 to %u elements of %u bytes", call,
                           (unsigned long long)mask, sk_host_lanes_per_repeat<T>(), (unsigned)sizeof(T));
    }
}

template <class D, class S, class F>
inline void sk_host_unary(const LocalTensor<D> &dst, const LocalTensor<S> &src, int64_t count, F apply, const char *call,
                          sk_host::Site site) {
    sk_host_require_vector_core(call, site);
    const uint64_t number = count < 0 ? 0 : static_cast<uint64_t>(count);
    D *out = sk_host_operand(dst, number, call, site);
    const S *in = sk_host_operand(src, number, call, site);
    for (uint64_t i = 0; i < number; ++i) {
        out[i] = apply(in[i]);
    }
    sk_rt_work(PIPE_V, number * sizeof(S));
}

template <class D, class S, class F>
inline void sk_host_unary_repeat(const LocalTensor<D> &dst, const LocalTensor<S> &src, const SkHostLanes &lanes,
                                 uint8_t repeats, const UnaryRepeatParams &params, F apply, const char *call,
                                 sk_host::Site site) {
    sk_host_require_vector_core(call, site);
    // With operands of two sizes the wider one sets the number of lanes.
    using Wide = typename SkHostSelect<(sizeof(D) > sizeof(S)), D, S>::Type;
    D *out = sk_host_operand(dst, sk_host_repeat_extent<D>(repeats, lanes, params.dstBlkStride, params.dstRepStride),
                             call, site);
    const S *in = sk_host_operand(
        src, sk_host_repeat_extent<S>(repeats, lanes, params.srcBlkStride, params.srcRepStride), call, site);
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        for (uint32_t lane = 0; lane < sk_host_lanes_per_repeat<Wide>() && lane < 128; ++lane) {
            if (lanes.Has(lane)) {
                out[sk_host_lane<D>(repeat, lane, params.dstBlkStride, params.dstRepStride)] =
                    apply(in[sk_host_lane<S>(repeat, lane, params.srcBlkStride, params.srcRepStride)]);
            }
        }
    }
    sk_rt_work(PIPE_V, static_cast<uint64_t>(repeats) * ONE_REPEAT_BYTE_SIZE);
}

template <class D, class S, class F>
inline void sk_host_binary(const LocalTensor<D> &dst, const LocalTensor<S> &src0, const LocalTensor<S> &src1,
                           int64_t count, F apply, const char *call, sk_host::Site site) {
    sk_host_require_vector_core(call, site);
    const uint64_t number = count < 0 ? 0 : static_cast<uint64_t>(count);
    D *out = sk_host_operand(dst, number, call, site);
    const S *in0 = sk_host_operand(src0, number, call, site);
    const S *in1 = sk_host_operand(src1, number, call, site);
    for (uint64_t i = 0; i < number; ++i) {
        out[i] = apply(out[i], in0[i], in1[i]);
    }
    sk_rt_work(PIPE_V, number * sizeof(S));
}

template <class T, class F>
inline void sk_host_binary_repeat(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                                  const SkHostLanes &lanes, uint8_t repeats, const BinaryRepeatParams &params, F apply,
                                  const char *call, sk_host::Site site) {
    sk_host_require_vector_core(call, site);
    T *out = sk_host_operand(dst, sk_host_repeat_extent<T>(repeats, lanes, params.dstBlkStride, params.dstRepStride),
                             call, site);
    const T *in0 = sk_host_operand(
        src0, sk_host_repeat_extent<T>(repeats, lanes, params.src0BlkStride, params.src0RepStride), call, site);
    const T *in1 = sk_host_operand(
        src1, sk_host_repeat_extent<T>(repeats, lanes, params.src1BlkStride, params.src1RepStride), call, site);
    for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
        for (uint32_t lane = 0; lane < sk_host_lanes_per_repeat<T>() && lane < 128; ++lane) {
            if (lanes.Has(lane)) {
                T &target = out[sk_host_lane<T>(repeat, lane, params.dstBlkStride, params.dstRepStride)];
                target = apply(target, in0[sk_host_lane<T>(repeat, lane, params.src0BlkStride, params.src0RepStride)],
                               in1[sk_host_lane<T>(repeat, lane, params.src1BlkStride, params.src1RepStride)]);
            }
        }
    }
    sk_rt_work(PIPE_V, static_cast<uint64_t>(repeats) * ONE_REPEAT_BYTE_SIZE);
}

// The functions a name stands for: `expression` over the widened operands a, b (and old, what dst holds).
#define SK_HOST_BINARY(name, expression)                                                                               \
    template <class T> struct SkHostApply##name {                                                                      \
        T operator()([[maybe_unused]] T before, T left, T right) const {                                               \
            using W = SkHostWideType<T>;                                                                               \
            [[maybe_unused]] const W old = static_cast<W>(before);                                                     \
            const W a = static_cast<W>(left);                                                                          \
            const W b = static_cast<W>(right);                                                                         \
            return static_cast<T>(expression);                                                                         \
        }                                                                                                              \
    };                                                                                                                 \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, int32_t count, \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_binary(dst, src0, src1, count, SkHostApply##name<T>{}, #name, site);                                   \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask, \
                     uint8_t repeats, const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {  \
        sk_host_require_mask<T>(mask, #name, site);                                                                    \
        sk_host_binary_repeat(dst, src0, src1, SkHostLanes::First(mask), repeats, params, SkHostApply##name<T>{},      \
                              #name, site);                                                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                \
                     uint64_t mask[], uint8_t repeats, const BinaryRepeatParams &params,                               \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_binary_repeat(dst, src0, src1, SkHostLanes{{mask[0], mask[1]}}, repeats, params,                       \
                              SkHostApply##name<T>{}, #name, site);                                                    \
    }

#define SK_HOST_UNARY(name, expression)                                                                                \
    template <class T> struct SkHostApply##name {                                                                      \
        T operator()(T value) const {                                                                                  \
            using W = SkHostWideType<T>;                                                                               \
            const W a = static_cast<W>(value);                                                                         \
            return static_cast<T>(expression);                                                                         \
        }                                                                                                              \
    };                                                                                                                 \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,                              \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_unary(dst, src, count, SkHostApply##name<T>{}, #name, site);                                           \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, uint8_t repeats,             \
                     const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                    \
        sk_host_require_mask<T>(mask, #name, site);                                                                    \
        sk_host_unary_repeat(dst, src, SkHostLanes::First(mask), repeats, params, SkHostApply##name<T>{}, #name, site);\
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask[], uint8_t repeats,           \
                     const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                    \
        sk_host_unary_repeat(dst, src, SkHostLanes{{mask[0], mask[1]}}, repeats, params, SkHostApply##name<T>{},       \
                             #name, site);                                                                             \
    }

// Vector and scalar; the scalar's type is deduced apart so that literals convert.
#define SK_HOST_SCALAR(name, expression)                                                                               \
    template <class T> struct SkHostApply##name {                                                                      \
        SkHostWideType<T> b;                                                                                           \
        T operator()(T value) const {                                                                                  \
            using W = SkHostWideType<T>;                                                                               \
            const W a = static_cast<W>(value);                                                                         \
            return static_cast<T>(expression);                                                                         \
        }                                                                                                              \
    };                                                                                                                 \
    template <class T, class U>                                                                                        \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalar, int32_t count,             \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        const T stored = static_cast<T>(scalar);                                                                       \
        sk_host_unary(dst, src, count, SkHostApply##name<T>{static_cast<SkHostWideType<T>>(stored)}, #name, site);     \
    }                                                                                                                  \
    template <class T, class U>                                                                                        \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalar, uint64_t mask,             \
                     uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {   \
        const T stored = static_cast<T>(scalar);                                                                       \
        sk_host_require_mask<T>(mask, #name, site);                                                                    \
        sk_host_unary_repeat(dst, src, SkHostLanes::First(mask), repeats, params,                                      \
                             SkHostApply##name<T>{static_cast<SkHostWideType<T>>(stored)}, #name, site);               \
    }

SK_HOST_BINARY(Add, a + b)
SK_HOST_BINARY(Sub, a - b)
SK_HOST_BINARY(Mul, a *b)
SK_HOST_BINARY(Div, a / b)
SK_HOST_BINARY(Max, a < b ? b : a)
SK_HOST_BINARY(Min, b < a ? b : a)
SK_HOST_BINARY(And, a &b)
SK_HOST_BINARY(Or, a | b)
SK_HOST_BINARY(AddRelu, (a + b) > 0 ? (a + b) : 0)
SK_HOST_BINARY(SubRelu, (a - b) > 0 ? (a - b) : 0)
SK_HOST_BINARY(MulAddDst, a *b + old)
SK_HOST_BINARY(FusedMulAdd, a *old + b)

SK_HOST_UNARY(Exp, __builtin_expf(a))
SK_HOST_UNARY(Ln, __builtin_logf(a))
SK_HOST_UNARY(Abs, a < 0 ? -a : a + W(0))
SK_HOST_UNARY(Sqrt, __builtin_sqrtf(a))
SK_HOST_UNARY(Rsqrt, 1.0f / __builtin_sqrtf(a))
SK_HOST_UNARY(Reciprocal, 1.0f / a)
SK_HOST_UNARY(Relu, a > 0 ? a : W(0))
SK_HOST_UNARY(Not, ~a)
SK_HOST_UNARY(Neg, -a)

SK_HOST_SCALAR(Adds, a + b)
SK_HOST_SCALAR(Muls, a *b)
SK_HOST_SCALAR(Maxs, a < b ? b : a)
SK_HOST_SCALAR(Mins, b < a ? b : a)
SK_HOST_SCALAR(LeakyRelu, a > 0 ? a : a * b)
SK_HOST_SCALAR(ShiftLeft, a << b)
SK_HOST_SCALAR(ShiftRight, a >> b)

#undef SK_HOST_BINARY
#undef SK_HOST_UNARY
#undef SK_HOST_SCALAR

// dst += src * scalar
template <class T, class U>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalar, int32_t count,
                 sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Axpy", site);
    T *out = sk_host_operand(dst, static_cast<uint64_t>(count), "Axpy", site);
    const U *in = sk_host_operand(src, static_cast<uint64_t>(count), "Axpy", site);
    for (int32_t i = 0; i < count; ++i) {
        using W = SkHostWideType<T>;
        out[i] = static_cast<T>(static_cast<W>(out[i]) + static_cast<W>(in[i]) * static_cast<W>(scalar));
    }
    sk_rt_work(PIPE_V, static_cast<uint64_t>(count) * sizeof(U));
}

template <class T, class U>
inline void Duplicate(const LocalTensor<T> &dst, const U &scalar, int32_t count,
                      sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Duplicate", site);
    T *out = sk_host_operand(dst, static_cast<uint64_t>(count), "Duplicate", site);
    const T value = static_cast<T>(scalar);
    for (int32_t i = 0; i < count; ++i) {
        out[i] = value;
    }
    sk_rt_work(PIPE_V, static_cast<uint64_t>(count) * sizeof(T));
}

template <class T, class U>
inline void Duplicate(const LocalTensor<T> &dst, const U &scalar, uint64_t mask, uint8_t repeats, uint16_t dstBlkStride,
                      uint8_t dstRepStride, sk_host::Site site = sk_host::Site::Here()) {
    const T value = static_cast<T>(scalar);
    sk_host_require_mask<T>(mask, "Duplicate", site);
    sk_host_unary_repeat(dst, dst, SkHostLanes::First(mask), repeats,
                         UnaryRepeatParams(dstBlkStride, dstBlkStride, dstRepStride, dstRepStride),
                         [value](T) { return value; }, "Duplicate", site);
}

// first, first + 1, ... (index vectors)
template <class T, class U>
inline void CreateVecIndex(const LocalTensor<T> &dst, const U &first, uint32_t count,
                           sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("CreateVecIndex", site);
    T *out = sk_host_operand(dst, count, "CreateVecIndex", site);
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = static_cast<T>(static_cast<SkHostWideType<T>>(first) + static_cast<SkHostWideType<T>>(i));
    }
    sk_rt_work(PIPE_V, count * sizeof(T));
}

// -- Cast --------------------------------------------------------------------------------------------------------------

template <class T> struct SkHostIsFloat {
    static constexpr bool value = false;
};
template <> struct SkHostIsFloat<float> {
    static constexpr bool value = true;
};
template <> struct SkHostIsFloat<half> {
    static constexpr bool value = true;
};
template <> struct SkHostIsFloat<bfloat16_t> {
    static constexpr bool value = true;
};

inline sk_host_float16::Rounding sk_host_rounding(RoundMode mode) {
    using sk_host_float16::Rounding;
    switch (mode) {
    case RoundMode::CAST_FLOOR:
        return Rounding::Down;
    case RoundMode::CAST_CEIL:
        return Rounding::Up;
    case RoundMode::CAST_ROUND:
        return Rounding::NearestAway;
    case RoundMode::CAST_TRUNC:
        return Rounding::TowardZero;
    case RoundMode::CAST_ODD:
        return Rounding::Odd;
    case RoundMode::CAST_NONE:
    case RoundMode::CAST_RINT:
        break;
    }
    return Rounding::NearestEven;
}

inline double sk_host_round(double value, RoundMode mode) {
    switch (mode) {
    case RoundMode::CAST_FLOOR:
        return __builtin_floor(value);
    case RoundMode::CAST_CEIL:
        return __builtin_ceil(value);
    case RoundMode::CAST_ROUND:
        return __builtin_round(value);
    case RoundMode::CAST_NONE:
    case RoundMode::CAST_TRUNC:
    case RoundMode::CAST_ODD:
        return __builtin_trunc(value);
    case RoundMode::CAST_RINT:
        break;
    }
    return __builtin_rint(value);
}

// Values outside the range of an integer type go to its nearest end; not-a-number goes to 0.
template <class I> inline I sk_host_saturate(double value) {
    constexpr bool isSigned = static_cast<I>(-1) < static_cast<I>(0);
    constexpr unsigned bits = sizeof(I) * 8;
    constexpr I largest = static_cast<I>(isSigned ? (1ull << (bits - 1)) - 1 : ~0ull >> (64 - bits));
    constexpr I smallest = isSigned ? static_cast<I>(-static_cast<I>(largest) - 1) : static_cast<I>(0);
    if (value != value) {
        return static_cast<I>(0);
    }
    if (value >= static_cast<double>(largest)) {
        return largest;
    }
    if (value <= static_cast<double>(smallest)) {
        return smallest;
    }
    return static_cast<I>(value);
}

template <class D, class S> struct SkHostConvert {
    RoundMode mode;

    D operator()(S value) const {
        if constexpr (SkHostIsFloat<D>::value && sizeof(D) == 2) {
            return D::Rounded(static_cast<float>(value), sk_host_rounding(mode));
        } else if constexpr (SkHostIsFloat<D>::value) {
            // float to float with a rounding mode rounds to a whole number.
            if constexpr (sizeof(S) == sizeof(float) && SkHostIsFloat<S>::value) {
                return mode == RoundMode::CAST_NONE ? static_cast<D>(value) : static_cast<D>(sk_host_round(value, mode));
            } else {
                return static_cast<D>(value);
            }
        } else if constexpr (SkHostIsFloat<S>::value) {
            return sk_host_saturate<D>(sk_host_round(static_cast<float>(value), mode));
        } else {
            return static_cast<D>(value);
        }
    }
};

template <class D, class S>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, uint32_t count,
                 sk_host::Site site = sk_host::Site::Here()) {
    sk_host_unary(dst, src, count, SkHostConvert<D, S>{mode}, "Cast", site);
}

template <class D, class S>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, uint64_t mask,
                 uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_unary_repeat(dst, src, SkHostLanes::First(mask), repeats, params, SkHostConvert<D, S>{mode}, "Cast", site);
}

} // namespace
} // namespace AscendC

#endif
