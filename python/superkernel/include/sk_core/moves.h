// Intrinsics that move data.
#ifndef SK_CORE_MOVES_H
#define SK_CORE_MOVES_H

namespace {

// Rows of bytes, lengths and gaps in blocks of 32 bytes.
#define SK_CORE_BURST(name)                                                                                            \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t sid, uint64_t bursts, uint64_t length, uint64_t srcGap, uint64_t dstGap, \
                     SK_CORE_HERE) {                                                                                   \
        sk_core::Issue(SK_OP_##name, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE,               \
                       sk_core_source, dst, src, sid, bursts, length, srcGap, dstGap);                                 \
    }
SK_CORE_BURST(copy_gm_to_ubuf)
SK_CORE_BURST(copy_ubuf_to_gm)
SK_CORE_BURST(copy_cbuf_to_gm)
SK_CORE_BURST(copy_ubuf_to_ubuf)
#undef SK_CORE_BURST

template <class D, class S>
inline void copy_gm_to_cbuf(D *dst, S *src, uint64_t sid, uint64_t bursts, uint64_t length, uint64_t srcGap,
                            uint64_t dstGap, uint64_t padMode = 0, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_copy_gm_to_cbuf, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE,
                   sk_core_source, dst, src, sid, bursts, length, srcGap, dstGap, padMode);
}

// Rows of bytes with padding; the suffix is the element that pads.
#define SK_CORE_ALIGN(name, op, type)                                                                                  \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t sid, uint64_t bursts, uint64_t bytes, uint64_t leftPad,                  \
                     uint64_t rightPad, uint64_t srcGap, uint64_t dstGap, SK_CORE_HERE) {                              \
        sk_core::Issue(op, type, type, SK_TYPE_NONE, sk_core_source, dst, src, sid, bursts, bytes, leftPad, rightPad,  \
                       srcGap, dstGap);                                                                                \
    }
SK_CORE_ALIGN(copy_gm_to_ubuf_align_b8, SK_OP_copy_gm_to_ubuf_align, SK_TYPE_U8)
SK_CORE_ALIGN(copy_gm_to_ubuf_align_b16, SK_OP_copy_gm_to_ubuf_align, SK_TYPE_U16)
SK_CORE_ALIGN(copy_gm_to_ubuf_align_b32, SK_OP_copy_gm_to_ubuf_align, SK_TYPE_U32)
SK_CORE_ALIGN(copy_ubuf_to_gm_align_b8, SK_OP_copy_ubuf_to_gm_align, SK_TYPE_U8)
SK_CORE_ALIGN(copy_ubuf_to_gm_align_b16, SK_OP_copy_ubuf_to_gm_align, SK_TYPE_U16)
SK_CORE_ALIGN(copy_ubuf_to_gm_align_b32, SK_OP_copy_ubuf_to_gm_align, SK_TYPE_U32)
#undef SK_CORE_ALIGN

// All lengths and strides in bytes; strides go from the start of a row to the start of the next.
template <class D, class S>
inline void copy_ubuf_to_gm_align_v2(D *dst, S *src, uint64_t sid, uint64_t bursts, uint64_t bytes, uint64_t control,
                                     uint64_t dstStride, uint64_t srcStride, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_copy_ubuf_to_gm_align_v2, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE,
                   sk_core_source, dst, src, sid, bursts, bytes, control, dstStride, srcStride);
}

} // namespace

#endif
