// Tiling structs in host code: those of kernels, which can also write through to the buffer that reaches the kernel.
#ifndef SK_OP_HOST_TILING_DATA_H
#define SK_OP_HOST_TILING_DATA_H

#include <stdint.h>
#include <string.h>

#include <map>

namespace sk_op_host {

// Where a struct writes to beside itself.
struct Mirror {
    size_t size;
    uint8_t *target;
};

inline std::map<uintptr_t, Mirror> &Mirrors() {
    static std::map<uintptr_t, Mirror> mirrors;
    return mirrors;
}

// A field at `address` has been written: it may be part of a struct in a struct.
inline void Written(const void *address, size_t size) {
    auto &mirrors = Mirrors();
    if (mirrors.empty()) {
        return;
    }
    const auto at = reinterpret_cast<uintptr_t>(address);
    auto found = mirrors.upper_bound(at);
    if (found == mirrors.begin()) {
        return;
    }
    --found;
    if (at + size <= found->first + found->second.size) {
        memcpy(found->second.target + (at - found->first), address, size);
    }
}

} // namespace sk_op_host

namespace optiling {

// Any of these structs, for functions that take all of them. Not a base class: that would change their layout.
class TilingDef {
  public:
    TilingDef(void *data, size_t size) : data_(data), size_(size) {}
    size_t GetDataSize() const { return size_; }
    void SaveToBuffer(void *buffer, size_t room) const { memcpy(buffer, data_, room < size_ ? room : size_); }
    void SetDataPtr(void *target) {
        sk_op_host::Mirrors()[reinterpret_cast<uintptr_t>(data_)] = {size_, static_cast<uint8_t *>(target)};
    }

  private:
    void *data_;
    size_t size_;
};

} // namespace optiling

namespace sk_op_host {

inline optiling::TilingDef &DefOf(void *data, size_t size) {
    static std::map<void *, optiling::TilingDef> defs;
    return defs.insert_or_assign(data, optiling::TilingDef(data, size)).first->second;
}

} // namespace sk_op_host

#define SK_TILING_WRITTEN(field) sk_op_host::Written(&field, sizeof(field))
#define SK_TILING_MEMBERS(name)                                                                                        \
    /* Also what lies between the fields: the kernel's bytes are the same every time. */                               \
    name() { memset(static_cast<void *>(this), 0, sizeof(*this)); }                                                    \
    name(const name &) = default;                                                                                      \
    name &operator=(const name &) = default;                                                                           \
    ~name() { sk_op_host::Mirrors().erase(reinterpret_cast<uintptr_t>(this)); }                                        \
    operator optiling::TilingDef &() { return sk_op_host::DefOf(this, sizeof(*this)); }                                \
    void SetDataPtr(void *target) {                                                                                    \
        sk_op_host::Mirrors()[reinterpret_cast<uintptr_t>(this)] = {sizeof(*this), static_cast<uint8_t *>(target)};    \
    }

#include "sk_cpu/register/tilingdata_base.h"

#endif
