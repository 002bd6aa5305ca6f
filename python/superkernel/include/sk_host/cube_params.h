// Parameters of the cube unit's calls. Names, and the order of values in braces, are those of AscendC.
#ifndef SK_HOST_CUBE_PARAMS_H
#define SK_HOST_CUBE_PARAMS_H

namespace AscendC {
namespace {

// Rows of a fractal, and the borders of a picture: left, right, top, bottom.
constexpr int32_t BLOCK_CUBE = 16;
constexpr int32_t PAD_SIZE = 4;

// Row-major matrices in GM to blocks of 32-byte columns in L1. Source strides in elements; the target's from block of
// columns to the next and from row to row in units of 32 bytes, from matrix to matrix in elements.
struct Nd2NzParams {
    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint16_t dstNzMatrixStride = 0;

    Nd2NzParams() = default;
    Nd2NzParams(uint16_t matrices, uint16_t rows, uint16_t columns, uint16_t sourceMatrix, uint16_t sourceRow,
                uint16_t targetBlock, uint16_t targetRow, uint16_t targetMatrix)
        : ndNum(matrices), nValue(rows), dValue(columns), srcNdMatrixStride(sourceMatrix), srcDValue(sourceRow),
          dstNzC0Stride(targetBlock), dstNzNStride(targetRow), dstNzMatrixStride(targetMatrix) {}
};

// Fractals of 512 bytes: which one first, how many, how far apart in the source, how far between in the target.
struct LoadData2DParams {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint8_t sid = 0;
    uint16_t dstGap = 0;
    bool ifTranspose = false;
    uint8_t addrMode = 0;

    LoadData2DParams() = default;
    LoadData2DParams(uint16_t start, uint8_t repeats, uint16_t sourceStride, uint8_t stream, uint16_t targetGap,
                     bool transpose, uint8_t downwards)
        : startIndex(start), repeatTimes(repeats), srcStride(sourceStride), sid(stream), dstGap(targetGap),
          ifTranspose(transpose), addrMode(downwards) {}
};
using LoadData2dParams = LoadData2DParams;

// A load of the other chip, so that code which can do without it here compiles.
struct LoadData2DParamsV2 {
    uint32_t mStartPosition = 0;
    uint32_t kStartPosition = 0;
    uint16_t mStep = 0;
    uint16_t kStep = 0;
    int32_t srcStride = 0;
    uint16_t dstStride = 0;
    bool ifTranspose = false;
    uint8_t sid = 0;
};

// Squares of fractals.
struct LoadData2dTransposeParams {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;

