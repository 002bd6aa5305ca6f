// Rows of a table by number; numbers outside of it give zeros. A row has 50 halves: not a multiple of a block.
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t WORDS = 37, TABLE = 100, WIDTH = 50, PADDED = 64;

extern "C" __global__ __aicore__ void embedding(GM_ADDR table, GM_ADDR words, GM_ADDR y) {
    GlobalTensor<half> rows, target;
    GlobalTensor<int32_t> numbers;
    rows.SetGlobalBuffer((__gm__ half *)table, TABLE * WIDTH);
    target.SetGlobalBuffer((__gm__ half *)y, WORDS * WIDTH);
    numbers.SetGlobalBuffer((__gm__ int32_t *)words, WORDS);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> queue;
    pipe.InitBuffer(queue, 2, PADDED * sizeof(half));
    const DataCopyExtParams row{1, WIDTH * sizeof(half), 0, 0, 0};
    for (uint32_t word = GetBlockIdx(); word < WORDS; word += GetBlockNum()) {
        const int32_t number = numbers.GetValue(word);
        LocalTensor<half> line = queue.AllocTensor<half>();
        if (number >= 0 && number < static_cast<int32_t>(TABLE)) {
            DataCopyPad(line, rows[number * WIDTH], row, DataCopyPadExtParams<half>{false, 0, 0, half(0.0f)});
        } else {
            Duplicate(line, half(0.0f), PADDED);
            const event_t filled = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_MTE3));
            SetFlag<HardEvent::V_MTE3>(filled);
            WaitFlag<HardEvent::V_MTE3>(filled);
        }
        queue.EnQue(line);
        line = queue.DeQue<half>();
        DataCopyPad(target[word * WIDTH], line, row);
        queue.FreeTensor(line);
    }
}
