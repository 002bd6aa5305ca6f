// Tiling structures as kernels see them: plain structs, with what host code calls to fill them. The vendor's headers and
// operators describe them with these macros.
#ifndef SK_CPU_TILINGDATA_BASE_H
#define SK_CPU_TILINGDATA_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Host code adds to them (sk_op_host/tiling_data.h).
#ifndef SK_TILING_MEMBERS
#define SK_TILING_MEMBERS(name)
#define SK_TILING_WRITTEN(field) static_cast<void>(0)
#endif

// As host code lays them out: a struct in a struct starts at a multiple of 8, and every one ends at one.
#define BEGIN_TILING_DATA_DEF(name)                                                                                    \
    struct alignas(8) name {                                                                                           \
        SK_TILING_MEMBERS(name)
#define TILING_DATA_FIELD_DEF(type, name)                                                                              \
    type name = {};                                                                                                    \
    void set_##name(type value) {                                                                                      \
        name = value;                                                                                                  \
        SK_TILING_WRITTEN(name);                                                                                       \
    }                                                                                                                  \
    type get_##name() const { return name; }
#define TILING_DATA_FIELD_DEF_ARR(type, count, name)                                                                   \
    type name[count] = {};                                                                                             \
    void set_##name(const type *values) {                                                                              \
        memcpy(name, values, sizeof(name));                                                                            \
        SK_TILING_WRITTEN(name);                                                                                       \
    }                                                                                                                  \
    const type *get_##name() const { return name; }                                                                    \
    type *get_##name() { return name; }
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name;
#define END_TILING_DATA_DEF                                                                                            \
    size_t GetDataSize() const { return sizeof(*this); }                                                               \
    void SaveToBuffer(void *buffer, size_t room) const {                                                               \
        memcpy(buffer, this, room < sizeof(*this) ? room : sizeof(*this));                                             \
    }                                                                                                                  \
    }                                                                                                                  \
    ;
#define REGISTER_TILING_DATA_CLASS(name, type)

#endif
