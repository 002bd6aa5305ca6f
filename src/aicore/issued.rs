//! Instructions as kernel code hands them over.
//!
//! `sk_core/issue.h` fills the record; `make tables` writes the numbers below into it.

/// Argument words of a record.
pub(crate) const WORDS: usize = 20;

/// One instruction: `SkInstruction` of `sk_core/issue.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issued {
    /// An [`OpCode`] number.
    pub op: u16,
    /// [`ElementType`] numbers of the operands, destination first.
    pub types: [u8; 6],
    /// Line of the call, 0 if unknown.
    pub line: u32,
    /// Keeps the layout plain.
    pub reserved: u32,
    /// File of the call, null if unknown.
    pub file: *const std::ffi::c_char,
    /// Arguments in the order of the intrinsic: addresses, bit patterns of scalars, numbers.
    pub words: [u64; WORDS],
}

impl Issued {
    /// A record without a source line.
    pub(crate) fn new(op: OpCode, types: &[ElementType], words: &[u64]) -> Self {
        let mut record =
            Self { op: op as u16, types: [0; 6], line: 0, reserved: 0, file: std::ptr::null(), words: [0; WORDS] };
        for (slot, kind) in record.types.iter_mut().zip(types) {
            *slot = *kind as u8;
        }
        for (slot, word) in record.words.iter_mut().zip(words) {
            *slot = *word;
        }
        record
    }
}

/// The queue an instruction goes through: `pipe_t` of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Pipe {
    /// Scalar unit, which issues to all others.
    S = 0,
    /// Vector unit.
    V = 1,
    /// Cube unit.
    M = 2,
    /// L1 to L0.
    Mte1 = 3,
    /// GM to local memory.
    Mte2 = 4,
    /// Local memory to GM.
    Mte3 = 5,
    /// L0C to GM or L1.
    Fix = 10,
}

impl Pipe {
    /// All of them, by index.
    pub(crate) const ALL: [Self; 7] = [Self::S, Self::V, Self::M, Self::Mte1, Self::Mte2, Self::Mte3, Self::Fix];
    /// How many there are.
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// Its place in arrays that hold one entry for each.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::S => 0,
            Self::V => 1,
            Self::M => 2,
            Self::Mte1 => 3,
            Self::Mte2 => 4,
            Self::Mte3 => 5,
            Self::Fix => 6,
        }
    }

    /// What an instruction takes: start-up cycles, and bytes per cycle. Round numbers of a plausible order, not
    /// measurements; whatever speaks of the time of instructions takes it from here.
    pub(crate) fn price(self) -> (u64, u64) {
        match self {
            Self::S => (1, 8),
            Self::V => (8, 256),
            Self::M => (16, 1024),
            Self::Mte1 => (16, 256),
            Self::Mte2 | Self::Mte3 => (64, 64),
            Self::Fix => (32, 128),
        }
    }

    /// As events spell it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::V => "V",
            Self::M => "M",
            Self::Mte1 => "MTE1",
            Self::Mte2 => "MTE2",
            Self::Mte3 => "MTE3",
            Self::Fix => "FIX",
        }
    }

    /// The pipe of a `pipe_t`; none for `PIPE_ALL` and for pipes of other chips.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|pipe| *pipe as u32 == number)
    }

    /// A `pipe_t` in a message, whatever it is.
    pub(crate) fn name_of(number: u32) -> String {
        Self::from_number(number).map_or_else(|| format!("pipe {number}"), |pipe| pipe.name().to_owned())
    }
}

/// What the bits of an element mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum ElementType {
    /// No such operand, or one whose type does not matter.
    None = 0,
    /// IEEE half.
    F16 = 1,
    /// bfloat16.
    Bf16 = 2,
    /// IEEE single.
    F32 = 3,
    /// Two's complement, two per byte, low nibble first.
    S4 = 4,
    /// Signed byte.
    S8 = 5,
    /// Unsigned byte.
    U8 = 6,
    /// 16 bits, signed.
    S16 = 7,
    /// 16 bits, unsigned.
    U16 = 8,
    /// 32 bits, signed.
    S32 = 9,
    /// 32 bits, unsigned.
    U32 = 10,
    /// 64 bits, signed.
    S64 = 11,
    /// 64 bits, unsigned.
    U64 = 12,
}

impl ElementType {
    /// All types, by number.
    pub(crate) const ALL: [Self; 13] = [
        Self::None,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::S4,
        Self::S8,
        Self::U8,
        Self::S16,
        Self::U16,
        Self::S32,
        Self::U32,
        Self::S64,
        Self::U64,
    ];

