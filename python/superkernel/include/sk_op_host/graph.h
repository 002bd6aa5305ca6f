// Element types, formats and results as the host code of operators names them.
#ifndef SK_OP_HOST_GRAPH_H
#define SK_OP_HOST_GRAPH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif
#define FMK_FUNC_HOST_VISIBILITY
#define FMK_FUNC_DEV_VISIBILITY
#define GE_FUNC_HOST_VISIBILITY
#define GE_FUNC_DEV_VISIBILITY

// Name, number, bits of an element: 0 where it has no size of its own.
#define SK_OP_HOST_DATA_TYPES(ROW)                                                                                     \
    ROW(DT_FLOAT, 0, 32)                                                                                               \
    ROW(DT_FLOAT16, 1, 16)                                                                                             \
    ROW(DT_INT8, 2, 8)                                                                                                 \
    ROW(DT_INT32, 3, 32)                                                                                               \
    ROW(DT_UINT8, 4, 8)                                                                                                \
    ROW(DT_INT16, 6, 16)                                                                                               \
    ROW(DT_UINT16, 7, 16)                                                                                              \
    ROW(DT_UINT32, 8, 32)                                                                                              \
    ROW(DT_INT64, 9, 64)                                                                                               \
    ROW(DT_UINT64, 10, 64)                                                                                             \
    ROW(DT_DOUBLE, 11, 64)                                                                                             \
    ROW(DT_BOOL, 12, 8)                                                                                                \
    ROW(DT_STRING, 13, 0)                                                                                              \
    ROW(DT_DUAL_SUB_INT8, 14, 8)                                                                                       \
    ROW(DT_DUAL_SUB_UINT8, 15, 8)                                                                                      \
    ROW(DT_COMPLEX64, 16, 64)                                                                                          \
    ROW(DT_COMPLEX128, 17, 128)                                                                                        \
    ROW(DT_QINT8, 18, 8)                                                                                               \
    ROW(DT_QINT16, 19, 16)                                                                                             \
    ROW(DT_QINT32, 20, 32)                                                                                             \
    ROW(DT_QUINT8, 21, 8)                                                                                              \
    ROW(DT_QUINT16, 22, 16)                                                                                            \
    ROW(DT_RESOURCE, 23, 64)                                                                                           \
    ROW(DT_STRING_REF, 24, 0)                                                                                          \
    ROW(DT_DUAL, 25, 40)                                                                                               \
    ROW(DT_VARIANT, 26, 0)                                                                                             \
    ROW(DT_BF16, 27, 16)                                                                                               \
    ROW(DT_UNDEFINED, 28, 0)                                                                                           \
    ROW(DT_INT4, 29, 4)                                                                                                \
    ROW(DT_UINT1, 30, 1)                                                                                               \
    ROW(DT_INT2, 31, 2)                                                                                                \
    ROW(DT_UINT2, 32, 2)                                                                                               \
    ROW(DT_COMPLEX32, 33, 32)                                                                                          \
    ROW(DT_HIFLOAT8, 34, 8)                                                                                            \
    ROW(DT_FLOAT8_E5M2, 35, 8)                                                                                         \
    ROW(DT_FLOAT8_E4M3FN, 36, 8)                                                                                       \
    ROW(DT_FLOAT8_E8M0, 37, 8)                                                                                         \
    ROW(DT_FLOAT6_E3M2, 38, 6)                                                                                         \
    ROW(DT_FLOAT6_E2M3, 39, 6)                                                                                         \
    ROW(DT_FLOAT4_E2M1, 40, 4)                                                                                         \
    ROW(DT_FLOAT4_E1M2, 41, 4)                                                                                         \
    ROW(DT_HIFLOAT4, 42, 4)

