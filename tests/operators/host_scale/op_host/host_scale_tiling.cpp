#include "register/op_impl_registry.h"
#include "log/log.h"
#include "util/platform_util.h"
#include "tiling/platform/platform_ascendc.h"
#include "host_scale_tiling.h"
#include "rows_shared.h"

using namespace AscendC;

namespace optiling {
static ge::graphStatus TilingHostScale(gert::TilingContext *context) {
    const auto *info = context->GetCompileInfo<HostScaleCompileInfo>();
    OP_CHECK_NULL_WITH_CONTEXT(context, info);
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    if (platform.GetCurNpuArch() == NpuArch::DAV_3510) {
        return HostScaleByRegisters(context);
    }
    const auto &shape = context->GetInputShape(0)->GetStorageShape();
    OP_CHECK_IF(shape.GetDimNum() != 2, OP_LOGE(context, "x has %zu dimensions instead of 2", shape.GetDimNum()),
                return ge::GRAPH_FAILED);
    const float *factor = context->GetAttrs()->GetFloat(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, factor);
    const std::string mode = context->GetAttrs()->GetStr(1);
    const auto *order = context->GetAttrs()->GetListInt(2);
    if (mode == "endless") {
        for (volatile int forever = 1; forever != 0;) {
        }
    }
    if (mode == "crash") {
        abort();
    }
    if (mode == "registers") {
        return HostScaleByRegisters(context);
    }
    // How a tensor that is no view lies in memory.
    gert::Stride stride;
    stride.SetDimNum(2);
    stride.SetStride(1, 1);
    stride.SetStride(0, shape.GetDim(1));
    HostScaleTilingData data;
    int64_t rows = shape.GetDim(0);
    const auto *given = context->GetOptionalInputTensor(2);
    if (given != nullptr && given->GetData<int64_t>() != nullptr) {
        rows = given->GetData<int64_t>()[0];
    }
    data.set_rows(rows);
    data.set_columns(stride.GetStride(0) * stride[1]);
    data.set_factor(*factor);
    data.set_hasBias(context->GetOptionalInputDesc(1) != nullptr);
    data.part.set_flag(context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT16);
    uint16_t columns[3] = {uint16_t(order->GetData()[0]), uint16_t(order->GetSize()), uint16_t(info->ubSize >> 10)};
    data.part.set_order(columns);
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    context->SetBlockDim(shared::RowBlocks(rows, info->cores));
    context->SetTilingKey(data.get_hasBias() != 0 ? 11 : 10);
    size_t *workspace = context->GetWorkspaceSizes(1);
    workspace[0] = platform.GetLibApiWorkSpaceSize() + 64;
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus PrepareHostScale(gert::TilingParseContext *context) {
    auto *info = context->GetCompiledInfo<HostScaleCompileInfo>();
    OP_CHECK_NULL_WITH_CONTEXT(context, info);
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    info->cores = platform.GetCoreNumAiv();
    OP_CHECK_IF(Ops::Base::GetVRegSize(context) != 256, OP_LOGE(context, "steps of vector instructions are unknown"),
                return ge::GRAPH_FAILED);
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, info->ubSize);
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(HostScale).Tiling(TilingHostScale).TilingParse<HostScaleCompileInfo>(PrepareHostScale);
} // namespace optiling
