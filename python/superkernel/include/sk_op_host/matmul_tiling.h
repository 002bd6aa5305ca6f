// Tiling of matrix multiplications (`matmul_tiling::MatmulApiTiling`, `MultiCoreMatmulTiling`): our own choice of blocks that
// fit the memories of a core. The choice of a toolkit may be another one; both give the same product.
#ifndef SK_OP_HOST_MATMUL_TILING_H
#define SK_OP_HOST_MATMUL_TILING_H

#include <algorithm>

#include "platform.h"
#include "tiling_structs.h"

namespace matmul_tiling {

enum class DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_BFLOAT16 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E4M3FN = 35,
    DT_FLOAT8_E5M2 = 36,
    DT_FLOAT4_E2M1 = 37,
    DT_FLOAT8_E8M0 = 38,
    DT_FLOAT4_E1M2 = 39,
    DT_MAX = 40,
};
enum class TPosition : int32_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    MAX,
};
enum class CubeFormat : int32_t {
    ND = 0,
    NZ,
    ZN,
    ZZ,
    NN,
    ND_ALIGN,
    SCALAR,
    VECTOR,
    ROW_MAJOR = ND,
    COLUMN_MAJOR = 8,
};
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };

struct SysTilingTempBufSize {
    int32_t ubSize = 0;
    int32_t l1Size = 0;
    int32_t l0cSize = 0;
};
struct PlatformInfo {
    platform_ascendc::SocVersion socVersion;
    uint64_t l1Size = 0;
    uint64_t l0CSize = 0;
    uint64_t ubSize = 0;
    uint64_t l0ASize = 0;
    uint64_t l0BSize = 0;
};
struct MatmulConfigParams {
    MatmulConfigParams(int32_t type = 1, bool cacheUb = false, ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                       MatrixTraverse order = MatrixTraverse::NOSET, bool vectorNd2Nz = false)
        : mmConfigType(type), enableL1CacheUB(cacheUb), scheduleType(schedule), traverse(order), enVecND2NZ(vectorNd2Nz) {
    }
    int32_t mmConfigType;
    bool enableL1CacheUB;
    ScheduleType scheduleType;
    MatrixTraverse traverse;
    bool enVecND2NZ;
};

inline int32_t SkBits(DataType type) {
    switch (type) {
    case DataType::DT_FLOAT:
    case DataType::DT_INT32:
    case DataType::DT_UINT32:
        return 32;
    case DataType::DT_INT4:
    case DataType::DT_FLOAT4_E2M1:
    case DataType::DT_FLOAT4_E1M2:
        return 4;
    case DataType::DT_INT8:
    case DataType::DT_UINT8:
    case DataType::DT_BOOL:
    case DataType::DT_HIFLOAT8:
    case DataType::DT_FLOAT8_E4M3FN:
    case DataType::DT_FLOAT8_E5M2:
    case DataType::DT_FLOAT8_E8M0:
        return 8;
    case DataType::DT_INT64:
    case DataType::DT_UINT64:
    case DataType::DT_DOUBLE:
        return 64;
    default:
        return 16;
    }
}

class MatmulApiTilingBase {
  public:
    struct Matrix {
        TPosition pos = TPosition::GM;
        CubeFormat type = CubeFormat::ND;
        DataType dataType = DataType::DT_FLOAT;
        bool isTrans = false;
    };