// Name, number.
#define SK_OP_HOST_FORMATS(ROW)                                                                                        \
    ROW(NCHW, 0)                                                                                                       \
    ROW(NHWC, 1)                                                                                                       \
    ROW(ND, 2)                                                                                                         \
    ROW(NC1HWC0, 3)                                                                                                    \
    ROW(FRACTAL_Z, 4)                                                                                                  \
    ROW(NC1C0HWPAD, 5)                                                                                                 \
    ROW(NHWC1C0, 6)                                                                                                    \
    ROW(FSR_NCHW, 7)                                                                                                   \
    ROW(FRACTAL_DECONV, 8)                                                                                             \
    ROW(C1HWNC0, 9)                                                                                                    \
    ROW(FRACTAL_DECONV_TRANSPOSE, 10)                                                                                  \
    ROW(FRACTAL_DECONV_SP_STRIDE_TRANS, 11)                                                                            \
    ROW(NC1HWC0_C04, 12)                                                                                               \
    ROW(FRACTAL_Z_C04, 13)                                                                                             \
    ROW(CHWN, 14)                                                                                                      \
    ROW(FRACTAL_DECONV_SP_STRIDE8_TRANS, 15)                                                                           \
    ROW(HWCN, 16)                                                                                                      \
    ROW(NC1KHKWHWC0, 17)                                                                                               \
    ROW(BN_WEIGHT, 18)                                                                                                 \
    ROW(FILTER_HWCK, 19)                                                                                               \
    ROW(HASHTABLE_LOOKUP_LOOKUPS, 20)                                                                                  \
    ROW(HASHTABLE_LOOKUP_KEYS, 21)                                                                                     \
    ROW(HASHTABLE_LOOKUP_VALUE, 22)                                                                                    \
    ROW(HASHTABLE_LOOKUP_OUTPUT, 23)                                                                                   \
    ROW(HASHTABLE_LOOKUP_HITS, 24)                                                                                     \
    ROW(C1HWNCoC0, 25)                                                                                                 \
    ROW(MD, 26)                                                                                                        \
    ROW(NDHWC, 27)                                                                                                     \
    ROW(FRACTAL_ZZ, 28)                                                                                                \
    ROW(FRACTAL_NZ, 29)                                                                                                \
    ROW(NCDHW, 30)                                                                                                     \
    ROW(DHWCN, 31)                                                                                                     \
    ROW(NDC1HWC0, 32)                                                                                                  \
    ROW(FRACTAL_Z_3D, 33)                                                                                              \
    ROW(CN, 34)                                                                                                        \
    ROW(NC, 35)                                                                                                        \
    ROW(DHWNC, 36)                                                                                                     \
    ROW(FRACTAL_Z_3D_TRANSPOSE, 37)                                                                                    \
    ROW(FRACTAL_ZN_LSTM, 38)                                                                                           \
    ROW(FRACTAL_Z_G, 39)                                                                                               \
    ROW(RESERVED, 40)                                                                                                  \
    ROW(ALL, 41)                                                                                                       \
    ROW(NULL, 42)                                                                                                      \
    ROW(ND_RNN_BIAS, 43)                                                                                               \
    ROW(FRACTAL_ZN_RNN, 44)                                                                                            \
    ROW(NYUV, 45)                                                                                                      \
    ROW(NYUV_A, 46)                                                                                                    \
    ROW(NCL, 47)                                                                                                       \
    ROW(FRACTAL_Z_WINO, 48)                                                                                            \
    ROW(C1HWC0, 49)                                                                                                    \
    ROW(FRACTAL_NZ_C0_16, 50)                                                                                          \
    ROW(FRACTAL_NZ_C0_32, 51)                                                                                          \
    ROW(FRACTAL_NZ_C0_2, 52)                                                                                           \
    ROW(FRACTAL_NZ_C0_4, 53)                                                                                           \
    ROW(FRACTAL_NZ_C0_8, 54)

// Host code uses them by these names.
using std::map;
using std::pair;
using std::string;
using std::vector;

