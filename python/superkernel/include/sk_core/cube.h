// Intrinsics of the cube unit: what fills its operands, the multiplication, and the way out of L0C.
#ifndef SK_CORE_CUBE_H
#define SK_CORE_CUBE_H

namespace {

// Row-major matrices into fractals; the suffix is the width of an element.
#define SK_CORE_ND2NZ(name, type)                                                                                      \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t sid, uint64_t matrices, uint64_t rows, uint64_t columns,                 \
                     uint64_t srcMatrixStride, uint64_t srcRowStride, uint64_t dstBlockStride, uint64_t dstRowStride,  \
                     uint64_t dstMatrixStride, SK_CORE_HERE) {                                                         \
        sk_core::Issue(SK_OP_copy_gm_to_cbuf_multi_nd2nz, type, type, SK_TYPE_NONE, sk_core_source, dst, src, sid,     \
                       matrices, rows, columns, srcMatrixStride, srcRowStride, dstBlockStride, dstRowStride,           \
                       dstMatrixStride);                                                                               \
    }
SK_CORE_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b8, SK_TYPE_U8)
SK_CORE_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b16, SK_TYPE_U16)
SK_CORE_ND2NZ(copy_gm_to_cbuf_multi_nd2nz_b32s, SK_TYPE_U32)
#undef SK_CORE_ND2NZ

// Rows of bytes into the small tables beside the cube unit, and into L0C.
template <class S>
inline void copy_cbuf_to_bt(uint64_t dst, S *src, uint64_t widens, uint64_t bursts, uint64_t length, uint64_t srcGap,
                            uint64_t dstGap, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_copy_cbuf_to_bt, SK_TYPE_NONE, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, dst, src, widens,
                   bursts, length, srcGap, dstGap);
}
template <class D, class S>
inline void copy_cbuf_to_fbuf(D *dst, S *src, uint64_t bursts, uint64_t length, uint64_t srcGap, uint64_t dstGap,
                              SK_CORE_HERE) {
    sk_core::Issue(SK_OP_copy_cbuf_to_fbuf, SK_TYPE_NONE, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, dst, src, bursts,
                   length, srcGap, dstGap);
}
template <class D, class S>
inline void copy_matrix_cbuf_to_cc(D *dst, S *src, uint64_t bursts, uint64_t length, uint64_t srcGap, uint64_t dstGap,
                                   SK_CORE_HERE) {
    sk_core::Issue(SK_OP_copy_matrix_cbuf_to_cc, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE,
                   sk_core_source, dst, src, bursts, length, srcGap, dstGap);
}

// Fills with one value.
#define SK_CORE_CREATE(name, op)                                                                                       \
    template <class D, class V> inline void name(D *dst, uint64_t config, V value, SK_CORE_HERE) {                     \
        sk_core::Issue(op, sk_core::TypeOf<D>::value, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, dst, config, value,  \
                       sizeof(D));                                                                                     \
    }
SK_CORE_CREATE(create_cbuf_matrix, SK_OP_create_cbuf_matrix)
SK_CORE_CREATE(create_cbuf_matrix_bf16, SK_OP_create_cbuf_matrix)
SK_CORE_CREATE(create_ca_matrix, SK_OP_create_ca_matrix)
SK_CORE_CREATE(create_ca_matrix_bf16, SK_OP_create_ca_matrix)
SK_CORE_CREATE(create_cb_matrix, SK_OP_create_cb_matrix)
SK_CORE_CREATE(create_cb_matrix_bf16, SK_OP_create_cb_matrix)
#undef SK_CORE_CREATE

// Fractal by fractal. Pointers to 4-bit elements have no type of their own: their names say it.
#define SK_CORE_LOAD(name, op, type)                                                                                   \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t start, uint64_t repeat, uint64_t srcStride, uint64_t dstGap,             \
                     uint64_t sid, uint64_t transpose, uint64_t downwards, SK_CORE_HERE) {                             \
        sk_core::Issue(op, type, type, SK_TYPE_NONE, sk_core_source, dst, src, start, repeat, srcStride, dstGap, sid,  \
                       transpose, downwards);                                                                          \
    }
