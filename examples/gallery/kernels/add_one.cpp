// y = x + 1 on one vector core, and the ways to get its order wrong: `mistake` says which step is left out or spoiled.
// The numbers of the mistakes come from inside_a_core.py.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TILE = 64;

extern "C" __global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y, GM_ADDR mistake, GM_ADDR workspace)
{
    (void)workspace;
    const uint32_t wrong = *(__gm__ uint32_t *)mistake;
    GlobalTensor<float> input;
    GlobalTensor<float> output;
    input.SetGlobalBuffer((__gm__ float *)x);
    output.SetGlobalBuffer((__gm__ float *)y);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inputs;
    TQue<TPosition::VECOUT, 1> outputs;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(inputs, 1, TILE * sizeof(float));
    pipe.InitBuffer(outputs, 1, TILE * sizeof(float));
    pipe.InitBuffer(buffer, TILE * sizeof(float));
    LocalTensor<float> ones = buffer.Get<float>();
    if (wrong != NEVER_WRITTEN) {
        Duplicate(ones, 1.0f, TILE);
    }

    if (wrong == LOAD_OUTSIDE_OF_BUFFERS) {
        Adds(ones, ones, ((__gm__ float *)x)[TILE], TILE);
    }

    LocalTensor<float> in = inputs.AllocTensor<float>();
    DataCopy(in, input[wrong == OUTSIDE_OF_BUFFERS ? 1u << 20 : 0u], TILE);
    if (wrong != NO_ENQUE) {
        inputs.EnQue(in);
    }
    if (wrong != NO_DEQUE) {
        in = inputs.DeQue<float>();
    }
    LocalTensor<float> out = outputs.AllocTensor<float>();
    Add(out, in, ones, TILE);
    Adds(wrong == OVERLAP ? out[8] : wrong == MISALIGNED ? out[1] : out, out, 0.0f, TILE - 8);
    outputs.EnQue(out);
    out = outputs.DeQue<float>();
    DataCopy(output, out, TILE);
    outputs.FreeTensor(out);

    // By hand: flags between the pipes, a barrier between two copies to the same bytes.
    Muls(ones, ones, 2.0f, TILE);
    const int32_t event = wrong == EVENT_OUT_OF_RANGE ? 8 : EVENT_ID2;
    if (wrong != NO_FLAG) {
        SetFlag<HardEvent::V_MTE3>(event);
        if (wrong == EVENT_RAISED_TWICE) {
            SetFlag<HardEvent::V_MTE3>(event);
        }
        WaitFlag<HardEvent::V_MTE3>(event);
    }
    DataCopy(output[TILE], ones, TILE);
    if (wrong != NO_BARRIER) {
        PipeBarrier<PIPE_MTE3>();
    }
    DataCopy(output[TILE + 8], ones, TILE);
    SetFlag<HardEvent::MTE3_V>(event);
    if (wrong != EVENT_LEFT) {
        WaitFlag<HardEvent::MTE3_V>(event);
    }

    // Fetched ahead; somebody must take it.
    if (wrong != NO_DEQUE) {
        inputs.FreeTensor(in);
        in = inputs.AllocTensor<float>();
        DataCopy(in, input, TILE);
        inputs.EnQue(in);
        if (wrong != QUEUE_NOT_DRAINED) {
            in = inputs.DeQue<float>();
            inputs.FreeTensor(in);
        }
    }
}
