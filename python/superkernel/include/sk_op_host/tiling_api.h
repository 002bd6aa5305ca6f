// Tiling of the larger parts of AscendC: how much room they need and in which pieces they work. The numbers are what their
// kernel side expects. What is declared and not defined is missed where it is called.
#ifndef SK_OP_HOST_TILING_API_H
#define SK_OP_HOST_TILING_API_H

#include "half.h"
#include "matmul_tiling.h"
#include "util.h"

// As kernels call it; host code takes its size.
using half = Ops::Base::fp16_t;

namespace ge {

// A shape of any length, as calls about tiling take it.
class Shape {
  public:
    Shape() = default;
    explicit Shape(const std::vector<int64_t> &dims) : dims_(dims) {}
    size_t GetDimNum() const { return dims_.size(); }
    int64_t GetDim(size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
    graphStatus SetDim(size_t index, int64_t value) {
        if (index >= dims_.size()) {
            return GRAPH_FAILED;
        }
        dims_[index] = value;
        return GRAPH_SUCCESS;
    }
    std::vector<int64_t> GetDims() const { return dims_; }
    int64_t GetShapeSize() const {
        return dims_.empty() ? 0 : std::accumulate(dims_.begin(), dims_.end(), int64_t(1), std::multiplies<int64_t>());
    }

  private:
    std::vector<int64_t> dims_;
};

} // namespace ge

namespace AscendC {

// Sides of a fractal, bytes of a block.
constexpr uint32_t BLOCK_CUBE = 16;
constexpr uint32_t ONE_BLK_SIZE = 32;

using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

// Rows and length of a row.
inline std::pair<uint32_t, uint32_t> SkRows(const TensorShape &shape) {
    const auto length = uint32_t(shape.GetDims().empty() ? 0 : shape.GetDims().back());
    return {length == 0 ? 0 : uint32_t(shape.GetShapeSize()) / length, length};
}

// Elements of a block, and those that a vector instruction works on.
constexpr uint32_t SkBlockOf(uint32_t type_size) { return 32 / type_size; }
constexpr uint32_t SkRepeat = 64;

// Whole groups of 8 rows that divide all rows, where rows are whole repeats; no more than 255 repeats at once.
inline uint32_t SkWholeGroups(uint32_t base, uint32_t rows, uint32_t length) {
    if (base > 8 && rows % 8 == 0 && length % SkRepeat == 0) {
        base = base / 8 * 8;
        while (rows % base != 0) {
            base -= 8;
        }
        while (base * length >= SkRepeat * 256) {
            base /= 2;
        }
    }
    return base;
}

// Pieces of `base` rows, with results of `block` elements per row.
inline void SkSoftMaxPiecesOf(const TensorShape &shape, uint32_t block, uint32_t base, optiling::SoftMaxTiling &tiling) {
    const auto [rows, length] = SkRows(shape);
    const uint32_t tail = base == 0 ? 0 : rows % base;
    tiling.set_srcM(rows);
    tiling.set_srcK(length);
    tiling.set_srcSize(rows * length);
    tiling.set_outMaxM(rows);
    tiling.set_outMaxK(block);
    tiling.set_outMaxSize(rows * block);
    tiling.set_splitM(base);
    tiling.set_splitK(length);
    tiling.set_splitSize(base * length);
    tiling.set_reduceM(base);
    tiling.set_reduceK(block);
    tiling.set_reduceSize(base * block);
    tiling.set_rangeM(base == 0 ? 0 : rows / base);
    tiling.set_tailM(tail);
    tiling.set_tailSplitSize(tail * length);
    tiling.set_tailReduceSize(tail * block);
}

// Pieces of a softmax whose rows need `per_row` floats of the room each.
inline void SkSoftMaxPieces(const TensorShape &shape, uint32_t type_size, uint32_t room, uint32_t per_row,
                            optiling::SoftMaxTiling &tiling) {
    const auto [rows, length] = SkRows(shape);
    uint32_t base = std::min(room / 4 / per_row, rows);
    if (base < rows && base > 8) {
        base = base / 8 * 8;
    }
    SkSoftMaxPiecesOf(shape, SkBlockOf(type_size), SkWholeGroups(base, rows, length), tiling);
}

// Floats per row of what each form keeps beside its input.
inline uint32_t SkSoftMaxRow(const TensorShape &shape, uint32_t type_size) {
    return SkBlockOf(type_size) + SkRows(shape).second + SkRepeat;
}
inline uint32_t SkSoftMaxFlashRow(const TensorShape &shape, uint32_t type_size, bool update) {
    return update ? SkBlockOf(type_size) * 4 + SkRows(shape).second * 2 : SkSoftMaxRow(shape, type_size);
}
inline uint32_t SkSoftMaxGradRow(const TensorShape &shape, uint32_t type_size, bool front) {
    const uint32_t length = SkRows(shape).second;
    const uint32_t block = SkBlockOf(type_size);
    if (type_size == 2) {
        return block * 2 + length * 3 + SkRepeat;
    }
    return front ? block + length + SkRepeat : block * 2 + length + SkRepeat;
}

inline uint32_t GetSoftMaxMaxTmpSize(const TensorShape &shape, uint32_t type_size, bool) {
    return SkRows(shape).first * SkSoftMaxRow(shape, type_size) * 4;
}
inline uint32_t GetSoftMaxMinTmpSize(const TensorShape &shape, uint32_t type_size, bool) {
    return SkSoftMaxRow(shape, type_size) * 4;
}
inline void SoftMaxTilingFunc(const TensorShape &shape, uint32_t type_size, uint32_t room,
                              optiling::SoftMaxTiling &tiling) {
    SkSoftMaxPieces(shape, type_size, room, SkSoftMaxRow(shape, type_size), tiling);
}
inline uint32_t GetSoftMaxFlashMaxTmpSize(const TensorShape &shape, uint32_t type_size, bool update, bool) {
    return SkRows(shape).first * SkSoftMaxFlashRow(shape, type_size, update) * 4;
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const TensorShape &shape, uint32_t type_size, bool update, bool) {
    return SkSoftMaxFlashRow(shape, type_size, update) * 4;
}
inline void SoftMaxFlashTilingFunc(const TensorShape &shape, uint32_t type_size, uint32_t room,
                                   optiling::SoftMaxTiling &tiling, bool update = false) {
    SkSoftMaxPieces(shape, type_size, room, SkSoftMaxFlashRow(shape, type_size, update), tiling);
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const TensorShape &shape, uint32_t type_size, bool front, bool) {
    return SkRows(shape).first * SkSoftMaxGradRow(shape, type_size, front) * 4;
}
inline uint32_t GetSoftMaxGradMinTmpSize(const TensorShape &shape, uint32_t type_size, bool front, bool) {
    return SkSoftMaxGradRow(shape, type_size, front) * 4;
}
inline void SoftMaxGradTilingFunc(const TensorShape &shape, uint32_t type_size, uint32_t room,
                                  optiling::SoftMaxTiling &tiling, bool front = false) {
    SkSoftMaxPieces(shape, type_size, room, SkSoftMaxGradRow(shape, type_size, front), tiling);
}

// The second form: results have a type of their own, and rows of whole repeats in whole groups need less.
struct SkSoftMaxFlashV2 {
    uint32_t rows;
    uint32_t length;
    // Elements of a block of results.
    uint32_t block;
    bool is_half;

