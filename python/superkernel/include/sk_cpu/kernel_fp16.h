// Half and bfloat16 are part of stub_def.h.
#include "stub_def.h"
