// Matmul objects of the vendor's headers inside a super kernel. Included in front of an operator that registers one.
#ifndef SK_CPU_MATMUL_OBJECTS_H
#define SK_CPU_MATMUL_OBJECTS_H

#include "lib/matmul_intf.h"

namespace AscendC {

// An earlier operator has left its messages, so the cube core clears them first and tells the vector cores. On the device
// those wait for that before they send; in their CPU mode the headers forget to.
__aicore__ inline void SkWorkspaceIsClear(__gm__ uint8_t *workspace) {
    ClearWorkspace(workspace);
    if ASCEND_IS_AIV {
        CrossCoreWaitFlag(KFC_SYNC_ID);
    }
}

} // namespace AscendC

// Registering an object calls it by this name.
#define ClearWorkspace SkWorkspaceIsClear

#endif
