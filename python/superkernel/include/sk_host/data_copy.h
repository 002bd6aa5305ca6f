// Moves between GM and local memory.
#ifndef SK_HOST_DATA_COPY_H
#define SK_HOST_DATA_COPY_H

namespace AscendC {
namespace {

// Lengths, gaps and strides in units of 32 bytes.
struct DataCopyParams {
    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    uint16_t srcStride = 0;
    uint16_t dstStride = 0;

    DataCopyParams() = default;
    DataCopyParams(uint16_t count, uint16_t length, uint16_t sourceGap, uint16_t targetGap)
        : blockCount(count), blockLen(length), srcStride(sourceGap), dstStride(targetGap) {}
};

// Length in bytes; the gap on the GM side in bytes, on the local side in units of 32 bytes.
struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    uint32_t srcStride = 0;
    uint32_t dstStride = 0;
    uint32_t rsv = 0;

    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, uint32_t sourceGap, uint32_t targetGap, uint32_t reserved)
        : blockCount(count), blockLen(length), srcStride(sourceGap), dstStride(targetGap), rsv(reserved) {}
};

struct DataCopyPadParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;

    DataCopyPadParams() = default;
    DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

template <class T> struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue{};

    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

template <class T>
inline uint8_t *sk_host_local_range(const LocalTensor<T> &tensor, uint64_t bytes, const char *call, sk_host::Site site) {
    const sk_host::Memory memory = sk_host::MemoryOf(tensor.GetPosition(), site);
    if (tensor.SkHostData() == nullptr) {
        sk_host::Violation(site, "%s: the local tensor was never allocated", call);
    }
    if (bytes > sk_host::BytesOf<T>(tensor.GetSize())) {
        sk_host::Violation(site, "%s: %llu bytes wanted, but the local tensor has only %llu", call,
                           (unsigned long long)bytes, (unsigned long long)sk_host::BytesOf<T>(tensor.GetSize()));
    }
    uint8_t *start = sk_host::Resolve(memory, tensor.SkHostData(), bytes, site);
    sk_host::RequireBlockAligned(start, memory, call, site);
    return start;
}

// Copies into GM combine with what is there.
template <class T> inline void sk_host_set_atomic_type() {
    constexpr SkType type = sk_core::TypeOf<T>::value;
    static_assert(type == SK_TYPE_F32 || type == SK_TYPE_F16 || type == SK_TYPE_S16 || type == SK_TYPE_S32 ||
                      type == SK_TYPE_S8 || type == SK_TYPE_BF16,
                  "atomic copies: the chip has no form for this element type");
    if constexpr (type == SK_TYPE_F32) {
        set_atomic_f32();
    } else if constexpr (type == SK_TYPE_F16) {
        set_atomic_f16();
    } else if constexpr (type == SK_TYPE_S16) {
        set_atomic_s16();
    } else if constexpr (type == SK_TYPE_S32) {
        set_atomic_s32();
    } else if constexpr (type == SK_TYPE_S8) {
        set_atomic_s8();
    } else {
        set_atomic_bf16();
    }
}
template <class T> inline void SetAtomicAdd() {
    sk_host_set_atomic_type<T>();
    set_atomic_add();
}
template <class T> inline void SetAtomicMax() {
    sk_host_set_atomic_type<T>();
    set_atomic_max();
}
template <class T> inline void SetAtomicMin() {
    sk_host_set_atomic_type<T>();
    set_atomic_min();
}
inline void SetAtomicNone() { set_atomic_none(); }
inline void DisableDmaAtomic() { set_atomic_none(); }

