#include "log/log.h"
#include "register/op_impl_registry.h"

namespace ops {
static ge::graphStatus InferShapeHostScale(gert::InferShapeContext *context) {
    const gert::Shape *x = context->GetInputShape(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, x);
    gert::Shape *y = context->GetOutputShape(0);
    const auto *order = context->GetAttrs()->GetListInt(2);
    y->SetDimNum(x->GetDimNum());
    for (size_t index = 0; index < x->GetDimNum(); ++index) {
        y->SetDim(index, x->GetDim(static_cast<size_t>(order->GetData()[index])));
    }
    return ge::GRAPH_SUCCESS;
}
static ge::graphStatus InferTypeHostScale(gert::InferDataTypeContext *context) {
    context->SetOutputDataType(0, context->GetInputDataType(0));
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(HostScale).InferShape(InferShapeHostScale).InferDataType(InferTypeHostScale);
} // namespace ops