SK_CORE_LOAD(load_cbuf_to_ca, SK_OP_load_cbuf_to_ca, sk_core::TypeOf<D>::value)
SK_CORE_LOAD(load_cbuf_to_cb, SK_OP_load_cbuf_to_cb, sk_core::TypeOf<D>::value)
SK_CORE_LOAD(load_cbuf_to_ca_s4, SK_OP_load_cbuf_to_ca, SK_TYPE_S4)
SK_CORE_LOAD(load_cbuf_to_cb_s4, SK_OP_load_cbuf_to_cb, SK_TYPE_S4)
#undef SK_CORE_LOAD
#define SK_CORE_LOAD(name, op, type)                                                                                   \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t start, uint64_t repeat, uint64_t srcStride, uint64_t dstGap,             \
                     uint64_t sid, uint64_t downwards, SK_CORE_HERE) {                                                 \
        sk_core::Issue(op, type, type, SK_TYPE_NONE, sk_core_source, dst, src, start, repeat, srcStride, dstGap, sid,  \
                       0, downwards);                                                                                  \
    }
SK_CORE_LOAD(load_gm_to_ca, SK_OP_load_gm_to_ca, sk_core::TypeOf<D>::value)
SK_CORE_LOAD(load_gm_to_cb, SK_OP_load_gm_to_cb, sk_core::TypeOf<D>::value)
SK_CORE_LOAD(load_gm_to_cbuf, SK_OP_load_gm_to_cbuf, sk_core::TypeOf<D>::value)
SK_CORE_LOAD(load_gm_to_ca_s4, SK_OP_load_gm_to_ca, SK_TYPE_S4)
SK_CORE_LOAD(load_gm_to_cb_s4, SK_OP_load_gm_to_cb, SK_TYPE_S4)
SK_CORE_LOAD(load_gm_to_cbuf_s4, SK_OP_load_gm_to_cbuf, SK_TYPE_S4)
#undef SK_CORE_LOAD

// Squares of fractals, transposed.
#define SK_CORE_LOAD_SQUARE(name, op, type)                                                                            \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t start, uint64_t repeat, uint64_t srcStride, uint64_t dstGap,             \
                     uint64_t mode, uint64_t dstFractalGap, SK_CORE_HERE) {                                            \
        sk_core::Issue(op, type, type, SK_TYPE_NONE, sk_core_source, dst, src, start, repeat, srcStride, dstGap, mode, \
                       dstFractalGap);                                                                                 \
    }
SK_CORE_LOAD_SQUARE(load_cbuf_to_ca_transpose, SK_OP_load_cbuf_to_ca_transpose, sk_core::TypeOf<D>::value)
SK_CORE_LOAD_SQUARE(load_cbuf_to_cb_transpose, SK_OP_load_cbuf_to_cb_transpose, sk_core::TypeOf<D>::value)
SK_CORE_LOAD_SQUARE(load_cbuf_to_cb_transpose_s4, SK_OP_load_cbuf_to_cb_transpose, SK_TYPE_S4)
#undef SK_CORE_LOAD_SQUARE

// Of every four elements two are there; the index matrix tells which.
template <class D, class S>
inline void load_cbuf_to_cb_sp(D *dst, S *src, uint64_t start, uint64_t repeat, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_load_cbuf_to_cb_sp, SK_TYPE_S8, SK_TYPE_S8, SK_TYPE_NONE, sk_core_source, dst, src, start,
                   repeat);
}

// Pictures as matrices. Arguments may be packed words shifted down: what lies above their fields is cut.
#define SK_CORE_IMG2COL(name, op, type)                                                                                \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t columns, uint64_t rows, uint64_t firstColumn, uint64_t firstRow,         \
                     uint64_t strideW, uint64_t strideH, uint64_t filterW, uint64_t filterH, uint64_t dilationW,       \
                     uint64_t dilationH, uint64_t wideW, uint64_t wideH, uint64_t transpose, uint64_t secondMatrix,    \
                     uint64_t channels, SK_CORE_HERE) {                                                                \
        sk_core::Issue(op, type, type, SK_TYPE_NONE, sk_core_source, dst, src, columns, rows, firstColumn, firstRow,   \
                       strideW, strideH, filterW, filterH, dilationW, dilationH, wideW, wideH, transpose,              \
                       secondMatrix, channels);                                                                        \
    }
