// A tiling in steps, as operators with several of them write it: the first one that feels responsible decides.
#ifndef SK_OP_HOST_TILING_CLASS_H
#define SK_OP_HOST_TILING_CLASS_H

#include "util.h"

namespace Ops {
namespace Base {

struct AiCoreParams {
    uint64_t ubSize = 0;
    uint64_t blockDim = 0;
    uint64_t numBlocks = 0;
    uint64_t aicNum = 0;
    uint64_t l1Size = 0;
    uint64_t l0aSize = 0;
    uint64_t l0bSize = 0;
    uint64_t l0cSize = 0;
};

// What tilings prepare that do not look at the chip themselves.
struct CompileInfoCommon {
    uint32_t aivNum = 0;
    uint32_t aicNum = 0;
    uint64_t ubSize = 0;
    uint64_t l1Size = 0;
    uint64_t l0aSize = 0;
    uint64_t l0bSize = 0;
    uint64_t l0cSize = 0;
    uint64_t l2CacheSize = 0;
    int64_t coreNum = 0;
    int32_t socVersion = 0;
    uint32_t rsvd = 0;
};

class TilingBaseClass {
  public:
    explicit TilingBaseClass(gert::TilingContext *context) : context_(context) {}
    virtual ~TilingBaseClass() = default;

    // GRAPH_PARAM_INVALID: somebody else shall try.
    ge::graphStatus DoTiling() {
        using Step = ge::graphStatus (TilingBaseClass::*)();
        for (const Step step : {&TilingBaseClass::GetShapeAttrsInfo, &TilingBaseClass::GetPlatformInfo,
                                &TilingBaseClass::SkAsk, &TilingBaseClass::DoOpTiling, &TilingBaseClass::DoLibApiTiling,
                                &TilingBaseClass::GetWorkspaceSize, &TilingBaseClass::PostTiling}) {
            const ge::graphStatus status = (this->*step)();
            if (status != ge::GRAPH_SUCCESS) {
                return status;
            }
        }
        context_->SetTilingKey(GetTilingKey());
        DumpTilingInfo();
        return ge::GRAPH_SUCCESS;
    }
    virtual void Reset(gert::TilingContext *context) { context_ = context; }

  protected:
    virtual bool IsCapable() = 0;
    virtual ge::graphStatus GetPlatformInfo() = 0;
    virtual ge::graphStatus GetShapeAttrsInfo() = 0;
    virtual ge::graphStatus DoOpTiling() = 0;
    virtual ge::graphStatus DoLibApiTiling() = 0;
    virtual uint64_t GetTilingKey() const = 0;
    virtual ge::graphStatus GetWorkspaceSize() = 0;
    virtual ge::graphStatus PostTiling() = 0;
    virtual void DumpTilingInfo() {}

    gert::TilingContext *context_;
    std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_;
    uint32_t blockDim_ = 0;
    uint64_t workspaceSize_ = 0;
    uint64_t tilingKey_ = 0;
    AiCoreParams aicoreParams_;

  private:
    ge::graphStatus SkAsk() { return IsCapable() ? ge::GRAPH_SUCCESS : ge::GRAPH_PARAM_INVALID; }
};

} // namespace Base
} // namespace Ops

#endif
