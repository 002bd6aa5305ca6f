// Lists of tensors.
#include "kernel_operator.h"
