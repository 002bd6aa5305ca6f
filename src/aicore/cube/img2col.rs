//! Pictures as matrices: a row for every position of a filter, a column for everything the filter sees there.

#![expect(clippy::wildcard_enum_match_arm, reason = "a family names its own among all instructions")]

use super::{FRACTAL, ROW, ROWS};
use crate::aicore::arguments::Arguments;
use crate::aicore::memory::Memory;
use crate::aicore::operand::{Operands, Shape};
use crate::aicore::registers::Register;
use crate::aicore::{Fault, OpCode};

/// How the block of the matrix lies in L0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// In L0A, as it is.
    Rows,
    /// In L0A, transposed.
    Columns,
    /// In L0B: rows are K, columns are N.
    Right,
}

/// One direction of the picture.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// Points of the picture.
    size: u64,
    /// Points in front of it.
    before: u64,
    /// Positions of the filter.
    positions: u64,
    filter: u64,
    stride: u64,
    dilation: u64,
}

impl Axis {
    fn new(size: u64, pads: (u64, u64), filter: u64, stride: u64, dilation: u64) -> Self {
        let reach = filter.saturating_sub(1) * dilation + 1;
        let room = (size + pads.0 + pads.1).checked_sub(reach);
        let positions = room.map_or(0, |room| room / stride.max(1) + 1);
        Self { size, before: pads.0, positions, filter, stride, dilation }
    }

    /// The point that tap `tap` of the filter sees at `position`; `None`: padding.
    fn point(&self, position: u64, tap: u64) -> Option<u64> {
        let at = position * self.stride + tap * self.dilation;
        at.checked_sub(self.before).filter(|point| *point < self.size)
    }
}

/// See the module. Words: `(dst, src, columns, rows, firstColumn, firstRow, strideW, strideH, filterW, filterH, dilationW,
/// dilationH, wideFilterW, wideFilterH, transpose, secondMatrix, channels)`.
#[derive(Debug, Clone)]
pub(crate) struct Img2col {
    to: Memory,
    layout: Layout,
    source: u64,
    target: u64,
    /// Bits of an element.
    bits: u64,
    width: Axis,
    height: Axis,
    /// Blocks of channels.
    channel_blocks: u64,
    columns: u64,
    rows: u64,
    first_column: u64,
    first_row: u64,
    /// How often, and how far the first row and the first column go on each time.
    repeats: u64,
    row_step: u64,
    column_step: u64,
    /// What stands for points outside the picture.
    padding: [u8; ROW as usize],
    /// Where L1 starts, and after how many bytes of it a picture goes on at its start; 0: never.
    l1: u64,
    wrap: u64,
}

