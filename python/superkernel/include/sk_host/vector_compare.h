// Comparison and selection.
#ifndef SK_HOST_VECTOR_COMPARE_H
#define SK_HOST_VECTOR_COMPARE_H

namespace AscendC {
namespace {

inline uint64_t sk_host_relation(CMPMODE mode) {
    switch (mode) {
    case CMPMODE::LT:
        return SK_RELATION_lt;
    case CMPMODE::GT:
        return SK_RELATION_gt;
    case CMPMODE::EQ:
        return SK_RELATION_eq;
    case CMPMODE::LE:
        return SK_RELATION_le;
    case CMPMODE::GE:
        return SK_RELATION_ge;
    case CMPMODE::NE:
        break;
    }
    return SK_RELATION_ne;
}

// -- Into a tensor of bits: one per element, lowest bit first. The chip compares whole repeats, whatever the mask ---------

template <class U>
inline uint8_t *sk_host_bits(const LocalTensor<U> &tensor, uint64_t bits, const char *call, sk_host::Site site) {
    return sk_host_local_range(tensor, (bits + 7) / 8, call, site);
}

template <class T, class U>
inline void sk_host_compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                            CMPMODE mode, uint64_t repeats, const BinaryRepeatParams &params, sk_host::Site site) {
    SK_HOST_REQUIRE_TYPE("Compare", T, half, float, int32_t);
    static_assert(sizeof(U) == 1, "Compare: the result is a tensor of int8_t or uint8_t");
    sk_host_require_vector_core("Compare", site);
    const SkHostElements elements = SkHostElements::Whole<T>(repeats);
    uint8_t *bits = sk_host_bits(dst, repeats * sk_host_lanes_per_repeat<T>(), "Compare", site);
    T *in0 = elements.In(src0, params.src0BlkStride, params.src0RepStride, "Compare", site);
    T *in1 = elements.In(src1, params.src1BlkStride, params.src1RepStride, "Compare", site);
    sk_core::Issue(SK_OP_vcmpv, SK_TYPE_U8, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, sk_host_source(site),
                   bits, in0, in1, repeats, params.dstBlkStride, params.src0BlkStride, params.src1BlkStride,
                   params.dstRepStride, params.src0RepStride, params.src1RepStride, sk_host_relation(mode));
}
template <class T, class U>
inline void sk_host_compare(const LocalTensor<U> &dst, const LocalTensor<T> &src, T scalar, CMPMODE mode,
                            uint64_t repeats, const UnaryRepeatParams &params, sk_host::Site site) {
    SK_HOST_REQUIRE_TYPE("CompareScalar", T, half, float, int32_t);
    static_assert(sizeof(U) == 1, "CompareScalar: the result is a tensor of int8_t or uint8_t");
    sk_host_require_vector_core("CompareScalar", site);
    uint8_t *bits = sk_host_bits(dst, repeats * sk_host_lanes_per_repeat<T>(), "CompareScalar", site);
    T *in = SkHostElements::Whole<T>(repeats).In(src, params.srcBlkStride, params.srcRepStride, "CompareScalar", site);
    sk_core::Issue(SK_OP_vcmpvs, SK_TYPE_U8, sk_core::TypeOf<T>::value, SK_TYPE_NONE, sk_host_source(site), bits, in,
                   scalar, repeats, params.dstBlkStride, params.srcBlkStride, params.dstRepStride, params.srcRepStride,
                   sk_host_relation(mode));
}

// Calls `issue` with the first element and the number of repeats of every instruction that `count` elements need. The
// bits of each instruction start at a block.
template <class T, class F>
inline void sk_host_compare_row(uint32_t count, const char *call, sk_host::Site site, F issue) {
    constexpr uint32_t lanes = sk_host_lanes_per_repeat<T>();
    constexpr uint32_t most = 252;
    if (count % lanes != 0) {
        sk_host::Violation(site, "%s: %u elements of %u bytes are not a multiple of 256 bytes", call, count,
                           (unsigned)sizeof(T));
    }
    for (uint32_t done = 0; done < count / lanes; done += most) {
        const uint32_t left = count / lanes - done;
        issue(done * lanes, left < most ? left : most);
    }
}

template <class T, class U>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode,
                    uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_compare_row<T>(count, "Compare", site, [&](uint32_t first, uint32_t repeats) {
        sk_host_compare(dst[first / 8], src0[first], src1[first], mode, repeats, BinaryRepeatParams(), site);
    });
}
template <class T, class U, class V>
inline void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src, const V &scalar, CMPMODE mode,
                          uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_compare_row<T>(count, "CompareScalar", site, [&](uint32_t first, uint32_t repeats) {
        sk_host_compare(dst[first / 8], src[first], static_cast<T>(scalar), mode, repeats, UnaryRepeatParams(), site);
    });
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, class U, bool isSetMask = true>                                                                 \
    inline void name(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode,  \
                     maskParameter, uint8_t repeats, const BinaryRepeatParams &params,                                 \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        (void)mask;                                                                                                    \
        sk_host_compare(dst, src0, src1, mode, repeats, params, site);                                                 \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Compare)