SK_CORE_IMG2COL(img2colv2_cbuf_to_ca, SK_OP_img2colv2_cbuf_to_ca, sk_core::TypeOf<D>::value)
SK_CORE_IMG2COL(img2colv2_cbuf_to_cb, SK_OP_img2colv2_cbuf_to_cb, sk_core::TypeOf<D>::value)
SK_CORE_IMG2COL(img2colv2_cbuf_to_ca_s4, SK_OP_img2colv2_cbuf_to_ca, SK_TYPE_S4)
SK_CORE_IMG2COL(img2colv2_cbuf_to_cb_s4, SK_OP_img2colv2_cbuf_to_cb, SK_TYPE_S4)
#undef SK_CORE_IMG2COL

// A part of a picture, its colours converted on the way: refused, with the line of the call.
template <class D>
inline void load_image_to_cbuf(D *dst, uint64_t width, uint64_t height, uint64_t left, uint64_t top, uint64_t sourceWidth,
                               uint64_t topPad, uint64_t bottomPad, uint64_t leftPad, uint64_t rightPad, uint64_t sid,
                               SK_CORE_HERE) {
    sk_core::Issue(SK_OP_load_image_to_cbuf, sk_core::TypeOf<D>::value, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, dst,
                   width, height, left, top, sourceWidth, topPad, bottomPad, leftPad, rightPad, sid);
}

// C = A * B on top of 0, of a row of the bias table, or of what is there.
template <class C, class A, class B>
inline void mad(C *c, A *a, B *b, uint64_t m, uint64_t k, uint64_t n, uint64_t unitFlag, uint64_t kAlign,
                uint64_t biasSource, uint64_t zero, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_mad, sk_core::TypeOf<C>::value, sk_core::TypeOf<A>::value, sk_core::TypeOf<B>::value,
                   sk_core_source, c, a, b, 0, m, k, n, unitFlag, kAlign, biasSource, zero, 0);
}
template <class C, class A, class B>
inline void mad(C *c, A *a, B *b, uint64_t bias, uint64_t m, uint64_t k, uint64_t n, uint64_t unitFlag,
                uint64_t kAlign, uint64_t biasSource, uint64_t zero, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_mad, sk_core::TypeOf<C>::value, sk_core::TypeOf<A>::value, sk_core::TypeOf<B>::value,
                   sk_core_source, c, a, b, bias, m, k, n, unitFlag, kAlign, biasSource, zero, 1);
}
template <class C, class A, class B>
inline void mad_s4(C *c, A *a, B *b, uint64_t m, uint64_t k, uint64_t n, uint64_t unitFlag, uint64_t kAlign,
                   uint64_t biasSource, uint64_t zero, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_mad, sk_core::TypeOf<C>::value, SK_TYPE_S4, SK_TYPE_S4, sk_core_source, c, a, b, 0, m, k, n,
                   unitFlag, kAlign, biasSource, zero, 0);
}
template <class C, class A, class B>
inline void mad_sp(C *c, A *a, B *b, uint64_t m, uint64_t k, uint64_t n, uint64_t unitFlag, uint64_t biasSource,
                   uint64_t zero, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_mad_sp, sk_core::TypeOf<C>::value, sk_core::TypeOf<A>::value, sk_core::TypeOf<B>::value,
                   sk_core_source, c, a, b, 0, m, k, n, unitFlag, 0, biasSource, zero, 0);
}

// Out of L0C.
#define SK_CORE_FIXPIPE(name)                                                                                          \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t sid, uint64_t n, uint64_t m, uint64_t dstStride, uint64_t srcStride,     \
                     uint64_t unitFlag, uint64_t quantisation, uint64_t relu, uint64_t split, uint64_t rows,           \
                     SK_CORE_HERE) {                                                                                   \
        sk_core::Issue(SK_OP_##name, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE,               \
                       sk_core_source, dst, src, sid, n, m, dstStride, srcStride, unitFlag, quantisation, relu, split, \
                       rows);                                                                                          \
    }
SK_CORE_FIXPIPE(copy_matrix_cc_to_gm)
SK_CORE_FIXPIPE(copy_matrix_cc_to_cbuf)
#undef SK_CORE_FIXPIPE

} // namespace

#endif
