// Intrinsics that convert between element types. Names say which: vconv_<source>2<destination><rounding>.
#ifndef SK_CORE_CONVERT_H
#define SK_CORE_CONVERT_H

enum SkRounding : uint64_t {
    SK_ROUND_none = 0, // to nearest even where something is lost
    SK_ROUND_r = 1,    // to nearest even
    SK_ROUND_a = 2,    // half away from zero
    SK_ROUND_f = 3,    // down
    SK_ROUND_c = 4,    // up
    SK_ROUND_z = 5,    // toward zero
    SK_ROUND_o = 6,    // to odd
};

namespace sk_core {
namespace {

template <SkType destination, SkType source> struct Conversion {};

} // namespace
} // namespace sk_core

namespace {

// Is there an instruction for it, in whatever rounding?
template <class Pair> constexpr bool sk_core_converts(Pair) { return false; }

// Types come from the name: pointers to 4-bit elements have none of their own.
#define SK_CORE_CONVERSION(name, source, destination, rounding)                                                        \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,               \
                     uint64_t srcRep, SK_CORE_HERE) {                                                                  \
        sk_core::Issue(SK_OP_vconv, destination, source, SK_TYPE_NONE, sk_core_source, dst, src, repeat, dstBlk,       \
                       srcBlk, dstRep, srcRep, rounding);                                                              \
    }
