// Intrinsics that compare, select, reduce, gather, sort and transpose.
#ifndef SK_CORE_SELECT_H
#define SK_CORE_SELECT_H

enum SkRelation : uint64_t {
    SK_RELATION_eq = 0,
    SK_RELATION_ne = 1,
    SK_RELATION_lt = 2,
    SK_RELATION_le = 3,
    SK_RELATION_gt = 4,
    SK_RELATION_ge = 5,
};

typedef enum { VALUE_INDEX = 0, INDEX_VALUE = 1, ONLY_VALUE = 2, ONLY_INDEX = 3 } Order_t;
enum vpart_t { L128 = 0, H128 = 1 };

namespace {

#define SK_CORE_COMPARE(relation)                                                                                      \
    template <class D, class S>                                                                                        \
    inline void vcmpv_##relation(D *dst, S *src0, S *src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk,         \
                                 uint64_t src1Blk, uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep,                \
                                 SK_CORE_HERE) {                                                                       \
        sk_core::Issue(SK_OP_vcmpv, SK_TYPE_U8, sk_core::TypeOf<S>::value, sk_core::TypeOf<S>::value, sk_core_source,  \
                       dst, src0, src1, repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep,                    \
                       SK_RELATION_##relation);                                                                        \
    }                                                                                                                  \
    template <class D, class S, class V>                                                                               \
    inline void vcmpvs_##relation(D *dst, S *src, V scalar, uint64_t repeat, uint64_t dstBlk, uint64_t srcBlk,         \
                                  uint64_t dstRep, uint64_t srcRep, SK_CORE_HERE) {                                    \
        sk_core::Issue(SK_OP_vcmpvs, SK_TYPE_U8, sk_core::TypeOf<S>::value, SK_TYPE_NONE, sk_core_source, dst, src,    \
                       sk_core::Scalar<S>(scalar), repeat, dstBlk, srcBlk, dstRep, srcRep, SK_RELATION_##relation);    \
    }                                                                                                                  \
    template <class S>                                                                                                 \
    inline void vcmp_##relation(S *src0, S *src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk,                  \
                                uint64_t src1Blk, uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, SK_CORE_HERE) { \
        sk_core::Issue(SK_OP_vcmp, SK_TYPE_NONE, sk_core::TypeOf<S>::value, sk_core::TypeOf<S>::value, sk_core_source, \
                       src0, src1, repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep,                         \
                       SK_RELATION_##relation);                                                                        \
    }
SK_CORE_COMPARE(eq)
SK_CORE_COMPARE(ne)
SK_CORE_COMPARE(lt)
SK_CORE_COMPARE(le)
SK_CORE_COMPARE(gt)
SK_CORE_COMPARE(ge)
#undef SK_CORE_COMPARE

template <class T> inline void set_cmpmask(T *src, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_set_cmpmask, SK_TYPE_NONE, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, src);
}
template <class T> inline void get_cmpmask(T *dst, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_get_cmpmask, SK_TYPE_NONE, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, dst);
}

// In mode 1 the second source is the mask tensor, of another type.
template <class T, class M>
inline void vsel(T *dst, T *src0, M *src1, uint64_t repeat, uint64_t dstBlk, uint64_t src0Blk, uint64_t src1Blk,
                 uint64_t dstRep, uint64_t src0Rep, uint64_t src1Rep, uint64_t mode = 0, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vsel, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, sk_core::TypeOf<M>::value,
                   sk_core_source, dst, src0, src1, repeat, dstBlk, src0Blk, src1Blk, dstRep, src0Rep, src1Rep, mode);
}

#define SK_CORE_REDUCE(name)                                                                                           \
    template <class T>                                                                                                 \
    inline void name(T *dst, T *src, uint64_t repeat, uint64_t dstRep, uint64_t srcBlk, uint64_t srcRep,               \
                     uint64_t order = 0, SK_CORE_HERE) {                                                               \
        sk_core::Issue(SK_OP_##name, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, SK_TYPE_NONE,               \
                       sk_core_source, dst, src, repeat, dstRep, srcBlk, srcRep, order);                               \
    }
SK_CORE_REDUCE(vcadd)
SK_CORE_REDUCE(vcmax)
SK_CORE_REDUCE(vcmin)
SK_CORE_REDUCE(vcgadd)
SK_CORE_REDUCE(vcgmax)
SK_CORE_REDUCE(vcgmin)
SK_CORE_REDUCE(vcpadd)
#undef SK_CORE_REDUCE

