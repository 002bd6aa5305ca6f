// y = x * factor + bias, row by row.
#include "register/op_def_registry.h"

namespace ops {
class HostScale : public OpDef {
  public:
    explicit HostScale(const char *name) : OpDef(name) {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND})
            .AutoContiguous();
        this->Input("bias").ParamType(OPTIONAL).DataType({ge::DT_FLOAT, ge::DT_FLOAT}).FormatList({ge::FORMAT_ND});
        this->Input("rows").ParamType(OPTIONAL).DataTypeList({ge::DT_INT64}).FormatList({ge::FORMAT_ND}).ValueDepend(OPTIONAL);
        this->Output("y").ParamType(REQUIRED).Follow("x");
        this->Attr("factor").AttrType(REQUIRED).Float();
        this->Attr("mode").AttrType(OPTIONAL).String("plain");
        this->Attr("order").AttrType(OPTIONAL).ListInt({1, 0});
        OpAICoreConfig later;
        later.Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_BF16}).FormatList({ge::FORMAT_ND});
        later.ExtendCfgInfo("opFile.value", "host_scale_apt");
        this->AICore().AddConfig("ascend910b").AddConfig("ascend950", later);
    }
};
OP_ADD(HostScale);
} // namespace ops
