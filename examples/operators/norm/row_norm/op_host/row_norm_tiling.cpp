#include "row_norm_tiling.h"
#include <algorithm>
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
struct CompileInfo {
    uint32_t cores = 0;
};

static ge::graphStatus Prepare(gert::TilingParseContext *context) {
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    context->GetCompiledInfo<CompileInfo>()->cores = platform.GetCoreNumAiv();
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingRowNorm(gert::TilingContext *context) {
    const auto &shape = context->GetInputShape(0)->GetStorageShape();
    if (shape.GetDimNum() != 2 || shape.GetDim(1) % 64 != 0) {
        return ge::GRAPH_FAILED;
    }
    RowNormTilingData data;
    data.set_epsilon(*context->GetAttrs()->GetFloat(0));
    data.range.set_rows(shape.GetDim(0));
    data.range.set_columns(shape.GetDim(1));
    data.set_average(1.0f / shape.GetDim(1));
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    const auto cores = context->GetCompileInfo<CompileInfo>()->cores;
    context->SetBlockDim(std::min<int64_t>(shape.GetDim(0), cores));
    context->SetTilingKey(context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT16 ? 1 : 0);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(RowNorm).Tiling(TilingRowNorm).TilingParse<CompileInfo>(Prepare);
} // namespace optiling
