// y = 1 where x is infinite, else 0, as 16-bit floats.
#include "kernel_operator.h"

namespace {

constexpr uint32_t LENGTH = 4096;
constexpr uint32_t TILE = 256;

// A 16-bit float is infinite when all exponent bits are ones and all mantissa bits are zeros.
constexpr int16_t MAGNITUDE = 0x7fff;
constexpr int16_t INFINITY_BITS = 0x7c00;

class IsInf {
  public:
    __aicore__ void Init(GM_ADDR x, GM_ADDR y)
    {
        input_.SetGlobalBuffer((__gm__ int16_t *)x, LENGTH);
        output_.SetGlobalBuffer((__gm__ half *)y, LENGTH);
        pipe_.InitBuffer(inputs_, 1, TILE * sizeof(int16_t));
        pipe_.InitBuffer(outputs_, 1, TILE * sizeof(half));
        pipe_.InitBuffer(mask_, TILE * sizeof(int16_t));
    }

    __aicore__ void Process()
    {
        for (uint32_t tile = AscendC::GetBlockIdx(); tile < LENGTH / TILE; tile += AscendC::GetBlockNum()) {
            AscendC::LocalTensor<int16_t> input = inputs_.AllocTensor<int16_t>();
            AscendC::DataCopy(input, input_[tile * TILE], TILE);
            inputs_.EnQue(input);
            Compute();
            AscendC::LocalTensor<half> output = outputs_.DeQue<half>();
            AscendC::DataCopy(output_[tile * TILE], output, TILE);
            outputs_.FreeTensor(output);
        }
    }

  private:
    __aicore__ void Compute()
    {
        AscendC::LocalTensor<int16_t> bits = inputs_.DeQue<int16_t>();
        AscendC::LocalTensor<half> output = outputs_.AllocTensor<half>();
        AscendC::LocalTensor<int16_t> mask = mask_.Get<int16_t>();
        AscendC::Duplicate(mask, MAGNITUDE, TILE);
        AscendC::And(bits, bits, mask, TILE);
        for (uint32_t i = 0; i < TILE; ++i) {
            output.SetValue(i, (half)(bits.GetValue(i) == INFINITY_BITS ? 1.0f : 0.0f));
        }
        outputs_.EnQue(output);
        inputs_.FreeTensor(bits);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> inputs_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outputs_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> mask_;
    AscendC::GlobalTensor<int16_t> input_;
    AscendC::GlobalTensor<half> output_;
};

} // namespace

extern "C" __global__ __aicore__ void is_inf(GM_ADDR x, GM_ADDR y, GM_ADDR workspace)
{
    (void)workspace;
    IsInf op;
    op.Init(x, y);
    op.Process();
}