namespace ge {

#define SK_OP_HOST_ROW(name, number, bits) name = number,
enum DataType : int { SK_OP_HOST_DATA_TYPES(SK_OP_HOST_ROW) DT_MAX = 43 };
#undef SK_OP_HOST_ROW

#define SK_OP_HOST_ROW(name, number) FORMAT_##name = number,
enum Format : int { SK_OP_HOST_FORMATS(SK_OP_HOST_ROW) FORMAT_END = 55, FORMAT_MAX = 0xff };
#undef SK_OP_HOST_ROW

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_NOT_CHANGED = 1343242304;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
constexpr graphStatus GRAPH_NODE_WITHOUT_CONST_INPUT = 50331648;
constexpr graphStatus GRAPH_PARAM_OUT_OF_RANGE = 50331652;
constexpr graphStatus SUCCESS = 0;
constexpr graphStatus FAILED = 0xFFFFFFFF;
using Status = uint32_t;
using char_t = char;
using float32_t = float;
using float64_t = double;

constexpr int64_t UNKNOWN_DIM = -1;
constexpr int64_t UNKNOWN_DIM_NUM = -2;
constexpr size_t UNKNOWN_DIM_SIZE = 1;
// Sizes of elements smaller than a byte are told as this plus their bits.
constexpr int kDataTypeSizeBitOffset = 1000;

enum class UnknownShapeOp { None };

inline int SkBitsOf(DataType type) {
    switch (type) {
#define SK_OP_HOST_ROW(name, number, bits)                                                                       \
    case name:                                                                                                         \
        return bits;
        SK_OP_HOST_DATA_TYPES(SK_OP_HOST_ROW)
#undef SK_OP_HOST_ROW
    default:
        return 0;
    }
}

inline int GetSizeByDataType(DataType type) {
    const int bits = SkBitsOf(type);
    if (bits == 0) {
        return -1;
    }
    return bits >= 8 ? bits / 8 : kDataTypeSizeBitOffset + bits;
}

// Bytes of so many elements; -1 where that is not known.
inline int64_t GetSizeInBytes(int64_t count, DataType type) {
    const int bits = SkBitsOf(type);
    return bits == 0 || count < 0 ? -1 : (count * bits + 7) / 8;
}

inline int32_t GetPrimaryFormat(int32_t format) { return format & 0xff; }
inline int32_t GetSubFormat(int32_t format) { return (format & 0xffff00) >> 8; }
inline bool HasSubFormat(int32_t format) { return GetSubFormat(format) > 0; }
inline int32_t GetFormatFromSub(int32_t primary, int32_t sub) { return (primary & 0xff) | ((sub & 0xffff) << 8); }
inline int64_t GetC0Value(int32_t format) {
    const int32_t power = (format & 0xf000000) >> 24;
    return power == 0 ? -1 : int64_t(1) << (power - 1);
}

inline std::string GetFormatName(Format format) {
    switch (GetPrimaryFormat(format)) {
#define SK_OP_HOST_ROW(name, number)                                                                                   \
    case number:                                                                                                       \
        return #name;
        SK_OP_HOST_FORMATS(SK_OP_HOST_ROW)
#undef SK_OP_HOST_ROW
    default:
        return "RESERVED";
    }
}

class AscendString {
  public:
    AscendString() = default;
    AscendString(const char *text) : text_(text == nullptr ? "" : text) {}
    AscendString(const char *text, size_t length) : text_(text, length) {}
    const char *GetString() const { return text_.c_str(); }
    size_t GetLength() const { return text_.size(); }
    bool operator<(const AscendString &other) const { return text_ < other.text_; }
    bool operator==(const AscendString &other) const { return text_ == other.text_; }
    bool operator!=(const AscendString &other) const { return text_ != other.text_; }
    bool operator==(const char *other) const { return text_ == other; }
    bool operator!=(const char *other) const { return text_ != other; }
    size_t Find(const AscendString &part) const { return text_.find(part.text_); }

  private:
    std::string text_;
};

// As messages of host code write them: the names of C++ without what all of them start with.
class TypeUtils {
  public:
    static std::string DataTypeToSerialString(DataType type) {
        switch (type) {
#define SK_OP_HOST_ROW(name, number, bits)                                                                       \
    case name:                                                                                                         \
        return #name;
            SK_OP_HOST_DATA_TYPES(SK_OP_HOST_ROW)
#undef SK_OP_HOST_ROW
        default:
            return "UNDEFINED";
        }
    }
    static AscendString DataTypeToAscendString(DataType type) { return DataTypeToSerialString(type).c_str(); }
    static std::string FormatToSerialString(Format format) { return GetFormatName(format); }
    static AscendString FormatToAscendString(Format format) { return GetFormatName(format).c_str(); }
    static bool IsDataTypeValid(DataType type) { return SkBitsOf(type) != 0; }
    static bool GetDataTypeLength(DataType type, uint32_t &length) {
        const int bits = SkBitsOf(type);
        length = bits >= 8 ? uint32_t(bits / 8) : 0;
        return length != 0;
    }
};

// What graphs call an operator. Host code that is asked by a context names it in signatures of its own.
class Operator {
  public:
    AscendString GetOpType() const { return AscendString(); }
    AscendString GetName() const { return AscendString(); }
    graphStatus GetName(AscendString &name) const {
        name = AscendString();
        return GRAPH_SUCCESS;
    }
};

template <class A, class B, class R> bool AddOverflow(A first, B second, R &sum) {
    return __builtin_add_overflow(first, second, &sum);
}
template <class A, class B, class R> bool MulOverflow(A first, B second, R &product) {
    return __builtin_mul_overflow(first, second, &product);
}

} // namespace ge

#endif
