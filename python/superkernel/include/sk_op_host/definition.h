// The definition of an operator: `class X : public OpDef` and OP_ADD(X).
#ifndef SK_OP_HOST_DEFINITION_H
#define SK_OP_HOST_DEFINITION_H

#include "registry.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class ItemFindStatus { ITEM_FIND = 0, ITEM_NOEXIST = 1 };
enum class DependScope { ALL = 0, TILING = 1, INVALID_SCOPE = 2 };
enum class FollowType { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE = 4 };
enum class InitValueType { INIT_VALUE_UINT64_T = 0, INIT_VALUE_DEFAULT = 1 };
enum class FormatCheckOption { DEFAULT = 0, STRICT = 1, MAX = 2 };
enum class HcclServerType { AICPU = 0, AICORE = 1, CCU = 2, MAX = 3 };
enum class ScalarType { UINT64 = 0, INT64, UINT32, INT32, UINT16, INT16, UINT8, INT8, FLOAT32, FLOAT16, INVALID_DTYPE };
struct ScalarVar {
    ScalarType scalar_type = ScalarType::INVALID_DTYPE;
    uint64_t scalar_num = 0;
};

class OpParamDef {
  public:
    explicit OpParamDef(const char *name) : name_(name) {}

    OpParamDef &ParamType(Option presence) {
        presence_ = presence;
        return *this;
    }
    OpParamDef &DataType(std::vector<ge::DataType> types) {
        types_ = std::move(types);
        return *this;
    }
    OpParamDef &DataTypeList(std::vector<ge::DataType> types) {
        DataType(std::move(types));
        types_are_list_ = true;
        return *this;
    }
    OpParamDef &Format(std::vector<ge::Format> formats) {
        formats_ = std::move(formats);
        return *this;
    }
    OpParamDef &FormatList(std::vector<ge::Format> formats) {
        Format(std::move(formats));
        formats_are_list_ = true;
        return *this;
    }
    OpParamDef &ValueDepend(Option) {
        value_depend_ = true;
        return *this;
    }
    OpParamDef &ValueDepend(Option, DependScope) { return ValueDepend(REQUIRED); }
    OpParamDef &Follow(const char *name, FollowType type = FollowType::ALL) {
        followed_ = type == FollowType::ALL || type == FollowType::DTYPE ? name : "";
        return *this;
    }
    // What other parts of a build are told, and nobody here asks for.
    OpParamDef &DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
    OpParamDef &FormatForBinQuery(std::vector<ge::Format>) { return *this; }
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
    OpParamDef &AutoContiguous() { return *this; }
    OpParamDef &IgnoreContiguous() { return *this; }
    OpParamDef &Scalar() { return *this; }
    OpParamDef &ScalarList() { return *this; }
    template <class Type> OpParamDef &To(Type) { return *this; }
    OpParamDef &Version(uint32_t) { return *this; }
    template <class... Values> OpParamDef &InitValue(Values...) { return *this; }
    OpParamDef &InitValue(std::initializer_list<ScalarVar>) { return *this; }
    OpParamDef &OutputShapeDependOnCompute() { return *this; }
    template <class... Values> OpParamDef &Comment(Values...) { return *this; }
    template <class... Values> OpParamDef &FormatCheck(Values...) { return *this; }

    std::string name_;
    Option presence_ = REQUIRED;
    std::vector<ge::DataType> types_;
    std::vector<ge::Format> formats_;
    bool types_are_list_ = false;
    bool formats_are_list_ = false;
    bool value_depend_ = false;
    std::string followed_;
};

class OpAttrDef {
  public:
    explicit OpAttrDef(const char *name) : name_(name) {}

