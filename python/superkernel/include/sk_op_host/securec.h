// Copies that know how much room there is.
#ifndef SK_OP_HOST_SECUREC_H
#define SK_OP_HOST_SECUREC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

using errno_t = int;
constexpr errno_t EOK = 0;

inline errno_t memcpy_s(void *to, size_t room, const void *from, size_t count) {
    if (to == nullptr || from == nullptr || count > room) {
        return 34;
    }
    memcpy(to, from, count);
    return EOK;
}
inline errno_t memmove_s(void *to, size_t room, const void *from, size_t count) {
    if (to == nullptr || from == nullptr || count > room) {
        return 34;
    }
    memmove(to, from, count);
    return EOK;
}
inline errno_t memset_s(void *to, size_t room, int value, size_t count) {
    if (to == nullptr || count > room) {
        return 34;
    }
    memset(to, value, count);
    return EOK;
}
inline errno_t strcpy_s(char *to, size_t room, const char *from) { return memcpy_s(to, room, from, strlen(from) + 1); }
inline errno_t strcat_s(char *to, size_t room, const char *from) {
    const size_t used = strlen(to);
    return strcpy_s(to + used, room - used, from);
}
inline int vsnprintf_s(char *to, size_t room, size_t, const char *format, va_list arguments) {
    const int written = vsnprintf(to, room, format, arguments);
    return written >= 0 && size_t(written) < room ? written : -1;
}
inline int sprintf_s(char *to, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(to, room, format, arguments);
    va_end(arguments);
    return written >= 0 && size_t(written) < room ? written : -1;
}
inline int snprintf_s(char *to, size_t room, size_t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(to, room, format, arguments);
    va_end(arguments);
    return written >= 0 && size_t(written) < room ? written : -1;
}

#endif
