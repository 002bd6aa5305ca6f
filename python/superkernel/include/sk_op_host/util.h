// Arithmetic and texts that operators share.
#ifndef SK_OP_HOST_UTIL_H
#define SK_OP_HOST_UTIL_H

#include <array>
#include <iostream>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "log.h"
#include "platform.h"
#include "registry.h"

namespace Ops {
namespace Base {

// With a divisor of 0 the number itself: operators divide by core counts that they check afterwards. Numbers of two types
// meet in the type that C++ chooses; the result has the first one's.
template <class T, class U> constexpr T FloorDiv(T value, U divisor) { return divisor == 0 ? value : T(value / divisor); }
template <class T, class U> constexpr T CeilDiv(T value, U divisor) {
    if (divisor == 0) {
        return value;
    }
    const T quotient = T(value / divisor);
    return value % divisor != 0 && ((value < 0) == (divisor < 0)) ? T(quotient + 1) : quotient;
}
template <class T, class U> constexpr T CeilAlign(T value, U unit) { return unit == 0 ? 0 : T(CeilDiv(value, unit) * unit); }
template <class T, class U> constexpr T FloorAlign(T value, U unit) { return unit == 0 ? 0 : T(value / unit * unit); }

inline bool IsFloatEqual(float first, float second) {
    return std::abs(first - second) <= std::numeric_limits<float>::epsilon();
}

inline std::string ToString(const gert::Shape &shape) {
    std::string text = "[";
    for (size_t index = 0; index < shape.GetDimNum(); ++index) {
        text += (index == 0 ? "" : ", ") + std::to_string(shape.GetDim(index));
    }
    return text + "]";
}
inline std::string ToString(const gert::Shape *shape) { return shape == nullptr ? "nil" : ToString(*shape); }
inline std::string ToString(const gert::StorageShape &shape) {
    return "{" + ToString(shape.GetOriginShape()) + ", " + ToString(shape.GetStorageShape()) + "}";
}
inline std::string ToString(const gert::StorageShape *shape) { return shape == nullptr ? "nil" : ToString(*shape); }
inline std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
inline std::string ToString(ge::Format format) { return ge::TypeUtils::FormatToSerialString(format); }
template <class T> std::string VectorToString(const std::vector<T> &values) {
    std::ostringstream out;
    out << "[";
    for (size_t index = 0; index < values.size(); ++index) {
        out << (index == 0 ? "" : ", ") << values[index];
    }
    out << "]";
    return out.str();
}
template <class T> std::string ToString(const std::vector<T> &values) { return VectorToString(values); }
inline std::string ToString(const gert::ContinuousVector &values) {
    const auto *numbers = static_cast<const int64_t *>(values.GetData());
    return VectorToString(std::vector<int64_t>(numbers, numbers + values.GetSize()));
}
inline std::string ToString(const gert::ContinuousVector *values) { return values == nullptr ? "nil" : ToString(*values); }
template <class T> std::string ToString(const T *values, size_t count) {
    return values == nullptr ? "nil" : VectorToString(std::vector<T>(values, values + count));
}

inline bool IsUnknownRank(const gert::Shape &shape) {
    return shape.GetDimNum() == 1 && shape.GetDim(0) == ge::UNKNOWN_DIM_NUM;
}
inline bool IsUnknownRank(const gert::Shape *shape) { return IsUnknownRank(*shape); }
inline bool IsUnknownShape(const gert::Shape &shape) {
    for (size_t index = 0; index < shape.GetDimNum(); ++index) {
        if (shape.GetDim(index) == ge::UNKNOWN_DIM) {
            return true;
        }
    }
    return false;
}
inline bool IsUnknownShape(const gert::Shape *shape) { return IsUnknownShape(*shape); }
inline ge::graphStatus SetUnknownRank(gert::Shape &shape) {
    shape.SetDimNum(0);
    shape.AppendDim(ge::UNKNOWN_DIM_NUM);
    return ge::GRAPH_SUCCESS;
}
inline ge::graphStatus SetUnknownRank(gert::Shape *shape) { return SetUnknownRank(*shape); }
inline ge::graphStatus SetUnknownShape(int64_t rank, gert::Shape &shape) {
    shape.SetDimNum(0);
    for (int64_t index = 0; index < rank; ++index) {
        shape.AppendDim(ge::UNKNOWN_DIM);
    }
    return ge::GRAPH_SUCCESS;
}
inline ge::graphStatus SetUnknownShape(int64_t rank, gert::Shape *shape) { return SetUnknownShape(rank, *shape); }
inline ge::graphStatus SetAllUnknownDim(int64_t rank, gert::Shape *shape) { return SetUnknownShape(rank, *shape); }

// A scalar has one element, which code that counts dimensions wants to see.
inline const gert::Shape &EnsureNotScalar(const gert::Shape &shape) {
    static const gert::Shape one = {1};
    return shape.IsScalar() ? one : shape;
}

// Bytes of a block of the unified buffer.
template <class Context> uint32_t GetUbBlockSize(const Context *) { return 32; }

template <class Context> uint64_t GetUbSize(const Context *context) {
    uint64_t bytes = 0;
    platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    return bytes;
}
template <class Context> uint32_t GetAivCoreNum(const Context *context) {
    return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
}
// Bytes that one step of a vector instruction takes: a register, or as much memory where there are none.
template <class Context> uint32_t GetVRegSize(const Context *context) {
    const uint32_t bytes = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetVecRegLen();
    return bytes == 0 ? 256 : bytes;
}
template <class Context> bool IsRegbaseSocVersion(const Context *context) {
    return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCurNpuArch() == NpuArch::DAV_3510;
}

// Values of a constant input, whatever integer type it has; false: they were not given.
template <class T> bool GetConstInt(const gert::Tensor *tensor, std::vector<T> &values) {
    if (tensor == nullptr || tensor->GetAddr() == nullptr) {
        return false;
    }
    const int64_t count = tensor->GetShapeSize();
    values.clear();
    for (int64_t index = 0; index < count; ++index) {
        switch (tensor->GetDataType()) {
        case ge::DT_INT32:
            values.push_back(T(tensor->GetData<int32_t>()[index]));
            break;
        case ge::DT_INT64:
            values.push_back(T(tensor->GetData<int64_t>()[index]));
            break;
        case ge::DT_UINT32:
            values.push_back(T(tensor->GetData<uint32_t>()[index]));
            break;
        case ge::DT_UINT64:
            values.push_back(T(tensor->GetData<uint64_t>()[index]));
            break;
        default:
            return false;
        }
    }
    return true;
}
template <class Context, class T> bool GetConstInt(Context *context, int64_t index, T &value) {
    std::vector<T> values;
    if (!GetConstInt(context->GetInputTensor(size_t(index)), values) || values.empty()) {
        return false;
    }
    value = values[0];
    return true;
}
template <class Context> bool GetConstIntToShape(Context *context, int64_t index, gert::Shape &shape) {
    std::vector<int64_t> values;
    if (!GetConstInt(context->GetInputTensor(size_t(index)), values)) {
        return false;
    }
    shape.SetDimNum(0);
    for (int64_t value : values) {
        shape.AppendDim(value);
    }
    return true;
}

// Shapes of element-wise operators.
inline ge::graphStatus InferShape4Elewise(gert::InferShapeContext *context) {
    const auto *input = context->GetInputShape(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, input);
    for (size_t index = 0; index < context->GetComputeNodeOutputNum(); ++index) {
        *context->GetOutputShape(index) = *input;
    }
    return ge::GRAPH_SUCCESS;
}
// The shape both fit into, dimensions counted from the end.
inline bool BroadcastShape(const gert::Shape *first, const gert::Shape *second, gert::Shape *result) {
    const gert::Shape a = *first;
    const gert::Shape b = *second;
    const size_t rank = std::max(a.GetDimNum(), b.GetDimNum());
    result->SetDimNum(rank);
    for (size_t index = 1; index <= rank; ++index) {
        const int64_t x = index <= a.GetDimNum() ? a.GetDim(a.GetDimNum() - index) : 1;
        const int64_t y = index <= b.GetDimNum() ? b.GetDim(b.GetDimNum() - index) : 1;
        if (x != y && x != 1 && y != 1) {
            return false;
        }
        result->SetDim(rank - index, x == 1 ? y : x);
    }
    return true;
}
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context) {
    const auto *first = context->GetInputShape(0);
    const auto *second = context->GetInputShape(1);
    auto *result = context->GetOutputShape(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, first);
    OP_CHECK_NULL_WITH_CONTEXT(context, second);
    OP_CHECK_NULL_WITH_CONTEXT(context, result);
    OP_CHECK_IF(!BroadcastShape(first, second, result),
                sk_op_host::Complain("shapes do not fit together", context, ToString(*first), ToString(*second)),
                return ge::GRAPH_FAILED);
    return ge::GRAPH_SUCCESS;
}
// The first shape without the dimensions that the second input names.
inline ge::graphStatus SkReduce(const gert::Shape &from, std::vector<int64_t> axes, bool keep, gert::Shape &to) {
    const int64_t rank = int64_t(from.GetDimNum());
    for (int64_t &axis : axes) {
        axis = axis < 0 ? axis + rank : axis;
        if (axis < 0 || axis >= std::max<int64_t>(rank, 1)) {
            return ge::GRAPH_FAILED;
        }
    }
    to.SetDimNum(0);
    for (int64_t index = 0; index < rank; ++index) {
        if (std::find(axes.begin(), axes.end(), index) == axes.end()) {
            to.AppendDim(from.GetDim(size_t(index)));
        } else if (keep) {
            to.AppendDim(1);
        }
    }
    return ge::GRAPH_SUCCESS;
}

} // namespace Base
} // namespace Ops

#endif