// Stores of the scalar unit to GM: they add while a type is set.
enum class AtomicDtype { ATOMIC_NONE, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum class AtomicOp { ATOMIC_SUM };
template <AtomicDtype type, AtomicOp op> inline void SetStoreAtomicConfig(SK_CORE_HERE) {
    set_st_atomic_cfg(static_cast<uint64_t>(type), static_cast<uint64_t>(op), sk_core_source);
}
inline int64_t GetStoreAtomicConfig() { return get_st_atomic_cfg(); }
inline void GetStoreAtomicConfig(uint16_t &type, uint16_t &op) {
    const auto config = static_cast<uint64_t>(get_st_atomic_cfg());
    type = static_cast<uint16_t>(config & 7);
    op = static_cast<uint16_t>(config >> 3 & 3);
}

// What DataCopyPad fills with where a call brings no value along.
template <class T> inline void SetPadValue(T value) { set_mov_pad_val(value); }

inline void sk_host_require_whole_blocks(uint64_t bytes, sk_host::Site site) {
    if (bytes % sk_host::BLOCK_BYTES != 0) {
        sk_host::Violation(site, "DataCopy: %llu bytes are not a multiple of 32; use DataCopyPad", (unsigned long long)bytes);
    }
}

// Which instruction moves between GM and the memory of a tensor.
inline bool sk_host_is_in(TPosition position, const sk_host::Memory &memory, sk_host::Site site) {
    return sk_host::MemoryOf(position, site).base == memory.base;
}
[[noreturn]] inline void sk_host_no_move(sk_host::Site site) {
    sk_host::Violation(site, "DataCopy: the chip has no direct move between GM and this position");
}

// GM to local.
template <class T>
inline void DataCopy(const LocalTensor<T> &target, const GlobalTensor<T> &source, const DataCopyParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t bytes = params.blockLen * sk_host::BLOCK_BYTES;
    const uint64_t targetStep = bytes + params.dstStride * sk_host::BLOCK_BYTES;
    const uint64_t sourceStep = bytes + params.srcStride * sk_host::BLOCK_BYTES;
    uint8_t *local = sk_host_local_range(target, sk_host::Span(params.blockCount, bytes, targetStep), "DataCopy", site);
    T *global = source.SkHostRange(sk_host::Span(params.blockCount, bytes, sourceStep), site);
    const sk_core::Source line{site.file, site.line};
    if (sk_host_is_in(target.GetPosition(), sk_host::UnifiedBuffer(), site)) {
        copy_gm_to_ubuf(local, global, 0, params.blockCount, params.blockLen, params.srcStride, params.dstStride, line);
    } else if (sk_host_is_in(target.GetPosition(), sk_host::L1(), site)) {
        copy_gm_to_cbuf(local, global, 0, params.blockCount, params.blockLen, params.srcStride, params.dstStride, 0, line);
    } else {
        sk_host_no_move(site);
    }
}

// Local to GM.
template <class T>
inline void DataCopy(const GlobalTensor<T> &target, const LocalTensor<T> &source, const DataCopyParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t bytes = params.blockLen * sk_host::BLOCK_BYTES;
    const uint64_t targetStep = bytes + params.dstStride * sk_host::BLOCK_BYTES;
    const uint64_t sourceStep = bytes + params.srcStride * sk_host::BLOCK_BYTES;
    uint8_t *local = sk_host_local_range(source, sk_host::Span(params.blockCount, bytes, sourceStep), "DataCopy", site);
    T *global = target.SkHostRange(sk_host::Span(params.blockCount, bytes, targetStep), site);
    const sk_core::Source line{site.file, site.line};
    if (sk_host_is_in(source.GetPosition(), sk_host::UnifiedBuffer(), site)) {
        copy_ubuf_to_gm(global, local, 0, params.blockCount, params.blockLen, params.srcStride, params.dstStride, line);
    } else if (sk_host_is_in(source.GetPosition(), sk_host::L1(), site)) {
        copy_cbuf_to_gm(global, local, 0, params.blockCount, params.blockLen, params.srcStride, params.dstStride, line);
    } else {
        sk_host_no_move(site);
    }
}

// Row-major matrices in GM to blocks of columns in L1.
template <class T>
inline void DataCopy(const LocalTensor<T> &target, const GlobalTensor<T> &source, const Nd2NzParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    if (!sk_host_is_in(target.GetPosition(), sk_host::L1(), site)) {
        sk_host_no_move(site);
    }
    const uint64_t matrices = params.ndNum, rows = params.nValue, columns = params.dValue;
    const uint64_t elements =
        sk_host::Span(matrices, sk_host::Span(rows, columns, params.srcDValue), params.srcNdMatrixStride);
    T *local = reinterpret_cast<T *>(sk_host_local_range(target, 0, "DataCopy", site));
    T *global = source.SkHostRange(rows == 0 ? 0 : elements * sizeof(T), site);
    const sk_core::Source line{site.file, site.line};
    if constexpr (sizeof(T) == 1) {
        copy_gm_to_cbuf_multi_nd2nz_b8(local, global, 0, matrices, rows, columns, params.srcNdMatrixStride,
                                       params.srcDValue, params.dstNzC0Stride, params.dstNzNStride,
                                       params.dstNzMatrixStride, line);
    } else if constexpr (sizeof(T) == 2) {
        copy_gm_to_cbuf_multi_nd2nz_b16(local, global, 0, matrices, rows, columns, params.srcNdMatrixStride,
                                        params.srcDValue, params.dstNzC0Stride, params.dstNzNStride,
                                        params.dstNzMatrixStride, line);
    } else {
        static_assert(sizeof(T) == 4, "DataCopy: the chip has no such move for this element type");
        copy_gm_to_cbuf_multi_nd2nz_b32s(local, global, 0, matrices, rows, columns, params.srcNdMatrixStride,
                                         params.srcDValue, params.dstNzC0Stride, params.dstNzNStride,
                                         params.dstNzMatrixStride, line);
    }
}

// From L1 to the tables beside the cube unit. Lengths and gaps in the target count in larger units there; halves become
// single precision on their way to the bias table.
template <class T, class U>
inline bool sk_host_copy_to_table(const LocalTensor<T> &target, const LocalTensor<U> &source,
                                  const DataCopyParams &params, sk_host::Site site) {
    const bool isBias = sk_host_is_in(target.GetPosition(), sk_host::BiasTable(), site);
    if (!isBias && !sk_host_is_in(target.GetPosition(), sk_host::FixpipeBuffer(), site)) {
        return false;
    }
    if (!sk_host_is_in(source.GetPosition(), sk_host::L1(), site)) {
        sk_host::Violation(site, "DataCopy: the tables beside the cube unit are filled from L1 only");
    }
    uint8_t *to = sk_host_local_range(target, 0, "DataCopy", site);
    uint8_t *from = sk_host_local_range(source, 0, "DataCopy", site);
    const sk_core::Source line{site.file, site.line};
    if (isBias) {
        copy_cbuf_to_bt(reinterpret_cast<uintptr_t>(to), from, sizeof(U) < sizeof(T), params.blockCount,
                        params.blockLen, params.srcStride, params.dstStride, line);
    } else {
        copy_cbuf_to_fbuf(to, from, params.blockCount, params.blockLen, params.srcStride, params.dstStride, line);
    }
    return true;
}
template <class T, class U>
inline void DataCopy(const LocalTensor<T> &target, const LocalTensor<U> &source, const DataCopyParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sk_core::TypeOf<T>::value == SK_TYPE_F32 && sk_core::TypeOf<U>::value == SK_TYPE_F16,
                  "DataCopy: elements are converted from half to float only");
    if (!sk_host_copy_to_table(target, source, params, site)) {
        sk_host::Violation(site, "DataCopy: elements are converted on the way to the bias table only");
    }
}

