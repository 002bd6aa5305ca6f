// Output of kernels.
#include "kernel_operator.h"