    /// Its short name, as instruction names spell it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::S4 => "s4",
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S16 => "s16",
            Self::U16 => "u16",
            Self::S32 => "s32",
            Self::U32 => "u32",
            Self::S64 => "s64",
            Self::U64 => "u64",
        }
    }

    /// Bits of one element.
    pub(crate) fn bits(self) -> u64 {
        match self {
            Self::None => 0,
            Self::S4 => 4,
            Self::S8 | Self::U8 => 8,
            Self::F16 | Self::Bf16 | Self::S16 | Self::U16 => 16,
            Self::F32 | Self::S32 | Self::U32 => 32,
            Self::S64 | Self::U64 => 64,
        }
    }

    /// The type of a number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

macro_rules! opcodes {
    ($($variant:ident = $number:literal $name:literal $pipe:ident,)*) => {
        /// Every instruction of the core that is not plain register access. Modes that are part of a device name
        /// (rounding letters, comparison kinds, element widths) are argument words or element types here.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub(crate) enum OpCode {
            $(#[doc = concat!("`", $name, "`")] $variant = $number,)*
        }

        impl OpCode {
            /// All instructions.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name of the intrinsic, without modes.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The pipe that executes it.
            pub(crate) fn pipe(self) -> Pipe {
                match self { $(Self::$variant => Pipe::$pipe,)* }
            }

            /// The instruction of a number.
            pub(crate) fn from_number(number: u16) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

opcodes! {
    // Element by element.
    Vadd = 1 "vadd" V,
    Vsub = 2 "vsub" V,
    Vmul = 3 "vmul" V,
    Vdiv = 4 "vdiv" V,
    Vmax = 5 "vmax" V,
    Vmin = 6 "vmin" V,
    Vand = 7 "vand" V,
    Vor = 8 "vor" V,
    Vaddrelu = 9 "vaddrelu" V,
    Vsubrelu = 10 "vsubrelu" V,
    Vmla = 11 "vmla" V,
    Vmadd = 12 "vmadd" V,
    Vmaddrelu = 13 "vmaddrelu" V,
    Vaddreluconv = 14 "vaddreluconv" V,
    Vsubreluconv = 15 "vsubreluconv" V,
    Vmulconv = 16 "vmulconv" V,
    Vnot = 20 "vnot" V,
    Vabs = 21 "vabs" V,
    Vexp = 22 "vexp" V,
    Vln = 23 "vln" V,
    Vsqrt = 24 "vsqrt" V,
    Vrsqrt = 25 "vrsqrt" V,
    Vrec = 26 "vrec" V,
    Vrelu = 27 "vrelu" V,
    Vcopy = 28 "vcopy" V,
    Vadds = 30 "vadds" V,
    Vmuls = 31 "vmuls" V,
    Vmaxs = 32 "vmaxs" V,
    Vmins = 33 "vmins" V,
    Vlrelu = 34 "vlrelu" V,
    Vshl = 35 "vshl" V,
    Vshr = 36 "vshr" V,
    Vaxpy = 37 "vaxpy" V,
    VectorDup = 38 "vector_dup" V,
    // Conversions.
    Vconv = 50 "vconv" V,
    VconvDeq = 51 "vconv_deq" V,
    VconvDeqs162b8 = 52 "vconv_deqs162b8" V,
    VconvVdeqs162b8 = 53 "vconv_vdeqs162b8" V,
    // Comparison and selection.
    Vcmpv = 60 "vcmpv" V,
    Vcmpvs = 61 "vcmpvs" V,
    Vcmp = 62 "vcmp" V,
    SetCmpmask = 63 "set_cmpmask" V,
    GetCmpmask = 64 "get_cmpmask" V,
    Vsel = 65 "vsel" V,
    // Reductions.
    Vcadd = 70 "vcadd" V,
    Vcmax = 71 "vcmax" V,
    Vcmin = 72 "vcmin" V,
    Vcgadd = 73 "vcgadd" V,
    Vcgmax = 74 "vcgmax" V,
    Vcgmin = 75 "vcgmin" V,
    Vcpadd = 76 "vcpadd" V,
    // Gathering, sorting, transposing, filling.
    Vgather = 80 "vgather" V,
    Vgatherb = 81 "vgatherb" V,
    Vreducev2 = 82 "vreducev2" V,
    Vbitsort = 83 "vbitsort" V,
    Vmrgsort4 = 84 "vmrgsort4" V,
    Vbrcb = 85 "vbrcb" V,
    Vtranspose = 86 "vtranspose" V,
    ScatterVnchwconv = 87 "scatter_vnchwconv" V,
    VldVaReg = 88 "vld_va_reg" V,
    // Moves.
    CopyGmToUbuf = 100 "copy_gm_to_ubuf" Mte2,
    CopyUbufToGm = 101 "copy_ubuf_to_gm" Mte3,
    CopyCbufToGm = 102 "copy_cbuf_to_gm" Mte3,
    CopyGmToCbuf = 103 "copy_gm_to_cbuf" Mte2,
    CopyUbufToUbuf = 104 "copy_ubuf_to_ubuf" V,
    CopyGmToUbufAlign = 105 "copy_gm_to_ubuf_align" Mte2,
    CopyUbufToGmAlign = 106 "copy_ubuf_to_gm_align" Mte3,
    CopyUbufToGmAlignV2 = 107 "copy_ubuf_to_gm_align_v2" Mte3,
    CopyCbufToBt = 108 "copy_cbuf_to_bt" Mte1,
    CopyCbufToFbuf = 109 "copy_cbuf_to_fbuf" Fix,
    CopyMatrixCbufToCc = 110 "copy_matrix_cbuf_to_cc" Mte1,
    CreateCbufMatrix = 111 "create_cbuf_matrix" Mte2,
    CreateCaMatrix = 112 "create_ca_matrix" Mte1,
    CreateCbMatrix = 113 "create_cb_matrix" Mte1,
    CopyGmToCbufMultiNd2nz = 114 "copy_gm_to_cbuf_multi_nd2nz" Mte2,
    // Loads of the cube unit.
    LoadCbufToCa = 130 "load_cbuf_to_ca" Mte1,
    LoadCbufToCb = 131 "load_cbuf_to_cb" Mte1,
    LoadGmToCa = 132 "load_gm_to_ca" Mte2,
    LoadGmToCb = 133 "load_gm_to_cb" Mte2,
    LoadGmToCbuf = 134 "load_gm_to_cbuf" Mte2,
    LoadCbufToCaTranspose = 135 "load_cbuf_to_ca_transpose" Mte1,
    LoadCbufToCbTranspose = 136 "load_cbuf_to_cb_transpose" Mte1,
    LoadCbufToCbSp = 137 "load_cbuf_to_cb_sp" Mte1,
    Img2colv2CbufToCa = 138 "img2colv2_cbuf_to_ca" Mte1,
    Img2colv2CbufToCb = 139 "img2colv2_cbuf_to_cb" Mte1,
    LoadImageToCbuf = 140 "load_image_to_cbuf" Mte2,
    // Cube unit and fixpipe.
    Mad = 150 "mad" M,
    MadSp = 151 "mad_sp" M,
    CopyMatrixCcToGm = 152 "copy_matrix_cc_to_gm" Fix,
    CopyMatrixCcToCbuf = 153 "copy_matrix_cc_to_cbuf" Fix,
}

impl OpCode {
    /// The instruction with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_runs_on_its_pipe() {
        for &op in OpCode::ALL {
            let name = op.name();
            let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
            // As the chip has it, by the names of the instructions.
            let expected = if starts(&["mad"]) {
                Pipe::M
            } else if starts(&["copy_matrix_cc_to", "copy_cbuf_to_fbuf"]) {
                Pipe::Fix
            } else if starts(&["copy_gm_to", "load_gm_to", "load_image_to", "create_cbuf"]) {
                Pipe::Mte2
            } else if starts(&["copy_ubuf_to_gm", "copy_cbuf_to_gm"]) {
                Pipe::Mte3
            } else if starts(&[
                "load_cbuf_to",
                "img2col",
                "copy_cbuf_to_bt",
                "copy_matrix_cbuf",
                "create_ca",
                "create_cb_",
            ]) {
                Pipe::Mte1
            } else {
                assert!(
                    starts(&["v", "scatter_vnchwconv", "copy_ubuf_to_ubuf", "set_cmpmask", "get_cmpmask"]),
                    "{name}"
                );
                Pipe::V
            };
            assert_eq!(op.pipe(), expected, "{name}");
        }
    }

    #[test]
    fn numbers_lead_back_to_their_instruction() {
        for op in OpCode::ALL {
            assert_eq!(OpCode::from_number(*op as u16), Some(*op));
            assert_eq!(OpCode::from_name(op.name()), Some(*op));
        }
        assert_eq!(OpCode::from_number(0), None);
        for kind in ElementType::ALL {
            assert_eq!(ElementType::from_number(kind as u8), Some(kind));
        }
    }
}