#define SK_CORE_CONVERT_NONE(stem, source, destination)                                                                \
    SK_CORE_CONVERSION(vconv_##stem, SK_TYPE_##source, SK_TYPE_##destination, SK_ROUND_none)
#define SK_CORE_CONVERT_PLAIN(stem, source, destination)                                                               \
    SK_CORE_CONVERT_NONE(stem, source, destination)                                                                    \
    constexpr bool sk_core_converts(sk_core::Conversion<SK_TYPE_##destination, SK_TYPE_##source>) { return true; }
#define SK_CORE_CONVERT_ROUNDED(stem, source, destination)                                                             \
    constexpr bool sk_core_converts(sk_core::Conversion<SK_TYPE_##destination, SK_TYPE_##source>) { return true; }     \
    SK_CORE_CONVERSION(vconv_##stem##r, SK_TYPE_##source, SK_TYPE_##destination, SK_ROUND_r)                           \
    SK_CORE_CONVERSION(vconv_##stem##a, SK_TYPE_##source, SK_TYPE_##destination, SK_ROUND_a)                           \
    SK_CORE_CONVERSION(vconv_##stem##f, SK_TYPE_##source, SK_TYPE_##destination, SK_ROUND_f)                           \
    SK_CORE_CONVERSION(vconv_##stem##c, SK_TYPE_##source, SK_TYPE_##destination, SK_ROUND_c)                           \
    SK_CORE_CONVERSION(vconv_##stem##z, SK_TYPE_##source, SK_TYPE_##destination, SK_ROUND_z)
#define SK_CORE_CONVERT_BOTH(stem, source, destination)                                                                \
    SK_CORE_CONVERT_NONE(stem, source, destination)                                                                    \
    SK_CORE_CONVERT_ROUNDED(stem, source, destination)

SK_CORE_CONVERT_BOTH(f322f16, F32, F16)
SK_CORE_CONVERSION(vconv_f322f16o, SK_TYPE_F32, SK_TYPE_F16, SK_ROUND_o)
SK_CORE_CONVERT_ROUNDED(f322f32, F32, F32)
SK_CORE_CONVERT_ROUNDED(f322bf16, F32, BF16)
SK_CORE_CONVERT_ROUNDED(f322s16, F32, S16)
SK_CORE_CONVERT_ROUNDED(f322s32, F32, S32)
SK_CORE_CONVERT_ROUNDED(f322s64, F32, S64)
SK_CORE_CONVERT_BOTH(f162s4, F16, S4)
SK_CORE_CONVERT_BOTH(f162s8, F16, S8)
SK_CORE_CONVERT_BOTH(f162u8, F16, U8)
SK_CORE_CONVERT_ROUNDED(f162s16, F16, S16)
SK_CORE_CONVERT_ROUNDED(f162s32, F16, S32)
SK_CORE_CONVERT_BOTH(s162f16, S16, F16)
SK_CORE_CONVERT_BOTH(s322f32, S32, F32)
SK_CORE_CONVERT_ROUNDED(s642f32, S64, F32)
SK_CORE_CONVERT_ROUNDED(bf162s32, BF16, S32)
SK_CORE_CONVERT_PLAIN(f162f32, F16, F32)
SK_CORE_CONVERT_PLAIN(bf162f32, BF16, F32)
SK_CORE_CONVERT_PLAIN(s162f32, S16, F32)
SK_CORE_CONVERT_PLAIN(s82f16, S8, F16)
SK_CORE_CONVERT_PLAIN(u82f16, U8, F16)
SK_CORE_CONVERT_PLAIN(s42f16, S4, F16)
SK_CORE_CONVERT_PLAIN(s322s16, S32, S16)
SK_CORE_CONVERT_PLAIN(s322s64, S32, S64)
SK_CORE_CONVERT_PLAIN(s642s32, S64, S32)

#undef SK_CORE_CONVERT_BOTH
#undef SK_CORE_CONVERT_ROUNDED
#undef SK_CORE_CONVERT_PLAIN
#undef SK_CORE_CONVERT_NONE
#undef SK_CORE_CONVERSION

// Dequantisation. The scale is what set_deqscale was given.
inline void vconv_deq(half *dst, int32_t *src, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                      uint64_t srcRep, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vconv_deq, SK_TYPE_F16, SK_TYPE_S32, SK_TYPE_NONE, sk_core_source, dst, src, repeat, dstBlk,
                   srcBlk, dstRep, srcRep);
}
#define SK_CORE_DEQ(name, op, high)                                                                                    \
    template <class D>                                                                                                 \
    inline void name(D *dst, int16_t *src, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,         \
                     uint64_t srcRep, SK_CORE_HERE) {                                                                  \
        sk_core::Issue(op, SK_TYPE_S8, SK_TYPE_S16, SK_TYPE_NONE, sk_core_source, dst, src, repeat, dstBlk, srcBlk,    \
                       dstRep, srcRep, high);                                                                          \
    }
SK_CORE_DEQ(vconv_deqs162b8l, SK_OP_vconv_deqs162b8, 0)
SK_CORE_DEQ(vconv_deqs162b8h, SK_OP_vconv_deqs162b8, 1)
SK_CORE_DEQ(vconv_vdeqs162b8l, SK_OP_vconv_vdeqs162b8, 0)
SK_CORE_DEQ(vconv_vdeqs162b8h, SK_OP_vconv_vdeqs162b8, 1)
#undef SK_CORE_DEQ

// A conversion behind an operation.
#define SK_CORE_FUSED_CONVERSION(name, op, source, destination)                                                        \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src0, S *src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk, uint64_t src1Blk,   \
                     uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, uint64_t high = 0, SK_CORE_HERE) {           \
        sk_core::Issue(op, destination, source, source, sk_core_source, dst, src0, src1, repeat, dstBlk, src0Blk,      \
                       src1Blk, dstRep, src0Rep, src1Rep, high);                                                       \
    }
SK_CORE_FUSED_CONVERSION(vaddreluconv_f162s8, SK_OP_vaddreluconv, SK_TYPE_F16, SK_TYPE_S8)
SK_CORE_FUSED_CONVERSION(vaddreluconv_f322f16, SK_OP_vaddreluconv, SK_TYPE_F32, SK_TYPE_F16)
SK_CORE_FUSED_CONVERSION(vaddreluconv_s162s8, SK_OP_vaddreluconv, SK_TYPE_S16, SK_TYPE_S8)
SK_CORE_FUSED_CONVERSION(vsubreluconv_f162s8, SK_OP_vsubreluconv, SK_TYPE_F16, SK_TYPE_S8)
SK_CORE_FUSED_CONVERSION(vsubreluconv_f322f16, SK_OP_vsubreluconv, SK_TYPE_F32, SK_TYPE_F16)
SK_CORE_FUSED_CONVERSION(vsubreluconv_s162s8, SK_OP_vsubreluconv, SK_TYPE_S16, SK_TYPE_S8)
SK_CORE_FUSED_CONVERSION(vmulconv_f162s8, SK_OP_vmulconv, SK_TYPE_F16, SK_TYPE_S8)
SK_CORE_FUSED_CONVERSION(vmulconv_f162u8, SK_OP_vmulconv, SK_TYPE_F16, SK_TYPE_U8)
#undef SK_CORE_FUSED_CONVERSION

} // namespace

#endif
