// Special registers and scalar helpers.
#ifndef SK_CORE_REGISTERS_H
#define SK_CORE_REGISTERS_H

namespace {

// Masks of the vector unit.
inline void set_vector_mask(uint64_t high, uint64_t low) {
    sk_rt_set_register(SK_REGISTER_MASK_HIGH, high);
    sk_rt_set_register(SK_REGISTER_MASK_LOW, low);
}
inline void set_mask_norm() { sk_rt_set_register(SK_REGISTER_MASK_MODE, 0); }
inline void set_mask_count() { sk_rt_set_register(SK_REGISTER_MASK_MODE, 1); }

// Control bits.
inline int64_t get_ctrl() { return static_cast<int64_t>(sk_rt_get_register(SK_REGISTER_CTRL)); }
inline void set_ctrl(uint64_t value) { sk_rt_set_register(SK_REGISTER_CTRL, value); }

// Atomic stores by DMA: operation and type are fields of the control register.
inline void sk_core_set_atomic_type(uint64_t type) {
    set_ctrl((static_cast<uint64_t>(get_ctrl()) & ~(7ull << 6)) | type << 6);
}
inline void sk_core_set_atomic_op(uint64_t op) {
    set_ctrl((static_cast<uint64_t>(get_ctrl()) & ~(3ull << 9)) | op << 9);
}
inline void set_atomic_none() { sk_core_set_atomic_type(0); }
inline void set_atomic_f32() { sk_core_set_atomic_type(1); }
inline void set_atomic_f16() { sk_core_set_atomic_type(2); }
inline void set_atomic_s16() { sk_core_set_atomic_type(3); }
inline void set_atomic_s32() { sk_core_set_atomic_type(4); }
inline void set_atomic_s8() { sk_core_set_atomic_type(5); }
inline void set_atomic_bf16() { sk_core_set_atomic_type(6); }
inline void set_atomic_add() { sk_core_set_atomic_op(0); }
inline void set_atomic_max() { sk_core_set_atomic_op(1); }
inline void set_atomic_min() { sk_core_set_atomic_op(2); }
// The same for scalar stores: type [2:0], operation [4:3]. The simulator knows of stores by the hooks in front of them.
inline void set_st_atomic_cfg(uint64_t config, SK_CORE_HERE) {
#if !defined(SK_HOST_WATCHED)
    if ((config & 7) != 0) {
        sk_rt_fault(SK_FAULT_API,
                    "set_st_atomic_cfg: scalar stores cannot combine in code that is built without hooks before its loads "
                    "and stores: build it with watch_accesses=True",
                    sk_core_source.file, sk_core_source.line);
    }
#else
    (void)sk_core_source;
#endif
    sk_rt_set_register(SK_REGISTER_ST_ATOMIC_CFG, config & 31);
}
inline void set_st_atomic_cfg(uint64_t type, uint64_t op, SK_CORE_HERE) {
    set_st_atomic_cfg((type & 7) | (op & 3) << 3, sk_core_source);
}
inline int64_t get_st_atomic_cfg() { return static_cast<int64_t>(sk_rt_get_register(SK_REGISTER_ST_ATOMIC_CFG)); }

// Parameters of moves, of the cube unit and of the fixpipe.
inline void set_deqscale(half scale) { sk_rt_set_register(SK_REGISTER_DEQSCALE, sk_core::Word(scale)); }
inline void set_deqscale(uint64_t word) { sk_rt_set_register(SK_REGISTER_DEQSCALE, word); }
inline void set_quant_pre(uint64_t word) { sk_rt_set_register(SK_REGISTER_QUANT_PRE, word); }
inline void set_fpc(uint64_t word) { sk_rt_set_register(SK_REGISTER_FPC, word); }
inline void set_fmatrix(uint64_t word) { sk_rt_set_register(SK_REGISTER_FMATRIX, word); }
inline void set_fmatrix_b(uint64_t word) { sk_rt_set_register(SK_REGISTER_FMATRIX_B, word); }
inline void set_l3d_rpt(uint64_t word) { sk_rt_set_register(SK_REGISTER_L3D_RPT, word); }
inline void set_l1_3d_size(uint64_t bytes) { sk_rt_set_register(SK_REGISTER_L1_3D_SIZE, bytes); }
// Bit patterns of elements.
template <class T> inline void set_mov_pad_val(T value) {
    sk_rt_set_register(SK_REGISTER_MOV_PAD_VAL, sk_core::Word(value));
}
template <class T> inline void set_padding(T value) {
    sk_rt_set_register(SK_REGISTER_PADDING, sk_core::Word(value));
}

// Parameters of picture conversions and of exponents, which nothing here reads.
#define SK_CORE_UNREAD(name)                                                                                           \
    template <class... Words> inline void name(Words...) {}
SK_CORE_UNREAD(set_aipp_spr_0)
SK_CORE_UNREAD(set_aipp_spr_1)
SK_CORE_UNREAD(set_aipp_spr_2)
SK_CORE_UNREAD(set_aipp_spr_3)
SK_CORE_UNREAD(set_aipp_spr_4)
SK_CORE_UNREAD(set_aipp_spr_5)
SK_CORE_UNREAD(set_aipp_spr_6)
SK_CORE_UNREAD(set_aipp_spr_7)
SK_CORE_UNREAD(set_aipp_spr_8)
SK_CORE_UNREAD(set_aipp_spr_9)
SK_CORE_UNREAD(set_aipp_spr_18)
SK_CORE_UNREAD(set_aipp_spr_19)
SK_CORE_UNREAD(set_aipp_spr_20)
SK_CORE_UNREAD(set_aipp_spr_21)
SK_CORE_UNREAD(set_data_exp_0)
SK_CORE_UNREAD(set_data_exp_1)
SK_CORE_UNREAD(set_data_exp_2)
SK_CORE_UNREAD(set_data_exp_3)
#undef SK_CORE_UNREAD

// What vector instructions leave in registers.
inline int64_t get_acc_val() { return static_cast<int64_t>(sk_rt_get_register(SK_REGISTER_ACC_VAL)); }
inline int64_t get_max_min_cnt() { return static_cast<int64_t>(sk_rt_get_register(SK_REGISTER_MAX_MIN_CNT)); }
inline int64_t get_rsvd_cnt() { return static_cast<int64_t>(sk_rt_get_register(SK_REGISTER_RSVD_CNT)); }
inline int64_t get_vms4_sr() { return static_cast<int64_t>(sk_rt_get_register(SK_REGISTER_VMS4_SR)); }

// Bits of a scalar register. -1: there is none.
inline int64_t sff0(uint64_t value) { return ~value == 0 ? -1 : __builtin_ctzll(~value); }
inline int64_t sff1(uint64_t value) { return value == 0 ? -1 : __builtin_ctzll(value); }
inline int64_t bcnt0(uint64_t value) { return __builtin_popcountll(~value); }
inline int64_t bcnt1(uint64_t value) { return __builtin_popcountll(value); }
inline int64_t clz(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
// Leading bits that equal the sign, without the sign itself.
inline int64_t sflbits(int64_t value) {
    const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
    return magnitude == 0 ? -1 : __builtin_clzll(magnitude) - 1;
}
inline uint64_t sbitset0(uint64_t value, int64_t bit) { return value & ~(1ull << bit); }
inline uint64_t sbitset1(uint64_t value, int64_t bit) { return value | 1ull << bit; }

} // namespace

#endif
