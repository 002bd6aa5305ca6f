// A few calls of the high-level interface that are short sequences of vector instructions.
#ifndef SK_HOST_MATH_H
#define SK_HOST_MATH_H

namespace AscendC {
namespace {

// Logarithms to the bases e, 2 and 10.
template <class T, bool isReuseSource = false>
inline void Log(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
                sk_host::Site site = sk_host::Site::Here()) {
    Ln(dst, src, static_cast<int32_t>(count), site);
}
template <class T>
inline void sk_host_log(const LocalTensor<T> &dst, const LocalTensor<T> &src, float factor, uint32_t count,
                        sk_host::Site site) {
    Ln(dst, src, static_cast<int32_t>(count), site);
    pipe_barrier(PIPE_V);
    Muls(dst, dst, static_cast<T>(factor), static_cast<int32_t>(count), site);
}
template <class T, bool isReuseSource = false>
inline void Log2(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
                 sk_host::Site site = sk_host::Site::Here()) {
    sk_host_log(dst, src, 1.44269504f, count, site);
}
template <class T, bool isReuseSource = false>
inline void Log10(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count,
                  sk_host::Site site = sk_host::Site::Here()) {
    sk_host_log(dst, src, 0.434294482f, count, site);
}

// The end of UB, which belongs to no buffer while such a call runs.
template <class T> inline LocalTensor<T> sk_host_scratch(uint64_t bytes) {
    const sk_host::Memory memory = sk_host::UnifiedBuffer();
    return LocalTensor<T>(TPosition::VECCALC, reinterpret_cast<T *>(memory.base + memory.size - bytes),
                          static_cast<uint32_t>(bytes / sizeof(T)));
}

// `size` elements of GM.
template <class T>
inline void Fill(GlobalTensor<T> &dst, uint64_t size, const T value, sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Fill: the chip has no form for this element type");
    constexpr uint32_t BYTES = 8192, COUNT = BYTES / sizeof(T);
    const LocalTensor<T> piece = sk_host_scratch<T>(BYTES);
    // Whatever is under way may use the same bytes.
    pipe_barrier(PIPE_ALL);
    Duplicate(piece, value, static_cast<int32_t>(size < COUNT ? size : COUNT), site);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID7);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID7);
    for (uint64_t at = 0; at < size; at += COUNT) {
        const uint64_t count = size - at < COUNT ? size - at : COUNT;
        DataCopyPad(dst[at], piece, DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0), site);
    }
    pipe_barrier(PIPE_ALL);
}

} // namespace
} // namespace AscendC

#endif
