//! Values that come of memory nobody wrote, on their way through a core.
//!
//! Kernels work on whole tiles, also where the data ends before the tile does: what an element-wise instruction computes of
//! the rest is nobody's, and does no harm. So such an instruction, and a move from scratch memory into UB, hands the holes
//! in its sources on to the same elements of its destination. Who moves them to global memory, reads them with the scalar
//! unit or combines elements with each other has used what was never written.

use std::ops::Range;
use std::rc::Rc;

use super::{BLOCK, PipeWatch};
use crate::aicore::operand::{Access, Operand};
use crate::aicore::{Memory, OpCode};
use crate::sim::machine::memory::Unwritten;
use crate::sim::pipes::scene::{Issue, Scene};
use crate::sim::pipes::shadow::{Hole, Hollow, Touch};

/// Holes in the sources of an instruction, by the operand's name.
pub(super) type Holes = Vec<(&'static str, Hole)>;

/// A piece of an operand: where it starts in memory, and where in the row of all elements it holds.
struct Piece {
    address: u64,
    place: u64,
    bytes: u64,
}

/// The elements of an operand, repeat by repeat, one behind the other. Parts of a repeat are declared one by one.
fn pieces(operands: &[Operand], name: &str, access: Access) -> Vec<Piece> {
    let mut found = Vec::new();
    for (part, operand) in operands.iter().enumerate().filter(|(_, it)| it.name == name && it.access == access) {
        let [outer, middle, inner] = operand.shape.steps;
        for repeat in 0..outer.count {
            for at in 0..middle.count * inner.count {
                let offset = at / inner.count * middle.stride + at % inner.count * inner.stride;
                let address = operand.address + repeat * outer.stride + offset;
                found.push((operand.repeat + repeat, part, address, operand.shape.bytes));
            }
        }
    }
    found.sort_by_key(|(repeat, part, ..)| (*repeat, *part));
    let mut place = 0;
    let rows = found.into_iter().map(|(_, _, address, bytes)| {
        place += bytes;
        Piece { address, place: place - bytes, bytes }
    });
    rows.collect()
}

fn length(pieces: &[Piece]) -> u64 {
    pieces.last().map_or(0, |last| last.place + last.bytes)
}

fn meet(a: &Range<u64>, b: &Range<u64>) -> Range<u64> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// Of a stretch of one row of elements, that in another one whose elements are larger or smaller; those that are there in
/// part only are left out.
fn scaled(stretch: &Range<u64>, from: u64, to: u64) -> Range<u64> {
    if to >= from {
        let factor = to.div_ceil(from).next_power_of_two();
        stretch.start * factor..(stretch.end * factor).min(to)
    } else {
        let factor = from.div_ceil(to).next_power_of_two();
        stretch.start.div_ceil(factor)..stretch.end / factor
    }
}

/// Does an instruction compute every element of its destination of the elements of its sources at the same place?
fn is_element_wise(op: OpCode) -> bool {
    matches!(op, OpCode::Vcmpv | OpCode::Vcmpvs | OpCode::Vsel | OpCode::CopyUbufToUbuf)
        || (op as u16) < OpCode::Vcmpv as u16
}

/// Does an instruction hand on what it reads of this operand?
pub(super) fn is_handed_on(issue: &Issue<'_>, operand: &Operand) -> bool {
    let is_data = matches!(operand.name, "src" | "src0" | "src1" | "dst" | "mask");
    if is_element_wise(issue.op) {
        return is_data;
    }
    let mut targets = issue.operands.iter().filter(|other| other.access == Access::Write);
    // Rows with padding are longer, and read by burst: of these every block must have been written.
    matches!(issue.op, OpCode::CopyGmToUbuf | OpCode::CopyGmToUbufAlign)
        && targets.all(|target| target.memory == Memory::Ub && target.shape.bytes == operand.shape.bytes)
}

/// Blocks of global memory that nobody has written, among the stretches that `rows` tells. Of scratch memory every block
/// counts. What host code allocated may be larger than the data it put there: it counts if nothing of all is written.
pub(super) fn missing_blocks(
    rows: impl FnOnce(&mut dyn FnMut(Range<u64>)),
    scene: &Scene<'_>,
) -> Vec<(Range<u64>, Unwritten)> {
    let (mut missing, mut count) = (Vec::new(), 0);
    rows(&mut |row| {
        let blocks = (row.start..row.end).step_by(BLOCK as usize).map(|at| at..row.end.min(at + BLOCK));
        for block in blocks {
            count += 1;
            missing.extend(scene.global.unwritten(&block).map(|which| (block, which)));
        }
    });
    let is_all = missing.len() == count;
    missing.retain(|(_, which)| is_all || *which == Unwritten::Scratch);
    missing
}

impl PipeWatch {
    /// What of an operand nobody has written: whole blocks, since instructions read such, and whatever was handed on.
    pub(super) fn holes(&self, operand: &Operand, touch: &Touch, scene: &Scene<'_>, holes: &mut Holes) {
        let mut origin: Option<Rc<Hollow>> = None;
        if operand.memory == Memory::Gm {
            for (block, which) in missing_blocks(|visit| operand.for_each_row(visit), scene) {
                let new = || self.origin(operand.memory, &block, Some(which), touch, scene);
                holes.push((operand.name, Hole { origin: Some(origin.get_or_insert_with(new).clone()), bytes: block }));
            }
            return;
        }
        operand.for_each_row(|row| {
            for Hole { bytes, origin: before } in self.unwritten(operand.memory, row) {
                let whole = bytes.start.next_multiple_of(BLOCK)..bytes.end / BLOCK * BLOCK;
                match before {
                    Some(_) => holes.push((operand.name, Hole { bytes, origin: before })),
                    None if whole.start < whole.end => {
                        let new = || self.origin(operand.memory, &whole, None, touch, scene);
                        let origin = Some(origin.get_or_insert_with(new).clone());
                        holes.push((operand.name, Hole { bytes: whole, origin }));
                    }
                    None => {}
                }
            }
        });
    }

    fn origin(
        &self,
        memory: Memory,
        bytes: &Range<u64>,
        global: Option<Unwritten>,
        touch: &Touch,
        scene: &Scene<'_>,
    ) -> Rc<Hollow> {
        Rc::new(Hollow { touch: *touch, place: self.place(memory, bytes, scene), global })
    }

    /// The instruction has written its destination: the holes in its sources are there now.
    pub(super) fn hand_on(&mut self, issue: &Issue<'_>, holes: &Holes) {
        let target = pieces(issue.operands, "dst", Access::Write);
        let to = length(&target);
        let stretches = |name: &str| {
            let source = pieces(issue.operands, name, Access::Read);
            let from = length(&source);
            let mut found: Vec<(Range<u64>, Rc<Hollow>)> = Vec::new();
            for (_, hole) in holes.iter().filter(|(other, _)| *other == name) {
                let Some(origin) = &hole.origin else { continue };
                for piece in &source {
                    let part = meet(&hole.bytes, &(piece.address..piece.address + piece.bytes));
                    if part.start < part.end {
                        let place = |address: u64| piece.place + address - piece.address;
                        found.push((scaled(&(place(part.start)..place(part.end)), from, to), origin.clone()));
                    }
                }
            }
            found
        };
        let mut hollow = if issue.op == OpCode::Vsel {
            // Which of two sources is taken is for the mask to say; only what neither has is certainly not there.
            let (one, other) = (stretches("src0"), stretches("src1"));
            let both = one.iter().flat_map(|(a, origin)| other.iter().map(|(b, _)| (meet(a, b), origin.clone())));
            both.chain(stretches("mask")).collect()
        } else {
            ["src", "src0", "src1", "dst"].into_iter().flat_map(stretches).collect::<Vec<_>>()
        };
        hollow.retain(|(stretch, _)| stretch.start < stretch.end);
        for (stretch, origin) in hollow {
            for piece in &target {
                let part = meet(&stretch, &(piece.place..piece.place + piece.bytes));
                if part.start < part.end {
                    let address = |place: u64| piece.address + place - piece.place;
                    self.shadows[Memory::Ub as usize].hollow(address(part.start)..address(part.end), &origin);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aicore::operand::Shape;

    fn operand(address: u64, shape: Shape, repeat: u64) -> Operand {
        let (name, memory, access) = ("src", Memory::Ub, Access::Read);
        Operand { name, memory, access, address, shape, alignment: 32, repeat }
    }

    #[test]
    fn elements_are_counted_repeat_by_repeat() {
        // Two repeats of one whole block and a part of the next one, as masks leave them.
        let parts = [
            operand(0, Shape::cube((2, 256), (1, 0), (1, 0), 32), 0),
            operand(32, Shape::cube((2, 256), (1, 0), (1, 0), 16), 0),
        ];
        let found: Vec<(u64, u64)> =
            pieces(&parts, "src", Access::Read).iter().map(|piece| (piece.address, piece.place)).collect();
        assert_eq!(found, [(0, 0), (32, 32), (256, 48), (288, 80)]);
        assert_eq!(length(&pieces(&parts, "src", Access::Read)), 96);
    }

    #[test]
    fn places_follow_the_size_of_elements() {
        assert_eq!(scaled(&(64..128), 256, 256), 64..128);
        assert_eq!(scaled(&(64..128), 256, 128), 32..64, "narrower");
        assert_eq!(scaled(&(32..64), 128, 256), 64..128, "wider");
        assert_eq!(scaled(&(72..256), 256, 8), 3..8, "bits: a byte of eight, all of which are missing");
        assert_eq!(scaled(&(62..63), 63, 2000), 1984..2000, "the last byte of bits stands for fewer elements");
    }
}
