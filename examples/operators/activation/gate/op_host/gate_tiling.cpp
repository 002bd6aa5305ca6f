#include <cstring>
#include "../op_kernel/gate_tiling_data.h"
#include "../op_kernel/gate_tiling_key.h"
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

static ge::graphStatus TilingGate(gert::TilingContext *context) {
    const int64_t count = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    const bool square = strcmp(context->GetAttrs()->GetStr(0), "square") == 0;
    const int64_t cores = context->GetCompileInfo<CompileInfo>()->cores;
    auto *data = context->GetTilingData<GateTilingData>();
    data->count = count;
    // Whole parts of 1024 elements, the last one shorter.
    data->part = 1024;
    data->limit = 6.0f;
    context->SetBlockDim(std::min<int64_t>((count + 1023) / 1024, cores));
    const uint64_t type = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT16 ? 1 : 0;
    context->SetTilingKey(GET_TPL_TILING_KEY(type, square ? GATE_SQUARE : GATE_RELU, !square));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(Gate).Tiling(TilingGate).TilingParse<CompileInfo>(Prepare);
} // namespace optiling
