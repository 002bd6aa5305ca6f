// GlobalTensor and LocalTensor.
#ifndef SK_HOST_TENSOR_H
#define SK_HOST_TENSOR_H

namespace sk_core {
namespace {

template <> struct TypeOf<AscendC::int4b_t> {
    static constexpr SkType value = SK_TYPE_S4;
};

} // namespace
} // namespace sk_core

namespace sk_host {
namespace {

// Bits of an element, bytes of `count` elements, elements in `bytes` bytes.
template <class T> constexpr uint64_t BITS = 8 * sizeof(T);
template <> constexpr uint64_t BITS<AscendC::int4b_t> = 4;
template <class T> constexpr uint64_t BytesOf(uint64_t count) { return (count * BITS<T> + 7) / 8; }
template <class T> constexpr uint64_t CountIn(uint64_t bytes) { return bytes * 8 / BITS<T>; }
// The element `count` elements behind another; one of 4 bits must be the first of its byte.
template <class T> inline T *Behind(T *element, uint64_t count) { return element + count * BITS<T> / (8 * sizeof(T)); }
#define SK_HOST_WHOLE_BYTES(T)                                                                                         \
    static_assert(sk_host::BITS<T> >= 8, "elements of 4 bits have no address of their own; move and convert them")

inline Memory MemoryOf(AscendC::TPosition position, Site site) {
    using AscendC::TPosition;
    switch (position) {
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::SPM:
    case TPosition::TSCM:
        return L1();
    case TPosition::A2:
        return L0A();
    case TPosition::B2:
        return L0B();
    case TPosition::C2:
        return BiasTable();
    case TPosition::C2PIPE2GM:
        return FixpipeBuffer();
    case TPosition::CO1:
        return L0C();
    case TPosition::CO2:
    case TPosition::VECIN:
    case TPosition::VECOUT:
    case TPosition::VECCALC:
        return UnifiedBuffer();
    case TPosition::GM:
    case TPosition::MAX:
        break;
    }
    Violation(site, "a local tensor cannot have this position");
}

// An address in local memory that the kernel may reach by itself from now on.
template <class T> inline T *Taken(T *address) {
    if (sk_rt_watch & SK_WATCH_ORDER) {
        sk_rt_queue(SK_QUEUE_ADDRESS, address, PIPE_S, 0, nullptr, nullptr, 0);
    }
    return address;
}

// An element that the scalar unit is about to access.
template <class T> inline T *Watched(T *element, uint32_t access, Site site) {
    if (sk_rt_watch != 0) {
        sk_rt_scalar(element, sizeof(T), access, site.file, site.line);
    }
    return element;
}

} // namespace
} // namespace sk_host