    SkSoftMaxFlashV2(const TensorShape &shape, uint32_t input_size, uint32_t result_size)
        : rows(SkRows(shape).first), length(SkRows(shape).second), block(SkBlockOf(result_size)),
          is_half(input_size == 2) {}
    // Floats per row of what it keeps beside its input.
    uint32_t Row(bool grouped) const {
        const uint32_t beside = grouped && length == 1024 ? SkRepeat * 2 : SkRepeat;
        return block * (is_half && !grouped ? 2 : 1) + (is_half ? length : 0) + beside;
    }
    bool HasRepeats(bool basic) const { return basic && length % SkRepeat == 0; }
    bool IsGrouped(bool basic) const { return HasRepeats(basic) && rows % 8 == 0; }
};
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const TensorShape &shape, uint32_t input_size, uint32_t result_size, bool,
                                            bool basic = false, bool = false) {
    const SkSoftMaxFlashV2 form(shape, input_size, result_size);
    uint32_t rows = form.rows;
    while (form.IsGrouped(basic) && rows * form.length >= SkRepeat * 256) {
        rows /= 2;
    }
    return rows * form.Row(form.IsGrouped(basic)) * 4;
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const TensorShape &shape, uint32_t input_size, uint32_t result_size, bool,
                                            bool basic = false, bool broadcast = false) {
    const SkSoftMaxFlashV2 form(shape, input_size, result_size);
    const bool grouped = form.HasRepeats(basic);
    const uint32_t rows = broadcast ? std::min(SkBlockOf(input_size), form.rows) : grouped ? 8 : 1;
    return rows * form.Row(grouped) * 4;
}
inline void SoftMaxFlashV2TilingFunc(const TensorShape &shape, uint32_t input_size, uint32_t result_size, uint32_t room,
                                     optiling::SoftMaxTiling &tiling, bool, bool basic = false,
                                     bool broadcast = false) {
    const SkSoftMaxFlashV2 form(shape, input_size, result_size);
    const bool grouped = form.IsGrouped(basic);
    uint32_t base = std::min(room / 4 / form.Row(grouped), form.rows);
    base = grouped ? SkWholeGroups(base, form.rows, form.length) : base;
    const uint32_t group = broadcast && form.is_half ? 16 : 8;
    if (base < form.rows && base > group) {
        base = base / group * group;
    }
    SkSoftMaxPiecesOf(shape, form.block, base, tiling);
}

// A pair of a value and its index has 8 bytes.
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC &, uint32_t count, uint32_t) { return count * 8; }
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC &, uint32_t, uint32_t) { return 0; }
inline uint32_t GetSortOffset(const platform_ascendc::PlatformAscendC &, uint32_t count, uint32_t size) {
    return count * 8 / size;
}
inline uint32_t GetSortLen(const platform_ascendc::PlatformAscendC &, uint32_t count, uint32_t size) {
    return count * 8 / size;
}

enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC &platform, int32_t inner, int32_t outer, int32_t k,
                    uint32_t type_size, bool has_index, TopKMode mode, bool largest, optiling::TopkTiling &tiling);
// Two lists of pairs of a row; indices where none are given; for many short rows the values negated and a mask.
inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, int32_t inner, int32_t outer, bool,
                                 bool has_index, TopKMode mode, bool largest, uint32_t, uint32_t &most,
                                 uint32_t &least) {
    const auto row = uint32_t(inner);
    const auto all = uint32_t(inner) * uint32_t(outer);
    if (mode == TopKMode::TOPK_NORMAL) {
        most = row * 16 + (has_index ? 0 : row * 4);
    } else {
        most = all * 8 + 64 + (largest ? 0 : all * 4) + (has_index ? 0 : all * 4);
    }
    least = most;
    return true;
}

// At least one repeat.
inline void GetSigmoidMaxMinTmpSize(const TensorShape &shape, uint32_t type_size, bool, uint32_t &most, uint32_t &least) {
    least = 256;
    most = std::max(uint32_t(shape.GetShapeSize()) * type_size, least);
}

// Halves need no room. Floats of 64 columns and two scales at a time where every channel has a scale, 80 rows of scales
// where it stands the other way round; else all of it at once, or as little as 1 KB.
inline void GetAscendAntiQuantMaxMinTmpSize(const TensorShape &shape, const TensorShape &scales, bool transposed,
                                            TensorDataType, TensorDataType result, uint32_t &most, uint32_t &least) {
    const auto channels = uint32_t(scales.GetShapeSize());
    most = least = 0;
    if (result == ge::DT_FLOAT16) {
        return;
    }
    if (channels == 1) {
        most = uint32_t(shape.GetShapeSize()) * 4;
        least = 1024;
    } else {
        most = least = transposed ? 80 * channels * 4 : (channels * 2 + 64 * uint32_t(shape.GetDim(0))) * 4;
    }
}

// Which of the axes are reduced (R), from outside.
enum class ReducePattern : uint32_t { AR = 0, RA = 1 };

// Declared, so that files in which other functions call them can be used.
#define SK_OP_HOST_MISSING(name) template <class... Values> uint32_t name(Values &&...)
SK_OP_HOST_MISSING(GetReduceSumMaxMinTmpSize);
SK_OP_HOST_MISSING(GetReduceMeanMaxMinTmpSize);
SK_OP_HOST_MISSING(GetReduceMaxMaxMinTmpSize);
SK_OP_HOST_MISSING(GetLayerNormMaxMinTmpSize);
SK_OP_HOST_MISSING(GetNormalizeMaxMinTmpSize);
SK_OP_HOST_MISSING(GetWelfordUpdateMaxMinTmpSize);
SK_OP_HOST_MISSING(GetWelfordFinalizeMaxMinTmpSize);
SK_OP_HOST_MISSING(GetBroadCastMaxMinTmpSize);
SK_OP_HOST_MISSING(GetPowerMaxMinTmpSize);
SK_OP_HOST_MISSING(GetPowerTmpBufferFactorSize);
SK_OP_HOST_MISSING(GetFmodTmpBufferFactorSize);
SK_OP_HOST_MISSING(GetTanhMaxMinTmpSize);
SK_OP_HOST_MISSING(GetSignMaxMinTmpSize);
SK_OP_HOST_MISSING(GetLogMaxMinTmpSize);
SK_OP_HOST_MISSING(GetExpMaxMinTmpSize);
SK_OP_HOST_MISSING(GetErfMaxMinTmpSize);
SK_OP_HOST_MISSING(GetSwiGLUMaxMinTmpSize);
SK_OP_HOST_MISSING(GetGeluMaxMinTmpSize);
SK_OP_HOST_MISSING(GetAscendQuantMaxMinTmpSize);
SK_OP_HOST_MISSING(GetAscendDequantMaxMinTmpSize);
SK_OP_HOST_MISSING(GetSelectWithBytesMaskMaxMinTmpSize);
SK_OP_HOST_MISSING(GetSelectWithBytesMaskMinTmpSize);
SK_OP_HOST_MISSING(GetSelectWithBytesMaskMaxTmpSize);
SK_OP_HOST_MISSING(GetDropOutMaxTmpSize);
SK_OP_HOST_MISSING(GetDropOutMinTmpSize);
SK_OP_HOST_MISSING(GetSortMaxMinTmpSize);
SK_OP_HOST_MISSING(LayerNormSeparateTilingFunc);
SK_OP_HOST_MISSING(GetLayerNormNDTilingInfo);
SK_OP_HOST_MISSING(GetRmsNormTilingInfo);
SK_OP_HOST_MISSING(GetConfusionTransposeTilingInfo);

} // namespace AscendC

#endif
