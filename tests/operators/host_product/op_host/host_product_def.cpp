// The product of two matrices, and the softmax of its rows.
#include "register/op_def_registry.h"

namespace ops {
class HostProduct : public OpDef {
  public:
    explicit HostProduct(const char *name) : OpDef(name) {
        this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_BF16}).FormatList({ge::FORMAT_ND});
        this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_BF16}).FormatList({ge::FORMAT_ND});
        this->Input("more").ParamType(DYNAMIC).DataType({ge::DT_FLOAT16, ge::DT_BF16}).FormatList({ge::FORMAT_ND});
        this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT}).FormatList({ge::FORMAT_ND});
        this->Attr("way").AttrType(OPTIONAL).Int(3);
        this->Attr("room").AttrType(OPTIONAL).Int(65536);
        this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
    }
};
OP_ADD(HostProduct);
} // namespace ops