namespace AscendC {
namespace {

template <class T> class LocalTensor {
  public:
    using PrimType = T;

    LocalTensor() = default;
    // `owner` is the queue buffer the tensor was cut from, -1 if it is not from a queue.
    template <class Pointer, class = decltype(*Pointer())>
    LocalTensor(TPosition position, Pointer data, uint32_t size, int32_t owner = -1)
        : data_(data), size_(size), owner_(owner), position_(position) {}
    // `size` elements from byte `address` of the position's memory on.
    LocalTensor(TPosition position, uint32_t address, uint32_t size, sk_host::Site site = sk_host::Site::Here())
        : data_(reinterpret_cast<T *>(sk_host::Resolve(sk_host::MemoryOf(position, site), Offset(address),
                                                       sk_host::BytesOf<T>(size), site))),
          size_(size), position_(position) {}

    T GetValue(uint32_t index, sk_host::Site site = sk_host::Site::Here()) const {
        return *sk_host::Watched(At(index, site), SK_ACCESS_TENSOR, site);
    }
    template <class V> void SetValue(uint32_t index, V value, sk_host::Site site = sk_host::Site::Here()) const {
        *sk_host::Watched(At(index, site), SK_ACCESS_WRITE | SK_ACCESS_TENSOR, site) = static_cast<T>(value);
    }
    // Who gets a reference may write, now or later.
    T &operator()(uint32_t index, sk_host::Site site = sk_host::Site::Here()) const {
        return *sk_host::Watched(sk_host::Taken(At(index, site)), SK_ACCESS_WRITE | SK_ACCESS_TENSOR, site);
    }

    // The rest of the tensor from `offset` elements on.
    LocalTensor operator[](uint32_t offset) const {
        if (offset > size_) {
            sk_host::Violation(sk_host::Site::Here(), "LocalTensor: offset %u is past the end (%u elements)", offset,
                               size_);
        }
        return LocalTensor(position_, sk_host::Behind(data_, offset), size_ - offset, owner_);
    }

    T *GetPhyAddr() const { return sk_host::Taken(data_); }
    T *GetPhyAddr(uint32_t offset) const { return sk_host::Taken(sk_host::Behind(data_, offset)); }
    // The same for headers, which keep to the tensor.
    T *SkHostData() const { return data_; }
    uint32_t GetSize() const { return size_; }
    uint32_t GetLength() const { return static_cast<uint32_t>(sk_host::BytesOf<T>(size_)); }
    void SetSize(uint32_t size) { size_ = size; }
    TPosition GetPosition() const { return position_; }
    int32_t SkHostOwner() const { return owner_; }
    void SetUserTag(uint32_t tag) { tag_ = tag; }
    uint32_t GetUserTag() const { return tag_; }

    template <class U> LocalTensor<U> ReinterpretCast() const {
        return LocalTensor<U>(position_, reinterpret_cast<U *>(data_),
                              static_cast<uint32_t>(sk_host::CountIn<U>(sk_host::BytesOf<T>(size_))), owner_);
    }

  private:
    static const void *Offset(uint32_t address) { return reinterpret_cast<const void *>(static_cast<uintptr_t>(address)); }

    T *At(uint32_t index, sk_host::Site site) const {
        SK_HOST_WHOLE_BYTES(T);
        if (data_ == nullptr) {
            sk_host::Violation(site, "LocalTensor: used before it was allocated");
        }
        if (index >= size_) {
            sk_host::Violation(site, "LocalTensor: index %u, but it has %u elements", index, size_);
        }
        return data_ + index;
    }

    T *data_ = nullptr;
    uint32_t size_ = 0;
    int32_t owner_ = -1;
    uint32_t tag_ = 0;
    TPosition position_ = TPosition::VECCALC;
};

template <class T> class GlobalTensor {
  public:
    using PrimType = T;

    void SetGlobalBuffer(T *buffer, uint64_t size) {
        data_ = buffer;
        size_ = size;
    }
    // Without a size nothing is checked.
    void SetGlobalBuffer(T *buffer) { SetGlobalBuffer(buffer, UINT64_MAX); }

    T GetValue(uint64_t index, sk_host::Site site = sk_host::Site::Here()) const {
        T *element = At(index, site);
        Maintain(element);
        return *sk_host::Watched(element, SK_ACCESS_TENSOR, site);
    }
    template <class V> void SetValue(uint64_t index, V value, sk_host::Site site = sk_host::Site::Here()) const {
        T *element = At(index, site);
        *sk_host::Watched(element, SK_ACCESS_WRITE | SK_ACCESS_TENSOR, site) = static_cast<T>(value);
        Maintain(element);
    }
    T &operator()(uint64_t index, sk_host::Site site = sk_host::Site::Here()) const {
        return *sk_host::Watched(At(index, site), SK_ACCESS_WRITE | SK_ACCESS_TENSOR, site);
    }

    GlobalTensor operator[](uint64_t offset) const {
        GlobalTensor rest;
        rest.data_ = sk_host::Behind(data_, offset);
        rest.size_ = size_ == UINT64_MAX ? UINT64_MAX : offset <= size_ ? size_ - offset : 0;
        return rest;
    }

    const T *GetPhyAddr() const { return data_; }
    T *GetPhyAddr(uint64_t offset) const { return sk_host::Behind(data_, offset); }
    uint64_t GetSize() const { return size_; }
    void SetL2CacheHint(CacheMode) {}

    // The host address of `bytes` bytes from the start of the tensor.
    T *SkHostRange(uint64_t bytes, sk_host::Site site) const {
        if (data_ == nullptr) {
            sk_host::Violation(site, "GlobalTensor: SetGlobalBuffer was not called, or with a null pointer");
        }
        if (size_ != UINT64_MAX && bytes > sk_host::BytesOf<T>(size_)) {
            sk_host::Violation(site, "GlobalTensor: %llu bytes wanted, but only %llu are left in the tensor",
                               (unsigned long long)bytes, (unsigned long long)sk_host::BytesOf<T>(size_));
        }
        return data_;
    }

  private:
    T *At(uint64_t index, sk_host::Site site) const {
        SK_HOST_WHOLE_BYTES(T);
        if (data_ == nullptr) {
            sk_host::Violation(site, "GlobalTensor: SetGlobalBuffer was not called, or with a null pointer");
        }
        if (index >= size_) {
            sk_host::Violation(site, "GlobalTensor: index %llu, but it has %llu elements", (unsigned long long)index,
                               (unsigned long long)size_);
        }
        return data_ + index;
    }

    void Maintain(T *element) const {
#if defined(__ASCENDC_SUPER_KERNEL_ENABLE_GM_GET_SET_VALUE_DCCI__)
        dcci(element, SINGLE_CACHE_LINE, CACHELINE_OUT);
#else
        (void)element;
#endif
    }

    T *data_ = nullptr;
    uint64_t size_ = 0;
};

template <class T, CacheLine line, DcciDst destination>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &tensor) {
    dcci(tensor.GetPhyAddr(), line == CacheLine::ENTIRE_DATA_CACHE ? ENTIRE_DATA_CACHE : SINGLE_CACHE_LINE,
         static_cast<int64_t>(destination));
}
template <class T, CacheLine line> inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &tensor) {
    dcci(tensor.GetPhyAddr(), line == CacheLine::ENTIRE_DATA_CACHE ? ENTIRE_DATA_CACHE : SINGLE_CACHE_LINE);
}

} // namespace
} // namespace AscendC

#endif
