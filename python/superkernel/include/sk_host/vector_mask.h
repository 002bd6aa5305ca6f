// Which elements a vector call works on: mask registers, repeats and strides.
#ifndef SK_HOST_VECTOR_MASK_H
#define SK_HOST_VECTOR_MASK_H

namespace AscendC {
namespace {

// Strides of the repeat form, in blocks of 32 bytes: from block to block within a repeat, from repeat to repeat.
struct UnaryRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t srcBlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t srcRepStride = 8;

    UnaryRepeatParams() = default;
    UnaryRepeatParams(uint16_t dstBlk, uint16_t srcBlk, uint8_t dstRep, uint8_t srcRep)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep) {}
};

struct BinaryRepeatParams {
    uint8_t dstBlkStride = 1;
    uint8_t src0BlkStride = 1;
    uint8_t src1BlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t src0RepStride = 8;
    uint8_t src1RepStride = 8;

    BinaryRepeatParams() = default;
    BinaryRepeatParams(uint8_t dstBlk, uint8_t src0Blk, uint8_t src1Blk, uint8_t dstRep, uint8_t src0Rep, uint8_t src1Rep)
        : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk), dstRepStride(dstRep),
          src0RepStride(src0Rep), src1RepStride(src1Rep) {}
};

constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr uint32_t DEFAULT_BLK_NUM = 8;
constexpr uint32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint32_t DEFAULT_REPEAT_STRIDE = 8;
// In place of a mask where the registers hold it.
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};

// -- The mask registers themselves ---------------------------------------------------------------------------------------

inline void SetMaskCount() { set_mask_count(); }
inline void SetMaskNorm() { set_mask_norm(); }
inline void ResetMask() { set_vector_mask(UINT64_MAX, UINT64_MAX); }

// The lowest `count` bits of a pair of words.
struct SkHostBits {
    uint64_t low;
    uint64_t high;

    static constexpr uint64_t Word(uint64_t count) { return count >= 64 ? UINT64_MAX : (1ull << count) - 1; }
    static constexpr SkHostBits First(uint64_t count) {
        return SkHostBits{Word(count), count <= 64 ? 0 : Word(count - 64)};
    }
};

template <class T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(uint64_t high, uint64_t low) {
    set_vector_mask(high, low);
}
template <class T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(int32_t length) {
    if constexpr (mode == MaskMode::COUNTER) {
        set_vector_mask(0, static_cast<uint64_t>(length));
    } else {
        const SkHostBits bits = SkHostBits::First(static_cast<uint64_t>(length));
        set_vector_mask(bits.high, bits.low);
    }
}

// -- What calls check and set --------------------------------------------------------------------------------------------

inline void sk_host_require_vector_core(const char *call, sk_host::Site site) {
    if (sk_rt_core()->kind != AIV) {
        sk_host::Violation(site, "%s: vector instructions exist on AIV cores only", call);
    }
}

inline sk_core::Source sk_host_source(sk_host::Site site) { return sk_core::Source{site.file, site.line}; }

template <class T, class... Types> struct SkHostOneOf {
    static constexpr bool value = false;
};
template <class T, class First, class... Rest> struct SkHostOneOf<T, First, Rest...> {
    static constexpr bool value = SkHostOneOf<T, Rest...>::value;
};
template <class T, class... Rest> struct SkHostOneOf<T, T, Rest...> {
    static constexpr bool value = true;
};
#define SK_HOST_REQUIRE_TYPE(call, T, ...)                                                                             \
    static_assert(SkHostOneOf<T, __VA_ARGS__>::value, call ": the chip has no form for this element type")
// What moves or chooses elements without looking at them takes all of a width.
#define SK_HOST_REQUIRE_WIDTH(call, T)                                                                                 \
    static_assert(sk_core::TypeOf<T>::value != SK_TYPE_NONE && (sizeof(T) == 2 || sizeof(T) == 4),                     \
                  call ": the chip has no form for this element type")

