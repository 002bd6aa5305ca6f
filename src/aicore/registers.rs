//! Special registers of a core.
//!
//! Numbered as in `sk_core/issue.h`; a test compares them.

macro_rules! registers {
    ($($variant:ident = $number:literal $name:literal,)*) => {
        /// A register, or the first of a group of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum Register {
            $(#[doc = concat!("`", $name, "`")] $variant = $number,)*
        }

        impl Register {
            /// All registers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in the header, without the prefix.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

registers! {
    MaskLow = 0 "MASK_LOW",
    MaskHigh = 1 "MASK_HIGH",
    MaskMode = 2 "MASK_MODE",
    Ctrl = 3 "CTRL",
    Deqscale = 4 "DEQSCALE",
    MovPadVal = 5 "MOV_PAD_VAL",
    QuantPre = 6 "QUANT_PRE",
    NdPara = 7 "ND_PARA",
    Fpc = 8 "FPC",
    Fmatrix = 9 "FMATRIX",
    FmatrixB = 10 "FMATRIX_B",
    Padding = 11 "PADDING",
    L3dRpt = 12 "L3D_RPT",
    L13dSize = 13 "L1_3D_SIZE",
    StAtomicCfg = 14 "ST_ATOMIC_CFG",
    // Left behind by vector instructions.
    AccVal = 15 "ACC_VAL",
    MaxMinCnt = 16 "MAX_MIN_CNT",
    RsvdCnt = 17 "RSVD_CNT",
    Vms4Sr = 18 "VMS4_SR",
    CmpmaskLow = 19 "CMPMASK_LOW",
    CmpmaskHigh = 20 "CMPMASK_HIGH",
    // The 64-bit address of the index matrix of the next sparse load.
    IndexMatrix = 22 "INDEX_MATRIX",
    // 8 registers of 8 addresses.
    Va = 32 "VA",
}

/// Registers of one core.
pub const COUNT: usize = 96;

/// Bits of the control register.
pub mod ctrl {
    /// Type of DMA atomics, `atomic_type_t`.
    pub const ATOMIC_TYPE_SHIFT: u32 = 6;
    /// Operation of DMA atomics.
    pub const ATOMIC_OP_SHIFT: u32 = 9;
    /// Cube unit multiplies f32 as HF32.
    pub const HF32: u32 = 46;
    /// How HF32 rounds.
    pub const HF32_ROUNDING: u32 = 47;
    /// 1: 16-bit float results overflow to infinity and keep NaN; 0: they saturate.
    pub const INF_NAN: u32 = 48;
    /// Integer arithmetic saturates.
    pub const INT_SATURATES: u32 = 53;
    /// Conversions to integers truncate instead of saturating.
    pub const CONVERSION_TRUNCATES: u32 = 59;
}

/// How the mask register is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskMode {
    /// A bit per element of a repeat.
    Norm,
    /// The number of elements of the whole instruction.
    Count,
}

/// The values of all registers.
#[derive(Debug, Clone)]
pub struct Registers {
    values: [u64; COUNT],
}

impl Default for Registers {
    fn default() -> Self {
        let mut registers = Self { values: [0; COUNT] };
        registers.set(Register::MaskLow, u64::MAX);
        registers.set(Register::MaskHigh, u64::MAX);
        registers.set(Register::Ctrl, 1 << ctrl::INF_NAN);
        registers.set(Register::L3dRpt, 1 << 16);
        registers
    }
}

impl Registers {
    /// The value of a register.
    pub fn get(&self, register: Register) -> u64 {
        self.values[register as usize]
    }

    /// Changes a register.
    pub fn set(&mut self, register: Register, value: u64) {
        self.values[register as usize] = value;
    }

    /// The value of register number `number`; 0 if there is none.
    pub fn get_number(&self, number: u32) -> u64 {
        self.values.get(number as usize).copied().unwrap_or(0)
    }

    /// Changes register number `number`, if there is one.
    pub fn set_number(&mut self, number: u32, value: u64) {
        if let Some(slot) = self.values.get_mut(number as usize) {
            *slot = value;
        }
    }

    /// A bit of the control register.
    pub fn control(&self, bit: u32) -> bool {
        self.get(Register::Ctrl) >> bit & 1 != 0
    }

    /// How the mask register is read.
    pub fn mask_mode(&self) -> MaskMode {
        if self.get(Register::MaskMode) == 0 { MaskMode::Norm } else { MaskMode::Count }
    }

    /// The 8 addresses of address register `number`.
    pub fn addresses(&self, number: usize) -> [u64; 8] {
        let first = Register::Va as usize + (number & 7) * 8;
        std::array::from_fn(|at| self.values[first + at])
    }
}
