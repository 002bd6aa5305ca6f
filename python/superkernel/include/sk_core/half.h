// 16-bit floating point: storage types that compute in float and round to nearest even when stored.
#ifndef SK_CORE_HALF_H
#define SK_CORE_HALF_H

namespace {

namespace sk_host_float16 {

inline uint32_t FloatBits(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
}

inline float BitsFloat(uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}

// How a float that lies between two 16-bit values is rounded.
enum class Rounding { NearestEven, Down, Up, NearestAway, TowardZero, Odd };

// Drops the low `shift` bits of `magnitude` (sign apart), rounding as asked.
inline uint32_t DropBits(uint32_t magnitude, uint32_t shift, bool negative, Rounding rounding) {
    const uint32_t kept = magnitude >> shift;
    const uint32_t rest = magnitude & ((1u << shift) - 1);
    const uint32_t half = 1u << (shift - 1);
    if (rest == 0) {
        return kept;
    }
    switch (rounding) {
    case Rounding::NearestEven:
        return kept + ((rest > half || (rest == half && (kept & 1))) ? 1 : 0);
    case Rounding::NearestAway:
        return kept + (rest >= half ? 1 : 0);
    case Rounding::Down:
        return kept + (negative ? 1 : 0);
    case Rounding::Up:
        return kept + (negative ? 0 : 1);
    case Rounding::Odd:
        return kept | 1;
    case Rounding::TowardZero:
        break;
    }
    return kept;
}

inline uint16_t HalfFromFloat(float value, Rounding rounding = Rounding::NearestEven) {
    const uint32_t bits = FloatBits(value);
    const bool negative = (bits >> 31) != 0;
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
        return static_cast<uint16_t>(sign | 0x7e00);
    }
    if (magnitude == 0x7f800000) {
        return static_cast<uint16_t>(sign | 0x7c00);
    }
    const int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 127;
    uint32_t result;
    if (exponent >= -14) {
        // Normal: rebias the exponent; a carry out of the mantissa moves into it as it should.
        result = DropBits(magnitude - ((127 - 15) << 23), 13, negative, rounding);
        if (result >= 0x7c00) {
            const bool toLargest = rounding == Rounding::TowardZero || rounding == Rounding::Odd ||
                                   (rounding == Rounding::Down && !negative) || (rounding == Rounding::Up && negative);
            result = toLargest ? 0x7bff : 0x7c00;
        }
    } else {
        // Subnormal: the implicit one becomes a bit of the mantissa.
        const uint32_t mantissa = (magnitude & 0x7fffff) | (magnitude >= 0x00800000 ? 0x800000 : 0);
        const int32_t shift = 13 + (-14 - exponent);
        result = shift < 32 && shift < 26 ? DropBits(mantissa, static_cast<uint32_t>(shift), negative, rounding)
                 : magnitude == 0         ? 0
                                          : DropBits(1, 2, negative, rounding);
    }
    return static_cast<uint16_t>(sign | result);
}

inline float FloatFromHalf(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 0x1f;
    const uint32_t mantissa = bits & 0x3ff;
    if (exponent == 0x1f) {
        return BitsFloat(sign | 0x7f800000 | mantissa << 13);
    }
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f; // 2^-24
        return sign ? -magnitude : magnitude;
    }
    return BitsFloat(sign | (exponent + 127 - 15) << 23 | mantissa << 13);
}

inline uint16_t BrainFromFloat(float value, Rounding rounding = Rounding::NearestEven) {
    const uint32_t bits = FloatBits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return static_cast<uint16_t>(bits >> 16 | 0x40);
    }
    const uint32_t sign = bits >> 16 & 0x8000;
    return static_cast<uint16_t>(sign | DropBits(bits & 0x7fffffff, 16, (bits >> 31) != 0, rounding));
}

inline float FloatFromBrain(uint16_t bits) { return BitsFloat(static_cast<uint32_t>(bits) << 16); }

} // namespace sk_host_float16

template <uint16_t (*Encode)(float, sk_host_float16::Rounding), float (*Decode)(uint16_t)> struct SkHostFloat16 {
    uint16_t bits;

    SkHostFloat16() = default;
    SkHostFloat16(float value) : bits(Encode(value, sk_host_float16::Rounding::NearestEven)) {}
    SkHostFloat16(double value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(int value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(unsigned value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(long value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(unsigned long value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(long long value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(unsigned long long value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(short value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(unsigned short value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(signed char value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(unsigned char value) : SkHostFloat16(static_cast<float>(value)) {}
    SkHostFloat16(bool value) : SkHostFloat16(value ? 1.0f : 0.0f) {}

    static SkHostFloat16 Rounded(float value, sk_host_float16::Rounding rounding) {
        SkHostFloat16 result;
        result.bits = Encode(value, rounding);
        return result;
    }

    operator float() const { return Decode(bits); }
    float ToFloat() const { return Decode(bits); }

    SkHostFloat16 &operator+=(float other) { return *this = SkHostFloat16(Decode(bits) + other); }
    SkHostFloat16 &operator-=(float other) { return *this = SkHostFloat16(Decode(bits) - other); }
    SkHostFloat16 &operator*=(float other) { return *this = SkHostFloat16(Decode(bits) * other); }
    SkHostFloat16 &operator/=(float other) { return *this = SkHostFloat16(Decode(bits) / other); }
};

using half = SkHostFloat16<sk_host_float16::HalfFromFloat, sk_host_float16::FloatFromHalf>;
using bfloat16_t = SkHostFloat16<sk_host_float16::BrainFromFloat, sk_host_float16::FloatFromBrain>;
using float16_t = half;
// A name of device compilers, which newer host compilers take for a type of their own.
#define __bf16 bfloat16_t

} // namespace

#endif
