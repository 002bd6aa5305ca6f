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
    if (tensor.GetPhyAddr() == nullptr) {
        sk_host::Violation(site, "%s: the local tensor was never allocated", call);
    }
    if (bytes > static_cast<uint64_t>(tensor.GetSize()) * sizeof(T)) {
        sk_host::Violation(site, "%s: %llu bytes wanted, but the local tensor has only %llu", call,
                           (unsigned long long)bytes, (unsigned long long)tensor.GetSize() * sizeof(T));
    }
    uint8_t *start = sk_host::Resolve(memory, tensor.GetPhyAddr(), bytes, site);
    sk_host::RequireBlockAligned(start, memory, call, site);
    return start;
}

// A copy into GM adds instead of overwriting after SetAtomicAdd.
template <class T> inline void sk_host_store(T *target, const uint8_t *source, uint64_t bytes) {
    if (sk_rt_core()->atomicMode == 0) {
        __builtin_memmove(target, source, bytes);
        return;
    }
    for (uint64_t i = 0; i < bytes / sizeof(T); ++i) {
        T value;
        __builtin_memcpy(&value, source + i * sizeof(T), sizeof(T));
        if (sk_rt_core()->atomicMode == 1) {
            target[i] = static_cast<T>(target[i] + value);
        } else if (sk_rt_core()->atomicMode == 2) {
            target[i] = target[i] < value ? value : target[i];
        } else {
            target[i] = value < target[i] ? value : target[i];
        }
    }
}

template <class T> inline void SetAtomicAdd() { sk_rt_core()->atomicMode = 1; }
template <class T> inline void SetAtomicMax() { sk_rt_core()->atomicMode = 2; }
template <class T> inline void SetAtomicMin() { sk_rt_core()->atomicMode = 3; }
inline void SetAtomicNone() { sk_rt_core()->atomicMode = 0; }

inline void sk_host_require_whole_blocks(uint64_t bytes, sk_host::Site site) {
    if (bytes % sk_host::BLOCK_BYTES != 0) {
        sk_host::Violation(site, "DataCopy: %llu bytes are not a multiple of 32; use DataCopyPad", (unsigned long long)bytes);
    }
}

// GM to local.
template <class T>
inline void DataCopy(const LocalTensor<T> &target, const GlobalTensor<T> &source, const DataCopyParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t bytes = params.blockLen * sk_host::BLOCK_BYTES;
    const uint64_t targetStep = bytes + params.dstStride * sk_host::BLOCK_BYTES;
    const uint64_t sourceStep = bytes + params.srcStride * sk_host::BLOCK_BYTES;
    uint8_t *local = sk_host_local_range(target, sk_host::Span(params.blockCount, bytes, targetStep), "DataCopy", site);
    const T *global = source.SkHostRange(sk_host::Span(params.blockCount, bytes, sourceStep), site);
    sk_host::CopyBursts(local, reinterpret_cast<const uint8_t *>(global), params.blockCount, bytes, targetStep, sourceStep);
    sk_rt_work(PIPE_MTE2, params.blockCount * bytes);
}

template <class T>
inline void DataCopy(const LocalTensor<T> &target, const GlobalTensor<T> &source, uint32_t count,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
    sk_host_require_whole_blocks(bytes, site);
    uint8_t *local = sk_host_local_range(target, bytes, "DataCopy", site);
    __builtin_memmove(local, source.SkHostRange(bytes, site), bytes);
    sk_rt_work(PIPE_MTE2, bytes);
}

// Local to GM.
template <class T>
inline void DataCopy(const GlobalTensor<T> &target, const LocalTensor<T> &source, const DataCopyParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t bytes = params.blockLen * sk_host::BLOCK_BYTES;
    const uint64_t targetStep = bytes + params.dstStride * sk_host::BLOCK_BYTES;
    const uint64_t sourceStep = bytes + params.srcStride * sk_host::BLOCK_BYTES;
    const uint8_t *local =
        sk_host_local_range(source, sk_host::Span(params.blockCount, bytes, sourceStep), "DataCopy", site);
    T *global = target.SkHostRange(sk_host::Span(params.blockCount, bytes, targetStep), site);
    for (uint32_t block = 0; block < params.blockCount; ++block) {
        sk_host_store(reinterpret_cast<T *>(reinterpret_cast<uint8_t *>(global) + block * targetStep),
                      local + block * sourceStep, bytes);
    }
    sk_rt_work(PIPE_MTE3, params.blockCount * bytes);
}

