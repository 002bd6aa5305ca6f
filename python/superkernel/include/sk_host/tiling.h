// Tiling data, and the workspace beside it.
#ifndef SK_HOST_TILING_H
#define SK_HOST_TILING_H

#include "sk_host/tiling_macros.h"

namespace AscendC {
namespace {

// The device keeps a part of the workspace for itself; here all of it belongs to the kernel.
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) { return workspace; }
inline void SetSysWorkspace(GM_ADDR) {}
inline void SetSysWorkspaceForce(GM_ADDR) {}

} // namespace
} // namespace AscendC

#endif
