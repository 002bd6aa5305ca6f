// Names of tilings for chips whose vector unit works on registers. Host code that is shared by generations names them in
// declarations; what uses them is for other chips than those that are simulated.
#ifndef SK_OP_HOST_REGISTER_TILING_H
#define SK_OP_HOST_REGISTER_TILING_H

#include "sk_op_host/context.h"

namespace Ops {
namespace Base {
// Members of structs and classes that all generations share.
struct EleBaseTilingData {};
struct EleBaseTilingDataV2 {};
struct ReduceOpTilingData {};
struct BroadcastTilingData {};
struct ReduceTilingKey {};
struct ReduceOpCompileInfo {};
struct ReduceOpInputParam {};
} // namespace Base
} // namespace Ops

#endif
