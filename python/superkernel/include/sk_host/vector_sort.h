// Sorting and transposing.
#ifndef SK_HOST_VECTOR_SORT_H
#define SK_HOST_VECTOR_SORT_H

namespace AscendC {
namespace {

// -- Records of 8 bytes: the score in the low bytes, the index in the upper four -----------------------------------------

// Elements of a record, and of `count` of them.
template <class T> constexpr uint32_t SK_HOST_RECORD = 8 / sizeof(T);
template <class T> inline uint32_t GetSortLen(uint32_t count) { return count * SK_HOST_RECORD<T>; }
template <class T> inline uint32_t GetSortOffset(uint32_t offset) { return offset * SK_HOST_RECORD<T>; }

constexpr uint32_t SK_HOST_SORTED_AT_ONCE = 32;

// 32 scores with their indices per repeat, sorted by score, largest first.
template <class T>
inline void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &index,
                   int32_t repeats, sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_TYPE("Sort32", T, half, float);
    sk_host_require_vector_core("Sort32", site);
    const uint64_t records = static_cast<uint64_t>(repeats) * SK_HOST_SORTED_AT_ONCE;
    vbitsort(sk_host_operand(dst, records * SK_HOST_RECORD<T>, "Sort32", site),
             sk_host_operand(src, records, "Sort32", site), sk_host_operand(index, records, "Sort32", site),
             static_cast<uint64_t>(repeats), sk_host_source(site));
}

template <class T> struct MrgSortSrcList {
    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;

    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<T> &c, const LocalTensor<T> &d)
        : src1(a), src2(b), src3(c), src4(d) {}
};
struct MrgSort4Info {
    uint16_t elementLengths[4] = {};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;

    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t lengths[4], bool suspends, uint16_t valid, uint16_t repeats)
        : elementLengths{lengths[0], lengths[1], lengths[2], lengths[3]}, ifExhaustedSuspension(suspends),
          validBit(valid), repeatTimes(static_cast<uint8_t>(repeats)) {}
};
// Merges two to four sorted lists of records, those whose bit is set.
template <class T>
inline void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &lists, const MrgSort4Info &info,
                    sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_TYPE("MrgSort", T, half, float);
    sk_host_require_vector_core("MrgSort", site);
    const LocalTensor<T> *const sources[4] = {&lists.src1, &lists.src2, &lists.src3, &lists.src4};
    T *addresses[4] = {};
    uint64_t lengths = 0, records = 0;
    for (uint32_t list = 0; list < 4; ++list) {
        const uint64_t length = info.elementLengths[list];
        lengths |= length << (16 * list);
        if (info.validBit >> list & 1) {
            records += length;
            // Lists begin at any record.
            addresses[list] = sources[list]->SkHostData();
            if (length * SK_HOST_RECORD<T> > sources[list]->GetSize()) {
                sk_host::Violation(site, "MrgSort: list %u has %llu records, but its tensor %u elements", list + 1,
                                   (unsigned long long)length, sources[list]->GetSize());
            }
        }
    }
    const uint64_t config = info.repeatTimes | static_cast<uint64_t>(info.validBit & 15) << 8 |
                            static_cast<uint64_t>(info.ifExhaustedSuspension) << 12;
    T *out = sk_host_operand(dst, records * info.repeatTimes * SK_HOST_RECORD<T>, "MrgSort", site);
    vmrgsort4(out, addresses, lengths, config, sk_host_source(site));
}
// Records taken from each list by the last merge.
inline void GetMrgSortResult(uint16_t &first, uint16_t &second, uint16_t &third, uint16_t &fourth) {
    const uint64_t taken = static_cast<uint64_t>(get_vms4_sr());
    first = static_cast<uint16_t>(taken);
    second = static_cast<uint16_t>(taken >> 16);
    third = static_cast<uint16_t>(taken >> 32);
    fourth = static_cast<uint16_t>(taken >> 48);
}
template <class T, bool isExhaustedSuspension = false>
inline void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &lists, const uint16_t elementCounts[4],
                    uint32_t sorted[4], uint16_t validBit, int32_t repeats,
                    sk_host::Site site = sk_host::Site::Here()) {
    const MrgSort4Info info(elementCounts, isExhaustedSuspension, validBit, static_cast<uint16_t>(repeats));
    MrgSort(dst, lists, info, site);
    if (isExhaustedSuspension) {
        uint16_t taken[4];
        sk_host_scalar_waits_for_vector(site);
        GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
        for (uint32_t list = 0; list < 4; ++list) {
            sorted[list] = taken[list];
        }
    }
}