template <bool first, class A, class B> struct SkHostChoice {
    using Type = B;
};
template <class A, class B> struct SkHostChoice<true, A, B> {
    using Type = A;
};
template <class A, class B> using SkHostWider = typename SkHostChoice<(sizeof(A) > sizeof(B)), A, B>::Type;

template <class T> constexpr uint32_t sk_host_lanes_per_repeat() { return ONE_REPEAT_BYTE_SIZE / sizeof(T); }

// The checked start of `count` consecutive elements of an operand.
template <class T>
inline T *sk_host_operand(const LocalTensor<T> &tensor, uint64_t count, const char *call, sk_host::Site site) {
    return reinterpret_cast<T *>(sk_host_local_range(tensor, sk_host::BytesOf<T>(count), call, site));
}

// The elements of one call: lanes of every repeat, or in counter mode a number of elements in all. Making one puts the
// mask into the registers.
class SkHostElements {
  public:
    // `count` elements in a row, without repeats. Whoever asks for them puts the registers back by Release().
    template <class Widest> static SkHostElements InARow(int64_t count) {
        set_mask_count();
        set_vector_mask(0, count < 0 ? 0 : static_cast<uint64_t>(count));
        return SkHostElements(sk_host_lanes_per_repeat<Widest>(), 1, true, {count < 0 ? 0 : static_cast<uint64_t>(count), 0});
    }
    static void Release() {
        set_mask_norm();
        ResetMask();
    }

    // A call with mask and repeats: a number of elements, or bits, which in counter mode are a count. Without `isSetMask`
    // the registers hold the mask already.
    template <class Widest, bool isSetMask = true>
    static SkHostElements Masked(uint64_t mask, uint64_t repeats, const char *call, sk_host::Site site) {
        const bool counts = sk_rt_get_register(SK_REGISTER_MASK_MODE) != 0;
        if (!isSetMask) {
            return FromRegisters<Widest>(repeats, counts);
        }
        constexpr uint32_t lanes = sk_host_lanes_per_repeat<Widest>();
        if (counts) {
            // The device would take the bits of the mask for a count.
            sk_host::Violation(site, "%s: a mask in counter mode; say SetVectorMask<T, MaskMode::COUNTER>(count) and call "
                                     "it with isSetMask = false", call);
        }
        if (mask == 0 || mask > lanes) {
            sk_host::Violation(site, "%s: mask %llu; a repeat has 1 to %u elements of %u bytes", call,
                               (unsigned long long)mask, lanes, (unsigned)sizeof(Widest));
        }
        const SkHostBits bits = SkHostBits::First(mask);
        set_vector_mask(bits.high, bits.low);
        return SkHostElements(lanes, repeats, counts, bits);
    }
    template <class Widest, bool isSetMask = true>
    static SkHostElements Masked(const uint64_t mask[], uint64_t repeats, const char *, sk_host::Site) {
        const bool counts = sk_rt_get_register(SK_REGISTER_MASK_MODE) != 0;
        if (!isSetMask) {
            return FromRegisters<Widest>(repeats, counts);
        }
        set_vector_mask(mask[1], mask[0]);
        return SkHostElements(sk_host_lanes_per_repeat<Widest>(), repeats, counts, {mask[0], mask[1]});
    }
    // Whole repeats, for instructions that ignore the mask.
    template <class Widest> static SkHostElements Whole(uint64_t repeats) {
        constexpr uint32_t lanes = sk_host_lanes_per_repeat<Widest>();
        return SkHostElements(lanes, repeats, false, SkHostBits::First(lanes));
    }

    uint64_t Repeats() const { return repeats_; }
    // Bits that a tensor with one for every element of whole repeats must have: all but those behind the last element.
    uint64_t MaskBits() const {
        if (counts_) {
            return bits_.low & UINT32_MAX;
        }
        return repeats_ == 0 || !Any() ? 0 : (repeats_ - 1) * lanes_ + Last() + 1;
    }

