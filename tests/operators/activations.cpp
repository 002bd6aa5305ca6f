// Functions of the high-level interface, one behind the other: silu(x) + erf(x), then quantised to bytes.
#include "rows.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void activations(GM_ADDR x, GM_ADDR y) {
    Rows<float, int8_t> rows;
    rows.Init(x, y);
    TBuf<TPosition::VECCALC> scratch, room;
    rows.pipe.InitBuffer(scratch, 2 * COLUMNS * sizeof(float));
    rows.pipe.InitBuffer(room, 32768);
    LocalTensor<float> first = scratch.Get<float>(), second = first[COLUMNS];
    LocalTensor<uint8_t> shared = room.Get<uint8_t>();
    rows.ForEach([&](LocalTensor<int8_t> output, LocalTensor<float> input, uint32_t) {
        Silu(first, input, COLUMNS);
        Erf(second, input, shared, COLUMNS);
        Add(first, first, second, COLUMNS);
        AscendQuant(output, first, shared, 16.0f, 3.0f, COLUMNS);
    });
}
