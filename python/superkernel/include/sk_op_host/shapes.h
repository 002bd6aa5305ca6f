// Shapes, formats and tensors as operators' host code sees them.
#ifndef SK_OP_HOST_SHAPES_H
#define SK_OP_HOST_SHAPES_H

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <sstream>

#include "graph.h"

namespace gert {

class Shape {
  public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() = default;
    Shape(std::initializer_list<int64_t> dims) {
        for (int64_t dim : dims) {
            AppendDim(dim);
        }
    }
    bool operator==(const Shape &other) const {
        return count_ == other.count_ && std::equal(dims_, dims_ + count_, other.dims_);
    }
    bool operator!=(const Shape &other) const { return !(*this == other); }
    // 1 for a scalar; -1 where a dimension is not known.
    int64_t GetShapeSize() const {
        int64_t size = 1;
        for (size_t index = 0; index < count_; ++index) {
            if (dims_[index] < 0 || __builtin_mul_overflow(size, dims_[index], &size)) {
                return -1;
            }
        }
        return size;
    }
    bool IsScalar() const { return count_ == 0; }
    void SetScalar() { count_ = 0; }
    size_t GetDimNum() const { return count_; }
    void SetDimNum(size_t count) { count_ = count < kMaxDimNum ? count : kMaxDimNum; }
    int64_t GetDim(size_t index) const { return index < kMaxDimNum ? dims_[index] : kInvalidDimValue; }
    int64_t operator[](size_t index) const { return GetDim(index); }
    int64_t &operator[](size_t index) { return index < kMaxDimNum ? dims_[index] : outside_; }
    void SetDim(size_t index, int64_t value) {
        if (index < kMaxDimNum) {
            dims_[index] = value;
        }
    }
    Shape &AppendDim(int64_t value) {
        if (count_ < kMaxDimNum) {
            dims_[count_++] = value;
        }
        return *this;
    }

  private:
    size_t count_ = 0;
    int64_t dims_[kMaxDimNum] = {};
    int64_t outside_ = kInvalidDimValue;
};

class StorageShape {
  public:
    StorageShape() = default;
    StorageShape(std::initializer_list<int64_t> origin, std::initializer_list<int64_t> storage)
        : origin_(origin), storage_(storage) {}
    const Shape &GetOriginShape() const { return origin_; }
    const Shape &GetStorageShape() const { return storage_; }
    const Shape &GetShape() const { return storage_; }
    Shape &MutableOriginShape() { return origin_; }
    Shape &MutableStorageShape() { return storage_; }
    bool operator==(const StorageShape &other) const {
        return origin_ == other.origin_ && storage_ == other.storage_;
    }

  private:
    Shape origin_;
    Shape storage_;
};

class Stride {
  public:
    Stride() = default;
    Stride(std::initializer_list<int64_t> strides) : strides_(strides) {}
    bool operator==(const Stride &other) const { return strides_ == other.strides_; }
    bool operator!=(const Stride &other) const { return !(*this == other); }
    void SetDimNum(size_t count) { strides_.resize(count); }
    void SetStride(size_t index, int64_t value) {
        if (index < strides_.size()) {
            strides_[index] = value;
        }
    }
    Stride &AppendStride(int64_t value) {
        strides_.push_back(value);
        return *this;
    }
    size_t GetDimNum() const { return strides_.size(); }
    int64_t GetStride(size_t index) const { return index < strides_.size() ? strides_[index] : Shape::kInvalidDimValue; }
    int64_t operator[](size_t index) const { return GetStride(index); }

  private:
    std::vector<int64_t> strides_;
};

class ExpandDimsType {
  public:
    ExpandDimsType() = default;
    size_t GetFullSize() const { return 0; }
    bool operator==(const ExpandDimsType &) const { return true; }
};

class StorageFormat {
  public:
    StorageFormat() = default;
    StorageFormat(ge::Format origin, ge::Format storage, const ExpandDimsType &) : origin_(origin), storage_(storage) {}
    ge::Format GetOriginFormat() const { return origin_; }
    ge::Format GetStorageFormat() const { return storage_; }
    ExpandDimsType GetExpandDimsType() const { return {}; }
    void SetOriginFormat(ge::Format format) { origin_ = format; }
    void SetStorageFormat(ge::Format format) { storage_ = format; }

  private:
    ge::Format origin_ = ge::FORMAT_ND;
    ge::Format storage_ = ge::FORMAT_ND;
};

// Type and formats of an input or output.
class CompileTimeTensorDesc {
  public:
    CompileTimeTensorDesc() = default;
    ge::DataType GetDataType() const { return type_; }
    const StorageFormat &GetFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
    ExpandDimsType GetExpandDimsType() const { return {}; }
    void SetDataType(ge::DataType type) { type_ = type; }
    void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }
    void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }

  private:
    ge::DataType type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
};

enum TensorPlacement { kOnDeviceHbm, kOnHost, kFollowing, kOnDeviceP2p, kTensorPlacementEnd };
using TensorAddress = void *;

// An input with its values, if the caller gave them.
class Tensor {
  public:
    Tensor() = default;
    int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
    size_t GetSize() const { return bytes_.size(); }
    template <class T> const T *GetData() const {
        return has_data_ ? reinterpret_cast<const T *>(bytes_.data()) : nullptr;
    }
    template <class T> T *GetData() { return has_data_ ? reinterpret_cast<T *>(bytes_.data()) : nullptr; }
    const void *GetAddr() const { return GetData<uint8_t>(); }
    void *GetAddr() { return GetData<uint8_t>(); }
    TensorPlacement GetPlacement() const { return has_data_ ? kOnHost : kOnDeviceHbm; }
    ge::DataType GetDataType() const { return type_; }
    const Shape &GetStorageShape() const { return shape_.GetStorageShape(); }
    const Shape &GetOriginShape() const { return shape_.GetOriginShape(); }
    Shape &MutableStorageShape() { return shape_.MutableStorageShape(); }
    Shape &MutableOriginShape() { return shape_.MutableOriginShape(); }
    const StorageShape &GetShape() const { return shape_; }
    StorageShape &GetShape() { return shape_; }
    const StorageFormat &GetFormat() const { return format_; }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    void SkSet(ge::DataType type, const StorageFormat &format, const StorageShape &shape) {
        type_ = type;
        format_ = format;
        shape_ = shape;
    }
    void SkSetData(std::vector<uint8_t> bytes) {
        has_data_ = true;
        bytes_ = std::move(bytes);
        // Even an empty tensor has an address.
        bytes_.reserve(8);
    }

  private:
    ge::DataType type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
    StorageShape shape_;
    std::vector<uint8_t> bytes_;
    bool has_data_ = false;
};

template <class T> class Range {
  public:
    Range() = default;
    Range(T *low, T *high) : low_(low), high_(high) {}
    explicit Range(T *both) : low_(both), high_(both) {}
    const T *GetMin() const { return low_; }
    const T *GetMax() const { return high_; }
    T *GetMin() { return low_; }
    T *GetMax() { return high_; }
    void SetMin(T *low) { low_ = low; }
    void SetMax(T *high) { high_ = high; }

  private:
    T *low_ = nullptr;
    T *high_ = nullptr;
};
using TensorRange = Range<Tensor>;

} // namespace gert

#endif
