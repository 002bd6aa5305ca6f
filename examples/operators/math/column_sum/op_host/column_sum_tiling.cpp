#include "register/tilingdata_base.h"
#include <algorithm>
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ColumnSumTilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ColumnSum, ColumnSumTilingData)

struct CompileInfo {
    uint32_t cores = 0;
};

static ge::graphStatus Prepare(gert::TilingParseContext *context) {
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    context->GetCompiledInfo<CompileInfo>()->cores = platform.GetCoreNumAiv();
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingColumnSum(gert::TilingContext *context) {
    const auto &shape = context->GetInputShape(0)->GetStorageShape();
    const int64_t blocks = std::min<int64_t>(shape.GetDim(0), context->GetCompileInfo<CompileInfo>()->cores);
    ColumnSumTilingData data;
    data.set_rows(shape.GetDim(0));
    data.set_columns(shape.GetDim(1));
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    context->SetBlockDim(blocks);
    context->SetScheduleMode(1);
    context->SetTilingKey(0);
    context->GetWorkspaceSizes(1)[0] = blocks * shape.GetDim(1) * sizeof(float);
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(ColumnSum).Tiling(TilingColumnSum).TilingParse<CompileInfo>(Prepare);
} // namespace optiling