impl Img2col {
    /// Decodes a record; `None` if it is of another family.
    pub(crate) fn decode(arguments: &Arguments<'_>) -> Result<Option<Self>, Fault> {
        let transpose = arguments.word(14) & 1 != 0;
        let (to, layout) = match arguments.op {
            OpCode::Img2colv2CbufToCa if transpose => (Memory::L0a, Layout::Columns),
            OpCode::Img2colv2CbufToCa => (Memory::L0a, Layout::Rows),
            OpCode::Img2colv2CbufToCb => (Memory::L0b, Layout::Right),
            _ => return Ok(None),
        };
        let bits = arguments.kind(0).bits();
        if !matches!(bits, 4 | 8 | 16 | 32) || (layout == Layout::Columns && bits < 16) {
            return Err(arguments.wrong_types());
        }
        let registers = &arguments.core.registers;
        let word = |at: usize| arguments.word(at) & 0xffff;
        let byte = |at: usize| arguments.word(at) & 0xff;
        let per_row = ROW * 8 / bits;
        let matrix = registers.get(if arguments.word(15) & 1 != 0 { Register::FmatrixB } else { Register::Fmatrix });
        let pad = |shift: u32| matrix >> shift & 0xff;
        let wide = |at: usize| if arguments.word(at) & 1 != 0 { 256 } else { 0 };
        let width = Axis::new(matrix & 0xffff, (pad(32), pad(40)), byte(8) + wide(12), byte(6), byte(10));
        let height = Axis::new(matrix >> 16 & 0xffff, (pad(48), pad(56)), byte(9) + wide(13), byte(7), byte(11));
        let channels = word(16);
        let repeat = registers.get(Register::L3dRpt);
        let step = repeat & 0xffff;
        let along_columns = repeat >> 24 & 1 != 0;
        let nothing = [width.size, height.size, width.filter, height.filter, channels, word(2), word(3)].contains(&0);
        let repeats = if nothing { 0 } else { repeat >> 16 & 0xff };
        let first_column = word(4);
        if repeats > 0 && !first_column.is_multiple_of(per_row) {
            return Err(arguments.fault(format!("column {first_column} is not a multiple of {per_row}")));
        }
        let l1 = arguments.core.memory(Memory::L1);
        let wrap = registers.get(Register::L13dSize);
        if repeats > 0 && !wrap.is_multiple_of(ROW) {
            return Err(arguments.fault(format!("the end of L1 for pictures is {wrap}, not a multiple of {ROW}")));
        }
        Ok(Some(Self {
            to,
            layout,
            source: arguments.address(1, Memory::L1),
            target: arguments.address(0, to),
            bits,
            width,
            height,
            channel_blocks: channels.div_ceil(per_row),
            columns: word(2).next_multiple_of(if layout == Layout::Rows { per_row } else { ROWS }),
            rows: word(3).next_multiple_of(if layout == Layout::Rows { ROWS } else { per_row }),
            first_column,
            first_row: word(5),
            repeats,
            row_step: if along_columns { 0 } else { step * ROWS },
            column_step: if along_columns { step * per_row } else { 0 },
            padding: padding(registers.get(Register::Padding), bits),
            l1: l1.map_or(0, |memory| memory.base as u64),
            wrap,
        }))
    }

    /// Elements of a row of a fractal.
    fn per_row(&self) -> u64 {
        ROW * 8 / self.bits
    }

    fn bytes_of_repeat(&self) -> u64 {
        self.rows * self.columns * self.bits / 8
    }

    /// Adds everything it reads and writes.
    pub(crate) fn operands(&self, operands: &mut Operands) {
        if self.repeats == 0 {
            return;
        }
        let taps = self.width.filter * self.height.filter;
        let last_column = self.first_column + (self.repeats - 1) * self.column_step + self.columns;
        let blocks = (self.first_column / self.per_row() / taps)
            ..last_column.div_ceil(self.per_row() * taps).min(self.channel_blocks);
        let last_row = (self.first_row + (self.repeats - 1) * self.row_step + self.rows - 1)
            .min((self.width.positions * self.height.positions).saturating_sub(1));
        let line = |row: u64| row / self.width.positions.max(1) * self.height.stride;
        let reach = (self.height.filter - 1) * self.height.dilation;
        let first_line = line(self.first_row).saturating_sub(self.height.before).min(self.height.size);
        let end_line = (line(last_row) + reach + 1).saturating_sub(self.height.before).min(self.height.size);
        let plane = self.width.size * self.height.size * ROW;
        let start = self.source + blocks.start * plane + first_line * self.width.size * ROW;
        let bytes = end_line.saturating_sub(first_line) * self.width.size * ROW;
        let shape = Shape::rows(blocks.end.saturating_sub(blocks.start), plane, bytes);
        if self.wrap != 0 && start + shape.extent() > self.l1 + self.wrap {
            operands.read("src", Memory::L1, self.source, Shape::row(ROW), ROW);
            operands.read("src", Memory::L1, self.l1, Shape::row(self.wrap), 1);
        } else {
            operands.read("src", Memory::L1, start, shape, ROW);
        }
        operands.write("dst", self.to, self.target, Shape::row(self.repeats * self.bytes_of_repeat()), FRACTAL);
    }

