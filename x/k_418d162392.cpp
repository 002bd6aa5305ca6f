#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) { for (int i=0;i<16;++i) ((__gm__ int*)y)[i]=((__gm__ int*)x)[i]; }