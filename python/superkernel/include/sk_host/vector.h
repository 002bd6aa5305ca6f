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

// The elements that are computed stand in the mask registers while the instruction is issued.
inline void sk_host_mask_elements(int64_t count) {
    set_mask_count();
    set_vector_mask(0, count < 0 ? 0 : static_cast<uint64_t>(count));
}
inline void sk_host_mask_lanes(const SkHostLanes &lanes) {
    set_mask_norm();
    set_vector_mask(lanes.bits[1], lanes.bits[0]);
}
inline void sk_host_mask_all() {
    set_mask_norm();
    set_vector_mask(UINT64_MAX, UINT64_MAX);
}

inline sk_core::Source sk_host_source(sk_host::Site site) { return sk_core::Source{site.file, site.line}; }

template <class T, class... Types> struct SkHostOneOf {
    static constexpr bool value = false;
};
template <class T, class First, class... Rest> struct SkHostOneOf<T, First, Rest...> {
    static constexpr bool value = SkHostOneOf<T, Rest...>::value;
};
template <class T, class... Rest> struct SkHostOneOf<T, T, Rest...> {
    static constexpr bool value = true;
};

// `elements` of an operand that a call with a count touches, and `lanes` of one with repeats: inside its tensor?
template <class T>
inline T *sk_host_counted(const LocalTensor<T> &tensor, int64_t elements, const char *call, sk_host::Site site) {
    return sk_host_operand(tensor, elements < 0 ? 0 : static_cast<uint64_t>(elements), call, site);
}
template <class T>
inline T *sk_host_repeated(const LocalTensor<T> &tensor, const SkHostLanes &lanes, uint8_t repeats, uint32_t blkStride,
                           uint32_t repStride, const char *call, sk_host::Site site) {
    return sk_host_operand(tensor, sk_host_repeat_extent<T>(repeats, lanes, blkStride, repStride), call, site);
}

