// Log and error macros. Errors and warnings reach the caller with the result; the rest is not written.
#ifndef SK_OP_HOST_LOG_H
#define SK_OP_HOST_LOG_H

#include <stdarg.h>
#include <stdio.h>

#include <sstream>
#include <type_traits>

#include "context.h"
#include "securec.h"

namespace sk_op_host {

inline std::vector<std::string> &Messages() {
    static std::vector<std::string> messages;
    return messages;
}

inline void Say(const std::string &who, const std::string &text) {
    const std::string line = who.empty() ? text : who + ": " + text;
    // The first ones tell why; a function that complains in a loop must not fill the memory.
    if (Messages().size() < 100) {
        Messages().push_back(line);
        // Also now: the process may not come to its end.
        fprintf(stderr, "%s\n", line.c_str());
    }
}

// Whom a message is about: a context, a name, or something with a name.
inline std::string NameOf(const char *name) { return name == nullptr ? "" : name; }
inline std::string NameOf(const std::string &name) { return name; }
inline std::string NameOf(const ge::AscendString &name) { return name.GetString(); }
inline std::string NameOf(std::nullptr_t) { return ""; }
template <class T> auto NameOf(const T *context) -> decltype(std::string(context->GetNodeName())) {
    return context == nullptr ? "" : context->GetNodeName();
}
template <class T> auto NameOf(const std::unique_ptr<T> &context) { return NameOf(context.get()); }
template <class T> auto NameOf(const std::shared_ptr<T> &context) { return NameOf(context.get()); }
inline std::string NameOf(const ge::Operator &) { return ""; }
template <class T> auto NameOf(const T &other) -> decltype(std::string(other.GetName().GetString())) {
    return other.GetName().GetString();
}

// A text with places for what stands behind it.
template <class Who> void SayFormatted(const Who &who) { Say("", NameOf(who)); }
template <class Who, class... Values> void SayFormatted(const Who &who, const char *format, Values... values) {
    char text[1024];
    snprintf(text, sizeof(text), format, values...);
    Say(NameOf(who), text);
}

template <class... Values> void Unsaid(const Values &...) {}

inline void Append(std::ostringstream &) {}
template <class T, class... Rest> void Append(std::ostringstream &out, const T &first, const Rest &...rest) {
    if constexpr (std::is_same_v<std::decay_t<T>, const char *> || std::is_same_v<std::decay_t<T>, char *>) {
        const char *text = first;
        out << ", " << (text == nullptr ? "nil" : text);
    } else if constexpr (std::is_enum_v<T>) {
        out << ", " << int64_t(first);
    } else {
        out << ", " << first;
    }
    Append(out, rest...);
}

// Facts of a complaint, in the order of the macro's arguments.
template <class Who, class... Facts> void Complain(const char *what, const Who &who, const Facts &...facts) {
    std::ostringstream out;
    Append(out, facts...);
    Say(NameOf(who), what + (out.str().empty() ? "" : ": " + out.str().substr(2)));
}

} // namespace sk_op_host

namespace Ops {
namespace Base {
template <class T> std::string GetOpInfo(const T &who) { return sk_op_host::NameOf(who); }
inline const char *GetSafeStr(const char *text) { return text == nullptr ? "nil" : text; }
inline const char *GetSafeStr(const std::string &text) { return text.c_str(); }
} // namespace Base
} // namespace Ops

// Arguments of messages that are not written are not evaluated, but must compile.
#define SK_OP_HOST_SILENT(...)                                                                                         \
    do {                                                                                                               \
        if (false) {                                                                                                   \
            sk_op_host::Unsaid(__VA_ARGS__);                                                                           \
        }                                                                                                              \
    } while (0)
#define SK_OP_HOST_SAY(...) sk_op_host::SayFormatted(__VA_ARGS__)

#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3
#define OpLogSub(module, level, ...)                                                                                   \
    do {                                                                                                               \
        if ((level) >= DLOG_WARN) {                                                                                    \
            SK_OP_HOST_SAY(__VA_ARGS__);                                                                               \
        }                                                                                                              \
    } while (0)
