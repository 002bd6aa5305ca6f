// A list of tensors behind one parameter: where the addresses begin (bytes), per tensor its number of dimensions and its
// index (32 bits each) and its dimensions (64 bits each), then the addresses.
#ifndef SK_HOST_TENSOR_LIST_H
#define SK_HOST_TENSOR_LIST_H

namespace AscendC {
namespace {

template <class T> class TensorDesc {
  public:
    // Where GetShape may look; on the device the dimensions are copied there.
    void SetShapeAddr(uint64_t *) {}
    uint64_t GetDim() const { return dimensions_; }
    uint64_t GetIndex() const { return index_; }
    uint64_t GetShape(uint32_t number, sk_host::Site site = sk_host::Site::Here()) const {
        if (number >= dimensions_) {
            sk_host::Violation(site, "TensorDesc: dimension %u of %u", number, dimensions_);
        }
        return shape_[number];
    }
    T *GetDataPtr() const { return data_; }
    GlobalTensor<T> GetDataObj() const {
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_);
        return tensor;
    }

  private:
    friend class ListTensorDesc;

    const uint64_t *shape_ = nullptr;
    T *data_ = nullptr;
    uint32_t dimensions_ = 0;
    uint32_t index_ = 0;
};

class ListTensorDesc {
  public:
    ListTensorDesc() = default;
    ListTensorDesc(const void *data, uint32_t length = UINT32_MAX, uint32_t shapes = UINT32_MAX,
                   sk_host::Site site = sk_host::Site::Here()) {
        Init(data, length, shapes, site);
    }

    void Init(const void *data, uint32_t = UINT32_MAX, uint32_t = UINT32_MAX,
              sk_host::Site site = sk_host::Site::Here()) {
        if (data == nullptr) {
            sk_host::Violation(site, "ListTensorDesc: the pointer is null");
        }
        words_ = static_cast<const uint64_t *>(data);
        count_ = 0;
        for (const uint64_t *entry = words_ + 1; entry < Addresses(); entry += 1 + Dimensions(entry)) {
            count_ += 1;
        }
    }
    uint32_t GetSize() const { return count_; }

    template <class T> T *GetDataPtr(uint32_t index, sk_host::Site site = sk_host::Site::Here()) const {
        RequireInside(index, site);
        return reinterpret_cast<T *>(Addresses()[index]);
    }
    template <class T>
    void GetDesc(TensorDesc<T> &desc, uint32_t index, sk_host::Site site = sk_host::Site::Here()) const {
        RequireInside(index, site);
        const uint64_t *entry = words_ + 1;
        for (uint32_t number = 0; number < index; ++number) {
            entry += 1 + Dimensions(entry);
        }
        desc.dimensions_ = Dimensions(entry);
        desc.index_ = static_cast<uint32_t>(*entry >> 32);
        desc.shape_ = entry + 1;
        desc.data_ = reinterpret_cast<T *>(Addresses()[index]);
    }

  private:
    static uint32_t Dimensions(const uint64_t *entry) { return static_cast<uint32_t>(*entry); }
    const uint64_t *Addresses() const { return words_ + words_[0] / sizeof(uint64_t); }
    void RequireInside(uint32_t index, sk_host::Site site) const {
        if (index >= count_) {
            sk_host::Violation(site, "ListTensorDesc: tensor %u of %u", index, count_);
        }
    }

    const uint64_t *words_ = nullptr;
    uint32_t count_ = 0;
};

} // namespace
} // namespace AscendC

#endif
