// What unit tests of kernels include: the kernel's language, memory, and launches (ICPU_RUN_KF).
#ifndef SK_PROGRAM_TIKICPULIB_H
#define SK_PROGRAM_TIKICPULIB_H

#include "kernel_operator.h"
#include "sk_program/cpu_debug_launch.h"

#endif
