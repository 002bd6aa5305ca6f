// Gathering, packing, broadcasting and masked copies.
#ifndef SK_HOST_VECTOR_GATHER_H
#define SK_HOST_VECTOR_GATHER_H

namespace AscendC {
namespace {

// The base of a gather: instructions carry the low 32 bits of it.
template <class T>
inline uint32_t sk_host_gather_base(const LocalTensor<T> &src, uint32_t offset, const char *call, sk_host::Site site) {
    const uint64_t address = reinterpret_cast<uintptr_t>(sk_host_operand(src, 0, call, site));
    return static_cast<uint32_t>(address) + offset;
}

// dst[i] = the element at byte `base + offset[i]` of src.
template <class T>
inline void sk_host_gather(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                           const LocalTensor<uint32_t> &offset, uint32_t base, uint64_t dstRepStride,
                           sk_host::Site site) {
    SK_HOST_REQUIRE_WIDTH("Gather", T);
    sk_host_require_vector_core("Gather", site);
    T *out = elements.In(dst, 1, dstRepStride, "Gather", site);
    // An offset per element, without gaps.
    uint32_t *offsets = elements.In(offset, 1, 32 / sizeof(T), "Gather", site);
    vgather(out, offsets, sk_host_gather_base(src, base, "Gather", site), dstRepStride, elements.Repeats(),
            sk_host_source(site));
}
template <class T>
inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,
                   uint32_t base, uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_gather(SkHostElements::InARow<T>(count), dst, src, offset, base, 8, site);
    SkHostElements::Release();
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T>                                                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,        \
                     uint32_t base, maskParameter, uint8_t repeats, uint16_t dstRepStride,                             \
                     sk_host::Site site = sk_host::Site::Here()) {                                                     \
        sk_host_gather(SkHostElements::Masked<T>(mask, repeats, #name, site), dst, src, offset, base, dstRepStride,    \
                       site);                                                                                          \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Gather)
#undef SK_HOST_MASKED

// Whole blocks: 8 byte offsets per repeat.
struct GatherRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t dstRepStride = 8;

    GatherRepeatParams() = default;
    GatherRepeatParams(uint16_t block, uint16_t repeat) : dstBlkStride(block), dstRepStride(repeat) {}
};
template <class T>
inline void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset,
                    uint8_t repeats, const GatherRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_TYPE("Gatherb", T, uint16_t, uint32_t);
    sk_host_require_vector_core("Gatherb", site);
    T *out = SkHostElements::Whole<T>(repeats).In(dst, params.dstBlkStride, params.dstRepStride, "Gatherb", site);
    vgatherb(out, sk_host_operand(offset, repeats * 8ull, "Gatherb", site),
             sk_host_gather_base(src, 0, "Gatherb", site), params.dstRepStride, params.dstBlkStride, repeats,
             sk_host_source(site));
}

struct GatherMaskParams {
    uint8_t src0BlockStride = 1;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = 8;
    uint8_t src1RepeatStride = 8;

