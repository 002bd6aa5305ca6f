// Instructions as data: what every intrinsic hands to the simulator.
//
// An intrinsic does nothing by itself. It fills an SkInstruction (opcode, element types, argument words in the order of
// the intrinsic) and issues it; src/aicore gives it its meaning, at the one place where masks, memories and pipes are
// visible. The numbers follow from src/aicore/issued.rs and registers.rs.
#ifndef SK_CORE_ISSUE_H
#define SK_CORE_ISSUE_H

// table: numbers (make tables writes it)
enum SkOp : uint16_t {
    SK_OP_vadd = 1,
    SK_OP_vsub = 2,
    SK_OP_vmul = 3,
    SK_OP_vdiv = 4,
    SK_OP_vmax = 5,
    SK_OP_vmin = 6,
    SK_OP_vand = 7,
    SK_OP_vor = 8,
    SK_OP_vaddrelu = 9,
    SK_OP_vsubrelu = 10,
    SK_OP_vmla = 11,
    SK_OP_vmadd = 12,
    SK_OP_vmaddrelu = 13,
    SK_OP_vaddreluconv = 14,
    SK_OP_vsubreluconv = 15,
    SK_OP_vmulconv = 16,
    SK_OP_vnot = 20,
    SK_OP_vabs = 21,
    SK_OP_vexp = 22,
    SK_OP_vln = 23,
    SK_OP_vsqrt = 24,
    SK_OP_vrsqrt = 25,
    SK_OP_vrec = 26,
    SK_OP_vrelu = 27,
    SK_OP_vcopy = 28,
    SK_OP_vadds = 30,
    SK_OP_vmuls = 31,
    SK_OP_vmaxs = 32,
    SK_OP_vmins = 33,
    SK_OP_vlrelu = 34,
    SK_OP_vshl = 35,
    SK_OP_vshr = 36,
    SK_OP_vaxpy = 37,
    SK_OP_vector_dup = 38,
    SK_OP_vconv = 50,
    SK_OP_vconv_deq = 51,
    SK_OP_vconv_deqs162b8 = 52,
    SK_OP_vconv_vdeqs162b8 = 53,
    SK_OP_vcmpv = 60,
    SK_OP_vcmpvs = 61,
    SK_OP_vcmp = 62,
    SK_OP_set_cmpmask = 63,
    SK_OP_get_cmpmask = 64,
    SK_OP_vsel = 65,
    SK_OP_vcadd = 70,
    SK_OP_vcmax = 71,
    SK_OP_vcmin = 72,
    SK_OP_vcgadd = 73,
    SK_OP_vcgmax = 74,
    SK_OP_vcgmin = 75,
    SK_OP_vcpadd = 76,
    SK_OP_vgather = 80,
    SK_OP_vgatherb = 81,
    SK_OP_vreducev2 = 82,
    SK_OP_vbitsort = 83,
    SK_OP_vmrgsort4 = 84,
    SK_OP_vbrcb = 85,
    SK_OP_vtranspose = 86,
    SK_OP_scatter_vnchwconv = 87,
    SK_OP_vld_va_reg = 88,
    SK_OP_copy_gm_to_ubuf = 100,
    SK_OP_copy_ubuf_to_gm = 101,
    SK_OP_copy_cbuf_to_gm = 102,
    SK_OP_copy_gm_to_cbuf = 103,
    SK_OP_copy_ubuf_to_ubuf = 104,
    SK_OP_copy_gm_to_ubuf_align = 105,
    SK_OP_copy_ubuf_to_gm_align = 106,
    SK_OP_copy_ubuf_to_gm_align_v2 = 107,
    SK_OP_copy_cbuf_to_bt = 108,
    SK_OP_copy_cbuf_to_fbuf = 109,
    SK_OP_copy_matrix_cbuf_to_cc = 110,
    SK_OP_create_cbuf_matrix = 111,
    SK_OP_create_ca_matrix = 112,
    SK_OP_create_cb_matrix = 113,
    SK_OP_copy_gm_to_cbuf_multi_nd2nz = 114,
    SK_OP_load_cbuf_to_ca = 130,
    SK_OP_load_cbuf_to_cb = 131,
    SK_OP_load_gm_to_ca = 132,
    SK_OP_load_gm_to_cb = 133,
    SK_OP_load_gm_to_cbuf = 134,
    SK_OP_load_cbuf_to_ca_transpose = 135,
    SK_OP_load_cbuf_to_cb_transpose = 136,
    SK_OP_load_cbuf_to_cb_sp = 137,
    SK_OP_img2colv2_cbuf_to_ca = 138,
    SK_OP_img2colv2_cbuf_to_cb = 139,
    SK_OP_load_image_to_cbuf = 140,
    SK_OP_mad = 150,
    SK_OP_mad_sp = 151,
    SK_OP_copy_matrix_cc_to_gm = 152,
    SK_OP_copy_matrix_cc_to_cbuf = 153,
};