// On this chip scores and indices are put together by the sort itself.
template <class T>
inline void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &, int32_t) {
    concat = src;
}

// Scores and indices of 32 records per repeat.
template <class T>
inline void Extract(const LocalTensor<T> &scores, const LocalTensor<uint32_t> &indices, const LocalTensor<T> &sorted,
                    int32_t repeats, sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_TYPE("Extract", T, half, float);
    const uint64_t records = static_cast<uint64_t>(repeats) * SK_HOST_SORTED_AT_ONCE;
    sk_host_operand(sorted, records * SK_HOST_RECORD<T>, "Extract", site);
    sk_host_operand(scores, records, "Extract", site);
    sk_host_operand(indices, records, "Extract", site);
    // The score is the first of two floats, or of four halves; the index the second of two words.
    constexpr uint8_t first = sizeof(T) == 4 ? 1 : 3, second = 2;
    const GatherMaskParams params(1, static_cast<uint16_t>(repeats), 8, 0);
    uint64_t kept = 0;
    GatherMask(scores, sorted, first, false, 0, params, kept, site);
    GatherMask(indices, sorted.template ReinterpretCast<uint32_t>(), second, false, 0, params, kept, site);
}

// Merges sorted runs of `run` records into runs four times as long, until there is one. It lies in one of the tensors.
template <class T>
inline bool sk_host_merge_runs(const LocalTensor<T> &dst, const LocalTensor<T> &other, uint32_t records,
                               sk_host::Site site) {
    bool inDst = true;
    for (uint32_t run = SK_HOST_SORTED_AT_ONCE; run < records; run *= 4) {
        const LocalTensor<T> &from = inDst ? dst : other, &to = inDst ? other : dst;
        for (uint32_t first = 0; first < records; first += 4 * run) {
            pipe_barrier(PIPE_V);
            uint16_t lengths[4] = {}, valid = 0;
            LocalTensor<T> lists[4];
            for (uint32_t list = 0; list < 4 && first + list * run < records; ++list) {
                const uint32_t begin = first + list * run;
                lengths[list] = static_cast<uint16_t>(records - begin < run ? records - begin : run);
                lists[list] = from[begin * SK_HOST_RECORD<T>];
                valid = static_cast<uint16_t>(valid | 1u << list);
            }
            const LocalTensor<T> target = to[first * SK_HOST_RECORD<T>];
            if (valid == 1) {
                DataCopy(target, lists[0], lengths[0] * SK_HOST_RECORD<T>, site);
            } else {
                MrgSort(target, MrgSortSrcList<T>(lists[0], lists[1], lists[2], lists[3]),
                        MrgSort4Info(lengths, false, valid, 1), site);
            }
        }
        inDst = !inDst;
    }
    return inDst;
}
// Sorts every 32 scores, or all of them.
template <class T, bool isFullSort>
inline void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat, const LocalTensor<uint32_t> &index,
                 const LocalTensor<T> &work, int32_t repeats, sk_host::Site site = sk_host::Site::Here()) {
    Sort32(dst, concat, index, repeats, site);
    if constexpr (isFullSort) {
        const uint32_t records = static_cast<uint32_t>(repeats) * SK_HOST_SORTED_AT_ONCE;
        if (repeats > 1) {
            sk_host_operand(work, records * SK_HOST_RECORD<T>, "Sort", site);
        }
        if (!sk_host_merge_runs(dst, work, records, site)) {
            pipe_barrier(PIPE_V);
            DataCopy(dst, work, records * SK_HOST_RECORD<T>, site);
        }
    }
}