    GatherMaskParams() = default;
    GatherMaskParams(uint8_t block, uint16_t repeats, uint16_t repeat, uint8_t patternRepeat)
        : src0BlockStride(block), repeatTimes(repeats), src0RepeatStride(repeat), src1RepeatStride(patternRepeat) {}
};
// `bits`: the tensor of pattern 0. In reduce mode `mask` elements of every repeat count, else all.
template <class T, class M>
inline void sk_host_gather_mask(const LocalTensor<T> &dst, const LocalTensor<T> &src, M *bits, uint64_t pattern,
                                bool reduceMode, uint32_t mask, const GatherMaskParams &params, uint64_t &kept,
                                sk_host::Site site) {
    SK_HOST_REQUIRE_WIDTH("GatherMask", T);
    sk_host_require_vector_core("GatherMask", site);
    if (reduceMode) {
        SkHostElements::InARow<T>(mask);
    } else {
        SkHostElements::Release();
    }
    vreducev2(sk_host_operand(dst, 0, "GatherMask", site), sk_host_operand(src, 0, "GatherMask", site), bits,
              params.repeatTimes, params.src0BlockStride, pattern, params.src0RepeatStride, params.src1RepeatStride,
              sk_host_source(site));
    SkHostElements::Release();
    kept = static_cast<uint64_t>(get_rsvd_cnt());
}
// Keeps the elements that a fixed pattern (1 to 7) or a tensor of bits chooses, packed; tells how many.
template <class T>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t pattern, bool reduceMode,
                       uint32_t mask, const GatherMaskParams &params, uint64_t &kept,
                       sk_host::Site site = sk_host::Site::Here()) {
    if (pattern == 0 || pattern > 7) {
        sk_host::Violation(site, "GatherMask: pattern %u; patterns are 1 to 7", (unsigned)pattern);
    }
    sk_host_gather_mask(dst, src, sk_host_operand(src, 0, "GatherMask", site), pattern, reduceMode, mask, params, kept,
                        site);
}
template <class T, class U>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<U> &pattern,
                       bool reduceMode, uint32_t mask, const GatherMaskParams &params, uint64_t &kept,
                       sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sizeof(U) == sizeof(T) && U(-1) > U(0), "GatherMask: bits are uint16_t for 2-byte and uint32_t for "
                                                          "4-byte elements");
    sk_host_gather_mask(dst, src, sk_host_operand(pattern, 0, "GatherMask", site), 0, reduceMode, mask, params, kept,
                        site);
}

struct BrcbRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t dstRepStride = 8;

    BrcbRepeatParams() = default;
    BrcbRepeatParams(uint16_t block, uint16_t repeat) : dstBlkStride(block), dstRepStride(repeat) {}
};
// 8 elements per repeat, each fills a block.
template <class T>
inline void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t repeats, const BrcbRepeatParams &params,
                 sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_WIDTH("Brcb", T);
    sk_host_require_vector_core("Brcb", site);
    T *out = SkHostElements::Whole<T>(repeats).In(dst, params.dstBlkStride, params.dstRepStride, "Brcb", site);
    vbrcb(out, sk_host_operand(src, repeats * 8ull, "Brcb", site), params.dstBlkStride, params.dstRepStride, repeats,
          sk_host_source(site));
}

struct CopyRepeatParams {
    uint16_t dstStride = 1;
    uint16_t srcStride = 1;
    uint16_t dstRepeatSize = 8;
    uint16_t srcRepeatSize = 8;

    CopyRepeatParams() = default;
    CopyRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint16_t dstRep, uint16_t srcRep)
        : dstStride(dstBlk), srcStride(srcBlk), dstRepeatSize(dstRep), srcRepeatSize(srcRep) {}
};
template <class T>
inline void sk_host_copy(const SkHostElements &elements, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                         const CopyRepeatParams &params, sk_host::Site site) {
    SK_HOST_REQUIRE_WIDTH("Copy", T);
    sk_host_require_vector_core("Copy", site);
    T *out = elements.InEachRepeat(dst, params.dstStride, params.dstRepeatSize, "Copy", site);
    T *in = elements.InEachRepeat(src, params.srcStride, params.srcRepeatSize, "Copy", site);
    vcopy(out, in, elements.Repeats(), params.dstStride, params.srcStride, params.dstRepeatSize, params.srcRepeatSize,
          sk_host_source(site));
}
#define SK_HOST_MASKED(name, maskParameter)                                                                            \
    template <class T, bool isSetMask = true>                                                                          \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, maskParameter, uint8_t repeats,             \
                     const CopyRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {                     \
        sk_host_copy(SkHostElements::Masked<T, isSetMask>(mask, repeats, #name, site), dst, src, params, site);        \
    }
SK_HOST_FOR_BOTH_MASKS(SK_HOST_MASKED, Copy)
#undef SK_HOST_MASKED

} // namespace
} // namespace AscendC

#endif