enum SkType : uint8_t {
    SK_TYPE_NONE = 0,
    SK_TYPE_F16 = 1,
    SK_TYPE_BF16 = 2,
    SK_TYPE_F32 = 3,
    SK_TYPE_S4 = 4,
    SK_TYPE_S8 = 5,
    SK_TYPE_U8 = 6,
    SK_TYPE_S16 = 7,
    SK_TYPE_U16 = 8,
    SK_TYPE_S32 = 9,
    SK_TYPE_U32 = 10,
    SK_TYPE_S64 = 11,
    SK_TYPE_U64 = 12,
};

enum SkRegister : uint32_t {
    SK_REGISTER_MASK_LOW = 0,
    SK_REGISTER_MASK_HIGH = 1,
    SK_REGISTER_MASK_MODE = 2,
    SK_REGISTER_CTRL = 3,
    SK_REGISTER_DEQSCALE = 4,
    SK_REGISTER_MOV_PAD_VAL = 5,
    SK_REGISTER_QUANT_PRE = 6,
    SK_REGISTER_ND_PARA = 7,
    SK_REGISTER_FPC = 8,
    SK_REGISTER_FMATRIX = 9,
    SK_REGISTER_FMATRIX_B = 10,
    SK_REGISTER_PADDING = 11,
    SK_REGISTER_L3D_RPT = 12,
    SK_REGISTER_L1_3D_SIZE = 13,
    SK_REGISTER_ST_ATOMIC_CFG = 14,
    SK_REGISTER_ACC_VAL = 15,
    SK_REGISTER_MAX_MIN_CNT = 16,
    SK_REGISTER_RSVD_CNT = 17,
    SK_REGISTER_VMS4_SR = 18,
    SK_REGISTER_CMPMASK_LOW = 19,
    SK_REGISTER_CMPMASK_HIGH = 20,
    SK_REGISTER_INDEX_MATRIX = 22,
    SK_REGISTER_VA = 32,
};
// end of table

struct SkInstruction {
    uint16_t op;
    uint8_t types[6]; // destination first
    uint32_t line;
    uint32_t reserved;
    const char *file;
    uint64_t words[20];
};

namespace sk_core {
namespace {

// The element type behind a pointer. Address space qualifiers are gone, const and volatile do not matter.
template <class T> struct TypeOf {
    static constexpr SkType value = SK_TYPE_NONE;
};
template <class T> struct TypeOf<const T> : TypeOf<T> {};
template <class T> struct TypeOf<volatile T> : TypeOf<T> {};
template <class T> struct TypeOf<const volatile T> : TypeOf<T> {};
#define SK_CORE_TYPE(type, number)                                                                                     \
    template <> struct TypeOf<type> {                                                                                  \
        static constexpr SkType value = number;                                                                        \
    };
SK_CORE_TYPE(half, SK_TYPE_F16)
SK_CORE_TYPE(bfloat16_t, SK_TYPE_BF16)
SK_CORE_TYPE(float, SK_TYPE_F32)
SK_CORE_TYPE(int8_t, SK_TYPE_S8)
SK_CORE_TYPE(uint8_t, SK_TYPE_U8)
SK_CORE_TYPE(int16_t, SK_TYPE_S16)
SK_CORE_TYPE(uint16_t, SK_TYPE_U16)
SK_CORE_TYPE(int32_t, SK_TYPE_S32)
SK_CORE_TYPE(uint32_t, SK_TYPE_U32)
SK_CORE_TYPE(int64_t, SK_TYPE_S64)
SK_CORE_TYPE(uint64_t, SK_TYPE_U64)
#undef SK_CORE_TYPE

// Arguments as 64-bit words: addresses, numbers, bit patterns of floats.
template <class T> inline uint64_t Word(T *pointer) { return reinterpret_cast<uintptr_t>(pointer); }
inline uint64_t Word(decltype(nullptr)) { return 0; }
inline uint64_t Word(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
}
inline uint64_t Word(half value) {
    uint16_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
}
inline uint64_t Word(bfloat16_t value) {
    uint16_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
}
// Integers and enumerations: their value, signs extended.
template <class T> inline uint64_t Word(T value) { return static_cast<uint64_t>(value); }

// The line an instruction is reported with.
struct Source {
    const char *file;
    uint32_t line;

    // Defaulted arguments of a call inside a defaulted argument are those of the outermost call.
    static constexpr Source Here(const char *file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
        return Source{file, line};
    }
};

// A scalar operand as the element type the instruction works on.
template <class T, class V> inline T Scalar(V value) { return static_cast<T>(value); }

template <class... Words>
inline void Issue(SkOp op, SkType dst, SkType src0, SkType src1, Source source, Words... words) {
    static_assert(sizeof...(Words) <= 20, "an instruction has at most 20 arguments");
    const SkInstruction instruction{op,           {dst, src0, src1, SK_TYPE_NONE, SK_TYPE_NONE, SK_TYPE_NONE},
                                    source.line,  0,
                                    source.file,  {Word(words)...}};
    sk_rt_issue(&instruction);
}

} // namespace
} // namespace sk_core

// Every intrinsic takes the place of its call as a defaulted last argument.
#define SK_CORE_HERE sk_core::Source sk_core_source = sk_core::Source::Here()

#endif
