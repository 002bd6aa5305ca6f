//! Special registers of a core.
//!
//! `make tables` writes their numbers into `sk_core/issue.h`.

macro_rules! registers {
    ($($variant:ident = $number:literal $name:literal,)*) => {
        /// A register, or the first of a group of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub(crate) enum Register {
            $(#[doc = concat!("`", $name, "`")] $variant = $number,)*
        }

        impl Register {
            /// All registers.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in the header, without the prefix.
            pub(crate) fn name(self) -> &'static str {
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
pub(crate) const COUNT: usize = 96;

/// Bits of the control register.
pub(crate) mod ctrl {
    /// Type of DMA atomics, `atomic_type_t`.
    pub(crate) const ATOMIC_TYPE_SHIFT: u32 = 6;
    /// Operation of DMA atomics.
    pub(crate) const ATOMIC_OP_SHIFT: u32 = 9;
    /// Single precision is multiplied with fewer bits.
    pub(crate) const HF32: u32 = 46;
    /// Which then rounds ties toward zero.
    pub(crate) const HF32_TOWARD_ZERO: u32 = 47;
    /// 1: 16-bit float results overflow to infinity and keep NaN; 0: they saturate.
    pub(crate) const INF_NAN: u32 = 48;
    /// Integer arithmetic saturates.
    pub(crate) const INT_SATURATES: u32 = 53;
    /// Conversions to integers truncate instead of saturating.
    pub(crate) const CONVERSION_TRUNCATES: u32 = 59;
}

/// How the mask register is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaskMode {
    /// A bit per element of a repeat.
    Norm,
    /// The number of elements of the whole instruction.
    Count,
}

/// The values of all registers.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    values: [u64; COUNT],
    /// What sparse loads left beside L0B, a quarter of its size; empty until the first one.
    sparse_indices: Vec<u8>,
}

impl Default for Registers {
    fn default() -> Self {
        let mut registers = Self { values: [0; COUNT], sparse_indices: Vec::new() };
        registers.set(Register::MaskLow, u64::MAX);
        registers.set(Register::MaskHigh, u64::MAX);
        registers.set(Register::Ctrl, 1 << ctrl::INF_NAN);
        registers.set(Register::L3dRpt, 1 << 16);
        registers
    }
}

impl Registers {
    /// The value of a register.
    pub(crate) fn get(&self, register: Register) -> u64 {
        self.values[register as usize]
    }

    /// Changes a register.
    pub(crate) fn set(&mut self, register: Register, value: u64) {
        self.values[register as usize] = value;
    }

    /// The value of register number `number`; 0 if there is none.
    pub(crate) fn get_number(&self, number: u32) -> u64 {
        self.values.get(number as usize).copied().unwrap_or(0)
    }

    /// Changes register number `number`, if there is one.
    pub(crate) fn set_number(&mut self, number: u32, value: u64) {
        if let Some(slot) = self.values.get_mut(number as usize) {
            *slot = value;
        }
    }

    /// A bit of the control register.
    pub(crate) fn control(&self, bit: u32) -> bool {
        self.get(Register::Ctrl) >> bit & 1 != 0
    }

    /// How the mask register is read.
    pub(crate) fn mask_mode(&self) -> MaskMode {
        if self.get(Register::MaskMode) == 0 { MaskMode::Norm } else { MaskMode::Count }
    }

    /// The indices beside L0B.
    pub(crate) fn sparse_indices(&mut self) -> &mut [u8] {
        self.sparse_indices.resize(16_384, 0);
        &mut self.sparse_indices
    }

    /// The 8 addresses of address register `number`.
    pub(crate) fn addresses(&self, number: usize) -> [u64; 8] {
        let first = Register::Va as usize + (number & 7) * 8;
        std::array::from_fn(|at| self.values[first + at])
    }

    /// Changes them.
    pub(crate) fn set_addresses(&mut self, number: usize, addresses: [u64; 8]) {
        let first = Register::Va as usize + (number & 7) * 8;
        self.values[first..first + 8].copy_from_slice(&addresses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_starts_like_this() {
        let registers = Registers::default();
        let not_zero = [
            (Register::MaskLow, u64::MAX),
            (Register::MaskHigh, u64::MAX),
            // Infinities stay, conversions saturate, nothing combines.
            (Register::Ctrl, 1 << 48),
            // Pictures are loaded once; 0 would be never.
            (Register::L3dRpt, 1 << 16),
        ];
        for &register in Register::ALL {
            let expected = not_zero.iter().find(|(known, _)| *known == register).map_or(0, |(_, value)| *value);
            assert_eq!(registers.get(register), expected, "{}", register.name());
        }
        assert_eq!(registers.mask_mode(), MaskMode::Norm);
    }
}
