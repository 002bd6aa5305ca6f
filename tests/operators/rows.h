// What operators over rows share: every core takes rows in turn; queues of two buffers each way.
#ifndef TESTS_OPERATORS_ROWS_H
#define TESTS_OPERATORS_ROWS_H

#include "kernel_operator.h"

constexpr uint32_t ROWS = 24;
constexpr uint32_t COLUMNS = 256;

template <class Input, class Output = Input> class Rows {
  public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y) {
        source.SetGlobalBuffer((__gm__ Input *)x, ROWS * COLUMNS);
        target.SetGlobalBuffer((__gm__ Output *)y, ROWS * COLUMNS);
        pipe.InitBuffer(in, 2, COLUMNS * sizeof(Input));
        pipe.InitBuffer(out, 2, COLUMNS * sizeof(Output));
    }
    // Calls `work(output, input, row)` for every row of this core.
    template <class Work> __aicore__ inline void ForEach(Work work) {
        for (uint32_t row = AscendC::GetBlockIdx(); row < ROWS; row += AscendC::GetBlockNum()) {
            AscendC::LocalTensor<Input> input = in.template AllocTensor<Input>();
            AscendC::DataCopy(input, source[row * COLUMNS], COLUMNS);
            in.EnQue(input);
            input = in.template DeQue<Input>();
            AscendC::LocalTensor<Output> output = out.template AllocTensor<Output>();
            work(output, input, row);
            out.EnQue(output);
            in.FreeTensor(input);
            output = out.template DeQue<Output>();
            AscendC::DataCopy(target[row * COLUMNS], output, COLUMNS);
            out.FreeTensor(output);
        }
    }
    AscendC::TPipe pipe;

  private:
    AscendC::GlobalTensor<Input> source;
    AscendC::GlobalTensor<Output> target;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out;
};

#endif
