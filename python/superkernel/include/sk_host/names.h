// Names that kernels use beside tensors and instructions.
#ifndef SK_HOST_NAMES_H
#define SK_HOST_NAMES_H

namespace AscendC {
namespace {

template <class A, class B> struct IsSameType {
    static constexpr bool value = false;
};
template <class A> struct IsSameType<A, A> {
    static constexpr bool value = true;
};
template <bool first, class A, class B> struct Conditional {
    using type = B;
};
template <class A, class B> struct Conditional<true, A, B> {
    using type = A;
};

constexpr uint32_t DivCeil(uint32_t value, uint32_t unit) { return unit == 0 ? 0 : (value + unit - 1) / unit; }
constexpr int32_t CeilDivision(int32_t value, int32_t unit) { return unit == 0 ? 0 : (value + unit - 1) / unit; }
constexpr uint32_t AlignUp(uint32_t value, uint32_t unit) { return DivCeil(value, unit) * unit; }

// Elements of global memory around the data cache.
template <class T> inline T ReadGmByPassDCache(T *address) {
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "ReadGmByPassDCache: 1, 2, 4 or 8 bytes");
    __asm__ volatile("" ::: "memory");
    const uint64_t word = sk_rt_bypass(address, sizeof(T), 0, 0);
    T value;
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
}
template <class T> inline void WriteGmByPassDCache(T *address, T value) {
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "WriteGmByPassDCache: 1, 2, 4 or 8 bytes");
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    sk_rt_bypass(address, sizeof(T), 1, word);
    __asm__ volatile("" ::: "memory");
}

// Hands out a memory from its start on, for kernels without TPipe.
template <Hardware memory = Hardware::UB> class LocalMemAllocator {
  public:
    template <TPosition position, class T, uint32_t count>
    LocalTensor<T> Alloc(sk_host::Site site = sk_host::Site::Here()) {
        return Take<T>(position, count, site);
    }
    template <TPosition position, class T> LocalTensor<T> Alloc(uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
        return Take<T>(position, count, site);
    }
    template <class T, uint32_t count> LocalTensor<T> Alloc(sk_host::Site site = sk_host::Site::Here()) {
        return Take<T>(POSITION, count, site);
    }
    template <class T> LocalTensor<T> Alloc(uint32_t count, sk_host::Site site = sk_host::Site::Here()) {
        return Take<T>(POSITION, count, site);
    }
    uint32_t GetCurAddr() const { return static_cast<uint32_t>(used_); }

  private:
    static_assert(memory != Hardware::GM && memory != Hardware::MAX,
                  "LocalMemAllocator: there are no tensors in this memory");
    // Where a tensor is if nobody says so.
    static constexpr TPosition POSITION = memory == Hardware::UB     ? TPosition::VECCALC
                                          : memory == Hardware::L1   ? TPosition::A1
                                          : memory == Hardware::L0A  ? TPosition::A2
                                          : memory == Hardware::L0B  ? TPosition::B2
                                          : memory == Hardware::L0C  ? TPosition::CO1
                                          : memory == Hardware::BIAS ? TPosition::C2
                                                                     : TPosition::C2PIPE2GM;

    template <class T> LocalTensor<T> Take(TPosition position, uint32_t count, sk_host::Site site) {
        const sk_host::Memory there = sk_host::MemoryOf(POSITION, site);
        if (sk_host::MemoryOf(position, site).base != there.base) {
            sk_host::Violation(site, "LocalMemAllocator: this position is not in %s", there.name);
        }
        const uint64_t bytes = sk_host::RoundUp(sk_host::BytesOf<T>(count), sk_host::BLOCK_BYTES);
        if (bytes > there.size - used_) {
            sk_host::Violation(site, "LocalMemAllocator: %llu bytes of %s wanted, %llu of %llu are in use",
                               (unsigned long long)bytes, there.name, (unsigned long long)used_,
                               (unsigned long long)there.size);
        }
        const uint32_t start = static_cast<uint32_t>(used_);
        used_ += bytes;
        return LocalTensor<T>(position, start, count, site);
    }

    uint64_t used_ = 0;
};

// -- Output of tensors ---------------------------------------------------------------------------------------------------

