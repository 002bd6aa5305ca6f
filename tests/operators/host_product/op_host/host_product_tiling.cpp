#include <nlohmann/json.hpp>

#include "log/log.h"
#include "op_host/tiling_base_class.h"
#include "op_host/util/fp16.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"
#include "util/math_util.h"
#include "../op_kernel/host_product_key.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(HostProductTilingData)
TILING_DATA_FIELD_DEF(uint32_t, more)
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, product)
TILING_DATA_FIELD_DEF_STRUCT(SoftMaxTiling, softmax)
TILING_DATA_FIELD_DEF(uint32_t, sort)
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(HostProduct, HostProductTilingData)

using namespace Ops::Base;

class HostProductTiling : public TilingBaseClass {
  public:
    explicit HostProductTiling(gert::TilingContext *context) : TilingBaseClass(context) {
        data_.SetDataPtr(context->GetRawTilingData()->GetData());
    }

  protected:
    bool IsCapable() override { return way_ != 99; }
    ge::graphStatus GetPlatformInfo() override {
        platform_ascendc::PlatformAscendC platform(context_->GetPlatformInfo());
        blockDim_ = platform.GetCoreNumAic();
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus GetShapeAttrsInfo() override {
        const auto *attributes = context_->GetAttrs();
        OP_CHECK_NULL_WITH_CONTEXT(context_, attributes);
        way_ = *attributes->GetAttrPointer<int64_t>(0);
        // Both are of one type.
        room_ = std::max(static_cast<uint32_t>(*attributes->GetInt(1)), AscendC::ONE_BLK_SIZE);
        static_assert(sizeof(half) == 2, "as in the kernel");
        const auto a = context_->GetInputShape(0)->GetStorageShape();
        const auto b = context_->GetInputShape(1)->GetStorageShape();
        OP_CHECK_IF(a.GetDim(1) != b.GetDim(0),
                    OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(context_->GetNodeName(), "a, b",
                                                           (ToString(a) + ToString(b)).c_str(), "inner sizes differ"),
                    return ge::GRAPH_FAILED);
        m_ = a.GetDim(0);
        k_ = a.GetDim(1);
        n_ = b.GetDim(1);
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus DoOpTiling() override {
        const auto *more = context_->GetIrInputInstanceInfo(2);
        data_.set_more(static_cast<uint32_t>(more->GetInstanceNum()));
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus DoLibApiTiling() override {
        platform_ascendc::PlatformAscendC platform(context_->GetPlatformInfo());
        matmul_tiling::MultiCoreMatmulTiling product(platform);
        const auto half = matmul_tiling::DataType::DT_FLOAT16;
        product.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, half);
        product.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, half);
        product.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
        product.SetDim(blockDim_);
        product.SetOrgShape(m_, n_, k_);
        product.SetShape(m_, n_, k_);
        product.SetBufferSpace(-1, -1, -1);
        OP_CHECK_IF(product.GetTiling(data_.product) == -1, OP_LOGE(context_, "no tiling of the product"),
                    return ge::GRAPH_FAILED);
        blockDim_ = data_.product.get_usedCoreNum();
        const ge::Shape rows(std::vector<int64_t>{m_, n_});
        AscendC::SoftMaxTilingFunc(rows, sizeof(float), room_, data_.softmax);
        data_.set_sort(AscendC::GetSortTmpSize(platform, 32, sizeof(float)));
        if (way_ == 11 || way_ == 40) {
            // Of floats in whole groups; of halves.
            const bool grouped = way_ == 11;
            const uint32_t size = grouped ? sizeof(float) : sizeof(float) / 2;
            AscendC::SoftMaxFlashV2TilingFunc(rows, size, sizeof(float), room_, data_.softmax, true, grouped);
            data_.set_sort(AscendC::GetSoftMaxFlashV2MaxTmpSize(rows, size, sizeof(float), true, grouped) << 12 |
                           AscendC::GetSoftMaxFlashV2MinTmpSize(rows, size, sizeof(float), true, grouped));
        }
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const override {
        const bool bias = false;
        return GET_TPL_TILING_KEY(static_cast<uint64_t>(context_->GetInputDesc(0)->GetDataType()), bias,
                                  static_cast<uint64_t>(way_));
    }
    ge::graphStatus GetWorkspaceSize() override {
        context_->GetWorkspaceSizes(1)[0] = 0;
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus PostTiling() override {
        context_->SetBlockDim(blockDim_);
        context_->SetScheduleMode(1);
        // Everything has been written there.
        return SetSize(data_);
    }
    ge::graphStatus SetSize(TilingDef &data) const {
        context_->GetRawTilingData()->SetDataSize(data.GetDataSize());
        return ge::GRAPH_SUCCESS;
    }

  private:
    HostProductTilingData data_;
    int64_t m_ = 0;
    int64_t n_ = 0;
    int64_t k_ = 0;
    int64_t way_ = 0;
    uint32_t room_ = 0;
};

static ge::graphStatus TilingHostProduct(gert::TilingContext *context) { return HostProductTiling(context).DoTiling(); }

struct HostProductCompileInfo {
    bool isRead = false;
};
static ge::graphStatus PrepareHostProduct(gert::TilingParseContext *context) {
    auto *info = context->GetCompiledInfo<HostProductCompileInfo>();
    OP_CHECK_NULL_WITH_CONTEXT(context, info);
    // What a compilation leaves is read like this; nothing has been left here.
    info->isRead = nlohmann::json::parse(context->GetCompiledJson()).empty();
    const auto text = nlohmann::json::parse(R"({"sizes": [1, {"two": -2.5e1}], "name": "a\"b", "none": null})");
    const auto sizes = text["sizes"];
    const bool isWhole = sizes.size() == 2 && sizes[0].get<int>() == 1 && sizes[1]["two"].get<double>() == -25 &&
                         text["name"].get<std::string>() == "a\"b" && text["none"].is_null();
    const bool isHalf = fp16_t(0.1f).val == 0x2e66 && fp16_t(65520.0f).val == 0x7c00 && fp16_t(-6e-8f).val == 0x8001 &&
                        fp16_t(0.0f).val == 0 && float(fp16_t(-1.5f)) == -1.5f && bfloat16(1.00390625f).value == 0x3f80;
    OP_CHECK_IF(!info->isRead || !isWhole || !isHalf, OP_LOGE(context, "%d %d %d", info->isRead, isWhole, isHalf),
                return ge::GRAPH_FAILED);
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(HostProduct).Tiling(TilingHostProduct).TilingParse<HostProductCompileInfo>(PrepareHostProduct);
} // namespace optiling