    OpAttrDef &AttrType(Option presence) {
        presence_ = presence;
        return *this;
    }
    OpAttrDef &Bool() { return Kind("bool"); }
    OpAttrDef &Bool(bool value) { return Default("bool", value ? "true" : "false"); }
    OpAttrDef &Int() { return Kind("int"); }
    OpAttrDef &Int(int64_t value) { return Default("int", std::to_string(value)); }
    OpAttrDef &Float() { return Kind("float"); }
    OpAttrDef &Float(float value) { return Default("float", Number(value)); }
    OpAttrDef &String() { return Kind("str"); }
    OpAttrDef &String(const char *value) { return Default("str", Text(value)); }
    OpAttrDef &ListBool() { return Kind("list_bool"); }
    OpAttrDef &ListBool(std::vector<bool> values) {
        return Default("list_bool", List(values, [](bool value) { return std::string(value ? "true" : "false"); }));
    }
    OpAttrDef &ListInt() { return Kind("list_int"); }
    OpAttrDef &ListInt(std::vector<int64_t> values) { return Default("list_int", Integers(values)); }
    OpAttrDef &ListFloat() { return Kind("list_float"); }
    OpAttrDef &ListFloat(std::vector<float> values) { return Default("list_float", List(values, Number)); }
    OpAttrDef &ListString() { return Kind("list_str"); }
    OpAttrDef &ListString(std::vector<std::string> values) {
        return Default("list_str", List(values, [](const std::string &value) { return Text(value.c_str()); }));
    }
    OpAttrDef &ListListInt() { return Kind("list_list_int"); }
    OpAttrDef &ListListInt(std::vector<std::vector<int64_t>> values) {
        return Default("list_list_int", List(values, Integers));
    }
    OpAttrDef &Version(uint32_t) { return *this; }
    template <class... Values> OpAttrDef &Comment(Values...) { return *this; }

    // As JSON.
    static std::string Text(const char *text) {
        std::string quoted = "\"";
        for (; *text != 0; ++text) {
            const unsigned char letter = static_cast<unsigned char>(*text);
            if (letter == '"' || letter == '\\' || letter < 0x20) {
                char escaped[8];
                snprintf(escaped, sizeof(escaped), "\\u%04x", letter);
                quoted += escaped;
            } else {
                quoted += *text;
            }
        }
        return quoted + "\"";
    }
    static std::string Number(float value) {
        if (!std::isfinite(value)) {
            return "null";
        }
        // The shortest text that is this number again.
        char text[32];
        for (int digits = 6; digits <= 9; ++digits) {
            snprintf(text, sizeof(text), "%.*g", digits, double(value));
            if (strtof(text, nullptr) == value) {
                break;
            }
        }
        return text;
    }
    template <class T, class Print> static std::string List(const std::vector<T> &values, Print print) {
        std::string text = "[";
        for (size_t index = 0; index < values.size(); ++index) {
            text += (index == 0 ? "" : ",") + print(values[index]);
        }
        return text + "]";
    }
    static std::string Integers(const std::vector<int64_t> &values) {
        return List(values, [](int64_t value) { return std::to_string(value); });
    }

    std::string name_;
    Option presence_ = REQUIRED;
    std::string kind_ = "int";
    std::string default_;

  private:
    OpAttrDef &Kind(const char *kind) {
        kind_ = kind;
        return *this;
    }
    OpAttrDef &Default(const char *kind, std::string value) {
        default_ = std::move(value);
        return Kind(kind);
    }
};

// Parameters in their order, each name once.
class SkParameters {
  public:
    OpParamDef &Named(const char *name) {
        for (auto &parameter : all_) {
            if (parameter->name_ == name) {
                return *parameter;
            }
        }
        all_.push_back(std::make_shared<OpParamDef>(name));
        return *all_.back();
    }
    // What `other` says about a parameter stands for what is said here.
    void Override(const SkParameters &other) {
        for (const auto &parameter : other.all_) {
            Named(parameter->name_.c_str()) = *parameter;
        }
    }
    std::vector<std::shared_ptr<OpParamDef>> all_;
};

// What differs on one SoC.
class OpAICoreConfig {
  public:
    OpAICoreConfig() = default;
    explicit OpAICoreConfig(const char *) {}
    OpParamDef &Input(const char *name) { return inputs_.Named(name); }
    OpParamDef &Output(const char *name) { return outputs_.Named(name); }
    OpAICoreConfig &DynamicCompileStaticFlag(bool) { return *this; }
    OpAICoreConfig &DynamicFormatFlag(bool) { return *this; }
    OpAICoreConfig &DynamicRankSupportFlag(bool) { return *this; }
    OpAICoreConfig &DynamicShapeSupportFlag(bool) { return *this; }
    OpAICoreConfig &NeedCheckSupportFlag(bool) { return *this; }
    OpAICoreConfig &PrecisionReduceFlag(bool) { return *this; }
    OpAICoreConfig &ExtendCfgInfo(const char *key, const char *value) {
        values_[key] = value;
        return *this;
    }

