//! Multiplication of matrices.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use super::sparse::INDICES;
use super::{FRACTAL, OnResults, ROW, ROWS, UnitFlag};
use crate::aicore::arguments::Arguments;
use crate::aicore::float16::{Bf16, F16};
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::registers::{Registers, ctrl};
use crate::aicore::{ElementType, Fault, OpCode};

/// Most rows and columns of a matrix.
const LIMIT: u64 = 4095;
/// Bytes of 16x16 results.
const RESULTS: u64 = 1024;

/// How single precision is multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// In full.
    Full,
    /// Operands are rounded to 11 bits of mantissa, ties to even.
    Nearest,
    /// The same, ties toward zero.
    NearestTowardZero,
}

/// What the results are added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Zero,
    /// A row of the bias table, for every row.
    Bias(u64),
    /// Results of this address, in L0C.
    Results(u64),
}

/// Elements of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F16,
    Bf16,
    F32(Precision),
    S8,
    S4,
    /// Bytes; of the right matrix every second one was left out.
    Sparse,
}

/// `(C, A, B, bias, m, k, n, unitFlag, kAlign, biasSource, zero, hasBias)`.
#[derive(Debug, Clone)]
pub(crate) struct Mad {
    kind: Kind,
    results: u64,
    left: u64,
    right: u64,
    m: u64,
    k: u64,
    n: u64,
    /// Fractals of a row of the left matrix.
    left_fractals: u64,
    start: Start,
    /// Where L0B starts.
    l0b: u64,
    flag: UnitFlag,
}

