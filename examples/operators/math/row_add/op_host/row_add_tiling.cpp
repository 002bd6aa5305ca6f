#include "register/tilingdata_base.h"
#include <algorithm>
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RowAddTilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RowAdd, RowAddTilingData)

struct CompileInfo {
    uint32_t cores = 0;
};

static ge::graphStatus Prepare(gert::TilingParseContext *context) {
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    context->GetCompiledInfo<CompileInfo>()->cores = platform.GetCoreNumAiv();
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingRowAdd(gert::TilingContext *context) {
    const auto &shape = context->GetInputShape(0)->GetStorageShape();
    RowAddTilingData data;
    data.set_rows(shape.GetDim(0));
    data.set_columns(shape.GetDim(1));
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    context->SetBlockDim(std::min<int64_t>(shape.GetDim(0), context->GetCompileInfo<CompileInfo>()->cores));
    context->SetTilingKey(context->GetOptionalInputDesc(1) != nullptr ? 2 : 1);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(RowAdd).Tiling(TilingRowAdd).TilingParse<CompileInfo>(Prepare);
} // namespace optiling
