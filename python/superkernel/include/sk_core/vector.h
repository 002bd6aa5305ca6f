// Intrinsics of the vector unit, element by element. Arguments as on the device; see issue.h for what they do.
#ifndef SK_CORE_VECTOR_H
#define SK_CORE_VECTOR_H

namespace {

#define SK_CORE_BINARY(name)                                                                                           \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src0, S *src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk, uint64_t src1Blk,   \
                     uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, SK_CORE_HERE) {                              \
        sk_core::Issue(SK_OP_##name, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, sk_core::TypeOf<S>::value,  \
                       sk_core_source, dst, src0, src1, repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep);   \
    }
#define SK_CORE_UNARY(name)                                                                                            \
    template <class D, class S>                                                                                        \
    inline void name(D *dst, S *src, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,               \
                     uint64_t srcRep, SK_CORE_HERE) {                                                                  \
        sk_core::Issue(SK_OP_##name, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE,               \
                       sk_core_source, dst, src, repeat, dstBlk, srcBlk, dstRep, srcRep);                              \
    }
// The scalar has the element type of the source. Some forms end in flags.
#define SK_CORE_SCALAR(name)                                                                                           \
    template <class D, class S, class V>                                                                               \
    inline void name(D *dst, S *src, V scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,     \
                     uint64_t srcRep, SK_CORE_HERE) {                                                                  \
        sk_core::Issue(SK_OP_##name, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE,               \
                       sk_core_source, dst, src, sk_core::Scalar<S>(scalar), repeat, dstBlk, srcBlk, dstRep, srcRep);  \
    }

SK_CORE_BINARY(vadd)
SK_CORE_BINARY(vsub)
SK_CORE_BINARY(vmul)
SK_CORE_BINARY(vdiv)
SK_CORE_BINARY(vmax)
SK_CORE_BINARY(vmin)
SK_CORE_BINARY(vand)
SK_CORE_BINARY(vor)
SK_CORE_BINARY(vaddrelu)
SK_CORE_BINARY(vsubrelu)
SK_CORE_BINARY(vmla)
SK_CORE_BINARY(vmadd)
SK_CORE_BINARY(vmaddrelu)
SK_CORE_UNARY(vnot)
SK_CORE_UNARY(vabs)
SK_CORE_UNARY(vexp)
SK_CORE_UNARY(vln)
SK_CORE_UNARY(vsqrt)
SK_CORE_UNARY(vrsqrt)
SK_CORE_UNARY(vrec)
SK_CORE_UNARY(vrelu)
SK_CORE_UNARY(vcopy)
SK_CORE_SCALAR(vadds)
SK_CORE_SCALAR(vmuls)
SK_CORE_SCALAR(vlrelu)
SK_CORE_SCALAR(vaxpy)

#undef SK_CORE_SCALAR
#undef SK_CORE_UNARY
#undef SK_CORE_BINARY

// The two flags of the extremes are always 0.
template <class D, class S, class V>
inline void vmaxs(D *dst, S *src, V scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                  uint64_t srcRep, int64_t = 0, int64_t = 0, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vmaxs, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE, sk_core_source, dst,
                   src, sk_core::Scalar<S>(scalar), repeat, dstBlk, srcBlk, dstRep, srcRep);
}
template <class D, class S, class V>
inline void vmins(D *dst, S *src, V scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                  uint64_t srcRep, int64_t = 0, int64_t = 0, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vmins, sk_core::TypeOf<D>::value, sk_core::TypeOf<S>::value, SK_TYPE_NONE, sk_core_source, dst,
                   src, sk_core::Scalar<S>(scalar), repeat, dstBlk, srcBlk, dstRep, srcRep);
}

// Shifts take a distance, not an element.
template <class T>
inline void vshl(T *dst, T *src, uint64_t distance, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                 uint64_t srcRep, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vshl, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, SK_TYPE_NONE, sk_core_source, dst,
                   src, distance, repeat, dstBlk, srcBlk, dstRep, srcRep);
}
template <class T>
inline void vshr(T *dst, T *src, uint64_t distance, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                 uint64_t srcRep, uint64_t round = 0, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vshr, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, SK_TYPE_NONE, sk_core_source, dst,
                   src, distance, repeat, dstBlk, srcBlk, dstRep, srcRep, round);
}

template <class T, class V>
inline void vector_dup(T *dst, V scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk, uint64_t dstRep,
                       uint64_t srcRep, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vector_dup, sk_core::TypeOf<T>::value, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, dst,
                   sk_core::Scalar<T>(scalar), repeat, dstBlk, srcBlk, dstRep, srcRep);
}

} // namespace

#endif