// Local to local.
template <class T>
inline void DataCopy(const LocalTensor<T> &target, const LocalTensor<T> &source, const DataCopyParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    if (sk_host_copy_to_table(target, source, params, site)) {
        return;
    }
    const uint64_t bytes = params.blockLen * sk_host::BLOCK_BYTES;
    const uint64_t targetStep = bytes + params.dstStride * sk_host::BLOCK_BYTES;
    const uint64_t sourceStep = bytes + params.srcStride * sk_host::BLOCK_BYTES;
    uint8_t *to = sk_host_local_range(target, sk_host::Span(params.blockCount, bytes, targetStep), "DataCopy", site);
    uint8_t *from = sk_host_local_range(source, sk_host::Span(params.blockCount, bytes, sourceStep), "DataCopy", site);
    copy_ubuf_to_ubuf(to, from, 0, params.blockCount, params.blockLen, params.srcStride, params.dstStride,
                      sk_core::Source{site.file, site.line});
}

// All three over `count` elements in a row. Tables beside the cube unit take whole entries.
template <class Target, class Source>
inline void sk_host_copy_row(const Target &target, const Source &source, uint64_t bytes, sk_host::Site site,
                             uint64_t unit = sk_host::BLOCK_BYTES) {
    sk_host_require_whole_blocks(bytes, site);
    const uint64_t blocks = sk_host::RoundUp(bytes, unit) / unit;
    if (blocks > UINT16_MAX) {
        sk_host::Violation(site, "DataCopy: %llu bytes in one row; at most 2097120 are possible", (unsigned long long)bytes);
    }
    DataCopy(target, source, DataCopyParams(1, static_cast<uint16_t>(blocks), 0, 0), site);
}
template <class T>
inline void DataCopy(const LocalTensor<T> &target, const GlobalTensor<T> &source, uint32_t count,
                     sk_host::Site site = sk_host::Site::Here()) {
    sk_host_copy_row(target, source, sk_host::BytesOf<T>(count), site);
}
template <class T>
inline void DataCopy(const GlobalTensor<T> &target, const LocalTensor<T> &source, uint32_t count,
                     sk_host::Site site = sk_host::Site::Here()) {
    sk_host_copy_row(target, source, sk_host::BytesOf<T>(count), site);
}
template <class T>
inline void DataCopy(const LocalTensor<T> &target, const LocalTensor<T> &source, uint32_t count,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t unit = sk_host_is_in(target.GetPosition(), sk_host::BiasTable(), site)       ? 64
                          : sk_host_is_in(target.GetPosition(), sk_host::FixpipeBuffer(), site) ? 128
                                                                                                : sk_host::BLOCK_BYTES;
    sk_host_copy_row(target, source, sk_host::BytesOf<T>(count), site, unit);
}

