// y = x1 ** x2, element by element, in 16-bit floats.
#include "kernel_operator.h"

#include <math.h>

namespace {

constexpr uint32_t LENGTH = 4096;
// One piece of work: what a core holds in local memory at a time.
constexpr uint32_t TILE = 128;

class Pows {
  public:
    __aicore__ void Init(GM_ADDR x1, GM_ADDR x2, GM_ADDR y)
    {
        base_.SetGlobalBuffer((__gm__ half *)x1, LENGTH);
        exponent_.SetGlobalBuffer((__gm__ half *)x2, LENGTH);
        result_.SetGlobalBuffer((__gm__ half *)y, LENGTH);
        pipe_.InitBuffer(bases_, 1, TILE * sizeof(half));
        pipe_.InitBuffer(exponents_, 1, TILE * sizeof(half));
        pipe_.InitBuffer(results_, 1, TILE * sizeof(half));
    }

    __aicore__ void Process()
    {
        for (uint32_t tile = AscendC::GetBlockIdx(); tile < LENGTH / TILE; tile += AscendC::GetBlockNum()) {
            CopyIn(tile * TILE);
            Compute();
            CopyOut(tile * TILE);
        }
    }

  private:
    __aicore__ void CopyIn(uint32_t offset)
    {
        AscendC::LocalTensor<half> base = bases_.AllocTensor<half>();
        AscendC::LocalTensor<half> exponent = exponents_.AllocTensor<half>();
        AscendC::DataCopy(base, base_[offset], TILE);
        AscendC::DataCopy(exponent, exponent_[offset], TILE);
        bases_.EnQue(base);
        exponents_.EnQue(exponent);
    }

    __aicore__ void Compute()
    {
        AscendC::LocalTensor<half> base = bases_.DeQue<half>();
        AscendC::LocalTensor<half> exponent = exponents_.DeQue<half>();
        AscendC::LocalTensor<half> result = results_.AllocTensor<half>();
        // The special cases (zero, infinity, not a number, odd powers of negative numbers) are those of the C library.
        for (uint32_t i = 0; i < TILE; ++i) {
            result.SetValue(i, (half)powf((float)base.GetValue(i), (float)exponent.GetValue(i)));
        }
        results_.EnQue(result);
        bases_.FreeTensor(base);
        exponents_.FreeTensor(exponent);
    }

    __aicore__ void CopyOut(uint32_t offset)
    {
        AscendC::LocalTensor<half> result = results_.DeQue<half>();
        AscendC::DataCopy(result_[offset], result, TILE);
        results_.FreeTensor(result);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> bases_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> exponents_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> results_;
    AscendC::GlobalTensor<half> base_;
    AscendC::GlobalTensor<half> exponent_;
    AscendC::GlobalTensor<half> result_;
};

} // namespace

extern "C" __global__ __aicore__ void pows(GM_ADDR x1, GM_ADDR x2, GM_ADDR y, GM_ADDR workspace)
{
    (void)workspace;
    Pows op;
    op.Init(x1, x2, y);
    op.Process();
}
