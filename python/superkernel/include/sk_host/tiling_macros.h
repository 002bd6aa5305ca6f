// Tiling data: a plain struct read from GM. An operator says which struct it uses by REGISTER_TILING_DEFAULT.
#ifndef SK_HOST_TILING_MACROS_H
#define SK_HOST_TILING_MACROS_H

namespace sk_host {
namespace {

template <class T> inline T ReadTiling(const volatile void *address, Site site = Site::Here()) {
    if (address == nullptr) {
        Violation(site, "the tiling pointer is null");
    }
    T value;
    __builtin_memcpy(&value, const_cast<const void *>(address), sizeof(T));
    sk_rt_work(PIPE_S, sizeof(T));
    return value;
}

} // namespace
} // namespace sk_host

// What the builder wants to know stays in the text it looks at.
#ifdef SK_OPERATOR_LOOK
#define KERNEL_TASK_TYPE(key, type) sk_look_task_type(key, type)
#define KERNEL_TASK_TYPE_DEFAULT(type) sk_look_task_type(default, type)
#define REGISTER_TILING_FOR_TILINGKEY(expression, type) sk_look_tiling(expression, type)
#else
#define KERNEL_TASK_TYPE(key, type) static_assert(true, "")
#define KERNEL_TASK_TYPE_DEFAULT(type) static_assert(true, "")
#define REGISTER_TILING_FOR_TILINGKEY(expression, type) static_assert(true, "")
#endif

#define REGISTER_TILING_DEFAULT(type) using SkHostDefaultTiling = type
#define REGISTER_NONE_TILING static_assert(true, "")

// The builder names another one where a tiling key has its own.
#define SK_HOST_TILING_STRUCT SkHostDefaultTiling

#define GET_TILING_DATA(name, address) auto name = sk_host::ReadTiling<SK_HOST_TILING_STRUCT>(address)
#define GET_TILING_DATA_WITH_STRUCT(type, name, address) auto name = sk_host::ReadTiling<type>(address)
#define GET_TILING_DATA_MEMBER(type, member, name, address) auto name = sk_host::ReadTiling<type>(address).member
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, address)                                                           \
    const type *name = reinterpret_cast<const type *>(reinterpret_cast<uintptr_t>(address))

#define COPY_TILING_WITH_STRUCT(type, address, name)                                                                   \
    type name##Copy = sk_host::ReadTiling<type>(address);                                                              \
    const type *name = &name##Copy
#define COPY_TILING_WITH_ARRAY(type, count, address, name)                                                             \
    type name[count];                                                                                                  \
    __builtin_memcpy(name, (const void *)(address), sizeof(name))

#define TILING_KEY_IS(key) ((TILING_KEY_VAR) == (key))

#endif