    /// Does it.
    ///
    /// # Safety
    /// As for [`crate::aicore::Instruction::execute`].
    pub(crate) unsafe fn execute(&self) {
        for repeat in 0..self.repeats {
            let target = self.target + repeat * self.bytes_of_repeat();
            let (row, column) =
                (self.first_row + repeat * self.row_step, self.first_column + repeat * self.column_step);
            // SAFETY: the caller's promise is handed on.
            unsafe { self.block(target as *mut u8, row, column) };
        }
    }

    /// One block of the matrix.
    unsafe fn block(&self, target: *mut u8, first_row: u64, first_column: u64) {
        let per_row = self.per_row();
        let pieces = self.columns.div_ceil(per_row);
        if self.layout != Layout::Rows {
            // Elements are placed one by one, nibbles into what is there.
            // SAFETY: declared and checked.
            unsafe { std::ptr::write_bytes(target, 0, self.bytes_of_repeat() as usize) };
        }
        for row in 0..self.rows {
            for piece in 0..pieces {
                // SAFETY: the caller's promise.
                let bytes = unsafe { self.piece(first_row + row, first_column / per_row + piece) };
                if self.layout == Layout::Rows {
                    let place = ((row / ROWS * pieces + piece) * ROWS + row % ROWS) * ROW;
                    // SAFETY: declared and checked.
                    unsafe { (target.add(place as usize).cast::<[u8; ROW as usize]>()).write_unaligned(bytes) };
                    continue;
                }
                for element in (0..per_row).filter(|element| piece * per_row + element < self.columns) {
                    let place = self.turned(row, piece * per_row + element);
                    // SAFETY: declared and checked.
                    unsafe { self.put(target, place, &bytes, element) };
                }
            }
        }
    }

    /// The number of an element among all of a transposed block.
    fn turned(&self, row: u64, column: u64) -> u64 {
        let per_row = self.per_row();
        let fractal = match self.layout {
            Layout::Right => row / per_row * (self.columns / ROWS) + column / ROWS,
            Layout::Columns | Layout::Rows => column / ROWS * (self.rows / per_row) + row / per_row,
        };
        (fractal * ROWS + column % ROWS) * per_row + row % per_row
    }

    unsafe fn put(&self, target: *mut u8, place: u64, bytes: &[u8; ROW as usize], element: u64) {
        let (place, element) = (place as usize, element as usize);
        // SAFETY: the caller's promise.
        unsafe {
            if self.bits == 4 {
                let nibble = bytes[element / 2] >> (element % 2 * 4) & 0xf;
                *target.add(place / 2) |= nibble << (place % 2 * 4);
            } else {
                let size = (self.bits / 8) as usize;
                std::ptr::copy_nonoverlapping(bytes.as_ptr().add(element * size), target.add(place * size), size);
            }
        }
    }

    /// The channels of one tap at one position: a row of a fractal.
    unsafe fn piece(&self, row: u64, number: u64) -> [u8; ROW as usize] {
        let taps = self.width.filter * self.height.filter;
        let (block, tap) = (number / taps, number % taps);
        if block >= self.channel_blocks || row >= self.width.positions * self.height.positions {
            return [0; ROW as usize];
        }
        let (down, across) = (row / self.width.positions, row % self.width.positions);
        let line = self.height.point(down, tap / self.width.filter);
        let point = self.width.point(across, tap % self.width.filter);
        let (Some(line), Some(point)) = (line, point) else { return self.padding };
        let offset = ((block * self.height.size + line) * self.width.size + point) * ROW;
        let at = self.source + offset;
        // Behind its end L1 goes on at its start; without an end nothing is left of the division.
        let at = at.wrapping_sub(self.l1).checked_rem(self.wrap).map_or(at, |place| self.l1 + place);
        // SAFETY: inside what was declared.
        unsafe { (at as *const [u8; ROW as usize]).read_unaligned() }
    }
}

/// A row of padding.
fn padding(value: u64, bits: u64) -> [u8; ROW as usize] {
    let bytes = value.to_le_bytes();
    let size = (bits / 8).max(1) as usize;
    std::array::from_fn(|at| bytes[at % size])
}
