// The device programming interface of Ascend AI cores, as seen by a host C++17 compiler.
//
// Kernels and generated super kernels include this file instead of the vendor's header of the same name. What a call
// means is decided by the simulator: every service it offers is an undefined `extern "C"` function whose name starts
// with `sk_rt_` (sk_host/runtime.h). Functions and classes in here have internal linkage, because several of them change
// their meaning with the macros of the file that includes them, and the linker would otherwise merge the variants. Only
// the variables through which a super kernel talks to its operators are global: of each a kernel has one.
#ifndef SUPERKERNEL_KERNEL_OPERATOR_H
#define SUPERKERNEL_KERNEL_OPERATOR_H

#ifndef __SK_HOST__
#define __SK_HOST__ 1
#endif

#include "sk_host/qualifiers.h"
#include "sk_host/runtime.h"
#include "sk_core/types.h"
#include "sk_host/types.h"
#include "sk_host/registers.h"
#include "sk_host/check.h"
#include "sk_host/cache.h"
#include "sk_host/flags.h"
#include "sk_host/auto_sync.h"
#include "sk_host/sync_all.h"
#include "sk_host/early_start.h"
#include "sk_host/meta.h"

// Generated super kernels only call operators and keep them in order. Reading the rest would be most of their compile time.
#ifndef SK_CONTROL_ONLY
#include "sk_core/half.h"
#include "sk_core/issue.h"
#include "sk_core/intrinsics.h"
#include "sk_host/local_memory.h"
#include "sk_host/debug.h"
#include "sk_host/tiling.h"
#include "sk_host/tensor.h"
#include "sk_host/pipe.h"
#include "sk_host/cube_params.h"
#include "sk_host/data_copy.h"
#include "sk_host/software_barrier.h"
#include "sk_host/vector_mask.h"
#include "sk_host/vector.h"
#include "sk_host/vector_convert.h"
#include "sk_host/vector_compare.h"
#include "sk_host/vector_gather.h"
#include "sk_host/vector_reduce.h"
#include "sk_host/vector_sort.h"
#include "sk_host/names.h"
#include "sk_host/vector_names.h"
#include "sk_host/data_slice.h"
#include "sk_host/tensor_list.h"
#include "sk_host/traits.h"
#include "sk_host/block_order.h"
#include "sk_host/math.h"
#include "sk_host/cube.h"
#include "sk_host/fixpipe.h"
#endif
#endif
