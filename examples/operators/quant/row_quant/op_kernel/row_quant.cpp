// x times a scale as whole numbers of 8 bits. The limit comes from the options of the build.
#include "../row_common/row_common.h"
#include "row_quant_tiling_data.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void row_quant(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    REGISTER_TILING_DEFAULT(RowQuantTilingData);
    GET_TILING_DATA(data, tiling);
    const uint32_t columns = data.columns;
    RowPipe<float, int8_t> rows;
    rows.Init(x, y, data.rows, columns);
    TBuf<TPosition::VECCALC> scratch;
    rows.pipe.InitBuffer(scratch, 2 * columns * sizeof(float));
    LocalTensor<float> wide = scratch.Get<float>();
    LocalTensor<half> narrow = wide[columns].ReinterpretCast<half>();
    rows.ForEach([&](LocalTensor<int8_t> output, LocalTensor<float> input, uint32_t) {
        Muls(wide, input, data.scale, columns);
        Mins(wide, wide, float(ROW_QUANT_LIMIT), columns);
        Maxs(wide, wide, -float(ROW_QUANT_LIMIT), columns);
        Cast(narrow, wide, RoundMode::CAST_RINT, columns);
        Cast(output, narrow, RoundMode::CAST_RINT, columns);
    });
}
