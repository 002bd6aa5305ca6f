// Elements and blocks picked by offsets or by a pattern, and elements spread over blocks.
#ifndef SK_HOST_VECTOR_GATHER_H
#define SK_HOST_VECTOR_GATHER_H

namespace AscendC {
namespace {

struct BrcbRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t dstRepStride = 8;

    BrcbRepeatParams() = default;
    BrcbRepeatParams(uint16_t dstBlk, uint16_t dstRep) : dstBlkStride(dstBlk), dstRepStride(dstRep) {}
};

// Eight elements of a repeat, each as a whole block.
template <class T>
inline void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t repeats, const BrcbRepeatParams &params,
                 sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Brcb: the chip has no form for this element type");
    sk_host_require_vector_core("Brcb", site);
    const uint64_t blocks = repeats == 0 ? 0 : (repeats - 1) * params.dstRepStride + 7 * params.dstBlkStride + 1;
    T *out = sk_host_operand(dst, blocks * ONE_BLK_SIZE / sizeof(T), "Brcb", site);
    T *in = sk_host_operand(src, repeats * 8ull, "Brcb", site);
    vbrcb(out, in, params.dstBlkStride, params.dstRepStride, repeats, sk_host_source(site));
}

struct GatherRepeatParams {
    uint8_t dstBlkStride = 1;
    uint16_t dstRepStride = 8;

    GatherRepeatParams() = default;
    GatherRepeatParams(uint8_t dstBlk, uint8_t dstRep) : dstBlkStride(dstBlk), dstRepStride(dstRep) {}
};

// Eight blocks of a repeat, each from its own byte offset in `src`.
template <class T>
inline void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offsets,
                    uint8_t repeats, const GatherRepeatParams &params, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("Gatherb", site);
    const uint64_t blocks = repeats == 0 ? 0 : (repeats - 1) * params.dstRepStride + 7 * params.dstBlkStride + 1;
    T *out = sk_host_operand(dst, blocks * ONE_BLK_SIZE / sizeof(T), "Gatherb", site);
    T *in = sk_host_operand(src, 0, "Gatherb", site);
    uint32_t *where = sk_host_operand(offsets, repeats * 8ull, "Gatherb", site);
    vgatherb(out, where, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(in)), params.dstRepStride,
             params.dstBlkStride, repeats, sk_host_source(site));
}

struct GatherMaskParams {
    uint8_t src0BlockStride = 1;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = 8;
    uint8_t src1RepeatStride = 8;

    GatherMaskParams() = default;
    GatherMaskParams(uint8_t blockStride, uint16_t repeats, uint16_t repeatStride, uint8_t patternStride)
        : src0BlockStride(blockStride), repeatTimes(repeats), src0RepeatStride(repeatStride),
          src1RepeatStride(patternStride) {}
};

// What the pattern chooses of every repeat, one behind the other. With `counts` a repeat has `mask` elements, else it is
// a whole one. `kept` is how many there were.
template <class T, class U>
inline void sk_host_gather_mask(T *out, T *in, U *bits, uint64_t pattern, bool counts, uint32_t mask,
                                const GatherMaskParams &params, uint64_t &kept, sk_host::Site site) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "GatherMask: the chip has no form for this element type");
    if (counts) {
        sk_host_mask_elements(mask);
    } else {
        sk_host_mask_all();
    }
    vreducev2(out, in, bits, params.repeatTimes, params.src0BlockStride, pattern, params.src0RepeatStride,
              params.src1RepeatStride, sk_host_source(site));
    sk_host_mask_all();
    kept = static_cast<uint64_t>(get_rsvd_cnt());
}
template <class T, class U>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern,
                       bool reduceMode, uint32_t mask, const GatherMaskParams &params, uint64_t &rsvdCnt,
                       sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sizeof(T) == sizeof(U), "GatherMask: the pattern has a word as wide as an element");
    sk_host_require_vector_core("GatherMask", site);
    sk_host_gather_mask(sk_host_operand(dst, 0, "GatherMask", site), sk_host_operand(src0, 0, "GatherMask", site),
                        sk_host_operand(src1Pattern, 0, "GatherMask", site), 0, reduceMode, mask, params, rsvdCnt, site);
}
template <class T>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, uint8_t src1Pattern, bool reduceMode,
                       uint32_t mask, const GatherMaskParams &params, uint64_t &rsvdCnt,
                       sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("GatherMask", site);
    if (src1Pattern < 1 || src1Pattern > 7) {
        sk_host::Violation(site, "GatherMask: pattern %u; patterns are 1 to 7", (unsigned)src1Pattern);
    }
    T *in = sk_host_operand(src0, 0, "GatherMask", site);
    sk_host_gather_mask(sk_host_operand(dst, 0, "GatherMask", site), in, in, src1Pattern, reduceMode, mask, params,
                        rsvdCnt, site);
}

} // namespace
} // namespace AscendC

#endif
