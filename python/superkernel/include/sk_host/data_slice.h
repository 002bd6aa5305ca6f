// Slices of a tensor with several dimensions between GM and UB.
#ifndef SK_HOST_DATA_SLICE_H
#define SK_HOST_DATA_SLICE_H

namespace AscendC {
namespace {

// Of one dimension, the first one being that of neighbours: from `startIndex` to `endIndex`, both inside, pieces with
// gaps of `stride` elements between them; `shapeValue` elements in all. In the first dimension a piece has `burstLen`
// blocks of 32 bytes, in the others one element.
struct SliceInfo {
    uint32_t startIndex = 0;
    uint32_t endIndex = ONE_BLK_SIZE - 1;
    uint32_t stride = 0;
    uint32_t burstLen = ONE_BLK_SIZE;
    uint32_t shapeValue = 0;

    SliceInfo() = default;
    SliceInfo(uint32_t start, uint32_t end, uint32_t gap, uint32_t length, uint32_t shape = 0)
        : startIndex(start), endIndex(end), stride(gap), burstLen(length), shapeValue(shape) {}
};
constexpr uint32_t K_MAX_DIM = 8;

// How many pieces of `length` elements a dimension has.
inline uint32_t sk_host_pieces(const SliceInfo &slice, uint32_t length, sk_host::Site site) {
    const uint64_t inside = static_cast<uint64_t>(slice.endIndex) + 1 - slice.startIndex + slice.stride;
    if (slice.endIndex < slice.startIndex || length == 0 || inside % (length + slice.stride) != 0) {
        sk_host::Violation(site, "DataCopy: elements %u to %u are not whole pieces of %u with gaps of %u",
                           slice.startIndex, slice.endIndex, length, slice.stride);
    }
    return static_cast<uint32_t>(inside / (length + slice.stride));
}

// `move(target, source, pieces)` copies the pieces of one row; both places in elements.
template <class T, class F>
inline void sk_host_for_each_row(const SliceInfo target[], const SliceInfo source[], uint32_t dimensions,
                                 sk_host::Site site, F move) {
    if (dimensions == 0 || dimensions > K_MAX_DIM) {
        sk_host::Violation(site, "DataCopy: %u dimensions; there are 1 to %u", dimensions, K_MAX_DIM);
    }
    uint32_t pieces[K_MAX_DIM], at[K_MAX_DIM] = {};
    for (uint32_t dimension = 0; dimension < dimensions; ++dimension) {
        const uint32_t length =
            dimension == 0 ? source[0].burstLen * ONE_BLK_SIZE / static_cast<uint32_t>(sizeof(T)) : 1;
        pieces[dimension] = sk_host_pieces(source[dimension], length, site);
        if (sk_host_pieces(target[dimension], length, site) != pieces[dimension]) {
            sk_host::Violation(site, "DataCopy: source and target differ in dimension %u", dimension);
        }
    }
    for (;;) {
        uint64_t to = target[0].startIndex, from = source[0].startIndex, toStep = 1, fromStep = 1;
        for (uint32_t dimension = 1; dimension < dimensions; ++dimension) {
            toStep *= target[dimension - 1].shapeValue;
            fromStep *= source[dimension - 1].shapeValue;
            to += toStep * (target[dimension].startIndex + at[dimension] * (target[dimension].stride + 1ull));
            from += fromStep * (source[dimension].startIndex + at[dimension] * (source[dimension].stride + 1ull));
        }
        move(to, from, pieces[0]);
        uint32_t dimension = 1;
        while (dimension < dimensions && ++at[dimension] == pieces[dimension]) {
            at[dimension++] = 0;
        }
        if (dimension >= dimensions) {
            return;
        }
    }
}

inline uint32_t sk_host_local_gap(uint32_t bytes, sk_host::Site site) {
    if (bytes % sk_host::BLOCK_BYTES != 0) {
        sk_host::Violation(site, "DataCopy: a gap of %u bytes in UB is not a multiple of 32", bytes);
    }
    return bytes / static_cast<uint32_t>(sk_host::BLOCK_BYTES);
}

template <class T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const SliceInfo dstSlice[],
                     const SliceInfo srcSlice[], uint32_t dimensions = 1, sk_host::Site site = sk_host::Site::Here()) {
    const uint32_t length = srcSlice[0].burstLen * static_cast<uint32_t>(sk_host::BLOCK_BYTES);
    const uint32_t sourceGap = srcSlice[0].stride * static_cast<uint32_t>(sizeof(T));
    const uint32_t targetGap = sk_host_local_gap(dstSlice[0].stride * static_cast<uint32_t>(sizeof(T)), site);
    sk_host_for_each_row<T>(dstSlice, srcSlice, dimensions, site, [&](uint64_t to, uint64_t from, uint32_t pieces) {
        DataCopyPad(dst[static_cast<uint32_t>(to)], src[from],
                    DataCopyExtParams(static_cast<uint16_t>(pieces), length, sourceGap, targetGap, 0),
                    DataCopyPadExtParams<T>(), site);
    });
}
template <class T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const SliceInfo dstSlice[],
                     const SliceInfo srcSlice[], uint32_t dimensions = 1, sk_host::Site site = sk_host::Site::Here()) {
    const uint32_t length = srcSlice[0].burstLen * static_cast<uint32_t>(sk_host::BLOCK_BYTES);
    const uint32_t targetGap = dstSlice[0].stride * static_cast<uint32_t>(sizeof(T));
    const uint32_t sourceGap = sk_host_local_gap(srcSlice[0].stride * static_cast<uint32_t>(sizeof(T)), site);
    sk_host_for_each_row<T>(dstSlice, srcSlice, dimensions, site, [&](uint64_t to, uint64_t from, uint32_t pieces) {
        DataCopyPad(dst[to], src[static_cast<uint32_t>(from)],
                    DataCopyExtParams(static_cast<uint16_t>(pieces), length, sourceGap, targetGap, 0), site);
    });
}

} // namespace
} // namespace AscendC

#endif