// The base is 32 bits wide: the low end of an address in UB.
template <class T>
inline void vgather(T *dst, uint32_t *offsets, uint32_t base, uint64_t dstRep, uint64_t repeat, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vgather, sk_core::TypeOf<T>::value, SK_TYPE_U32, SK_TYPE_NONE, sk_core_source, dst, offsets,
                   base, dstRep, repeat);
}
template <class T>
inline void vgatherb(T *dst, uint32_t *offsets, uint32_t base, uint64_t dstRep, uint64_t dstBlk, uint64_t repeat,
                     SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vgatherb, sk_core::TypeOf<T>::value, SK_TYPE_U32, SK_TYPE_NONE, sk_core_source, dst, offsets,
                   base, dstRep, dstBlk, repeat);
}
template <class T, class M>
inline void vreducev2(T *dst, T *src0, M *src1, uint64_t repeat, uint64_t src0Blk, uint64_t pattern, uint64_t src0Rep,
                      uint64_t src1Rep, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vreducev2, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, sk_core::TypeOf<M>::value,
                   sk_core_source, dst, src0, src1, repeat, src0Blk, pattern, src0Rep, src1Rep);
}
template <class T>
inline void vbrcb(T *dst, T *src, uint64_t dstBlk, uint64_t dstRep, uint64_t repeat, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vbrcb, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, SK_TYPE_NONE, sk_core_source, dst,
                   src, dstBlk, dstRep, repeat);
}
template <class T> inline void vbitsort(T *dst, T *scores, uint32_t *indices, uint64_t repeat, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vbitsort, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, SK_TYPE_U32, sk_core_source,
                   dst, scores, indices, repeat);
}
// `lists` holds four addresses.
template <class T>
inline void vmrgsort4(T *dst, T **lists, uint64_t lengths, uint64_t config, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vmrgsort4, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, SK_TYPE_NONE, sk_core_source,
                   dst, lists[0], lists[1], lists[2], lists[3], lengths, config);
}
template <class T> inline void vtranspose(T *dst, T *src, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_vtranspose, sk_core::TypeOf<T>::value, sk_core::TypeOf<T>::value, SK_TYPE_NONE, sk_core_source,
                   dst, src);
}
// Eight addresses for one address register.
template <class A> inline void set_va_reg_sb(ub_addr8_t number, A *addresses) {
    for (uint32_t at = 0; at < 8; ++at) {
        sk_rt_set_register(SK_REGISTER_VA + number * 8 + at, static_cast<uint64_t>(addresses[at]));
    }
}
// The same from UB: `list` holds 16 whole addresses, of which L128 takes the first eight and H128 the others.
template <class A> inline void vld_va_reg(ub_addr8_t number, A *list, vpart_t part, SK_CORE_HERE) {
    static_assert(sizeof(A) == 8, "vld_va_reg: a list of addresses has elements of 8 bytes");
    sk_core::Issue(SK_OP_vld_va_reg, SK_TYPE_U64, SK_TYPE_NONE, SK_TYPE_NONE, sk_core_source, number, list, part);
}
inline void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint64_t repeat, uint64_t dstRep, uint64_t srcRep,
                                 uint64_t dstHigh, uint64_t srcHigh, SK_CORE_HERE) {
    sk_core::Issue(SK_OP_scatter_vnchwconv, SK_TYPE_U8, SK_TYPE_U8, SK_TYPE_NONE, sk_core_source, dst, src, repeat,
                   dstRep, srcRep, dstHigh, srcHigh);
}
inline void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint64_t repeat, uint64_t dstRep, uint64_t srcRep,
                                  SK_CORE_HERE) {
    sk_core::Issue(SK_OP_scatter_vnchwconv, SK_TYPE_U16, SK_TYPE_U16, SK_TYPE_NONE, sk_core_source, dst, src, repeat,
                   dstRep, srcRep);
}
inline void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint64_t repeat, uint64_t dstRep, uint64_t srcRep,
                                  SK_CORE_HERE) {
    sk_core::Issue(SK_OP_scatter_vnchwconv, SK_TYPE_U32, SK_TYPE_U32, SK_TYPE_NONE, sk_core_source, dst, src, repeat,
                   dstRep, srcRep);
}

} // namespace

#endif
