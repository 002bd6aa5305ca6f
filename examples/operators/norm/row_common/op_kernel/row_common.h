// What operators over rows share: each core takes rows in turn; queues of two buffers each way.
#ifndef ROW_COMMON_H
#define ROW_COMMON_H

#include "kernel_operator.h"

template <class Input, class Output = Input> class RowPipe {
  public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t columns) {
        rows_ = rows;
        columns_ = columns;
        source_.SetGlobalBuffer((__gm__ Input *)x, rows * columns);
        target_.SetGlobalBuffer((__gm__ Output *)y, rows * columns);
        pipe.InitBuffer(in_, 2, columns * sizeof(Input));
        pipe.InitBuffer(out_, 2, columns * sizeof(Output));
    }
    // Calls `work(output, input, row)` for every row of this core.
    template <class Work> __aicore__ inline void ForEach(Work work) {
        for (uint32_t row = AscendC::GetBlockIdx(); row < rows_; row += AscendC::GetBlockNum()) {
            AscendC::LocalTensor<Input> input = in_.template AllocTensor<Input>();
            AscendC::DataCopy(input, source_[row * columns_], columns_);
            in_.EnQue(input);
            input = in_.template DeQue<Input>();
            AscendC::LocalTensor<Output> output = out_.template AllocTensor<Output>();
            work(output, input, row);
            out_.EnQue(output);
            in_.FreeTensor(input);
            output = out_.template DeQue<Output>();
            AscendC::DataCopy(target_[row * columns_], output, columns_);
            out_.FreeTensor(output);
        }
    }
    AscendC::TPipe pipe;

  private:
    uint32_t rows_ = 0;
    uint32_t columns_ = 0;
    AscendC::GlobalTensor<Input> source_;
    AscendC::GlobalTensor<Output> target_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
};

#endif