#undef SK_HOST_MASKED
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, class U, bool isSetMask = true, class V>                                                        \
    inline void name(const LocalTensor<U> &dst, const LocalTensor<T> &src, const V &scalar, CMPMODE mode,              \
                     maskParameter, uint8_t repeats, const UnaryRepeatParams &params,                                  \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        (void)mask;                                                                                                    \
        sk_host_compare(dst, src, static_cast<T>(scalar), mode, repeats, params, site);                                \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, CompareScalar)
#undef SK_HOST_MASKED

// -- Into the compare-mask register: one repeat --------------------------------------------------------------------------

#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, bool isSetMask = true>                                                                          \
    inline void name(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode, maskParameter,              \
                     const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                   \
        SK_HOST_REQUIRE_TYPE(#name, T, half, float);                                                                   \
        sk_host_require_vector_core(#name, site);                                                                      \
        const SkHostElements elements = SkHostElements::Masked<T, isSetMask>(mask, 1, #name, site);                    \
        T *in0 = elements.In(src0, params.src0BlkStride, params.src0RepStride, #name, site);                           \
        T *in1 = elements.In(src1, params.src1BlkStride, params.src1RepStride, #name, site);                           \
        sk_core::Issue(SK_OP_vcmp, SK_TYPE_NONE, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value,                 \
                       sk_host_source(site), in0, in1, 1, params.dstBlkStride, params.src0BlkStride,                   \
                       params.src1BlkStride, params.dstRepStride, params.src0RepStride, params.src1RepStride,          \
                       sk_host_relation(mode));                                                                        \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Compare)
#undef SK_HOST_MASKED

// That register from and to 16 bytes of UB.
template <class T> inline void SetCmpMask(const LocalTensor<T> &src, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("SetCmpMask", site);
    set_cmpmask(sk_host_operand(src, 16 / sizeof(T), "SetCmpMask", site), sk_host_source(site));
}
template <class T> inline void GetCmpMask(const LocalTensor<T> &dst, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("GetCmpMask", site);
    get_cmpmask(sk_host_operand(dst, 16 / sizeof(T), "GetCmpMask", site), sk_host_source(site));
}

// -- Selection: bit 1 takes src0, bit 0 takes src1 -----------------------------------------------------------------------

// Ways of `vsel`: by the register, or by a tensor of bits. The scalar beside it, or where it is, is in the register or
// comes along.
constexpr uint64_t SK_HOST_BY_REGISTER = 0;
constexpr uint64_t SK_HOST_BY_BITS_OR_SCALAR_IN_REGISTER = 1;
constexpr uint64_t SK_HOST_BY_ADDRESS_IN_REGISTER = 2;
constexpr uint64_t SK_HOST_BY_BITS_OR_SCALAR = 3;
constexpr uint64_t SK_HOST_BY_BITS = 4;

template <class T, class B>
inline void sk_host_issue_select(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                                 B *src1, uint64_t way, uint64_t beside, const BinaryRepeatParams &params,
                                 sk_host::Site site) {
    SK_HOST_REQUIRE_TYPE("Select", T, half, float);
    sk_host_require_vector_core("Select", site);
    T *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, "Select", site);
    T *in = elements.In(src0, params.src0BlkStride, params.src0RepStride, "Select", site);
    sk_core::Issue(SK_OP_vsel, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, sk_core::TypeOf<B>::value,
                   sk_host_source(site), out, in, src1, elements.Repeats(), params.dstBlkStride, params.src0BlkStride,
                   params.src1BlkStride, params.dstRepStride, params.src0RepStride, params.src1RepStride, way, beside);
}

// Between two tensors. The compare-mask mode uses the same first bits for every repeat.
template <class T, class U>
inline void sk_host_select(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                           const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE mode,
                           const BinaryRepeatParams &params, sk_host::Site site) {
    if (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) {
        sk_host::Violation(site, "Select: VSEL_TENSOR_SCALAR_MODE needs a scalar in place of the second tensor");
    }
    T *other = elements.In(src1, params.src1BlkStride, params.src1RepStride, "Select", site);
    if (mode == SELMODE::VSEL_CMPMASK_SPR) {
        SetCmpMask(selMask, site);
        sk_host_issue_select(elements, dst, src0, other, SK_HOST_BY_REGISTER, 0, params, site);
    } else {
        uint8_t *bits = sk_host_bits(selMask, elements.MaskBits(), "Select", site);
        sk_host_issue_select(elements, dst, src0, other, SK_HOST_BY_BITS, sk_core::Word(bits), params, site);
    }
}
// Between a tensor and a scalar.
template <class T, class U>
inline void sk_host_select(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<U> &selMask,
                           const LocalTensor<T> &src0, T scalar, SELMODE mode, const BinaryRepeatParams &params,
                           sk_host::Site site) {
    if (mode != SELMODE::VSEL_TENSOR_SCALAR_MODE) {
        sk_host::Violation(site, "Select: a scalar needs VSEL_TENSOR_SCALAR_MODE");
    }
    uint8_t *bits = sk_host_bits(selMask, elements.MaskBits(), "Select", site);
    sk_host_issue_select(elements, dst, src0, bits, SK_HOST_BY_BITS_OR_SCALAR, sk_core::Word(scalar), params, site);
}

template <class T, class U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                   const LocalTensor<T> &src1, SELMODE mode, uint32_t count,
                   sk_host::Site site = sk_host::Site::Here()) {
    sk_host_select(SkHostElements::InARow<T>(count), dst, selMask, src0, src1, mode, BinaryRepeatParams(), site);
    SkHostElements::Release();
}
template <class T, class U, class V>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, V scalar,
                   SELMODE mode, uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_select(SkHostElements::InARow<T>(count), dst, selMask, src0, static_cast<T>(scalar), mode,
                   BinaryRepeatParams(), site);
    SkHostElements::Release();
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, class U, bool isSetMask = true>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,             \
                     const LocalTensor<T> &src1, SELMODE mode, maskParameter, uint8_t repeats,                         \
                     const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                   \
        sk_host_select(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, selMask, src0, src1,     \
                       mode, params, site);                                                                            \
    }                                                                                                                  \
    template <class T, class U, bool isSetMask = true, class V>                                                        \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, V scalar,   \
                     SELMODE mode, maskParameter, uint8_t repeats, const BinaryRepeatParams &params,                   \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_select(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, selMask, src0,           \
                       static_cast<T>(scalar), mode, params, site);                                                    \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Select)
#undef SK_HOST_MASKED

// By the mask registers and the compare-mask register as they are: that one holds the bits, or where they are.
template <class T, SELMODE mode>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint8_t repeats,
                   const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {
    static_assert(mode != SELMODE::VSEL_TENSOR_SCALAR_MODE, "Select: this mode takes the bits in place of a source");
    constexpr uint64_t way = mode == SELMODE::VSEL_CMPMASK_SPR ? SK_HOST_BY_REGISTER : SK_HOST_BY_ADDRESS_IN_REGISTER;
    const SkHostElements elements = SkHostElements::Masked<T, false>(MASK_PLACEHOLDER, repeats, "Select", site);
    T *other = elements.In(src1, params.src1BlkStride, params.src1RepStride, "Select", site);
    sk_host_issue_select(elements, dst, src0, other, way, 0, params, site);
}
// The same with a tensor of bits; the compare-mask register holds the scalar that a bit of 0 takes.
template <class T, class U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
                   uint8_t repeats, const BinaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {
    static_assert(SkHostOneOf<U, uint8_t, uint16_t, uint32_t, uint64_t>::value, "Select: bits are unsigned integers");
    const SkHostElements elements = SkHostElements::Masked<T, false>(MASK_PLACEHOLDER, repeats, "Select", site);
    uint8_t *bits = sk_host_bits(selMask, elements.MaskBits(), "Select", site);
    sk_host_issue_select(elements, dst, src0, bits, SK_HOST_BY_BITS_OR_SCALAR_IN_REGISTER, 0, params, site);
}

} // namespace
} // namespace AscendC

#endif
