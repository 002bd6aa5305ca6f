// Arithmetic that kernels of operators share, as toolkits install it.
#ifndef SK_CPU_OP_KERNEL_MATH_UTIL_H
#define SK_CPU_OP_KERNEL_MATH_UTIL_H

namespace Ops {
namespace Base {

// With a divisor of 0 the number itself; the result has the type of the first number.
template <class T, class U> __aicore__ constexpr T FloorDiv(T value, U divisor) {
    return divisor == 0 ? value : T(value / divisor);
}
template <class T, class U> __aicore__ constexpr T CeilDiv(T value, U divisor) {
    return divisor == 0 ? value : T((value + divisor - 1) / divisor);
}
template <class T, class U> __aicore__ constexpr T CeilAlign(T value, U unit) { return T(CeilDiv(value, unit) * unit); }
template <class T, class U> __aicore__ constexpr T FloorAlign(T value, U unit) { return T(FloorDiv(value, unit) * unit); }

} // namespace Base
} // namespace Ops

#endif