    // The start of an operand that must hold all these elements under these strides.
    template <class T>
    T *In(const LocalTensor<T> &tensor, uint64_t blkStride, uint64_t repStride, const char *call,
          sk_host::Site site) const {
        return sk_host_operand(tensor, Extent<T>(blkStride, repStride), call, site);
    }
    // The same for copies: in counter mode every repeat has that many elements.
    template <class T>
    T *InEachRepeat(const LocalTensor<T> &tensor, uint64_t blkStride, uint64_t repStride, const char *call,
                    sk_host::Site site) const {
        if (!counts_) {
            return In(tensor, blkStride, repStride, call, site);
        }
        const uint64_t perBlock = sk_host::CountIn<T>(ONE_BLK_SIZE);
        const uint64_t count = bits_.low & UINT32_MAX;
        const bool any = repeats_ > 0 && count > 0;
        const uint64_t last = any ? (repeats_ - 1) * repStride * perBlock + Reach(count - 1, perBlock, blkStride) : 0;
        return sk_host_operand(tensor, last, call, site);
    }

  private:
    SkHostElements(uint32_t lanes, uint64_t repeats, bool counts, SkHostBits bits)
        : bits_(bits), repeats_(repeats), lanes_(lanes), counts_(counts) {}

    template <class Widest> static SkHostElements FromRegisters(uint64_t repeats, bool counts) {
        return SkHostElements(
            sk_host_lanes_per_repeat<Widest>(), repeats, counts,
            {sk_rt_get_register(SK_REGISTER_MASK_LOW), sk_rt_get_register(SK_REGISTER_MASK_HIGH)});
    }

    // Elements from the start of a repeat to behind its lane `last`.
    static uint64_t Reach(uint64_t last, uint64_t perBlock, uint64_t blkStride) {
        if (blkStride == 0) {
            return last < perBlock ? last + 1 : perBlock;
        }
        return last / perBlock * blkStride * perBlock + last % perBlock + 1;
    }

    template <class T> uint64_t Extent(uint64_t blkStride, uint64_t repStride) const {
        const uint64_t perBlock = sk_host::CountIn<T>(ONE_BLK_SIZE);
        const uint64_t step = repStride * perBlock;
        if (counts_) {
            const uint64_t count = bits_.low & UINT32_MAX;
            if (count == 0) {
                return 0;
            }
            const uint64_t rounds = (count - 1) / lanes_;
            const uint64_t tail = rounds * step + Reach((count - 1) % lanes_, perBlock, blkStride);
            const uint64_t body = rounds == 0 ? 0 : (rounds - 1) * step + Reach(lanes_ - 1, perBlock, blkStride);
            return tail > body ? tail : body;
        }
        return repeats_ == 0 || !Any() ? 0 : (repeats_ - 1) * step + Reach(Last(), perBlock, blkStride);
    }

    // Enabled lanes of a repeat: are there any, and which is the last?
    SkHostBits Enabled() const {
        const SkHostBits there = SkHostBits::First(lanes_);
        return SkHostBits{bits_.low & there.low, bits_.high & there.high};
    }
    bool Any() const { return (Enabled().low | Enabled().high) != 0; }
    uint64_t Last() const {
        const SkHostBits enabled = Enabled();
        return enabled.high != 0 ? 127u - static_cast<uint64_t>(__builtin_clzll(enabled.high))
                                 : 63u - static_cast<uint64_t>(__builtin_clzll(enabled.low));
    }

    SkHostBits bits_;
    uint64_t repeats_;
    uint32_t lanes_;
    bool counts_;
};

// Order between the scalar and the vector unit inside a call: at once, on the event that nobody else may use.
inline void sk_host_scalar_waits_for_vector(sk_host::Site site) {
    set_flag(PIPE_V, PIPE_S, EVENT_ID7, site.file, site.line);
    wait_flag(PIPE_V, PIPE_S, EVENT_ID7, site.file, site.line);
}
inline void sk_host_vector_waits_for_scalar(sk_host::Site site) {
    set_flag(PIPE_S, PIPE_V, EVENT_ID7, site.file, site.line);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID7, site.file, site.line);
}

} // namespace
} // namespace AscendC

#endif
