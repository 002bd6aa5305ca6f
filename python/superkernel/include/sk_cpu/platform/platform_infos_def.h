// Host code's description of chips. Some kernels include it; none can use it.