impl Mad {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let sparse = match arguments.op {
            OpCode::Mad => false,
            OpCode::MadSp => true,
            _ => return Ok(None),
        };
        let kind = kind(arguments, sparse)?;
        let word = |at: usize| arguments.word(at);
        let k = arguments.at_most(5, "k", LIMIT)?;
        let left_fractals = match kind {
            Kind::F32(_) if word(8) & 1 != 0 => k.div_ceil(16) * 2,
            _ => k.div_ceil(kind.per_row()),
        };
        let (has_bias, from_table, zero) = (word(11) & 1 != 0, word(9) & 1 != 0, word(10) & 1 != 0);
        let table = arguments.core.memory(Memory::Bt).map_or(0, |memory| memory.base as u64);
        let start = match (zero, has_bias, from_table) {
            (true, _, _) => Start::Zero,
            (false, true, true) => Start::Bias(word(3)),
            (false, false, true) => Start::Bias(table),
            (false, true, false) => Start::Results(word(3)),
            (false, false, false) => Start::Results(word(0)),
        };
        Ok(Some(Self {
            kind,
            results: word(0),
            left: word(1),
            right: word(2),
            m: arguments.at_most(4, "m", LIMIT)?,
            k,
            n: arguments.at_most(6, "n", LIMIT)?,
            left_fractals,
            start,
            l0b: arguments.core.memory(Memory::L0b).map_or(0, |memory| memory.base as u64),
            flag: UnitFlag::from_word(word(7)),
        }))
    }

    fn is_empty(&self) -> bool {
        self.m == 0 || self.k == 0 || self.n == 0
    }

    /// What it does to results in L0C.
    pub(super) fn on_results(&self) -> OnResults {
        // So many fractals take long enough for the first to be done when the next multiplication needs it.
        let large = self.m.div_ceil(ROWS) * self.n.div_ceil(ROWS) >= 10;
        OnResults { flag: self.flag, large }
    }

    /// Rows of fractals of the right matrix.
    fn right_fractals(&self) -> u64 {
        let k = if self.kind == Kind::Sparse { self.k.div_ceil(2) } else { self.k };
        k.div_ceil(self.kind.per_row())
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        if self.is_empty() {
            return;
        }
        if self.m == 1 {
            let bytes = (self.k * ROW).div_ceil(self.kind.per_row());
            operands.read("a", Memory::L0a, self.left, Shape::row(bytes), FRACTAL);
        } else {
            let (whole, rest) = (self.m / ROWS, self.m % ROWS);
            let row = self.left_fractals * FRACTAL;
            operands.read("a", Memory::L0a, self.left, Shape::row(whole * row), FRACTAL);
            let tail = Shape::rows(self.left_fractals, FRACTAL, rest * ROW);
            operands.read("a", Memory::L0a, self.left + whole * row, tail, FRACTAL);
        }
        let row = self.n.div_ceil(ROWS) * FRACTAL;
        operands.read("b", Memory::L0b, self.right, Shape::rows(self.right_fractals(), row, self.n * ROW), FRACTAL);
        let column = self.m.div_ceil(ROWS) * RESULTS;
        let (whole, rest) = (self.n / ROWS, self.n % ROWS);
        let body = Shape::rows(whole, column, self.m * 64);
        let tail = Shape::rows(self.m, 64, rest * 4);
        match self.start {
            Start::Zero => {}
            Start::Bias(address) => operands.read("bias", Memory::Bt, address, Shape::row(self.n * 4), 64),
            Start::Results(address) => {
                operands.read("c", Memory::L0c, address, body, RESULTS);
                operands.read("c", Memory::L0c, address + whole * column, tail, RESULTS);
            }
        }
        operands.write("c", Memory::L0c, self.results, body, RESULTS);
        operands.write("c", Memory::L0c, self.results + whole * column, tail, RESULTS);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self, registers: &mut Registers) {
        if self.is_empty() {
            return;
        }
        // SAFETY: the caller's promise is handed on.
        unsafe {
            match self.kind {
                Kind::F16 => self.multiply(|at| F16((at as *const u16).read_unaligned()).to_f32()),
                Kind::Bf16 => self.multiply(|at| Bf16((at as *const u16).read_unaligned()).to_f32()),
                Kind::F32(precision) => {
                    self.multiply(|at| rounded((at as *const f32).read_unaligned(), precision));
                }
                Kind::S8 => self.multiply_integers(|at| i32::from(*(at as *const i8))),
                Kind::S4 => self.multiply_nibbles(),
                Kind::Sparse => self.multiply_sparse(registers.sparse_indices()),
            }
        }
    }

    /// Address of a row of a fractal of the left matrix: elements from `k` on.
    fn left_row(&self, row: u64, fractal: u64) -> u64 {
        if self.m == 1 {
            return self.left + fractal * ROW;
        }
        self.left + ((row / ROWS * self.left_fractals + fractal) * ROWS + row % ROWS) * ROW
    }

    /// Address of a row of a fractal of the right matrix: elements of one column.
    fn right_row(&self, column: u64, fractal: u64) -> u64 {
        let columns = self.n.div_ceil(ROWS);
        self.right + ((fractal * columns + column / ROWS) * ROWS + column % ROWS) * ROW
    }

    /// Address of a result, of those at `base`.
    fn result(&self, base: u64, row: u64, column: u64) -> u64 {
        base + (column / ROWS * self.m.div_ceil(ROWS) * ROWS + row) * 64 + column % ROWS * 4
    }

    /// The left matrix row by row, the right one with rows of `n` elements.
    unsafe fn operands_as<T: Copy + Default>(&self, bytes: u64, load: impl Fn(u64) -> T) -> (Vec<T>, Vec<T>) {
        let (m, k, n) = (self.m, self.k, self.n);
        let per_row = self.kind.per_row();
        let mut left = vec![T::default(); (m * k) as usize];
        for row in 0..m {
            for at in 0..k {
                left[(row * k + at) as usize] = load(self.left_row(row, at / per_row) + at % per_row * bytes);
            }
        }
        let mut right = vec![T::default(); (k * n) as usize];
        for column in 0..n {
            for at in 0..k {
                right[(at * n + column) as usize] = load(self.right_row(column, at / per_row) + at % per_row * bytes);
            }
        }
        (left, right)
    }

    unsafe fn multiply(&self, load: impl Fn(u64) -> f32) {
        let bytes = ROW / self.kind.per_row();
        // SAFETY: the caller's promise is handed on.
        unsafe {
            let (left, right) = self.operands_as(bytes, load);
            self.combine(&left, &right, |sum: &mut f32, a: f32, b: f32| *sum += a * b, |start: f32, sum| start + sum);
        }
    }

    unsafe fn multiply_integers(&self, load: impl Fn(u64) -> i32) {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            let (left, right) = self.operands_as(1, load);
            self.combine_integers(&left, &right);
        }
    }

    unsafe fn multiply_nibbles(&self) {
        let (m, k, n) = (self.m, self.k, self.n);
        let mut left = vec![0i32; (m * k) as usize];
        let mut right = vec![0i32; (k * n) as usize];
        // SAFETY: declared and checked.
        let load = |row: u64, at: u64| unsafe {
            let byte = *((row + at % 64 / 2) as *const i8);
            i32::from(if at.is_multiple_of(2) { byte << 4 >> 4 } else { byte >> 4 })
        };
        for at in 0..k {
            for row in 0..m {
                left[(row * k + at) as usize] = load(self.left_row(row, at / 64), at);
            }
            for column in 0..n {
                right[(at * n + column) as usize] = load(self.right_row(column, at / 64), at);
            }
        }
        // SAFETY: the caller's promise is handed on.
        unsafe { self.combine_integers(&left, &right) };
    }

    /// Two of every four elements of the left matrix count, and the indices beside the right one tell which.
    unsafe fn multiply_sparse(&self, indices: &[u8]) {
        let (m, k, n) = (self.m, self.k, self.n);
        // SAFETY: declared and checked.
        let byte = |at: u64| i32::from(unsafe { *(at as *const i8) });
        let mut left = vec![0i32; (m * k) as usize];
        for row in 0..m {
            for at in 0..k {
                left[(row * k + at) as usize] = byte(self.left_row(row, at / ROW) + at % ROW);
            }
        }
        let mut right = vec![0i32; (k * n) as usize];
        for column in 0..n {
            for at in 0..k.div_ceil(2) {
                let place = self.right_row(column, at / ROW) + at % ROW;
                let number = place - self.l0b;
                let bits =
                    indices[(number / FRACTAL * INDICES + number % FRACTAL / 4) as usize] >> (number % 4 * 2) & 3;
                let source = at / 2 * 4 + at % 2 + u64::from(bits);
                if source < k {
                    right[(source * n + column) as usize] += byte(place);
                }
            }
        }
        // SAFETY: the caller's promise is handed on.
        unsafe { self.combine_integers(&left, &right) };
    }

    unsafe fn combine_integers(&self, left: &[i32], right: &[i32]) {
        // 4095 products of bytes fit: only what was there before can make the sum too large.
        let add = |sum: &mut i32, a: i32, b: i32| *sum = sum.wrapping_add(a.wrapping_mul(b));
        // SAFETY: the caller's promise is handed on.
        unsafe { self.combine(left, right, add, i32::saturating_add) };
    }

    /// Row by row: a plain loop over the columns for each element of the left matrix.
    unsafe fn combine<T: Copy + Default>(
        &self,
        left: &[T],
        right: &[T],
        add: impl Fn(&mut T, T, T),
        finish: impl Fn(T, T) -> T,
    ) {
        let (k, n) = (self.k as usize, self.n as usize);
        let mut sums = vec![T::default(); n];
        for row in 0..self.m {
            sums.fill(T::default());
            for (at, &a) in left[row as usize * k..][..k].iter().enumerate() {
                for (sum, &b) in sums.iter_mut().zip(&right[at * n..][..n]) {
                    add(sum, a, b);
                }
            }
            for (column, &sum) in sums.iter().enumerate() {
                let column = column as u64;
                // SAFETY: declared and checked.
                unsafe {
                    let result = match self.start {
                        Start::Zero => sum,
                        Start::Bias(bias) => finish(((bias + column * 4) as *const T).read_unaligned(), sum),
                        Start::Results(base) => {
                            finish((self.result(base, row, column) as *const T).read_unaligned(), sum)
                        }
                    };
                    (self.result(self.results, row, column) as *mut T).write_unaligned(result);
                }
            }
        }
    }
}

