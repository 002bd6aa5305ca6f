// All intrinsics of the core.
#ifndef SK_CORE_INTRINSICS_H
#define SK_CORE_INTRINSICS_H

#include "sk_core/registers.h"
#include "sk_core/vector.h"
#include "sk_core/convert.h"
#include "sk_core/select.h"
#include "sk_core/moves.h"
#include "sk_core/cube.h"

#endif
