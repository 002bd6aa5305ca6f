//! Operands of one vector instruction that overlap in part.
//!
//! Within a repeat operands coincide or do not overlap at all, and no repeat reads what an earlier one wrote, except
//! where all repeats accumulate into the same bytes.

use std::ops::Range;

use crate::aicore::operand::{Access, Operand, Shape, Step};
use crate::aicore::{OpCode, Pipe};

/// The pieces of an operand in one repeat.
fn pieces<'a>(
    operands: &'a [Operand],
    name: &'a str,
    access: Access,
    repeat: u64,
) -> impl Iterator<Item = Range<u64>> + 'a {
    let parts = operands.iter().filter(move |operand| operand.name == name && operand.access == access);
    parts.flat_map(move |operand| {
        let [outer, middle, inner] = operand.shape.steps;
        let inside = repeat.checked_sub(operand.repeat).filter(|number| *number < outer.count);
        inside.into_iter().flat_map(move |number| {
            let start = operand.address + number * outer.stride;
            (0..middle.count * inner.count).map(move |at| {
                let piece = start + at / inner.count * middle.stride + at % inner.count * inner.stride;
                piece..piece + operand.shape.bytes
            })
        })
    })
}

fn meet(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Repeats that are looked at: a pattern that breaks the rule breaks it early.
const REPEATS: u64 = 512;

/// Do the two lie on the same bytes, repeat by repeat, with no repeat in the way of another?
fn is_in_place(operands: &[Operand], name: &str) -> bool {
    let of = |name: &'static str, access| {
        operands.iter().filter(move |operand| operand.name == name && operand.access == access)
    };
    let Some(source) = operands.iter().map(|operand| operand.name).find(|known| *known == name) else { return false };
    let key = |operand: &Operand| (operand.address, operand.shape, operand.repeat);
    of(source, Access::Read).map(key).eq(of("dst", Access::Write).map(key))
        && of("dst", Access::Write).all(|operand| {
            let [outer, middle, inner] = operand.shape.steps;
            let once = Shape { steps: [Step::ONCE, middle, inner], bytes: operand.shape.bytes };
            outer.count == 1 || outer.stride >= once.extent()
        })
}

/// Which source overlaps the destination in a way the chip does not define, and how.
pub(super) fn broken_rule(op: OpCode, operands: &[Operand]) -> Option<(&'static str, String)> {
    // Element-wise instructions and conversions: others read and write in shapes of their own.
    if op.pipe() != Pipe::V || op as u16 >= OpCode::Vcmpv as u16 {
        return None;
    }
    let span = |operand: &Operand| operand.address..operand.address + operand.shape.extent();
    let target = operands.iter().filter(|operand| operand.access == Access::Write).map(span);
    let target = target.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))?;
    let count = operands.iter().map(|operand| operand.repeat + operand.shape.steps[0].count).max()?;
    for name in ["src0", "src1", "src"] {
        let sources = || operands.iter().filter(|operand| operand.name == name && operand.access == Access::Read);
        if !sources().any(|source| meet(&span(source), &target)) || is_in_place(operands, name) {
            continue;
        }
        let source = sources().map(span).reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))?;
        // A conversion to another size has no other way to be in place: it begins, or ends, where its source does. A repeat
        // reads all of its source before it writes.
        let size = |span: &Range<u64>| span.end - span.start;
        let is_conversion = op as u16 >= OpCode::Vconv as u16;
        let is_at_end = source.start == target.start || source.end == target.end;
        let converts = is_conversion && is_at_end && size(&source) != size(&target);
        let same =
            |repeat| pieces(operands, name, Access::Read, repeat).eq(pieces(operands, "dst", Access::Write, repeat));
        let stays = |name: &str, access| pieces(operands, name, access, 0).eq(pieces(operands, name, access, 1));
        if count > 1 && same(0) && stays(name, Access::Read) && stays("dst", Access::Write) {
            continue; // Accumulation: every repeat works on the same bytes.
        }
        let mut written: Vec<Range<u64>> = Vec::new();
        for repeat in 0..count.min(REPEATS) {
            let coincides = same(repeat);
            for read in pieces(operands, name, Access::Read, repeat) {
                if let Some(earlier) = written.iter().position(|range| meet(range, &read)) {
                    let per_repeat = pieces(operands, "dst", Access::Write, 0).count().max(1);
                    let earlier = earlier / per_repeat;
                    return Some((name, format!("repeat {repeat} reads what repeat {earlier} wrote")));
                }
                if !coincides
                    && !converts
                    && pieces(operands, "dst", Access::Write, repeat).any(|range| meet(&range, &read))
                {
                    return Some((name, format!("repeat {repeat} reads and writes bytes that overlap in part")));
                }
            }
            written.extend(pieces(operands, "dst", Access::Write, repeat));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aicore::Memory;

    /// Whole repeats of 256 bytes at `address`, `step` bytes apart.
    fn operand(name: &'static str, access: Access, address: u64, step: u64, count: u64) -> Operand {
        let shape = Shape::cube((count, step), (1, 0), (1, 0), 256);
        Operand { name, memory: Memory::Ub, access, address, shape, alignment: 32, repeat: 0 }
    }

    fn judge(source: (u64, u64), target: (u64, u64)) -> Option<String> {
        let read = operand("src0", Access::Read, source.0, source.1, 3);
        let write = operand("dst", Access::Write, target.0, target.1, 3);
        broken_rule(OpCode::Vadd, &[read, write]).map(|(_, story)| story)
    }

    #[test]
    fn conversions_to_another_size_are_in_place_at_an_end() {
        let convert = |from: (u64, u64), to: (u64, u64)| {
            let shape = |bytes, count| Shape::cube((count, bytes), (1, 0), (1, 0), bytes);
            let part = |name, access, address, bytes| {
                let shape = shape(bytes, 3);
                Operand { name, memory: Memory::Ub, access, address, shape, alignment: 32, repeat: 0 }
            };
            let operands = [part("src", Access::Read, from.0, from.1), part("dst", Access::Write, to.0, to.1)];
            broken_rule(OpCode::Vconv, &operands).map(|(_, story)| story)
        };
        assert_eq!(convert((0, 256), (0, 128)), None, "narrower, from the front");
        assert_eq!(convert((384, 128), (0, 256)), None, "wider, from the back");
        assert_eq!(convert((0, 128), (0, 256)).unwrap(), "repeat 1 reads what repeat 0 wrote");
        assert!(convert((0, 256), (64, 128)).unwrap().contains("overlap in part"));
    }

    #[test]
    fn operands_coincide_or_are_apart() {
        assert_eq!(judge((0, 256), (0, 256)), None);
        assert_eq!(judge((0, 256), (4096, 256)), None);
        assert_eq!(judge((0, 0), (0, 0)), None, "accumulation");
        let partly = judge((0, 1024), (128, 1024)).unwrap();
        assert!(partly.contains("overlap in part"), "{partly}");
        let chained = judge((0, 256), (256, 256)).unwrap();
        assert_eq!(chained, "repeat 1 reads what repeat 0 wrote");
        assert_eq!(judge((256, 256), (0, 256)), None, "what is read was written by nobody before");
    }
}
