// Numbers of 16 bits in host code.
#ifndef SK_OP_HOST_HALF_H
#define SK_OP_HOST_HALF_H

#include <stdint.h>
#include <string.h>

#include <cmath>

namespace Ops {
namespace Base {

// Half precision: 5 bits of exponent, 10 of fraction; rounded to the nearest, ties to even.
struct fp16_t {
    uint16_t val = 0;

    fp16_t() = default;
    fp16_t(float value) {
        const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
        const float size = std::fabs(value);
        if (std::isnan(value)) {
            val = 0x7e00;
        } else if (size >= 65520.0f) {
            val = sign | 0x7c00;
        } else if (size == 0) {
            val = sign;
        } else {
            int exponent = 0;
            std::frexp(size, &exponent);
            // Below 2^-14 the steps stay as they are there.
            const int step = (exponent < -13 ? -13 : exponent) - 11;
            const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, -step)));
            val = static_cast<uint16_t>(sign | (steps + (static_cast<uint32_t>(step + 24) << 10)));
        }
    }
    template <class T> explicit fp16_t(T value) : fp16_t(static_cast<float>(value)) {}
    operator float() const {
        const int exponent = (val >> 10) & 31;
        const int fraction = val & 1023;
        float size = 0;
        if (exponent == 31) {
            size = fraction == 0 ? INFINITY : NAN;
        } else {
            size = exponent == 0 ? std::ldexp(float(fraction), -24) : std::ldexp(float(fraction + 1024), exponent - 25);
        }
        return (val & 0x8000) != 0 ? -size : size;
    }
    float toFloat() const { return *this; }
};
using half = fp16_t;

// The upper half of a float.
struct bfloat16 {
    uint16_t value = 0;

    bfloat16() = default;
    bfloat16(float number) {
        uint32_t bits = 0;
        memcpy(&bits, &number, sizeof(bits));
        const bool is_nan = std::isnan(number);
        value = static_cast<uint16_t>(is_nan ? 0x7fc0 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
    operator float() const {
        const uint32_t bits = uint32_t(value) << 16;
        float number = 0;
        memcpy(&number, &bits, sizeof(number));
        return number;
    }
};
using bfloat16_t = bfloat16;

} // namespace Base
} // namespace Ops

#endif
