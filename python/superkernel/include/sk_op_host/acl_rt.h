// The little of a device's runtime that host code asks before a tiling.
#ifndef SK_OP_HOST_ACL_RT_H
#define SK_OP_HOST_ACL_RT_H

#include <cstdint>

using aclError = int;
constexpr aclError ACL_SUCCESS = 0;

// Software that is not installed has no version.
inline aclError aclsysGetVersionNum(const char *, int32_t *) { return 1; }

#endif
