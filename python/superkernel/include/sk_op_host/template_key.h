// Template arguments of a kernel as its tiling key: every argument has so many bits, the first one the lowest.
#ifndef SK_OP_HOST_TEMPLATE_KEY_H
#define SK_OP_HOST_TEMPLATE_KEY_H

#include <initializer_list>

#include "log.h"

#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_AICORE 8
#define ASCENDC_TPL_VECTORCORE 9
#define ASCENDC_TPL_MIX_AICORE 10
#define ASCENDC_TPL_MIX_VECTOR_CORE 11
#define ASCENDC_TPL_MAX 12
#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_INPUT(index) (100000000 + (index))
#define ASCENDC_TPL_OUTPUT(index) (900000000 + (index))
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

// Types and formats as values of template arguments.
#define SK_OP_HOST_ROW(name, number, bits) C_##name = number,
enum : uint64_t { SK_OP_HOST_DATA_TYPES(SK_OP_HOST_ROW) };
#undef SK_OP_HOST_ROW
#define SK_OP_HOST_ROW(name, number) C_FORMAT_##name = number,
enum : uint64_t { SK_OP_HOST_FORMATS(SK_OP_HOST_ROW) };
#undef SK_OP_HOST_ROW

namespace sk_op_host {

constexpr uint64_t NO_KEY = ~uint64_t(0);

// One template argument. A number is told by its position among its values, everything else by itself.
struct TemplateArgument {
    const char *name;
    bool is_number;
    unsigned bits;
    std::vector<uint64_t> values;
};

// Numbers are listed, or given as ranges (their count and their borders), or both: ranges first.
inline TemplateArgument NumberArgument(const char *name, unsigned bits, const std::vector<uint64_t> &given) {
    TemplateArgument argument{name, true, bits, {}};
    if (given.empty()) {
        return argument;
    }
    size_t rest = 1;
    if (given[0] != ASCENDC_TPL_UI_LIST && given.size() > 1) {
        rest = 2 + 2 * size_t(given[1]);
        for (size_t range = 2; range + 1 < given.size() && range < rest; range += 2) {
            for (uint64_t value = given[range]; value <= given[range + 1]; ++value) {
                argument.values.push_back(value);
            }
        }
    }
    if (given[0] != ASCENDC_TPL_UI_RANGE && rest < given.size()) {
        argument.values.insert(argument.values.end(), given.begin() + rest, given.end());
    }
    return argument;
}

inline uint64_t TemplateKey(const std::vector<TemplateArgument> &arguments, std::initializer_list<uint64_t> values) {
    uint64_t key = 0;
    unsigned shift = 0;
    auto value = values.begin();
    for (const TemplateArgument &argument : arguments) {
        if (value == values.end()) {
            break;
        }
        uint64_t part = *value++;
        if (argument.is_number) {
            const auto found = std::find(argument.values.begin(), argument.values.end(), part);
            if (found == argument.values.end()) {
                Say("", std::string("template argument ") + argument.name + " cannot be " + std::to_string(part));
                return NO_KEY;
            }
            part = uint64_t(found - argument.values.begin());
        }
        key |= part << shift;
        shift += argument.bits;
        if (shift > 64) {
            Say("", "the template arguments have more than 64 bits");
            return NO_KEY;
        }
    }
    return key;
}

} // namespace sk_op_host

#define ASCENDC_TPL_DTYPE_DECL(name, ...) sk_op_host::TemplateArgument{#name, false, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_DATATYPE_DECL(name, ...) sk_op_host::TemplateArgument{#name, false, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_FORMAT_DECL(name, ...) sk_op_host::TemplateArgument{#name, false, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_UINT_DECL(name, bits, ...) sk_op_host::NumberArgument(#name, bits, {__VA_ARGS__})
#define ASCENDC_TPL_BOOL_DECL(name, ...) sk_op_host::TemplateArgument{#name, false, 1, {__VA_ARGS__}}
#define ASCENDC_TPL_KERNEL_TYPE_DECL(name, ...) sk_op_host::TemplateArgument{#name, false, 8, {__VA_ARGS__}}
#define ASCENDC_TPL_ARGS_DECL(operator_name, ...)                                                                      \
    static const std::vector<sk_op_host::TemplateArgument> sk_template_arguments { __VA_ARGS__ }
// Which combinations are compiled is a matter of the kernel.
#define ASCENDC_TPL_SEL(...)
#define GET_TPL_TILING_KEY(...) sk_op_host::TemplateKey(sk_template_arguments, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) context->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))

#endif