    SkParameters inputs_;
    SkParameters outputs_;
    std::map<std::string, std::string> values_;
};

class OpAICoreDef {
  public:
    OpAICoreDef &AddConfig(const char *soc) { return AddConfig(soc, OpAICoreConfig()); }
    OpAICoreDef &AddConfig(const char *soc, OpAICoreConfig config) {
        configs_.emplace_back(soc, std::move(config));
        return *this;
    }
    OpAICoreDef &SetTiling(gert::OpImplRegisterV2::TilingKernelFunc function) {
        tiling_ = function;
        return *this;
    }
    template <class Function> OpAICoreDef &SetCheckSupport(Function) { return *this; }
    template <class Function> OpAICoreDef &SetOpSelectFormat(Function) { return *this; }
    template <class Function> OpAICoreDef &SetOpSupportInfo(Function) { return *this; }
    template <class Function> OpAICoreDef &SetOpSpecInfo(Function) { return *this; }
    template <class Function> OpAICoreDef &SetParamGeneralize(Function) { return *this; }

    std::vector<std::pair<std::string, OpAICoreConfig>> configs_;
    gert::OpImplRegisterV2::TilingKernelFunc tiling_ = nullptr;
};

// Communication between devices, which nothing here simulates.
class OpMC2Def {
  public:
    OpMC2Def &HcclGroup(const char *) { return *this; }
    OpMC2Def &HcclGroup(std::vector<const char *>) { return *this; }
    OpMC2Def &HcclServerType(ops::HcclServerType, const char * = nullptr) { return *this; }
};

class OpDef {
  public:
    explicit OpDef(const char *type) : type_(type) {}
    OpParamDef &Input(const char *name) { return inputs_.Named(name); }
    OpParamDef &Output(const char *name) { return outputs_.Named(name); }
    OpAttrDef &Attr(const char *name) {
        for (auto &attribute : attributes_) {
            if (attribute->name_ == name) {
                return *attribute;
            }
        }
        attributes_.push_back(std::make_shared<OpAttrDef>(name));
        return *attributes_.back();
    }
    OpAICoreDef &AICore() { return core_; }
    OpMC2Def &MC2() { return communication_; }
    OpDef &SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc function) {
        infer_shape_ = function;
        return *this;
    }
    OpDef &SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc function) {
        infer_type_ = function;
        return *this;
    }
    OpDef &SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc) { return *this; }
    OpDef &SetInferOutDataTypeSameWithFirstInput() { return *this; }
    template <class... Values> OpDef &Comment(Values...) { return *this; }
    OpDef &FormatMatchMode(...) { return *this; }
    OpDef &EnableFallBack() { return *this; }

    std::string type_;
    SkParameters inputs_;
    SkParameters outputs_;
    std::vector<std::shared_ptr<OpAttrDef>> attributes_;
    OpAICoreDef core_;
    OpMC2Def communication_;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape_ = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_type_ = nullptr;
};

// Made when they are asked for: what their functions use is ready then.
inline std::vector<std::function<std::shared_ptr<OpDef>()>> &SkDefinitions() {
    static std::vector<std::function<std::shared_ptr<OpDef>()>> definitions;
    return definitions;
}

template <class Definition> int SkAddDefinition(const char *type) {
    SkDefinitions().push_back([type] { return std::shared_ptr<OpDef>(std::make_shared<Definition>(type)); });
    return 0;
}

} // namespace ops

#define SK_OP_HOST_ADD(definition, ...)                                                                                \
    [[maybe_unused]] static const int SK_OP_HOST_JOIN(sk_added_##definition, __COUNTER__) =                            \
        ops::SkAddDefinition<definition>(#definition)
#define OP_ADD(...) SK_OP_HOST_ADD(__VA_ARGS__, )

#endif
