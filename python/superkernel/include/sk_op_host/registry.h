// How an operator says which of its functions do what: IMPL_OP_OPTILING(Type).Tiling(f).TilingParse<Info>(g).
#ifndef SK_OP_HOST_REGISTRY_H
#define SK_OP_HOST_REGISTRY_H

#include <set>

#include "context.h"

namespace gert {

struct SkFunctions {
    using Tiling = std::function<ge::graphStatus(TilingContext *)>;
    Tiling tiling;
    size_t tiling_capacity = 2048;
    std::function<ge::graphStatus(TilingParseContext *)> tiling_parse;
    std::function<std::shared_ptr<void>()> new_compile_info;
    std::function<ge::graphStatus(InferShapeContext *)> infer_shape;
    std::function<ge::graphStatus(InferDataTypeContext *)> infer_type;
    // Every output has the first input's type.
    bool type_of_first = false;
    // Inputs whose values decide about shapes or tiling, by their place.
    std::set<int32_t> value_inputs;
    // Attributes behind those of the definition.
    std::vector<std::pair<std::string, std::function<std::shared_ptr<void>()>>> private_attributes;
};

inline std::map<std::string, SkFunctions> &SkRegistered() {
    static std::map<std::string, SkFunctions> registered;
    return registered;
}

enum class TilingPlacement { TILING_ON_HOST = 0, TILING_ON_AICPU = 1 };

class OpImplRegisterV2 {
  public:
    using InferShapeKernelFunc = ge::graphStatus (*)(InferShapeContext *);
    using InferShapeRangeKernelFunc = ge::graphStatus (*)(InferShapeRangeContext *);
    using InferDataTypeKernelFunc = ge::graphStatus (*)(InferDataTypeContext *);
    using TilingKernelFunc = ge::graphStatus (*)(TilingContext *);
    using TilingParseFunc = ge::graphStatus (*)(TilingParseContext *);

    explicit OpImplRegisterV2(const char *type) : functions_(&SkRegistered()[type]) {}
    OpImplRegisterV2 &InferShape(InferShapeKernelFunc function) {
        functions_->infer_shape = function;
        return *this;
    }
    OpImplRegisterV2 &InferShapeRange(InferShapeRangeKernelFunc) { return *this; }
    OpImplRegisterV2 &InferDataType(InferDataTypeKernelFunc function) {
        functions_->infer_type = function;
        return *this;
    }
    OpImplRegisterV2 &InferOutDataTypeSameWithFirstInput() {
        functions_->type_of_first = true;
        return *this;
    }
    OpImplRegisterV2 &Tiling(TilingKernelFunc function, size_t capacity = 2048) {
        functions_->tiling = function;
        functions_->tiling_capacity = capacity;
        return *this;
    }
    template <class Info> OpImplRegisterV2 &TilingParse(TilingParseFunc function) {
        functions_->tiling_parse = function;
        functions_->new_compile_info = [] { return std::shared_ptr<void>(std::make_shared<Info>()); };
        return *this;
    }
    // Older code names the base class of the context.
    template <class Info> OpImplRegisterV2 &TilingParse(ge::graphStatus (*function)(KernelContext *)) {
        functions_->tiling_parse = [function](TilingParseContext *context) { return function(context); };
        functions_->new_compile_info = [] { return std::shared_ptr<void>(std::make_shared<Info>()); };
        return *this;
    }
    OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t> places) {
        functions_->value_inputs.insert(places);
        return *this;
    }
    OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> places) {
        return InputsDataDependency(places);
    }
    OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> places,
                                                 std::initializer_list<TilingPlacement>) {
        return InputsDataDependency(places);
    }
    OpImplRegisterV2 &HostInputs(std::initializer_list<int32_t>) { return *this; }
    OpImplRegisterV2 &OutputShapeDependOnCompute(std::initializer_list<int32_t>) { return *this; }
    template <class Function> OpImplRegisterV2 &GenSimplifiedKey(Function) { return *this; }
    template <class Function> OpImplRegisterV2 &OpExecuteFunc(Function) { return *this; }
    template <class Function> OpImplRegisterV2 &OpExecutePrepareFunc(Function) { return *this; }
    template <class Function> OpImplRegisterV2 &OpExecuteLaunchFunc(Function) { return *this; }
    template <class Function> OpImplRegisterV2 &ExceptionDumpParseFunc(Function) { return *this; }
    template <class Function> OpImplRegisterV2 &InferFormat(Function) { return *this; }
    template <class Function> OpImplRegisterV2 &OpSelectFormat(Function) { return *this; }
    template <class Function> OpImplRegisterV2 &CheckOpSupport(Function) { return *this; }

    OpImplRegisterV2 &PrivateAttr(const char *name) { return Private<int64_t>(name, 0, false); }
    OpImplRegisterV2 &PrivateAttr(const char *name, int64_t value) { return Private<int64_t>(name, value, true); }
    OpImplRegisterV2 &PrivateAttr(const char *name, float value) { return Private<float>(name, value, true); }
    OpImplRegisterV2 &PrivateAttr(const char *name, bool value) { return Private<bool>(name, value, true); }
    OpImplRegisterV2 &PrivateAttr(const char *name, const char *value) {
        const std::string text = value;
        functions_->private_attributes.emplace_back(name, [text] {
            char *copy = new char[text.size() + 1];
            memcpy(copy, text.c_str(), text.size() + 1);
            return std::shared_ptr<void>(copy, [](void *bytes) { delete[] static_cast<char *>(bytes); });
        });
        return *this;
    }
    OpImplRegisterV2 &PrivateAttr(const char *name, const std::vector<int64_t> &values) {
        functions_->private_attributes.emplace_back(name, [values] {
            auto list = std::make_shared<ContinuousVector>();
            list->SkFill(values);
            return std::shared_ptr<void>(list);
        });
        return *this;
    }

  private:
    template <class T> OpImplRegisterV2 &Private(const char *name, T value, bool given) {
        functions_->private_attributes.emplace_back(
            name, [value, given] { return given ? std::shared_ptr<void>(std::make_shared<T>(value)) : nullptr; });
        return *this;
    }

    SkFunctions *functions_;
};
using OpImplRegister = OpImplRegisterV2;

} // namespace gert

#define SK_OP_HOST_JOIN_(first, second) first##second
#define SK_OP_HOST_JOIN(first, second) SK_OP_HOST_JOIN_(first, second)
#define SK_OP_HOST_REGISTER(type)                                                                                      \
    [[maybe_unused]] static gert::OpImplRegisterV2 SK_OP_HOST_JOIN(sk_registered_##type, __COUNTER__) =                \
        gert::OpImplRegisterV2(#type)
#define IMPL_OP(type) SK_OP_HOST_REGISTER(type)
#define IMPL_OP_OPTILING(type) SK_OP_HOST_REGISTER(type)
#define IMPL_OP_INFERSHAPE(type) SK_OP_HOST_REGISTER(type)

#endif
