// y = x · w[group of the row] (+ bias[group of the row]); rows are grouped by `group_list`, the last row of each group.
// The cube core multiplies into the workspace, its two vector cores add the bias and write the result.
// Set when compiling: IN (columns of x), OUT (columns of y), GROUPS, HAS_BIAS (0 or 1).
#include "model.h"

namespace {

constexpr uint32_t ROWS = model::TOKENS;
constexpr uint16_t PRODUCT_READY = 3;

class GroupedMatmul {
  public:
    __aicore__ void Init(GM_ADDR x, GM_ADDR w, GM_ADDR groupList, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace)
    {
        x_.SetGlobalBuffer((__gm__ float *)x, ROWS * IN);
        w_.SetGlobalBuffer((__gm__ float *)w, GROUPS * IN * OUT);
        groupList_.SetGlobalBuffer((__gm__ int32_t *)groupList, GROUPS);
        bias_.SetGlobalBuffer((__gm__ float *)bias, GROUPS * OUT);
        y_.SetGlobalBuffer((__gm__ float *)y, ROWS * OUT);
        product_.SetGlobalBuffer((__gm__ float *)workspace, ROWS * OUT);
    }

    __aicore__ uint32_t GroupOf(uint32_t row)
    {
        uint32_t group = 0;
        while (group + 1 < GROUPS && row >= (uint32_t)groupList_.GetValue(group)) {
            ++group;
        }
        return group;
    }

    // Cube core: the rows of its block.
    __aicore__ void Multiply()
    {
        AscendC::TBuf<AscendC::TPosition::A1> rows;
        AscendC::TBuf<AscendC::TPosition::B1> weights;
        pipe_.InitBuffer(rows, IN * sizeof(float));
        pipe_.InitBuffer(weights, IN * OUT * sizeof(float));
        AscendC::LocalTensor<float> row = rows.Get<float>();
        AscendC::LocalTensor<float> weight = weights.Get<float>();
        uint32_t loaded = GROUPS;
        for (uint32_t r = AscendC::GetBlockIdx(); r < ROWS; r += AscendC::GetBlockNum()) {
            AscendC::DataCopy(row, x_[r * IN], IN);
            uint32_t group = GroupOf(r);
            if (group != loaded) {
                AscendC::DataCopy(weight, w_[group * IN * OUT], IN * OUT);
                loaded = group;
            }
            AscendC::PipeBarrier<PIPE_ALL>();
            for (uint32_t column = 0; column < OUT; ++column) {
                float sum = 0;
                for (uint32_t k = 0; k < IN; ++k) {
                    sum += row.GetValue(k) * weight.GetValue(k * OUT + column);
                }
                product_.SetValue(r * OUT + column, sum);
            }
            AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::ENTIRE_DATA_CACHE,
                                              AscendC::DcciDst::CACHELINE_OUT>(product_);
        }
        AscendC::CrossCoreSetFlag<0x2, PIPE_FIX>(PRODUCT_READY);
    }

    // Vector cores: every other row of their block.
    __aicore__ void AddBias()
    {
        AscendC::CrossCoreWaitFlag(PRODUCT_READY);
        AscendC::TBuf<AscendC::TPosition::VECCALC> sums;
        AscendC::TBuf<AscendC::TPosition::VECCALC> biases;
        pipe_.InitBuffer(sums, OUT * sizeof(float));
        pipe_.InitBuffer(biases, OUT * sizeof(float));
        AscendC::LocalTensor<float> sum = sums.Get<float>();
        AscendC::LocalTensor<float> bias = biases.Get<float>();
        uint32_t block = AscendC::GetBlockIdx() / AscendC::GetSubBlockNum();
        uint32_t number = 0;
        for (uint32_t r = block; r < ROWS; r += AscendC::GetBlockNum(), ++number) {
            if (number % AscendC::GetSubBlockNum() != AscendC::GetSubBlockIdx()) {
                continue;
            }
            AscendC::DataCopy(sum, product_[r * OUT], OUT);
            if (HAS_BIAS) {
                AscendC::DataCopy(bias, bias_[GroupOf(r) * OUT], OUT);
                AscendC::PipeBarrier<PIPE_ALL>();
                AscendC::Add(sum, sum, bias, OUT);
            }
            AscendC::PipeBarrier<PIPE_ALL>();
            AscendC::DataCopy(y_[r * OUT], sum, OUT);
        }
    }

  private:
    AscendC::TPipe pipe_;
    AscendC::GlobalTensor<float> x_;
    AscendC::GlobalTensor<float> w_;
    AscendC::GlobalTensor<int32_t> groupList_;
    AscendC::GlobalTensor<float> bias_;
    AscendC::GlobalTensor<float> y_;
    AscendC::GlobalTensor<float> product_;
};

} // namespace

extern "C" __global__ __aicore__ void grouped_matmul(GM_ADDR x, GM_ADDR w, GM_ADDR group_list, GM_ADDR bias, GM_ADDR y,
                                                     GM_ADDR workspace)
{
    GroupedMatmul op;
    op.Init(x, w, group_list, bias, y, workspace);
    if ASCEND_IS_AIC {
        op.Multiply();
    }
    if ASCEND_IS_AIV {
        op.AddBias();
    }
}