template <class T> inline uint64_t sk_host_pad_word(T value) {
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T) < 8 ? sizeof(T) : 8);
    return word;
}

// Row by row, each row at a multiple of 32 bytes in local memory, filled up to it: with the padding value if there is
// padding, else with the first element of the row.
template <class T>
inline void sk_host_copy_pad_in(const LocalTensor<T> &target, const GlobalTensor<T> &source, uint32_t rows,
                                uint32_t length, uint64_t sourceGap, uint64_t targetGap, bool pad, uint32_t left,
                                uint32_t right, T value, sk_host::Site site) {
    left = pad ? left : 0;
    right = pad ? right : 0;
    const uint64_t row = sk_host::RoundUp((left + right) * sizeof(T) + length, sk_host::BLOCK_BYTES);
    const uint64_t targetStep = row + targetGap * sk_host::BLOCK_BYTES;
    uint8_t *local = sk_host_local_range(target, sk_host::Span(rows, row, targetStep), "DataCopyPad", site);
    T *global = source.SkHostRange(sk_host::Span(rows, length, length + sourceGap), site);
    const sk_core::Source line{site.file, site.line};
    // Elements of 8 bytes move as pairs of 4.
    constexpr uint32_t parts = sizeof(T) == 8 ? 2 : 1;
    if (pad) {
        set_mov_pad_val(sk_host_pad_word(value));
    }
    if constexpr (sizeof(T) == 1) {
        copy_gm_to_ubuf_align_b8(local, global, 0, rows, length, left, right, sourceGap, targetGap, line);
    } else if constexpr (sizeof(T) == 2) {
        copy_gm_to_ubuf_align_b16(local, global, 0, rows, length, left, right, sourceGap, targetGap, line);
    } else {
        copy_gm_to_ubuf_align_b32(local, global, 0, rows, length, left * parts, right * parts, sourceGap, targetGap, line);
    }
}

template <class T>
inline void sk_host_copy_pad_out(const GlobalTensor<T> &target, const LocalTensor<T> &source, uint32_t rows,
                                 uint32_t length, uint64_t sourceGap, uint64_t targetGap, sk_host::Site site) {
    const uint64_t row = sk_host::RoundUp(length, sk_host::BLOCK_BYTES);
    const uint64_t sourceStep = row + sourceGap * sk_host::BLOCK_BYTES;
    uint8_t *local = sk_host_local_range(source, sk_host::Span(rows, length, sourceStep), "DataCopyPad", site);
    T *global = target.SkHostRange(sk_host::Span(rows, length, length + targetGap), site);
    copy_ubuf_to_gm_align_b8(global, local, 0, rows, length, 0, 0, sourceGap, targetGap,
                             sk_core::Source{site.file, site.line});
}

template <class T>
inline void DataCopyPad(const LocalTensor<T> &target, const GlobalTensor<T> &source, const DataCopyExtParams &params,
                        const DataCopyPadExtParams<T> &padding, sk_host::Site site = sk_host::Site::Here()) {
    sk_host_copy_pad_in(target, source, params.blockCount, params.blockLen, params.srcStride, params.dstStride,
                        padding.isPad, padding.leftPadding, padding.rightPadding, padding.paddingValue, site);
}

template <class T>
inline void DataCopyPad(const LocalTensor<T> &target, const GlobalTensor<T> &source, const DataCopyParams &params,
                        const DataCopyPadParams &padding, sk_host::Site site = sk_host::Site::Here()) {
    T value;
    __builtin_memcpy(&value, &padding.paddingValue, sizeof(T) < 8 ? sizeof(T) : 8);
    sk_host_copy_pad_in(target, source, params.blockCount, params.blockLen, params.srcStride, params.dstStride,
                        padding.isPad, padding.leftPadding, padding.rightPadding, value, site);
}

template <class T>
inline void DataCopyPad(const GlobalTensor<T> &target, const LocalTensor<T> &source, const DataCopyExtParams &params,
                        sk_host::Site site = sk_host::Site::Here()) {
    sk_host_copy_pad_out(target, source, params.blockCount, params.blockLen, params.srcStride, params.dstStride, site);
}

template <class T>
inline void DataCopyPad(const GlobalTensor<T> &target, const LocalTensor<T> &source, const DataCopyParams &params,
                        sk_host::Site site = sk_host::Site::Here()) {
    sk_host_copy_pad_out(target, source, params.blockCount, params.blockLen, params.srcStride, params.dstStride, site);
}

} // namespace
} // namespace AscendC

#endif
