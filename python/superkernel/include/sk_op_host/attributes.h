// Values of an operator's attributes, by their position in its definition.
#ifndef SK_OP_HOST_ATTRIBUTES_H
#define SK_OP_HOST_ATTRIBUTES_H

#include "shapes.h"

namespace gert {

// Elements without their type.
class ContinuousVector {
  public:
    size_t GetSize() const { return size_; }
    size_t GetCapacity() const { return size_; }
    const void *GetData() const { return bytes_.data(); }
    void *MutableData() { return bytes_.data(); }
    template <class T> void SkFill(const std::vector<T> &values) {
        size_ = values.size();
        bytes_.resize(values.size() * sizeof(T) + sizeof(uint64_t));
        memcpy(bytes_.data(), values.data(), values.size() * sizeof(T));
    }

  private:
    size_t size_ = 0;
    std::vector<uint8_t> bytes_ = std::vector<uint8_t>(sizeof(uint64_t));
};

template <class T> class TypedContinuousVector : public ContinuousVector {
  public:
    const T *GetData() const { return static_cast<const T *>(ContinuousVector::GetData()); }
    T *MutableData() { return static_cast<T *>(ContinuousVector::MutableData()); }
};

class ContinuousVectorVector {
  public:
    size_t GetSize() const { return rows_.size(); }
    const ContinuousVector *Get(size_t index) const { return index < rows_.size() ? &rows_[index] : nullptr; }
    void SkAdd(ContinuousVector row) { rows_.push_back(std::move(row)); }

  private:
    std::vector<ContinuousVector> rows_;
};

class RuntimeAttrs {
  public:
    size_t GetAttrNum() const { return values_.size(); }
    // The number itself, the text's first letter, or the list.
    template <class T> const T *GetAttrPointer(size_t index) const {
        return index < values_.size() ? static_cast<const T *>(values_[index].get()) : nullptr;
    }
    const int64_t *GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
    const float *GetFloat(size_t index) const { return GetAttrPointer<float>(index); }
    const bool *GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
    const char *GetStr(size_t index) const { return GetAttrPointer<char>(index); }
    const Tensor *GetTensor(size_t index) const { return GetAttrPointer<Tensor>(index); }
    const TypedContinuousVector<int64_t> *GetListInt(size_t index) const {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
    }
    const TypedContinuousVector<float> *GetListFloat(size_t index) const {
        return GetAttrPointer<TypedContinuousVector<float>>(index);
    }
    const TypedContinuousVector<bool> *GetListBool(size_t index) const {
        return GetAttrPointer<TypedContinuousVector<bool>>(index);
    }
    const ContinuousVectorVector *GetListListInt(size_t index) const {
        return GetAttrPointer<ContinuousVectorVector>(index);
    }
    const ContinuousVectorVector *GetListListFloat(size_t index) const {
        return GetAttrPointer<ContinuousVectorVector>(index);
    }
    void SkAdd(std::shared_ptr<void> value) { values_.push_back(std::move(value)); }

  private:
    // Null: the attribute has no value.
    std::vector<std::shared_ptr<void>> values_;
};

} // namespace gert

#endif