template <class T>
inline void DataCopy(const GlobalTensor<T> &target, const LocalTensor<T> &source, uint32_t count,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
    sk_host_require_whole_blocks(bytes, site);
    const uint8_t *local = sk_host_local_range(source, bytes, "DataCopy", site);
    sk_host_store(target.SkHostRange(bytes, site), local, bytes);
    sk_rt_work(PIPE_MTE3, bytes);
}

// Local to local.
template <class T>
inline void DataCopy(const LocalTensor<T> &target, const LocalTensor<T> &source, uint32_t count,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
    sk_host_require_whole_blocks(bytes, site);
    __builtin_memmove(sk_host_local_range(target, bytes, "DataCopy", site),
                      sk_host_local_range(source, bytes, "DataCopy", site), bytes);
    sk_rt_work(PIPE_V, bytes);
}

// Row by row, each row at a multiple of 32 bytes in local memory, with optional padding elements left and right.
template <class T>
inline void sk_host_copy_pad_in(const LocalTensor<T> &target, const GlobalTensor<T> &source, uint32_t rows,
                                uint32_t length, uint64_t sourceGap, uint64_t targetGap, bool pad, uint32_t left,
                                uint32_t right, T value, sk_host::Site site) {
    if ((left + right) * sizeof(T) > sk_host::BLOCK_BYTES) {
        sk_host::Violation(site, "DataCopyPad: more than 32 bytes of padding");
    }
    const uint64_t before = pad ? left * sizeof(T) : 0;
    const uint64_t after = pad ? right * sizeof(T) : 0;
    const uint64_t row = sk_host::RoundUp(before + length + after, sk_host::BLOCK_BYTES);
    const uint64_t targetStep = row + targetGap * sk_host::BLOCK_BYTES;
    const uint64_t sourceStep = length + sourceGap;
    uint8_t *local = sk_host_local_range(target, sk_host::Span(rows, row, targetStep), "DataCopyPad", site);
    const uint8_t *global =
        reinterpret_cast<const uint8_t *>(source.SkHostRange(sk_host::Span(rows, length, sourceStep), site));
    for (uint32_t at = 0; at < rows; ++at) {
        uint8_t *line = local + at * targetStep;
        __builtin_memmove(line + before, global + at * sourceStep, length);
        if (pad) {
            for (uint32_t i = 0; i < left; ++i) {
                __builtin_memcpy(line + i * sizeof(T), &value, sizeof(T));
            }
            for (uint64_t byte = before + length; byte + sizeof(T) <= row; byte += sizeof(T)) {
                __builtin_memcpy(line + byte, &value, sizeof(T));
            }
        }
    }
    sk_rt_work(PIPE_MTE2, static_cast<uint64_t>(rows) * length);
}

template <class T>
inline void sk_host_copy_pad_out(const GlobalTensor<T> &target, const LocalTensor<T> &source, uint32_t rows,
                                 uint32_t length, uint64_t sourceGap, uint64_t targetGap, sk_host::Site site) {
    const uint64_t row = sk_host::RoundUp(length, sk_host::BLOCK_BYTES);
    const uint64_t sourceStep = row + sourceGap * sk_host::BLOCK_BYTES;
    const uint64_t targetStep = length + targetGap;
    const uint8_t *local = sk_host_local_range(source, sk_host::Span(rows, length, sourceStep), "DataCopyPad", site);
    uint8_t *global = reinterpret_cast<uint8_t *>(target.SkHostRange(sk_host::Span(rows, length, targetStep), site));
    for (uint32_t at = 0; at < rows; ++at) {
        sk_host_store(reinterpret_cast<T *>(global + at * targetStep), local + at * sourceStep, length);
    }
    sk_rt_work(PIPE_MTE3, static_cast<uint64_t>(rows) * length);
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