impl Kind {
    /// Elements of a row of a fractal.
    fn per_row(self) -> u64 {
        match self {
            Self::F32(_) => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::S8 | Self::Sparse => 32,
            Self::S4 => 64,
        }
    }
}

fn kind(arguments: &Arguments<'_>, sparse: bool) -> Result<Kind, Fault> {
    use ElementType::{Bf16, F16, F32, S4, S8, S32};
    let registers = &arguments.core.registers;
    let precision = match (registers.control(ctrl::HF32), registers.control(ctrl::HF32_TOWARD_ZERO)) {
        (false, _) => Precision::Full,
        (true, false) => Precision::Nearest,
        (true, true) => Precision::NearestTowardZero,
    };
    match (arguments.kind(0), arguments.kind(1), arguments.kind(2)) {
        (S32, S8, S8) if sparse => Ok(Kind::Sparse),
        _ if sparse => Err(arguments.wrong_types()),
        (F32, F16, F16) => Ok(Kind::F16),
        (F32, Bf16, Bf16) => Ok(Kind::Bf16),
        (F32, F32, F32) => Ok(Kind::F32(precision)),
        (S32, S8, S8) => Ok(Kind::S8),
        (S32, S4, S4) => Ok(Kind::S4),
        _ => Err(arguments.wrong_types()),
    }
}

/// Bits of the mantissa that HF32 drops.
const DROPPED: u32 = 12;

fn rounded(value: f32, precision: Precision) -> f32 {
    let bits = value.to_bits();
    let half = 1 << (DROPPED - 1);
    let add = match precision {
        Precision::Full => return value,
        _ if !value.is_finite() => return value,
        Precision::Nearest => half - 1 + (bits >> DROPPED & 1),
        Precision::NearestTowardZero => half - 1,
    };
    f32::from_bits((bits + add) >> DROPPED << DROPPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hf32_keeps_11_bits() {
        let unit = 2.0f32.powi(-11);
        for (value, even, down) in [(1.0, 1.0, 1.0), (1.0 + unit, 1.0 + unit, 1.0 + unit), (1.0 + unit / 2.0, 1.0, 1.0)]
        {
            assert_eq!(rounded(value, Precision::Nearest), even);
            assert_eq!(rounded(value, Precision::NearestTowardZero), down);
        }
        let tie = 1.0 + unit * 1.5;
        assert_eq!(rounded(tie, Precision::Nearest), 1.0 + unit * 2.0);
        assert_eq!(rounded(tie, Precision::NearestTowardZero), 1.0 + unit);
        assert_eq!(rounded(-tie, Precision::NearestTowardZero), -1.0 - unit);
        assert_eq!(rounded(tie, Precision::Full), tie);
        assert!(rounded(f32::NAN, Precision::Nearest).is_nan());
    }
}