    LoadData2dTransposeParams() = default;
    LoadData2dTransposeParams(uint16_t start, uint8_t repeats, uint16_t sourceStride, uint16_t targetGap,
                              uint16_t targetFractalGap, uint8_t mode = 0)
        : startIndex(start), repeatTimes(repeats), srcStride(sourceStride), dstGap(targetGap),
          dstFracGap(targetFractalGap), addrMode(mode) {}
};

// A picture in L1 as the matrix that a convolution multiplies with.
template <class T> struct LoadData3DParamsV2 {
    uint8_t padList[PAD_SIZE] = {0, 0, 0, 0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = T(0);
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;

    LoadData3DParamsV2() = default;
    LoadData3DParamsV2(const uint8_t (&borders)[PAD_SIZE], uint16_t height, uint16_t width, uint16_t channels,
                       uint16_t columns, uint16_t rows, uint16_t firstColumn, uint16_t firstRow, uint8_t stepW,
                       uint8_t stepH, uint8_t sizeW, uint8_t sizeH, uint8_t dilationW, uint8_t dilationH, bool transpose,
                       bool smallK, T filler, bool wideW = false, bool wideH = false, bool right = false)
        : padList{borders[0], borders[1], borders[2], borders[3]}, l1H(height), l1W(width), channelSize(channels),
          kExtension(columns), mExtension(rows), kStartPt(firstColumn), mStartPt(firstRow), strideW(stepW),
          strideH(stepH), filterW(sizeW), filterH(sizeH), dilationFilterW(dilationW), dilationFilterH(dilationH),
          enTranspose(transpose), enSmallK(smallK), padValue(filler), filterSizeW(wideW), filterSizeH(wideH),
          fMatrixCtrl(right) {}
};

// The same with most values packed; the picture is described by SetFmatrix and SetLoadDataPaddingValue.
struct LoadData3DParamsV2Pro {
    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;                      // columns, rows, first column, first row: 16 bits each
    uint64_t filterConfig = 0x0000010101010101; // strides, sizes, dilations, each W and H: 8 bits each

    LoadData3DParamsV2Pro() = default;
    LoadData3DParamsV2Pro(uint16_t channels, bool transpose, bool smallK, bool wideW, bool wideH, bool right,
                          uint64_t extent, uint64_t filter)
        : channelSize(channels), enTranspose(transpose), enSmallK(smallK), filterSizeW(wideW), filterSizeH(wideH),
          fMatrixCtrl(right), extConfig(extent), filterConfig(filter) {}
};

// Whether a load of a picture sets the registers that describe it, or takes them as they are.
struct IsResetLoad3dConfig {
    bool isSetFMatrix;
    bool isSetPadding;

    constexpr IsResetLoad3dConfig(bool describesPicture, bool setsPadding)
        : isSetFMatrix(describesPicture), isSetPadding(setsPadding) {}
};
inline constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

enum class FmatrixMode : uint8_t { FMATRIX_LEFT, FMATRIX_RIGHT };

struct LoadDataRepeatParam {
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;

    LoadDataRepeatParam() = default;
    LoadDataRepeatParam(uint16_t stride, uint8_t times, uint8_t mode)
        : repeatStride(stride), repeatTime(times), repeatMode(mode) {}
};

// Blocks filled with one value: of 32 bytes in L1, of 512 in L0A and L0B.
template <class T> struct InitConstValueParams {
    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0;
    uint16_t dstGap = 0;
    T initValue = T(0);

    InitConstValueParams() = default;
    InitConstValueParams(uint16_t repeats, uint16_t blocks, uint16_t gap, T value)
        : repeatTimes(repeats), blockNum(blocks), dstGap(gap), initValue(value) {}
    InitConstValueParams(uint16_t repeats, T value) : repeatTimes(repeats), initValue(value) {}
};

struct MmadParams {
    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false; // older way to say: on top of what is there
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false; // start from the bias table, not from L0C
    bool cmatrixInitVal = true; // start from 0

    MmadParams() = default;
    MmadParams(uint16_t rows, uint16_t columns, uint16_t inner, bool accumulates, int32_t offset, bool sparse,
               bool winogradA, bool winogradB)
        : m(rows), n(columns), k(inner), isBias(accumulates), fmOffset(offset), enSsparse(sparse),
          enWinogradA(winogradA), enWinogradB(winogradB) {}
    MmadParams(uint16_t rows, uint16_t columns, uint16_t inner, uint8_t flag, bool fromBiasTable, bool fromZero)
        : m(rows), n(columns), k(inner), unitFlag(flag), cmatrixSource(fromBiasTable), cmatrixInitVal(fromZero) {}
};

enum class HF32Mode { ENABLE, DISABLE };
enum class HF32TransMode { NEAREST_ZERO, NEAREST_EVEN };

// How results lie behind the fixpipe.
enum class CO2Layout : uint8_t { NZ, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
    CO2Layout format;

    constexpr FixpipeConfig(CO2Layout layout) : format(layout) {}
};
inline constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
inline constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

struct FixpipeParamsV220 {
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    bool reluEn = false;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;

    FixpipeParamsV220() = default;
    FixpipeParamsV220(uint16_t columns, uint16_t rows, uint16_t sourceStride, uint32_t targetStride, bool relu)
        : nSize(columns), mSize(rows), srcStride(sourceStride), dstStride(targetStride), reluEn(relu) {}
    FixpipeParamsV220(uint16_t columns, uint16_t rows, uint16_t sourceStride, uint32_t targetStride, bool relu,
                      QuantMode_t conversion, int64_t scale, uint16_t matrices, uint16_t sourceMatrix,
                      uint16_t targetMatrix, uint8_t flag, bool splits = false)
        : nSize(columns), mSize(rows), srcStride(sourceStride), dstStride(targetStride), reluEn(relu),
          quantPre(conversion), deqScalar(static_cast<uint64_t>(scale)), ndNum(matrices), srcNdStride(sourceMatrix),
          dstNdStride(targetMatrix), unitFlag(flag), isChannelSplit(splits) {}
};

// The way out of L0C without a register being set: scale, table and matrices come from calls of their own.
struct DataCopyCO12DstParams {
    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = 1;
    uint16_t srcStride = 1;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;

    DataCopyCO12DstParams() = default;
    DataCopyCO12DstParams(uint16_t columns, uint16_t rows, uint32_t targetStride, uint16_t sourceStride,
                          QuantMode_t conversion, uint8_t relu, bool splits, bool byRows)
        : nSize(columns), mSize(rows), dstStride(targetStride), srcStride(sourceStride), quantPre(conversion),
          reluPre(relu), channelSplit(splits), nz2ndEn(byRows) {}
};

} // namespace
} // namespace AscendC

#endif
