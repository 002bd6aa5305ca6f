// Element-wise vector instructions, in three forms: over `count` consecutive elements, with the first `mask` elements of
// each repeat, and with a bit per element of a repeat.
#ifndef SK_HOST_VECTOR_H
#define SK_HOST_VECTOR_H

namespace AscendC {
namespace {

// The two forms with repeats are one, by the type of the mask.
#define SK_HOST_FOR_BOTH_MASKS(form, name) form(name, uint64_t mask) form(name, const uint64_t mask[])

// A call of AscendC, the instruction behind it, and the element types the chip has it for.
#define SK_HOST_BINARY(name, intrinsic, ...)                                                                           \
    template <class T>                                                                                                 \
    inline void sk_host_issue_##name(const SkHostElements &elements, const LocalTensor<T> &dst,                        \
                                     const LocalTensor<T> &src0, const LocalTensor<T> &src1,                           \
                                     const BinaryRepeatParams &params, sk_host::Site site) {                           \
        SK_HOST_REQUIRE_TYPE(#name, T, __VA_ARGS__);                                                                   \
        sk_host_require_vector_core(#name, site);                                                                      \
        T *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, #name, site);                              \
        T *in0 = elements.In(src0, params.src0BlkStride, params.src0RepStride, #name, site);                           \
        T *in1 = elements.In(src1, params.src1BlkStride, params.src1RepStride, #name, site);                           \
        intrinsic(out, in0, in1, elements.Repeats(), params.dstBlkStride, params.src0BlkStride, params.src1BlkStride,  \
                  params.dstRepStride, params.src0RepStride, params.src1RepStride, sk_host_source(site));              \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, int32_t count, \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_issue_##name(SkHostElements::InARow<T>(count), dst, src0, src1, BinaryRepeatParams(), site);           \
        SkHostElements::Release();                                                                                     \
    }                                                                                                                  \
    SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED_BINARY, name)
#define SK_HOST_MASKED_BINARY(name, maskParameter)                                                                     \
    template <class T, bool isSetMask = true>                                                                          \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, maskParameter, \
                     uint8_t repeats, const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {  \
        sk_host_issue_##name(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, src0, src1,        \
                             params, site);                                                                            \
    }

#define SK_HOST_UNARY(name, intrinsic, ...)                                                                            \
    template <class T>                                                                                                 \
    inline void sk_host_issue_##name(const SkHostElements &elements, const LocalTensor<T> &dst,                        \
                                     const LocalTensor<T> &src, const UnaryRepeatParams &params, sk_host::Site site) { \
        SK_HOST_REQUIRE_TYPE(#name, T, __VA_ARGS__);                                                                   \
        sk_host_require_vector_core(#name, site);                                                                      \
        T *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, #name, site);                              \
        T *in = elements.In(src, params.srcBlkStride, params.srcRepStride, #name, site);                               \
        intrinsic(out, in, elements.Repeats(), params.dstBlkStride, params.srcBlkStride, params.dstRepStride,          \
                  params.srcRepStride, sk_host_source(site));                                                          \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,                              \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_issue_##name(SkHostElements::InARow<T>(count), dst, src, UnaryRepeatParams(), site);                   \
        SkHostElements::Release();                                                                                     \
    }                                                                                                                  \
    SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED_UNARY, name)
#define SK_HOST_MASKED_UNARY(name, maskParameter)                                                                      \
    template <class T, bool isSetMask = true>                                                                          \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, maskParameter, uint8_t repeats,             \
                     const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                    \
        sk_host_issue_##name(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, src, params,       \
                             site);                                                                                    \
    }

// Vector and scalar; the scalar's type is deduced apart so that literals convert.
#define SK_HOST_SCALAR(name, intrinsic, ...)                                                                           \
    template <class T>                                                                                                 \
    inline void sk_host_issue_##name(const SkHostElements &elements, const LocalTensor<T> &dst,                        \
                                     const LocalTensor<T> &src, T scalar, const UnaryRepeatParams &params,             \
                                     sk_host::Site site) {                                                             \
        SK_HOST_REQUIRE_TYPE(#name, T, __VA_ARGS__);                                                                   \
        sk_host_require_vector_core(#name, site);                                                                      \
        T *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, #name, site);                              \
        T *in = elements.In(src, params.srcBlkStride, params.srcRepStride, #name, site);                               \
        intrinsic(out, in, scalar, elements.Repeats(), params.dstBlkStride, params.srcBlkStride, params.dstRepStride,  \
                  params.srcRepStride, sk_host_source(site));                                                          \
    }                                                                                                                  \
    template <class T, bool isSetMask = true, class U>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalar, int32_t count,             \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_issue_##name(SkHostElements::InARow<T>(count), dst, src, static_cast<T>(scalar), UnaryRepeatParams(),  \
                             site);                                                                                    \
        SkHostElements::Release();                                                                                     \
    }                                                                                                                  \
    SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED_SCALAR, name)
#define SK_HOST_MASKED_SCALAR(name, maskParameter)                                                                     \
    template <class T, bool isSetMask = true, class U>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &scalar, maskParameter,             \
                     uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {   \
        sk_host_issue_##name(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, src,               \
                             static_cast<T>(scalar), params, site);                                                    \
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

#undef SK_HOST_MASKED_SCALAR
#undef SK_HOST_SCALAR
#undef SK_HOST_MASKED_UNARY
#undef SK_HOST_UNARY
#undef SK_HOST_MASKED_BINARY
#undef SK_HOST_BINARY

// With `roundEn` the last bit that is shifted out is added.
template <class T>
inline void sk_host_shift_right(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                T distance, const UnaryRepeatParams &params, bool roundEn, sk_host::Site site) {
    SK_HOST_REQUIRE_TYPE("ShiftRight", T, int16_t, uint16_t, int32_t, uint32_t);
    sk_host_require_vector_core("ShiftRight", site);
    T *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, "ShiftRight", site);
    T *in = elements.In(src, params.srcBlkStride, params.srcRepStride, "ShiftRight", site);
    vshr(out, in, static_cast<uint64_t>(distance), elements.Repeats(), params.dstBlkStride, params.srcBlkStride,
         params.dstRepStride, params.srcRepStride, roundEn, sk_host_source(site));
}
template <class T, bool isSetMask = true, class U>
inline void ShiftRight(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &distance, int32_t count,
                       sk_host::Site site = sk_host::Site::Here()) {
    sk_host_shift_right(SkHostElements::InARow<T>(count), dst, src, static_cast<T>(distance), UnaryRepeatParams(), false,
                        site);
    SkHostElements::Release();
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, bool isSetMask = true, class U>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &distance, maskParameter,           \
                     uint8_t repeats, const UnaryRepeatParams &params, bool roundEn = false,                           \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_shift_right(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, src,                \
                            static_cast<T>(distance), params, roundEn, site);                                          \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, ShiftRight)
