// The way out of L0C, to GM or to L1: conversion, relu, layout.
#ifndef SK_HOST_FIXPIPE_H
#define SK_HOST_FIXPIPE_H

namespace AscendC {
namespace {

// The word of a register that all columns share, or none.
constexpr bool sk_host_has_scale(QuantMode_t mode) {
    return mode == QuantMode_t::DEQF16 || mode == QuantMode_t::REQ8 || mode == QuantMode_t::QF322B8_PRE;
}
// A word for every column.
constexpr bool sk_host_has_table(QuantMode_t mode) {
    return mode == QuantMode_t::VDEQF16 || mode == QuantMode_t::VREQ8 || mode == QuantMode_t::VQF322B8_PRE;
}
// Bytes of a result; 0 for conversions that the chip does not have.
constexpr uint64_t sk_host_result_bytes(QuantMode_t mode) {
    switch (mode) {
    case QuantMode_t::NoQuant:
        return 4;
    case QuantMode_t::F322F16:
    case QuantMode_t::F322BF16:
    case QuantMode_t::DEQF16:
    case QuantMode_t::VDEQF16:
        return 2;
    case QuantMode_t::REQ8:
    case QuantMode_t::VREQ8:
    case QuantMode_t::QF322B8_PRE:
    case QuantMode_t::VQF322B8_PRE:
        return 1;
    default:
        return 0;
    }
}

template <class T> inline void sk_host_require_result(QuantMode_t mode, const char *call, sk_host::Site site) {
    const uint64_t bytes = sk_host_result_bytes(mode);
    if (bytes != 0 && bytes != sizeof(T)) {
        sk_host::Violation(site, "%s: the conversion gives elements of %llu bytes, the target has elements of %u", call,
                           (unsigned long long)bytes, (unsigned)sizeof(T));
    }
}

inline void SetFixpipePreQuantFlag(uint64_t word) { set_quant_pre(word); }
inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride) {
    sk_rt_set_register(SK_REGISTER_ND_PARA, static_cast<uint64_t>(ndNum) | static_cast<uint64_t>(srcNdStride) << 16 |
                                                static_cast<uint64_t>(dstNdStride) << 32);
}

// Where in FB the words of the columns are. Unit flags can be cleared on the way, with any tensor.
template <class T> inline uint64_t sk_host_table_word(const LocalTensor<T> &table) {
    const uint8_t *start = reinterpret_cast<const uint8_t *>(table.SkHostData());
    const sk_host::Memory buffer = sk_host::FixpipeBuffer();
    const bool isInside = start >= buffer.base && start < buffer.base + buffer.size;
    return isInside ? static_cast<uint64_t>(start - buffer.base) / 128 << 8 : 0;
}
template <class T, bool setRelu = false> inline void SetFixPipeConfig(const LocalTensor<T> &table, bool clears = false) {
    // This chip has no table for relu.
    set_fpc((setRelu ? 0 : sk_host_table_word(table)) | static_cast<uint64_t>(clears) << 63);
}
template <class T>
inline void SetFixPipeConfig(const LocalTensor<T> &, const LocalTensor<T> &table, bool clears = false) {
    set_fpc(sk_host_table_word(table) | static_cast<uint64_t>(clears) << 63);
}

// The last byte, counted from the start, that results take.
template <class T>
inline uint64_t sk_host_result_extent(uint64_t columns, uint64_t rows, uint64_t stride, uint64_t matrices,
                                      uint64_t matrixStride, bool byRows, bool splits) {
    if (columns == 0 || rows == 0 || matrices == 0) {
        return 0;
    }
    if (byRows) {
        return ((matrices - 1) * matrixStride + (rows - 1) * stride + columns) * sizeof(T);
    }
    const uint64_t wide = splits ? 8 : sizeof(T) == 1 ? 32 : 16;
    const uint64_t last = (columns - 1) % wide + 1;
    return (columns - 1) / wide * stride * sk_host::BLOCK_BYTES + ((rows - 1) * wide + last) * sizeof(T);
}

// One move, all registers being set.
template <class T, class U>
inline void sk_host_copy_results(const GlobalTensor<T> &dst, U *in, const DataCopyCO12DstParams &params,
                                 sk_host::Site site) {
    const uint64_t word = sk_rt_get_register(SK_REGISTER_ND_PARA);
    const uint64_t extent = sk_host_result_extent<T>(params.nSize, params.mSize, params.dstStride, word & 0xffff,
                                                     word >> 32 & 0xffff, params.nz2ndEn, params.channelSplit);
    T *out = dst.SkHostRange(extent, site);
    copy_matrix_cc_to_gm(out, in, params.sid, params.nSize, params.mSize, params.dstStride, params.srcStride,
                         params.unitFlag, params.quantPre, params.reluPre, params.channelSplit, params.nz2ndEn,
                         sk_host_source(site));
}
template <class T, class U>
inline void sk_host_copy_results(const LocalTensor<T> &dst, U *in, const DataCopyCO12DstParams &params,
                                 sk_host::Site site) {
    T *out = sk_host_cube_operand(dst, sk_host::L1(), "the target", "Fixpipe", site);
    copy_matrix_cc_to_cbuf(out, in, params.sid, params.nSize, params.mSize, params.dstStride, params.srcStride,
                           params.unitFlag, params.quantPre, params.reluPre, params.channelSplit, params.nz2ndEn,
                           sk_host_source(site));
}

template <class T, class U>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_result<T>(params.quantPre, "DataCopy", site);
    sk_host_copy_results(dst, sk_host_cube_operand(src, sk_host::L0C(), "the source", "DataCopy", site), params, site);
}
template <class T, class U>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    sk_host_require_result<T>(params.quantPre, "DataCopy", site);
    sk_host_copy_results(dst, sk_host_cube_operand(src, sk_host::L0C(), "the source", "DataCopy", site), params, site);
}

