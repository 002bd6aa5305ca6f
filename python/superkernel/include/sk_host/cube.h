// The cube unit: what fills L0A, L0B and L1 for it, and the multiplication. Every call is one instruction of the core,
// which knows what it may touch; here only memories are told apart.
#ifndef SK_HOST_CUBE_H
#define SK_HOST_CUBE_H

namespace AscendC {
namespace {

inline void sk_host_require_cube_core(const char *call, sk_host::Site site) {
    if (sk_rt_core()->kind != AIC) {
        sk_host::Violation(site, "%s: cube instructions exist on AIC cores only", call);
    }
}

// The address of an operand of so many bytes, which must be in the memory that the instruction works on.
template <class T>
inline T *sk_host_cube_operand(const LocalTensor<T> &tensor, const sk_host::Memory &memory, const char *operand,
                               const char *call, sk_host::Site site, uint64_t bytes = 0) {
    sk_host_require_cube_core(call, site);
    if (!sk_host_is_in(tensor.GetPosition(), memory, site)) {
        sk_host::Violation(site, "%s: %s must be in %s, it is at position %s", call, operand, memory.name,
                           sk_host_position_name(tensor.GetPosition()));
    }
    return reinterpret_cast<T *>(sk_host_local_range(tensor, bytes, call, site));
}

// Bytes up to the end of the last of `count` fractals, `step` of them from one to the next.
inline uint64_t sk_host_fractals(uint64_t first, uint64_t count, uint64_t step) {
    return count == 0 ? 0 : (first + (count - 1) * step + 1) * 512;
}

[[noreturn]] inline void sk_host_no_load(const char *call, TPosition to, sk_host::Site site) {
    sk_host::Violation(site, "%s: the chip has no such load to position %s", call, sk_host_position_name(to));
}

// -- Loads -------------------------------------------------------------------------------------------------------------

template <class T>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    const uint64_t taken = sk_host_fractals(params.startIndex, params.repeatTimes, params.srcStride);
    const uint64_t filled = sk_host_fractals(0, params.repeatTimes, uint64_t{params.dstGap} + 1);
    T *in = sk_host_cube_operand(src, sk_host::L1(), "the source", "LoadData", site, taken);
    const sk_core::Source line = sk_host_source(site);
    if (sk_host_is_in(dst.GetPosition(), sk_host::L0A(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0A(), "the target", "LoadData", site, filled);
        load_cbuf_to_ca(out, in, params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.sid,
                        params.ifTranspose, 0, line);
    } else if (sk_host_is_in(dst.GetPosition(), sk_host::L0B(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0B(), "the target", "LoadData", site, filled);
        load_cbuf_to_cb(out, in, params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.sid,
                        params.ifTranspose, 0, line);
    } else {
        sk_host_no_load("LoadData", dst.GetPosition(), site);
    }
}

template <class T>
inline void LoadData(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const LoadData2DParams &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    T *in = src.SkHostRange(0, site);
    const sk_core::Source line = sk_host_source(site);
    if (sk_host_is_in(dst.GetPosition(), sk_host::L0A(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0A(), "the target", "LoadData", site);
        load_gm_to_ca(out, in, params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.sid, 0,
                      line);
    } else if (sk_host_is_in(dst.GetPosition(), sk_host::L0B(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0B(), "the target", "LoadData", site);
        load_gm_to_cb(out, in, params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.sid, 0,
                      line);
    } else {
        T *out = sk_host_cube_operand(dst, sk_host::L1(), "the target", "LoadData", site);
        load_gm_to_cbuf(out, in, params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.sid,
                        params.addrMode, line);
    }
}

template <class T>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &, const LoadData2DParamsV2 &,
                     sk_host::Site site = sk_host::Site::Here()) {
    sk_host_no_load("LoadData with LoadData2DParamsV2", dst.GetPosition(), site);
}

template <class T>
inline void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                  const LoadData2dTransposeParams &params, sk_host::Site site = sk_host::Site::Here()) {
    const char *call = "LoadDataWithTranspose";
    T *in = sk_host_cube_operand(src, sk_host::L1(), "the source", call, site);
    const sk_core::Source line = sk_host_source(site);
    if (sk_host_is_in(dst.GetPosition(), sk_host::L0A(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0A(), "the target", call, site);
        load_cbuf_to_ca_transpose(out, in, params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, 0,
                                  params.dstFracGap, line);
    } else if (sk_host_is_in(dst.GetPosition(), sk_host::L0B(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0B(), "the target", call, site);
        load_cbuf_to_cb_transpose(out, in, params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, 0,
                                  params.dstFracGap, line);
    } else {
        sk_host_no_load(call, dst.GetPosition(), site);
    }
}

// -- Pictures ----------------------------------------------------------------------------------------------------------

inline void SetFmatrix(uint16_t height, uint16_t width, const uint8_t padList[PAD_SIZE], const FmatrixMode &mode) {
    uint64_t word = static_cast<uint64_t>(width) | static_cast<uint64_t>(height) << 16;
    for (int32_t side = 0; side < PAD_SIZE; ++side) {
        word |= static_cast<uint64_t>(padList[side]) << (32 + 8 * side);
    }
    if (mode == FmatrixMode::FMATRIX_LEFT) {
        set_fmatrix(word);
    } else {
        set_fmatrix_b(word);
    }
}

// Elements of one byte are there twice.
template <class T> inline void SetLoadDataPaddingValue(const T value) {
    if constexpr (sizeof(T) == 1) {
        const uint16_t byte = static_cast<uint8_t>(sk_core::Word(value));
        set_padding(static_cast<uint16_t>(byte | byte << 8));
    } else {
        set_padding(value);
    }
}

inline void SetLoadDataBoundary(uint32_t bytes) { set_l1_3d_size(bytes); }
inline void SetLoadDataRepeat(const LoadDataRepeatParam &params) {
    set_l3d_rpt(static_cast<uint64_t>(params.repeatStride) | static_cast<uint64_t>(params.repeatTime) << 16 |
                static_cast<uint64_t>(params.repeatMode) << 24);
}

template <class T>
inline void sk_host_load_picture(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                 const LoadData3DParamsV2Pro &params, sk_host::Site site) {
    T *in = sk_host_cube_operand(src, sk_host::L1(), "the source", "LoadData", site);
    const uint64_t extent = params.extConfig, filter = params.filterConfig;
    const sk_core::Source line = sk_host_source(site);
    if (sk_host_is_in(dst.GetPosition(), sk_host::L0A(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0A(), "the target", "LoadData", site);
        img2colv2_cbuf_to_ca(out, in, extent, extent >> 16, extent >> 32, extent >> 48, filter, filter >> 8,
                             filter >> 16, filter >> 24, filter >> 32, filter >> 40, params.filterSizeW,
                             params.filterSizeH, params.enTranspose, params.fMatrixCtrl, params.channelSize, line);
    } else if (sk_host_is_in(dst.GetPosition(), sk_host::L0B(), site)) {
        T *out = sk_host_cube_operand(dst, sk_host::L0B(), "the target", "LoadData", site);
        img2colv2_cbuf_to_cb(out, in, extent, extent >> 16, extent >> 32, extent >> 48, filter, filter >> 8,
                             filter >> 16, filter >> 24, filter >> 32, filter >> 40, params.filterSizeW,
                             params.filterSizeH, params.enTranspose, params.fMatrixCtrl, params.channelSize, line);
    } else {
        sk_host_no_load("LoadData", dst.GetPosition(), site);
    }
}

template <class T>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2Pro &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    sk_host_load_picture(dst, src, params, site);
}

template <class T, const IsResetLoad3dConfig &config = IS_RESER_LOAD3D_DEFAULT_CONFIG>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2<T> &params,
                     sk_host::Site site = sk_host::Site::Here()) {
    if constexpr (config.isSetFMatrix) {
        SetFmatrix(params.l1H, params.l1W, params.padList,
                   params.fMatrixCtrl ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT);
    }
    if constexpr (config.isSetPadding) {
        SetLoadDataPaddingValue(params.padValue);
    }
    const uint64_t extent = static_cast<uint64_t>(params.kExtension) | static_cast<uint64_t>(params.mExtension) << 16 |
                            static_cast<uint64_t>(params.kStartPt) << 32 |
                            static_cast<uint64_t>(params.mStartPt) << 48;
    const uint8_t sides[] = {params.strideW, params.strideH,         params.filterW,
                             params.filterH, params.dilationFilterW, params.dilationFilterH};
    uint64_t filter = 0;
    for (uint32_t side = 0; side < 6; ++side) {
        filter |= static_cast<uint64_t>(sides[side]) << (8 * side);
    }
    sk_host_load_picture(dst, src,
                         LoadData3DParamsV2Pro(params.channelSize, params.enTranspose, params.enSmallK,
                                               params.filterSizeW, params.filterSizeH, params.fMatrixCtrl, extent,
                                               filter),
                         site);
}

// -- Fills -------------------------------------------------------------------------------------------------------------

template <class T>
inline void Fill(const LocalTensor<T> &dst, const InitConstValueParams<T> &params,
                 sk_host::Site site = sk_host::Site::Here()) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Fill: the chip has no form for this element type");
    const uint64_t config = static_cast<uint64_t>(params.repeatTimes) | static_cast<uint64_t>(params.blockNum) << 16 |
                            static_cast<uint64_t>(params.dstGap) << 32;
    const sk_core::Source line = sk_host_source(site);
    if (sk_host_is_in(dst.GetPosition(), sk_host::L0A(), site)) {
        create_ca_matrix(sk_host_cube_operand(dst, sk_host::L0A(), "the target", "Fill", site), config,
                         params.initValue, line);
    } else if (sk_host_is_in(dst.GetPosition(), sk_host::L0B(), site)) {
        create_cb_matrix(sk_host_cube_operand(dst, sk_host::L0B(), "the target", "Fill", site), config,
                         params.initValue, line);
    } else {
        create_cbuf_matrix(sk_host_cube_operand(dst, sk_host::L1(), "the target", "Fill", site), config,
                           params.initValue, line);
    }
}
template <class T>
inline void InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<T> &params,
                           sk_host::Site site = sk_host::Site::Here()) {
    Fill(dst, params, site);
}

// -- Multiplication ----------------------------------------------------------------------------------------------------

template <class C, class A, class B>
inline void Mmad(const LocalTensor<C> &dst, const LocalTensor<A> &left, const LocalTensor<B> &right,
                 const MmadParams &params, sk_host::Site site = sk_host::Site::Here()) {
    C *c = sk_host_cube_operand(dst, sk_host::L0C(), "the result", "Mmad", site);
    A *a = sk_host_cube_operand(left, sk_host::L0A(), "the left matrix", "Mmad", site);
    B *b = sk_host_cube_operand(right, sk_host::L0B(), "the right matrix", "Mmad", site);
    mad(c, a, b, params.m, params.k, params.n, params.unitFlag, params.kDirectionAlign, params.cmatrixSource,
        params.cmatrixInitVal && !params.isBias, sk_host_source(site));
}

// The bias is a row in the bias table, or a matrix in L0C.
template <class C, class A, class B, class V>
inline void Mmad(const LocalTensor<C> &dst, const LocalTensor<A> &left, const LocalTensor<B> &right,
                 const LocalTensor<V> &bias, const MmadParams &params, sk_host::Site site = sk_host::Site::Here()) {
    C *c = sk_host_cube_operand(dst, sk_host::L0C(), "the result", "Mmad", site);
    A *a = sk_host_cube_operand(left, sk_host::L0A(), "the left matrix", "Mmad", site);
    B *b = sk_host_cube_operand(right, sk_host::L0B(), "the right matrix", "Mmad", site);
    const bool isRow = sk_host_is_in(bias.GetPosition(), sk_host::BiasTable(), site);
    V *start = sk_host_cube_operand(bias, isRow ? sk_host::BiasTable() : sk_host::L0C(), "the bias", "Mmad", site);
    mad(c, a, b, reinterpret_cast<uintptr_t>(start), params.m, params.k, params.n, params.unitFlag,
        params.kDirectionAlign, isRow, params.cmatrixInitVal, sk_host_source(site));
}

// Of every four elements of the right matrix along K two are there; `indices` in L1 tells which.
template <class T, class U>
inline void LoadDataWithSparse(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<U> &indices,
                               const LoadData2DParams &params, sk_host::Site site = sk_host::Site::Here()) {
    const char *call = "LoadDataWithSparse";
    T *out = sk_host_cube_operand(dst, sk_host::L0B(), "the target", call, site);
    T *in = sk_host_cube_operand(src, sk_host::L1(), "the source", call, site);
    U *index = sk_host_cube_operand(indices, sk_host::L1(), "the index matrix", call, site);
    sk_rt_set_register(SK_REGISTER_INDEX_MATRIX, reinterpret_cast<uintptr_t>(index));
    load_cbuf_to_cb_sp(out, in, params.startIndex, params.repeatTimes, sk_host_source(site));
}
template <class C, class A, class B>
inline void MmadWithSparse(const LocalTensor<C> &dst, const LocalTensor<A> &left, const LocalTensor<B> &right,
                           const MmadParams &params, sk_host::Site site = sk_host::Site::Here()) {
    C *c = sk_host_cube_operand(dst, sk_host::L0C(), "the result", "MmadWithSparse", site);
    A *a = sk_host_cube_operand(left, sk_host::L0A(), "the left matrix", "MmadWithSparse", site);
    B *b = sk_host_cube_operand(right, sk_host::L0B(), "the right matrix", "MmadWithSparse", site);
    mad_sp(c, a, b, params.m, params.k, params.n, params.unitFlag, params.cmatrixSource, params.cmatrixInitVal,
           sk_host_source(site));
}

// Bits of the control register: single precision with fewer bits, how it is rounded then, the order of results.
inline void sk_host_set_control(int64_t bit, bool on) {
    const uint64_t word = static_cast<uint64_t>(get_ctrl());
    set_ctrl(on ? sbitset1(word, bit) : sbitset0(word, bit));
}
inline void SetHF32Mode(bool on) { sk_host_set_control(46, on); }
inline void SetHF32Mode(HF32Mode mode) { SetHF32Mode(mode == HF32Mode::ENABLE); }
inline void SetHF32TransMode(bool tiesTowardZero) { sk_host_set_control(47, tiesTowardZero); }
inline void SetHF32TransMode(HF32TransMode mode) { SetHF32TransMode(mode == HF32TransMode::NEAREST_ZERO); }
inline void SetMMLayoutTransform(bool alongRows) { sk_host_set_control(51, alongRows); }
inline void SetMMRowMajor() { SetMMLayoutTransform(true); }
inline void SetMMColumnMajor() { SetMMLayoutTransform(false); }

} // namespace
} // namespace AscendC

#endif