#undef SK_HOST_MASKED

// There is no instruction for it; headers multiply.
template <class T>
inline void Neg(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,
                sk_host::Site site = sk_host::Site::Here()) {
    Muls(dst, src, static_cast<T>(-1), count, site);
}

// -- Sources of another type than the destination ------------------------------------------------------------------------

// The usual repeat stride of an operand beside one of type `Widest`.
template <class T, class Widest> constexpr uint8_t sk_host_repeat_stride() {
    return static_cast<uint8_t>(8 * sk_host::BITS<T> / sk_host::BITS<Widest>);
}

// dst += src0 * src1
template <class T, class U>
inline void sk_host_multiply_add(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<U> &src0,
                                 const LocalTensor<U> &src1, const BinaryRepeatParams &params, sk_host::Site site) {
    constexpr bool same = SkHostOneOf<T, half, float>::value && SkHostOneOf<U, T>::value;
    constexpr bool widens = SkHostOneOf<T, float>::value && SkHostOneOf<U, half>::value;
    static_assert(same || widens, "MulAddDst: the chip has no form for these element types");
    sk_host_require_vector_core("MulAddDst", site);
    T *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, "MulAddDst", site);
    U *in0 = elements.In(src0, params.src0BlkStride, params.src0RepStride, "MulAddDst", site);
    U *in1 = elements.In(src1, params.src1BlkStride, params.src1RepStride, "MulAddDst", site);
    vmla(out, in0, in1, elements.Repeats(), params.dstBlkStride, params.src0BlkStride, params.src1BlkStride,
         params.dstRepStride, params.src0RepStride, params.src1RepStride, sk_host_source(site));
}
template <class T, class U>
inline void MulAddDst(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, int32_t count,
                      sk_host::Site site = sk_host::Site::Here()) {
    constexpr uint8_t source = sk_host_repeat_stride<U, T>();
    const BinaryRepeatParams params(1, 1, 1, 8, source, source);
    sk_host_multiply_add(SkHostElements::InARow<T>(count), dst, src0, src1, params, site);
    SkHostElements::Release();
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, class U, bool isSetMask = true>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1, maskParameter, \
                     uint8_t repeats, const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {  \
        sk_host_multiply_add(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, src0, src1,        \
                             params, site);                                                                            \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, MulAddDst)
#undef SK_HOST_MASKED

// dst += src * scalar
template <class T, class U>
inline void sk_host_axpy(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<U> &src, U scalar,
                         const UnaryRepeatParams &params, sk_host::Site site) {
    constexpr bool same = SkHostOneOf<T, half, float>::value && SkHostOneOf<U, T>::value;
    constexpr bool widens = SkHostOneOf<T, float>::value && SkHostOneOf<U, half>::value;
    static_assert(same || widens, "Axpy: the chip has no form for these element types");
    sk_host_require_vector_core("Axpy", site);
    T *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, "Axpy", site);
    U *in = elements.In(src, params.srcBlkStride, params.srcRepStride, "Axpy", site);
    vaxpy(out, in, scalar, elements.Repeats(), params.dstBlkStride, params.srcBlkStride, params.dstRepStride,
          params.srcRepStride, sk_host_source(site));
}
template <class T, class U, class V>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const V &scalar, int32_t count,
                 sk_host::Site site = sk_host::Site::Here()) {
    const UnaryRepeatParams params(1, 1, 8, sk_host_repeat_stride<U, T>());
    sk_host_axpy(SkHostElements::InARow<T>(count), dst, src, static_cast<U>(scalar), params, site);
    SkHostElements::Release();
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, class U, bool isSetMask = true, class V>                                                        \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<U> &src, const V &scalar, maskParameter,             \
                     uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {   \
        sk_host_axpy(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, src,                       \
                     static_cast<U>(scalar), params, site);                                                            \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Axpy)
#undef SK_HOST_MASKED

// -- Fills ---------------------------------------------------------------------------------------------------------------

template <class T>
inline void sk_host_duplicate(const SkHostElements &elements, const LocalTensor<T> &dst, T scalar, uint64_t blkStride,
                              uint64_t repStride, sk_host::Site site) {
    SK_HOST_REQUIRE_WIDTH("Duplicate", T);
    sk_host_require_vector_core("Duplicate", site);
    T *out = elements.In(dst, blkStride, repStride, "Duplicate", site);
    vector_dup(out, scalar, elements.Repeats(), blkStride, 1, repStride, 0, sk_host_source(site));
}
template <class T, class U>
inline void Duplicate(const LocalTensor<T> &dst, const U &scalar, int32_t count,
                      sk_host::Site site = sk_host::Site::Here()) {
    sk_host_duplicate(SkHostElements::InARow<T>(count), dst, static_cast<T>(scalar), 1, 8, site);
    SkHostElements::Release();
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, bool isSetMask = true, class U>                                                                 \
    inline void name(const LocalTensor<T> &dst, const U &scalar, maskParameter, uint8_t repeats,                       \
                     uint16_t dstBlkStride, uint8_t dstRepStride, sk_host::Site site = sk_host::Site::Here()) {        \
        sk_host_duplicate(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst,                       \
                          static_cast<T>(scalar), dstBlkStride, dstRepStride, site);                                   \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Duplicate)
#undef SK_HOST_MASKED

// On memory that is no tensor: addresses, or offsets in UB.
template <class T>
inline void DuplicateImpl(T *local, const T &value, int32_t count, sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_WIDTH("DuplicateImpl", T);
    SkHostElements::InARow<T>(count);
    vector_dup(local, value, 1, 1, 1, 8, 0, sk_host_source(site));
    SkHostElements::Release();
}

// first, first + difference, first + 2 * difference, ...: the first block one by one, then doubled again and again.
template <class T>
inline void sk_host_progression(const LocalTensor<T> &dst, T first, T difference, int32_t count, const char *call,
                                sk_host::Site site) {
    sk_host_require_vector_core(call, site);
    constexpr int32_t perBlock = ONE_BLK_SIZE / sizeof(T);
    sk_host_scalar_waits_for_vector(site);
    for (int32_t i = 0; i < perBlock && i < count; ++i) {
        dst.SetValue(static_cast<uint32_t>(i), static_cast<T>(first + difference * i), site);
    }
    sk_host_vector_waits_for_scalar(site);
    for (int32_t done = perBlock; done < count; done *= 2) {
        pipe_barrier(PIPE_V);
        const int32_t rest = count - done < done ? count - done : done;
        Adds(dst[static_cast<uint32_t>(done)], dst, difference * done, rest, site);
    }
}
template <class T, class U>
inline void CreateVecIndex(const LocalTensor<T> &dst, const U &first, uint32_t count,
                           sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_TYPE("CreateVecIndex", T, half, float, int16_t, int32_t);
    sk_host_progression(dst, static_cast<T>(first), static_cast<T>(1), static_cast<int32_t>(count), "CreateVecIndex",
                        site);
}
// Whole blocks are filled, as far as the tensor goes.
template <class T, class U, class V>
inline void ArithProgression(const LocalTensor<T> &dst, const U &first, const V &difference, int32_t count,
                             sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_TYPE("ArithProgression", T, half, float, int16_t, int32_t);
    const uint64_t blocks = sk_host::RoundUp(count < 0 ? 0 : static_cast<uint64_t>(count), ONE_BLK_SIZE / sizeof(T));
    const uint64_t filled = blocks > dst.GetSize() && count >= 0 ? static_cast<uint64_t>(count) : blocks;
    sk_host_progression(dst, static_cast<T>(first), static_cast<T>(difference), static_cast<int32_t>(filled),
                        "ArithProgression", site);
}

} // namespace
} // namespace AscendC

#endif