#define OP_LOGD(...) SK_OP_HOST_SILENT(__VA_ARGS__)
#define OP_LOGI(...) SK_OP_HOST_SILENT(__VA_ARGS__)
#define OP_LOGD_FULL(...) SK_OP_HOST_SILENT(__VA_ARGS__)
#define OP_LOGI_FULL(...) SK_OP_HOST_SILENT(__VA_ARGS__)
#define OP_EVENT(...) SK_OP_HOST_SILENT(__VA_ARGS__)
#define OP_LOGW(...) SK_OP_HOST_SAY(__VA_ARGS__)
#define OP_LOGE(...) SK_OP_HOST_SAY(__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(...) SK_OP_HOST_SAY(__VA_ARGS__)
#define OP_LOGE_FULL(...) SK_OP_HOST_SAY(__VA_ARGS__)
#define D_OP_LOGD(...) SK_OP_HOST_SILENT(__VA_ARGS__)
#define D_OP_LOGI(...) SK_OP_HOST_SILENT(__VA_ARGS__)
#define D_OP_LOGW(...) SK_OP_HOST_SAY(__VA_ARGS__)
#define D_OP_LOGE(...) SK_OP_HOST_SAY(__VA_ARGS__)
#define GELOGD(...) SK_OP_HOST_SILENT("", __VA_ARGS__)
#define GELOGI(...) SK_OP_HOST_SILENT("", __VA_ARGS__)
#define GELOGW(...) SK_OP_HOST_SAY("", __VA_ARGS__)
#define GELOGE(code, ...) SK_OP_HOST_SAY("", __VA_ARGS__)
// A number of an error and its text, which OP_LOGE has written before.
#define REPORT_INNER_ERROR(...) static_cast<void>(0)
#define REPORT_INNER_ERR_MSG(...) static_cast<void>(0)
#define REPORT_CALL_ERROR(...) static_cast<void>(0)
#define REPORT_CALL_ERR_MSG(...) static_cast<void>(0)
#define REPORT_INPUT_ERROR(...) static_cast<void>(0)
#define REPORT_PREDEFINED_ERR_MSG(...) static_cast<void>(0)

#define OP_LOGE_FOR_INVALID_VALUE(who, ...) sk_op_host::Complain("value is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(who, ...) sk_op_host::Complain("value is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(who, ...) sk_op_host::Complain("values are not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE(who, ...) sk_op_host::Complain("shape is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(who, ...) sk_op_host::Complain("shape is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(who, ...) sk_op_host::Complain("shapes are not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(who, ...) sk_op_host::Complain("number of dimensions is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(who, ...)                                                             \
    sk_op_host::Complain("number of dimensions is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(who, ...)                                                            \
    sk_op_host::Complain("numbers of dimensions are not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(who, ...) sk_op_host::Complain("number of elements is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(who, ...)                                                            \
    sk_op_host::Complain("number of elements is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(who, ...)                                                           \
    sk_op_host::Complain("numbers of elements are not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE(who, ...) sk_op_host::Complain("type is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(who, ...) sk_op_host::Complain("type is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(who, ...) sk_op_host::Complain("types are not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT(who, ...) sk_op_host::Complain("format is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(who, ...) sk_op_host::Complain("format is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(who, ...) sk_op_host::Complain("formats are not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE(who, ...) sk_op_host::Complain("length of a list is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM(who, ...) sk_op_host::Complain("number of tensors is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(who, ...)                                                           \
    sk_op_host::Complain("numbers of tensors are not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(who, ...) sk_op_host::Complain("argument is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(who, ...) sk_op_host::Complain("setting is not valid", who, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_STRIDE(who, ...) sk_op_host::Complain("stride is not valid", who, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT(who, ...) sk_op_host::Complain("input is not valid", who, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(who, ...) sk_op_host::Complain("input's shape is not valid", who, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(who, ...) sk_op_host::Complain("input's type is not valid", who, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(who, ...) sk_op_host::Complain("input's format is not valid", who, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR(who, ...) sk_op_host::Complain("attribute is not valid", who, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(who, ...)                                                                       \
    sk_op_host::Complain("length of an attribute is not valid", who, __VA_ARGS__)

#define OP_CHECK_IF(condition, complain, leave)                                                                        \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            complain;                                                                                                  \
            leave;                                                                                                     \
        }                                                                                                              \
    } while (0)
#define SK_OP_HOST_CHECK_POINTER(who, pointer, leave)                                                                  \
    do {                                                                                                               \
        if ((pointer) == nullptr) {                                                                                    \
            sk_op_host::Say(sk_op_host::NameOf(who), #pointer " is null");                                             \
            leave;                                                                                                     \
        }                                                                                                              \
    } while (0)
#define OP_CHECK_NULL_WITH_CONTEXT(who, pointer) SK_OP_HOST_CHECK_POINTER(who, pointer, return ge::GRAPH_FAILED)
#define OP_CHECK_NULL_WITH_CONTEXT_RET(who, pointer, result) SK_OP_HOST_CHECK_POINTER(who, pointer, return result)

#endif