    MatmulApiTilingBase() { Take(platform_ascendc::PlatformAscendC(nullptr)); }
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC &platform) { Take(platform); }
    explicit MatmulApiTilingBase(const PlatformInfo &platform)
        : l1_(int64_t(platform.l1Size)), l0a_(int64_t(platform.l0ASize)), l0b_(int64_t(platform.l0BSize)),
          l0c_(int64_t(platform.l0CSize)) {}
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false) {
        aType_ = {pos, type, dataType, isTrans};
        return 0;
    }
    int32_t SetBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false) {
        bType_ = {pos, type, dataType, isTrans};
        return 0;
    }
    int32_t SetCType(TPosition pos, CubeFormat type, DataType dataType) {
        cType_ = {pos, type, dataType, false};
        return 0;
    }
    int32_t SetBiasType(TPosition pos, CubeFormat type, DataType dataType) {
        biasType_ = {pos, type, dataType, false};
        isBias = true;
        return 0;
    }
    int32_t SetDequantType(DequantType) { return 0; }
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k) {
        singleM = m;
        singleN = n;
        singleK = k;
        return 0;
    }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb) {
        orgM = m;
        orgN = n;
        orgKa = ka;
        orgKb = kb;
        return 0;
    }
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Keep(aLayout_, b, s, n, g, d); }
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Keep(bLayout_, b, s, n, g, d); }
    int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Keep(cLayout_, b, s, n, g, d); }
    int32_t SetBatchNum(int32_t batch) {
        batchNum = batch;
        return 0;
    }
    int32_t EnableBias(bool bias = false) { return SetBias(bias); }
    int32_t SetBias(bool bias = false) {
        isBias = bias;
        return 0;
    }
    int32_t SetFixSplit(int32_t m = -1, int32_t n = -1, int32_t k = -1) {
        fixedM_ = m;
        fixedN_ = n;
        fixedK_ = k;
        return 0;
    }
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t = -1, int32_t = -1) {
        l1_ = l1 > 0 ? std::min<int64_t>(l1, l1_) : l1_;
        l0c_ = l0c > 0 ? std::min<int64_t>(l0c, l0c_) : l0c_;
        return 0;
    }
    int32_t SetTraverse(MatrixTraverse order) {
        traverse_ = order;
        return 0;
    }
    int32_t SetMadType(MatrixMadType) { return 0; }
    int32_t SetSplitRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t = -1, int32_t = -1,
                          int32_t = -1) {
        mostM_ = maxM;
        mostN_ = maxN;
        mostK_ = maxK;
        return 0;
    }
    int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
    void SetMatmulConfigParams(const MatmulConfigParams &) {}
    void SetMatmulConfigParams(int32_t = 1, bool = false, ScheduleType = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse = MatrixTraverse::NOSET, bool = false) {}
    int32_t SetSparse(bool sparse = false) { return sparse ? -1 : 0; }
    int32_t GetBaseM() const { return baseM; }
    int32_t GetBaseN() const { return baseN; }
    int32_t GetBaseK() const { return baseK; }
    virtual int64_t GetTiling(optiling::TCubeTiling &tiling) = 0;

    Matrix aType_;
    Matrix bType_;
    Matrix cType_;
    Matrix biasType_;
    bool isBias = false;
    int32_t orgM = 0;
    int32_t orgN = 0;
    int32_t orgKa = 0;
    int32_t orgKb = 0;
    int32_t batchNum = 0;
    int32_t singleM = 0;
    int32_t singleN = 0;
    int32_t singleK = 0;
    int32_t baseM = 0;
    int32_t baseN = 0;
    int32_t baseK = 0;

  protected:
    static int64_t Up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

    // Blocks for one core, which has `m` x `n` of the product with all of `k`.
    int64_t Blocks(int64_t m, int64_t n, int64_t k, int32_t cores, optiling::TCubeTiling &tiling) {
        if (m <= 0 || n <= 0 || k <= 0) {
            return -1;
        }
        const int64_t bits = std::max(SkBits(aType_.dataType), SkBits(bType_.dataType));
        // Elements of a row of 32 bytes; a transposed side needs whole squares.
        const int64_t row = std::max<int64_t>(256 / bits, 16);
        const auto bytes = [bits](int64_t elements) { return elements * bits / 8; };
        const auto base = [](int64_t fixed, int64_t most, int64_t wanted, int64_t size, int64_t unit) {
            if (fixed > 0) {
                return Up(fixed, unit);
            }
            const int64_t limit = most > 0 ? std::min(most, wanted) : wanted;
            return std::min(Up(size, unit), std::max(limit / unit * unit, unit));
        };
        // Two blocks of each side, so that one is loaded while the other is multiplied.
        int64_t m0 = base(fixedM_, mostM_, 128, m, 16);
        int64_t n0 = base(fixedN_, mostN_, m0 <= 128 ? 256 : 128, n, 16);
        while (m0 * n0 * 4 > l0c_ && fixedN_ <= 0 && n0 > 16) {
            n0 = std::max<int64_t>(Up(n0 / 2, 16), 16);
        }
        const int64_t fits = std::min(l0a_ / 2 * 8 / bits / m0, l0b_ / 2 * 8 / bits / n0);
        int64_t k0 = base(fixedK_, mostK_, std::max(fits / row * row, row), k, row);
        if (bytes(m0 * k0) > l0a_ || bytes(n0 * k0) > l0b_ || m0 * n0 * 4 > l0c_) {
            return -1;
        }
        const int64_t doubled = bytes(m0 * k0) * 2 <= l0a_ && bytes(n0 * k0) * 2 <= l0b_ ? 2 : 1;
        const int64_t steps = (k + k0 - 1) / k0;
        const int64_t bias = isBias ? n0 * 4 : 0;
        // As many steps of both sides as fit twice into L1, or all of them once.
        const int64_t pair = bytes((m0 + n0) * k0);
        int64_t step = std::max<int64_t>((l1_ - bias) / pair / 2, 1);
        int64_t copies = 2;
        if (step >= steps) {
            step = steps;
            copies = step * pair * 2 + bias <= l1_ ? 2 : 1;
        }
        if (step * copies * pair + bias > l1_) {
            copies = 1;
        }
        if (pair + bias > l1_) {
            return -1;
        }
        baseM = int32_t(m0);
        baseN = int32_t(n0);
        baseK = int32_t(k0);
        tiling.set_usedCoreNum(cores);
        tiling.set_M(orgM > 0 ? orgM : int32_t(m));
        tiling.set_N(orgN > 0 ? orgN : int32_t(n));
        tiling.set_Ka(orgKa > 0 ? orgKa : int32_t(k));
        tiling.set_Kb(orgKb > 0 ? orgKb : int32_t(k));
        tiling.set_singleCoreM(int32_t(m));
        tiling.set_singleCoreN(int32_t(n));
        tiling.set_singleCoreK(int32_t(k));
        tiling.set_baseM(baseM);
        tiling.set_baseN(baseN);
        tiling.set_baseK(baseK);
        tiling.set_stepM(1);
        tiling.set_stepN(1);
        tiling.set_stepKa(int32_t(step));
        tiling.set_stepKb(int32_t(step));
        tiling.set_depthA1(int32_t(step * copies));
        tiling.set_depthB1(int32_t(step * copies));
        tiling.set_isBias(isBias ? 1 : 0);
        tiling.set_transLength(0);
        tiling.set_iterateOrder(traverse_ == MatrixTraverse::FIRSTN ? 1 : 0);
        tiling.set_shareMode(0);
        tiling.set_shareL1Size(int32_t(step * copies * pair + bias));
        tiling.set_shareL0CSize(int32_t(m0 * n0 * 4));
        tiling.set_shareUbSize(0);
        tiling.set_batchM(1);
        tiling.set_batchN(1);
        tiling.set_singleBatchM(1);
        tiling.set_singleBatchN(1);
        tiling.set_dbL0A(int32_t(doubled));
        tiling.set_dbL0B(int32_t(doubled));
        tiling.set_dbL0C(m0 * n0 * 8 <= l0c_ ? 2 : 1);
        tiling.set_ALayoutInfoB(aLayout_[0]);
        tiling.set_ALayoutInfoS(aLayout_[1]);
        tiling.set_ALayoutInfoN(aLayout_[2]);
        tiling.set_ALayoutInfoG(aLayout_[3]);
        tiling.set_ALayoutInfoD(aLayout_[4]);
        tiling.set_BLayoutInfoB(bLayout_[0]);
        tiling.set_BLayoutInfoS(bLayout_[1]);
        tiling.set_BLayoutInfoN(bLayout_[2]);
        tiling.set_BLayoutInfoG(bLayout_[3]);
        tiling.set_BLayoutInfoD(bLayout_[4]);
        tiling.set_CLayoutInfoB(cLayout_[0]);
        tiling.set_CLayoutInfoS1(cLayout_[1]);
        tiling.set_CLayoutInfoN(cLayout_[2]);
        tiling.set_CLayoutInfoG(cLayout_[3]);
        tiling.set_CLayoutInfoS2(cLayout_[4]);
        tiling.set_BatchNum(batchNum);
        return 0;
    }

  private:
    void Take(const platform_ascendc::PlatformAscendC &platform) {
        using Memory = platform_ascendc::CoreMemType;
        const auto size = [&platform](Memory memory) {
            uint64_t bytes = 0;
            platform.GetCoreMemSize(memory, bytes);
            return int64_t(bytes);
        };
        l1_ = size(Memory::L1);
        l0a_ = size(Memory::L0_A);
        l0b_ = size(Memory::L0_B);
        l0c_ = size(Memory::L0_C);
    }
    static int32_t Keep(int32_t (&layout)[5], int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) {
        const int32_t values[5] = {b, s, n, g, d};
        std::copy(values, values + 5, layout);
        return 0;
    }

    int64_t l1_ = 0;
    int64_t l0a_ = 0;
    int64_t l0b_ = 0;
    int64_t l0c_ = 0;
    int32_t fixedM_ = -1;
    int32_t fixedN_ = -1;
    int32_t fixedK_ = -1;
    int32_t mostM_ = -1;
    int32_t mostN_ = -1;
    int32_t mostK_ = -1;
    int32_t aLayout_[5] = {};
    int32_t bLayout_[5] = {};
    int32_t cLayout_[5] = {};
    MatrixTraverse traverse_ = MatrixTraverse::FIRSTM;
};