// Target and source of a part of the columns.
template <class T>
inline GlobalTensor<T> sk_host_from_column(const GlobalTensor<T> &dst, uint64_t elements) {
    return dst[elements];
}
template <class T>
inline LocalTensor<T> sk_host_from_column(const LocalTensor<T> &dst, uint64_t elements) {
    return dst[static_cast<uint32_t>(elements)];
}

template <CO2Layout layout, class T, class Target, class U>
inline void sk_host_fixpipe(const Target &dst, const LocalTensor<U> &src, const uint64_t *table,
                            const FixpipeParamsV220 &params, sk_host::Site site) {
    static_assert(layout != CO2Layout::COLUMN_MAJOR, "Fixpipe: the chip cannot write column by column");
    constexpr bool byRows = layout == CO2Layout::ROW_MAJOR;
    U *in = sk_host_cube_operand(src, sk_host::L0C(), "the source", "Fixpipe", site);
    sk_host_require_result<T>(params.quantPre, "Fixpipe", site);
    if (byRows) {
        SetFixpipeNz2ndFlag(params.ndNum, params.srcNdStride, params.dstNdStride);
    }
    if (sk_host_has_scale(params.quantPre)) {
        set_quant_pre(params.deqScalar);
    }
    DataCopyCO12DstParams move(params.nSize, params.mSize, params.dstStride, params.srcStride, params.quantPre,
                               params.reluEn, params.isChannelSplit, byRows);
    move.unitFlag = params.unitFlag;
    if (!sk_host_has_table(params.quantPre)) {
        sk_host_copy_results(dst, in, move, site);
        return;
    }
    if (table == nullptr) {
        sk_host::Violation(site, "Fixpipe: this conversion has a word for every column; pass a tensor of them in L1");
    }
    // FB holds the words of so many columns.
    constexpr uint32_t COLUMNS = 256;
    uint8_t *words = sk_host::FixpipeBuffer().base;
    for (uint32_t first = 0; first < params.nSize; first += COLUMNS) {
        const uint32_t count = params.nSize - first < COLUMNS ? params.nSize - first : COLUMNS;
        // The words before are still being read.
        pipe_barrier(PIPE_FIX);
        copy_cbuf_to_fbuf(words, table + first, 1, sk_host::RoundUp(count * sizeof(uint64_t), 128) / 128, 0, 0,
                          sk_host_source(site));
        set_fpc(0);
        pipe_barrier(PIPE_FIX);
        move.nSize = static_cast<uint16_t>(count);
        const uint64_t blocks = byRows ? 0 : first / (sizeof(T) == 1 ? 32 : 16);
        const uint64_t behind = byRows ? first : blocks * params.dstStride * sk_host::BLOCK_BYTES / sizeof(T);
        sk_host_copy_results(sk_host_from_column(dst, behind), in + static_cast<uint64_t>(first) * params.srcStride,
                             move, site);
    }
}

template <class T> inline const uint64_t *sk_host_scales(const LocalTensor<T> &tensor, sk_host::Site site) {
    static_assert(sizeof(T) == 8, "Fixpipe: words of columns have 8 bytes");
    return reinterpret_cast<const uint64_t *>(
        sk_host_cube_operand(tensor, sk_host::L1(), "the tensor of words", "Fixpipe", site));
}

#define SK_HOST_FIXPIPE(Target)                                                                                        \
    template <class T, class U, const FixpipeConfig &config = CFG_ROW_MAJOR>                                           \
    inline void Fixpipe(const Target<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &params,              \
                        sk_host::Site site = sk_host::Site::Here()) {                                                  \
        sk_host_fixpipe<config.format, T>(dst, src, nullptr, params, site);                                            \
    }                                                                                                                  \
    template <class T, class U, const FixpipeConfig &config = CFG_ROW_MAJOR, class S = uint64_t>                       \
    inline void Fixpipe(const Target<T> &dst, const LocalTensor<U> &src, const LocalTensor<S> &scales,                 \
                        const FixpipeParamsV220 &params, sk_host::Site site = sk_host::Site::Here()) {                 \
        sk_host_fixpipe<config.format, T>(dst, src, sk_host_scales(scales, site), params, site);                       \
    }
SK_HOST_FIXPIPE(GlobalTensor)
SK_HOST_FIXPIPE(LocalTensor)
#undef SK_HOST_FIXPIPE

} // namespace
} // namespace AscendC

#endif
