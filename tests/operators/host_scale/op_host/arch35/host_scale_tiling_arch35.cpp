// Needs what only toolkits of a later generation have.
#include "register/op_impl_registry.h"
#include "../host_scale_tiling.h"

namespace optiling {
ge::graphStatus HostScaleByRegisters(gert::TilingContext *context) {
    return Ops::Base::RegisterTilingOfTheFuture(context);
}
} // namespace optiling