class MatmulApiTiling : public MatmulApiTilingBase {
  public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int64_t GetTiling(optiling::TCubeTiling &tiling) override {
        const auto given = [](int32_t single, int32_t whole) { return single > 0 ? single : whole; };
        return Blocks(given(singleM, orgM), given(singleN, orgN), given(singleK, std::min(orgKa, orgKb)), 1, tiling);
    }
};

class MultiCoreMatmulTiling : public MatmulApiTilingBase {
  public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int32_t SetDim(int32_t cores) {
        cores_ = cores;
        return 0;
    }
    int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1) {
        coreM_ = m;
        coreN_ = n;
        coreK_ = k;
        return 0;
    }
    int32_t SetSingleRange(int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1) {
        return 0;
    }
    int32_t SetAlignSplit(int32_t m, int32_t n, int32_t) {
        alignM_ = m;
        alignN_ = n;
        return 0;
    }
    void EnableMultiCoreSplitK(bool) {}
    int32_t GetSingleShape(int32_t &m, int32_t &n, int32_t &k) {
        m = coreM_;
        n = coreN_;
        k = coreK_;
        return 0;
    }
    int32_t GetCoreNum(int32_t &cores, int32_t &rows, int32_t &columns) {
        rows = rows_;
        columns = columns_;
        cores = rows_ * columns_;
        return 0;
    }
    int64_t GetTiling(optiling::TCubeTiling &tiling) override {
        const int64_t m = singleM > 0 ? singleM : orgM;
        const int64_t n = singleN > 0 ? singleN : orgN;
        const int64_t k = singleK > 0 ? singleK : std::min(orgKa, orgKb);
        if (m <= 0 || n <= 0 || k <= 0 || cores_ <= 0) {
            return -1;
        }
        const int64_t unitM = std::max(alignM_, 16);
        const int64_t unitN = std::max(alignN_, 16);
        if (coreM_ <= 0 || coreN_ <= 0) {
            // The split whose largest part is smallest; of equal ones that which loads least.
            int64_t best = -1;
            for (int64_t rows = 1; rows <= cores_; ++rows) {
                const int64_t partM = coreM_ > 0 ? coreM_ : Up((m + rows - 1) / rows, unitM);
                const int64_t columns = cores_ / rows;
                const int64_t partN = coreN_ > 0 ? coreN_ : Up((n + columns - 1) / columns, unitN);
                const int64_t cost = partM * partN * 1024 + partM + partN;
                if (best < 0 || cost < best) {
                    best = cost;
                    rows_ = int32_t((m + partM - 1) / partM);
                    columns_ = int32_t((n + partN - 1) / partN);
                    bestM_ = partM;
                    bestN_ = partN;
                }
            }
        } else {
            bestM_ = coreM_;
            bestN_ = coreN_;
            rows_ = int32_t((m + bestM_ - 1) / bestM_);
            columns_ = int32_t((n + bestN_ - 1) / bestN_);
        }
        if (rows_ * columns_ > cores_) {
            return -1;
        }
        coreM_ = int32_t(std::min(bestM_, m));
        coreN_ = int32_t(std::min(bestN_, n));
        coreK_ = int32_t(coreK_ > 0 ? std::min<int64_t>(coreK_, k) : k);
        const int64_t status = Blocks(coreM_, coreN_, coreK_, rows_ * columns_, tiling);
        if (status == 0) {
            tiling.set_M(int32_t(orgM > 0 ? orgM : m));
            tiling.set_N(int32_t(orgN > 0 ? orgN : n));
        }
        return status;
    }

  private:
    int32_t cores_ = 1;
    int32_t coreM_ = -1;
    int32_t coreN_ = -1;
    int32_t coreK_ = -1;
    int32_t alignM_ = 1;
    int32_t alignN_ = 1;
    int32_t rows_ = 1;
    int32_t columns_ = 1;
    int64_t bestM_ = 0;
    int64_t bestN_ = 0;
};

} // namespace matmul_tiling

inline int32_t MatmulGetTmpBufSize(optiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &sizes) {
    sizes = {tiling.get_shareUbSize(), tiling.get_shareL1Size(), tiling.get_shareL0CSize()};
    return 0;
}

#endif