// -- Transposition -------------------------------------------------------------------------------------------------------

// 16 rows of 16 elements of 2 bytes.
template <class T>
inline void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, sk_host::Site site = sk_host::Site::Here()) {
    SK_HOST_REQUIRE_TYPE("Transpose", T, half, int16_t, uint16_t);
    sk_host_require_vector_core("Transpose", site);
    vtranspose(sk_host_operand(dst, 256, "Transpose", site), sk_host_operand(src, 256, "Transpose", site),
               sk_host_source(site));
}

struct TransDataTo5HDParams {
    bool dstHighHalf = false;
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;

    TransDataTo5HDParams() = default;
    TransDataTo5HDParams(bool dstHigh, bool srcHigh, uint8_t repeats, uint16_t dstRep, uint16_t srcRep)
        : dstHighHalf(dstHigh), srcHighHalf(srcHigh), repeatTimes(repeats), dstRepStride(dstRep), srcRepStride(srcRep) {}
};
// The rows are those that the address registers name, targets in the first two.
template <class T> inline void sk_host_scatter_rows(const TransDataTo5HDParams &params, sk_host::Site site) {
    static_assert(sk_core::TypeOf<T>::value != SK_TYPE_NONE && sk_host::BITS<T> >= 8 && sizeof(T) <= 4,
                  "TransDataTo5HD: the chip has no form for this element type");
    if constexpr (sizeof(T) == 1) {
        scatter_vnchwconv_b8(VA0, VA2, params.repeatTimes, params.dstRepStride, params.srcRepStride, params.dstHighHalf,
                             params.srcHighHalf, sk_host_source(site));
    } else if constexpr (sizeof(T) == 2) {
        scatter_vnchwconv_b16(VA0, VA2, params.repeatTimes, params.dstRepStride, params.srcRepStride,
                              sk_host_source(site));
    } else {
        scatter_vnchwconv_b32(VA0, VA2, params.repeatTimes, params.dstRepStride, params.srcRepStride,
                              sk_host_source(site));
    }
}
// 16 rows of a block each become 16 rows of a block each; the lists hold their addresses.
template <class T>
inline void TransDataTo5HD(uint64_t dstList[16], uint64_t srcList[16], const TransDataTo5HDParams &params,
                           sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("TransDataTo5HD", site);
    set_va_reg_sb(VA0, dstList);
    set_va_reg_sb(VA1, dstList + 8);
    set_va_reg_sb(VA2, srcList);
    set_va_reg_sb(VA3, srcList + 8);
    sk_host_scatter_rows<T>(params, site);
}
// The same with lists in UB.
template <class T>
inline void TransDataTo5HD(const LocalTensor<uint64_t> &dst, const LocalTensor<uint64_t> &src,
                           const TransDataTo5HDParams &params, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_vector_core("TransDataTo5HD", site);
    uint64_t *targets = sk_host_operand(dst, 16, "TransDataTo5HD", site);
    uint64_t *sources = sk_host_operand(src, 16, "TransDataTo5HD", site);
    const sk_core::Source source = sk_host_source(site);
    vld_va_reg(VA0, targets, L128, source);
    vld_va_reg(VA1, targets, H128, source);
    vld_va_reg(VA2, sources, L128, source);
    vld_va_reg(VA3, sources, H128, source);
    sk_host_scatter_rows<T>(params, site);
}
template <class T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[16], const LocalTensor<T> (&srcList)[16],
                           const TransDataTo5HDParams &params, sk_host::Site site = sk_host::Site::Here()) {
    uint64_t targets[16], sources[16];
    for (uint32_t row = 0; row < 16; ++row) {
        targets[row] = reinterpret_cast<uintptr_t>(sk_host_operand(dstList[row], 0, "TransDataTo5HD", site));
        sources[row] = reinterpret_cast<uintptr_t>(sk_host_operand(srcList[row], 0, "TransDataTo5HD", site));
    }
    TransDataTo5HD<T>(targets, sources, params, site);
}

} // namespace
} // namespace AscendC

#endif