// A call of AscendC, the instruction behind it, and the element types the chip has it for.
#define SK_HOST_BINARY(name, intrinsic, ...)                                                                           \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, int32_t count, \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        static_assert(SkHostOneOf<T, __VA_ARGS__>::value, #name ": the chip has no form for this element type");       \
        sk_host_require_vector_core(#name, site);                                                                      \
        T *out = sk_host_counted(dst, count, #name, site);                                                             \
        T *in0 = sk_host_counted(src0, count, #name, site);                                                            \
        T *in1 = sk_host_counted(src1, count, #name, site);                                                            \
        sk_host_mask_elements(count);                                                                                  \
        intrinsic(out, in0, in1, 1, 1, 1, 1, 8, 8, 8, sk_host_source(site));                                           \
        sk_host_mask_all();                                                                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void sk_host_##intrinsic(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, \
                                    const SkHostLanes &lanes, uint8_t repeats, const BinaryRepeatParams &params,       \
                                    sk_host::Site site) {                                                              \
        static_assert(SkHostOneOf<T, __VA_ARGS__>::value, #name ": the chip has no form for this element type");       \
        sk_host_require_vector_core(#name, site);                                                                      \
        T *out = sk_host_repeated(dst, lanes, repeats, params.dstBlkStride, params.dstRepStride, #name, site);         \
        T *in0 = sk_host_repeated(src0, lanes, repeats, params.src0BlkStride, params.src0RepStride, #name, site);      \
        T *in1 = sk_host_repeated(src1, lanes, repeats, params.src1BlkStride, params.src1RepStride, #name, site);      \
        sk_host_mask_lanes(lanes);                                                                                     \
        intrinsic(out, in0, in1, repeats, params.dstBlkStride, params.src0BlkStride, params.src1BlkStride,             \
                  params.dstRepStride, params.src0RepStride, params.src1RepStride, sk_host_source(site));              \
        sk_host_mask_all();                                                                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask, \
                     uint8_t repeats, const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {  \
        sk_host_require_mask<T>(mask, #name, site);                                                                    \
        sk_host_##intrinsic(dst, src0, src1, SkHostLanes::First(mask), repeats, params, site);                         \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,                \
                     uint64_t mask[], uint8_t repeats, const BinaryRepeatParams &params,                               \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_##intrinsic(dst, src0, src1, SkHostLanes{{mask[0], mask[1]}}, repeats, params, site);                  \
    }

// One source: `issue` gets addresses, repeats and strides.
template <class T, class F>
inline void sk_host_on_one(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count, const char *call,
                           sk_host::Site site, F issue) {
    sk_host_require_vector_core(call, site);
    T *out = sk_host_counted(dst, count, call, site);
    T *in = sk_host_counted(src, count, call, site);
    sk_host_mask_elements(count);
    issue(out, in, 1, UnaryRepeatParams());
    sk_host_mask_all();
}
template <class T, class F>
inline void sk_host_on_one(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SkHostLanes &lanes,
                           uint8_t repeats, const UnaryRepeatParams &params, const char *call, sk_host::Site site,
                           F issue) {
    sk_host_require_vector_core(call, site);
    T *out = sk_host_repeated(dst, lanes, repeats, params.dstBlkStride, params.dstRepStride, call, site);
    T *in = sk_host_repeated(src, lanes, repeats, params.srcBlkStride, params.srcRepStride, call, site);
    sk_host_mask_lanes(lanes);
    issue(out, in, repeats, params);
    sk_host_mask_all();
}

#define SK_HOST_UNARY(name, intrinsic, ...)                                                                            \
    template <class T> struct SkHostIssue##name {                                                                      \
        static_assert(SkHostOneOf<T, __VA_ARGS__>::value, #name ": the chip has no form for this element type");       \
        sk_host::Site site;                                                                                            \
        void operator()(T *out, T *in, uint64_t repeats, const UnaryRepeatParams &params) const {                      \
            intrinsic(out, in, repeats, params.dstBlkStride, params.srcBlkStride, params.dstRepStride,                 \
                      params.srcRepStride, sk_host_source(site));                                                      \
        }                                                                                                              \
    };                                                                                                                 \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,                              \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_on_one(dst, src, count, #name, site, SkHostIssue##name<T>{site});                                      \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask, uint8_t repeats,             \
                     const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                    \
        sk_host_require_mask<T>(mask, #name, site);                                                                    \
        sk_host_on_one(dst, src, SkHostLanes::First(mask), repeats, params, #name, site, SkHostIssue##name<T>{site});  \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint64_t mask[], uint8_t repeats,           \
                     const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                    \
        sk_host_on_one(dst, src, SkHostLanes{{mask[0], mask[1]}}, repeats, params, #name, site,                        \
                       SkHostIssue##name<T>{site});                                                                    \
    }

// Vector and scalar; the scalar's type is deduced apart so that literals convert.
#define SK_HOST_SCALAR(name, intrinsic, ...)                                                                           \
    template <class T> struct SkHostIssue##name {                                                                      \
        static_assert(SkHostOneOf<T, __VA_ARGS__>::value, #name ": the chip has no form for this element type");       \
        T scalar;                                                                                                      \
        sk_host::Site site;                                                                                            \
        void operator()(T *out, T *in, uint64_t repeats, const UnaryRepeatParams &params) const {                      \
            intrinsic(out, in, scalar, repeats, params.dstBlkStride, params.srcBlkStride, params.dstRepStride,         \
                      params.srcRepStride, sk_host_source(site));                                                      \
        }                                                                                                              \
    };                                                                                                                 \
    template <class T, class U>                                                                                        \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalar, int32_t count,             \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_on_one(dst, src, count, #name, site, SkHostIssue##name<T>{static_cast<T>(scalar), site});              \
    }                                                                                                                  \
    template <class T, class U>                                                                                        \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalar, uint64_t mask,             \
                     uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {   \
        sk_host_require_mask<T>(mask, #name, site);                                                                    \
        sk_host_on_one(dst, src, SkHostLanes::First(mask), repeats, params, #name, site,                               \
                       SkHostIssue##name<T>{static_cast<T>(scalar), site});                                            \
    }                                                                                                                  \
    template <class T, class U>                                                                                        \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalar, uint64_t mask[],           \
                     uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {   \
        sk_host_on_one(dst, src, SkHostLanes{{mask[0], mask[1]}}, repeats, params, #name, site,                        \
                       SkHostIssue##name<T>{static_cast<T>(scalar), site});                                            \
    }

// Intrinsics that end in flags, without them.
template <class T>
inline void sk_host_vmaxs(T *dst, T *src, T scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                          uint64_t srcRep, sk_core::Source source) {
    vmaxs(dst, src, scalar, repeat, dstBlk, srcBlk, dstRep, srcRep, 0, 0, source);
}
template <class T>
inline void sk_host_vmins(T *dst, T *src, T scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                          uint64_t srcRep, sk_core::Source source) {
    vmins(dst, src, scalar, repeat, dstBlk, srcBlk, dstRep, srcRep, 0, 0, source);
}
template <class T>
inline void sk_host_vshr(T *dst, T *src, T distance, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                         uint64_t srcRep, sk_core::Source source) {
    vshr(dst, src, static_cast<uint64_t>(distance), repeat, dstBlk, srcBlk, dstRep, srcRep, 0, source);
}

SK_HOST_BINARY(Add, vadd, half, float, int16_t, int32_t)
SK_HOST_BINARY(Sub, vsub, half, float, int16_t, int32_t)
SK_HOST_BINARY(Mul, vmul, half, float, int16_t, int32_t)
SK_HOST_BINARY(Div, vdiv, half, float)
SK_HOST_BINARY(Max, vmax, half, float, int16_t, int32_t)
SK_HOST_BINARY(Min, vmin, half, float, int16_t, int32_t)
SK_HOST_BINARY(And, vand, int16_t, uint16_t)
SK_HOST_BINARY(Or, vor, int16_t, uint16_t)
SK_HOST_BINARY(AddRelu, vaddrelu, half, float, int16_t)
SK_HOST_BINARY(SubRelu, vsubrelu, half, float, int16_t)
SK_HOST_BINARY(MulAddDst, vmla, half, float)
SK_HOST_BINARY(FusedMulAdd, vmadd, half, float)
SK_HOST_BINARY(FusedMulAddRelu, vmaddrelu, half, float)

SK_HOST_UNARY(Exp, vexp, half, float)
SK_HOST_UNARY(Ln, vln, half, float)
SK_HOST_UNARY(Abs, vabs, half, float)
SK_HOST_UNARY(Sqrt, vsqrt, half, float)
SK_HOST_UNARY(Rsqrt, vrsqrt, half, float)
SK_HOST_UNARY(Reciprocal, vrec, half, float)
SK_HOST_UNARY(Relu, vrelu, half, float, int32_t)
SK_HOST_UNARY(Not, vnot, int16_t, uint16_t)

SK_HOST_SCALAR(Adds, vadds, half, float, int16_t, int32_t)
SK_HOST_SCALAR(Muls, vmuls, half, float, int16_t, int32_t)
SK_HOST_SCALAR(Maxs, sk_host_vmaxs, half, float, int16_t, int32_t)
SK_HOST_SCALAR(Mins, sk_host_vmins, half, float, int16_t, int32_t)
SK_HOST_SCALAR(LeakyRelu, vlrelu, half, float)
SK_HOST_SCALAR(ShiftLeft, vshl, int16_t, uint16_t, int32_t, uint32_t)
SK_HOST_SCALAR(ShiftRight, sk_host_vshr, int16_t, uint16_t, int32_t, uint32_t)

#undef SK_HOST_SCALAR
#undef SK_HOST_UNARY
#undef SK_HOST_BINARY

// There is no instruction for it; headers multiply.
template <class T>
inline void Neg(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,
                sk_host::Site site = sk_host::Site::Here()) {
    Muls(dst, src, static_cast<T>(-1), count, site);
}

// dst += src * scalar
template <class T, class U>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalar, int32_t count,
                 sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Axpy", site);
    T *out = sk_host_counted(dst, count, "Axpy", site);
    U *in = sk_host_counted(src, count, "Axpy", site);
    sk_host_mask_elements(count);
    // A narrower source takes fewer blocks of a repeat.
    vaxpy(out, in, scalar, 1, 1, 1, 8, 8 * sizeof(U) / sizeof(T), sk_host_source(site));
    sk_host_mask_all();
}

template <class T, class U>
inline void Duplicate(const LocalTensor<T> &dst, const U &scalar, int32_t count,
                      sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Duplicate: the chip has no form for this element type");
    sk_host_require_vector_core("Duplicate", site);
    T *out = sk_host_counted(dst, count, "Duplicate", site);
    sk_host_mask_elements(count);
    vector_dup(out, static_cast<T>(scalar), 1, 1, 1, 8, 0, sk_host_source(site));
    sk_host_mask_all();
}

template <class T, class U>
inline void Duplicate(const LocalTensor<T> &dst, const U &scalar, uint64_t mask, uint8_t repeats, uint16_t dstBlkStride,
                      uint8_t dstRepStride, sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Duplicate: the chip has no form for this element type");
    sk_host_require_vector_core("Duplicate", site);
    sk_host_require_mask<T>(mask, "Duplicate", site);
    const SkHostLanes lanes = SkHostLanes::First(mask);
    T *out = sk_host_repeated(dst, lanes, repeats, dstBlkStride, dstRepStride, "Duplicate", site);
    sk_host_mask_lanes(lanes);
    vector_dup(out, static_cast<T>(scalar), repeats, dstBlkStride, 1, dstRepStride, 0, sk_host_source(site));
    sk_host_mask_all();
}

// The mask registers themselves, for intrinsics that a kernel issues on its own.
inline void SetMaskCount() { set_mask_count(); }
inline void SetMaskNorm() { set_mask_norm(); }
template <class T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(uint64_t high, uint64_t low) {
    set_vector_mask(high, low);
}
template <class T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(int32_t length) {
    if constexpr (mode == MaskMode::COUNTER) {
        set_vector_mask(0, static_cast<uint64_t>(length));
    } else {
        const SkHostLanes lanes = SkHostLanes::First(static_cast<uint64_t>(length));
        set_vector_mask(lanes.bits[1], lanes.bits[0]);
    }
}
inline void ResetMask() { set_vector_mask(UINT64_MAX, UINT64_MAX); }

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

inline uint64_t sk_host_rounding(RoundMode mode) {
    switch (mode) {
    case RoundMode::CAST_RINT:
        return SK_ROUND_r;
    case RoundMode::CAST_FLOOR:
        return SK_ROUND_f;
    case RoundMode::CAST_CEIL:
        return SK_ROUND_c;
    case RoundMode::CAST_ROUND:
        return SK_ROUND_a;
    case RoundMode::CAST_TRUNC:
        return SK_ROUND_z;
    case RoundMode::CAST_ODD:
        return SK_ROUND_o;
    case RoundMode::CAST_NONE:
        break;
    }
    return SK_ROUND_none;
}

// Which pairs of types and which modes there are is the core's knowledge: others end the run.
template <class D, class S>
inline void sk_host_convert(D *dst, S *src, RoundMode mode, uint64_t repeats, uint64_t dstBlk, uint64_t srcBlk,
                            uint64_t dstRep, uint64_t srcRep, sk_host::Site site) {
    sk_core::Issue(SK_OP_vconv, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE, sk_host_source(site),
                   dst, src, repeats, dstBlk, srcBlk, dstRep, srcRep, sk_host_rounding(mode));
}

template <class D, class S>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, uint32_t count,
                 sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Cast", site);
    D *out = sk_host_counted(dst, count, "Cast", site);
    S *in = sk_host_counted(src, count, "Cast", site);
    constexpr uint64_t widest = sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S);
    sk_host_mask_elements(count);
    sk_host_convert(out, in, mode, 1, 1, 1, 8 * sizeof(D) / widest, 8 * sizeof(S) / widest, site);
    sk_host_mask_all();
}

template <class D, class S>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, uint64_t mask,
                 uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {
    using Wide = typename SkHostSelect<(sizeof(D) > sizeof(S)), D, S>::Type;
    sk_host_require_vector_core("Cast", site);
    sk_host_require_mask<Wide>(mask, "Cast", site);
    const SkHostLanes lanes = SkHostLanes::First(mask);
    D *out = sk_host_repeated(dst, lanes, repeats, params.dstBlkStride, params.dstRepStride, "Cast", site);
    S *in = sk_host_repeated(src, lanes, repeats, params.srcBlkStride, params.srcRepStride, "Cast", site);
    sk_host_mask_lanes(lanes);
    sk_host_convert(out, in, mode, repeats, params.dstBlkStride, params.srcBlkStride, params.dstRepStride,
                    params.srcRepStride, site);
    sk_host_mask_all();
}

} // namespace
} // namespace AscendC

#endif