constexpr uint32_t K_MAX_SHAPE_DIM = 8;
struct ShapeInfo {
    uint8_t shapeDim = 0;
    uint32_t shape[K_MAX_SHAPE_DIM] = {};

    ShapeInfo() = default;
    ShapeInfo(uint8_t dimensions, const uint32_t lengths[]) : shapeDim(dimensions) {
        for (uint32_t at = 0; at < shapeDim && at < K_MAX_SHAPE_DIM; ++at) {
            shape[at] = lengths[at];
        }
    }
};

template <SkType type> constexpr const char *SK_HOST_TYPE_NAME = "?";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_F16> = "half";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_BF16> = "bfloat16_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_F32> = "float";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_S4> = "int4b_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_S8> = "int8_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_U8> = "uint8_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_S16> = "int16_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_U16> = "uint16_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_S32> = "int32_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_U32> = "uint32_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_S64> = "int64_t";
template <> constexpr const char *SK_HOST_TYPE_NAME<SK_TYPE_U64> = "uint64_t";

template <class T> inline void sk_host_print_element(const T *data, uint64_t at) {
    if constexpr (sk_host::BITS<T> == 4) {
        const int nibble = reinterpret_cast<const uint8_t *>(data)[at / 2] >> (at % 2 * 4) & 15;
        printf("%d", nibble < 8 ? nibble : nibble - 16);
    } else if constexpr (SkHostOneOf<T, half, bfloat16_t, float>::value) {
        printf("%g", static_cast<double>(static_cast<float>(data[at])));
    } else if constexpr (T(-1) < T(0)) {
        printf("%lld", static_cast<long long>(data[at]));
    } else {
        printf("%llu", static_cast<unsigned long long>(data[at]));
    }
}

// A line that tells what comes, then the elements, a line for every row of the last dimension.
template <class T>
inline void sk_host_dump(const T *data, const char *place, uint64_t size, uint32_t description, uint32_t count,
                         const ShapeInfo &shape, sk_host::Site site) {
    if (data == nullptr || count > size) {
        sk_host::Violation(site, "DumpTensor: %u elements wanted, but the tensor has %llu", count,
                           (unsigned long long)size);
    }
    // What pipes still work on is waited for.
    pipe_barrier(PIPE_ALL);
    printf("DumpTensor %u: %u x %s in %s, shape [", description, count, SK_HOST_TYPE_NAME<sk_core::TypeOf<T>::value>,
           place);
    for (uint32_t at = 0; at < shape.shapeDim && at < K_MAX_SHAPE_DIM; ++at) {
        printf("%s%u", at == 0 ? "" : ", ", shape.shape[at]);
    }
    const uint32_t last = shape.shapeDim == 0 ? 0 : shape.shape[shape.shapeDim - 1];
    const uint32_t row = last == 0 ? count : last;
    for (uint32_t at = 0; at < count; ++at) {
        printf("%s", at == 0 ? "]\n" : at % row == 0 ? "\n" : " ");
        sk_host_print_element(data, at);
    }
    printf(count == 0 ? "]\n" : "\n");
}
template <class T>
inline void DumpTensor(const LocalTensor<T> &tensor, uint32_t description, uint32_t count, const ShapeInfo &shape,
                       sk_host::Site site = sk_host::Site::Here()) {
    sk_host_dump(tensor.SkHostData(), sk_host::MemoryOf(tensor.GetPosition(), site).name, tensor.GetSize(), description,
                 count, shape, site);
}
template <class T>
inline void DumpTensor(const GlobalTensor<T> &tensor, uint32_t description, uint32_t count, const ShapeInfo &shape,
                       sk_host::Site site = sk_host::Site::Here()) {
    sk_host_dump(tensor.GetPhyAddr(), "GM", tensor.GetSize(), description, count, shape, site);
}
template <class Tensor>
inline void DumpTensor(const Tensor &tensor, uint32_t description, uint32_t count,
                       sk_host::Site site = sk_host::Site::Here()) {
    const uint32_t lengths[] = {count};
    DumpTensor(tensor, description, count, ShapeInfo(1, lengths), site);
}

} // namespace
} // namespace AscendC

#endif
