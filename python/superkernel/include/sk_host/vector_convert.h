// Conversions between element types.
#ifndef SK_HOST_VECTOR_CONVERT_H
#define SK_HOST_VECTOR_CONVERT_H

namespace AscendC {
namespace {

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

// What int32_t is multiplied with on its way to half.
inline void SetDeqScale(half scale) { set_deqscale(scale); }

// Which modes a pair of types has is the core's knowledge: others end the run.
template <class D, class S>
inline void sk_host_cast(const SkHostElements &elements, const LocalTensor<D> &dst, const LocalTensor<S> &src,
                         RoundMode mode, const UnaryRepeatParams &params, sk_host::Site site) {
    constexpr SkType to = sk_core::TypeOf<D>::value, from = sk_core::TypeOf<S>::value;
    // By the scale of SetDeqScale.
    constexpr bool scales = to == SK_TYPE_F16 && from == SK_TYPE_S32;
    static_assert(scales || sk_core_converts(sk_core::Conversion<to, from>()),
                  "Cast: the chip has no conversion between these element types");
    sk_host_require_vector_core("Cast", site);
    D *out = elements.In(dst, params.dstBlkStride, params.dstRepStride, "Cast", site);
    S *in = elements.In(src, params.srcBlkStride, params.srcRepStride, "Cast", site);
    if constexpr (scales) {
        vconv_deq(out, in, elements.Repeats(), params.dstBlkStride, params.srcBlkStride, params.dstRepStride,
                  params.srcRepStride, sk_host_source(site));
    } else {
        sk_core::Issue(SK_OP_vconv, to, from, SK_TYPE_NONE, sk_host_source(site), out, in, elements.Repeats(),
                       params.dstBlkStride, params.srcBlkStride, params.dstRepStride, params.srcRepStride,
                       sk_host_rounding(mode));
    }
}

template <class D, class S>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, uint32_t count,
                 sk_host::Site site = sk_host::Site::Here()) {
    using Widest = SkHostWider<D, S>;
    const UnaryRepeatParams params(1, 1, sk_host_repeat_stride<D, Widest>(), sk_host_repeat_stride<S, Widest>());
    sk_host_cast(SkHostElements::InARow<Widest>(count), dst, src, mode, params, site);
    SkHostElements::Release();
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class D, class S, bool isSetMask = true>                                                                 \
    inline void name(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, maskParameter,       \
                     uint8_t repeats, const UnaryRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {   \
        using Widest = SkHostWider<D, S>;                                                                              \
        sk_host_cast(SkHostElements::Masked<Widest, isSetMask>(mask, repeats, #name, site), dst, src, mode, params,    \
                     site);                                                                                            \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Cast)
#undef SK_HOST_MASKED

} // namespace
} // namespace AscendC

#endif
