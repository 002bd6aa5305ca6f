#include "../op_kernel/row_quant_tiling_data.h"
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

static ge::graphStatus TilingRowQuant(gert::TilingContext *context) {
    const auto &shape = context->GetInputShape(0)->GetStorageShape();
    auto *data = context->GetTilingData<RowQuantTilingData>();
    data->rows = shape.GetDim(0);
    data->columns = shape.GetDim(1);
    data->scale = *context->GetAttrs()->GetFloat(0);
    context->SetBlockDim(std::min<int64_t>(shape.GetDim(0), context->GetCompileInfo<CompileInfo>()->cores));
    context->SetTilingKey(0);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(RowQuant).Tiling(TilingRowQuant).TilingParse<CompileInfo>(Prepare);
} // namespace optiling
