//! Buffers that a `TPipe` gave out, and plain pointers that leave theirs for another one.
//!
//! A pointer does not say which buffer it belongs to. Two things tell that it left it: an access to a buffer of which the
//! kernel never took an address; and a place in the code that goes on in the next buffer right behind the end of the one
//! before, without the kernel having taken the next one's address meanwhile, and stops inside it. Who goes through both
//! buffers to their ends may have meant both.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::sim::machine::access::Site;

/// A buffer.
#[derive(Debug)]
struct Piece {
    end: u64,
    /// When the kernel took its address last: how many accesses had been seen then.
    taken: Option<u64>,
}

/// What one place in the code does, with the calls that led there.
#[derive(Debug)]
struct Walk {
    /// Behind its last access.
    next: u64,
    /// Where the buffer starts that it is in.
    piece: u64,
    /// The access by which it came there from the buffer before.
    entered: Option<Range<u64>>,
    /// When it was seen last.
    seen: u64,
}

/// An access that belongs to another buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stray {
    /// The bytes.
    pub(super) bytes: Range<u64>,
    /// The place in the code.
    pub(super) site: Site,
    /// The bytes of the buffer that it came from, if that is known; else no address was taken of the one it is in.
    pub(super) left: Option<Range<u64>>,
}

/// The buffers of one core.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// By start.
    pieces: BTreeMap<u64, Piece>,
    walks: HashMap<Site, Walk>,
    accesses: u64,
}

impl Bounds {
    /// A buffer is made, of memory that belonged to others before.
    pub(super) fn made(&mut self, start: u64, bytes: u64) {
        let end = start + bytes;
        self.pieces.retain(|&other, piece| piece.end <= start || end <= other);
        self.pieces.insert(start, Piece { end, taken: None });
    }

    /// The kernel takes an address.
    pub(super) fn taken(&mut self, address: u64) {
        let now = self.accesses;
        if let Some((_, piece)) = self.pieces.range_mut(..=address).next_back().filter(|(_, piece)| address < piece.end)
        {
            piece.taken = Some(now);
        }
    }

    /// An access through a plain pointer; what it says about this one or an earlier one.
    pub(super) fn accessed(&mut self, bytes: &Range<u64>, site: Site) -> Option<Stray> {
        self.accesses += 1;
        let Some((start, end, taken)) = self.find(bytes.start) else {
            return self.walks.remove(&site).and_then(|walk| self.conclude(&walk, site));
        };
        let Some(taken) = taken else {
            return Some(Stray { bytes: bytes.clone(), site, left: None });
        };
        let here = Walk { next: bytes.end, piece: start, entered: None, seen: self.accesses };
        let before = self.walks.insert(site, here)?;
        if before.next != bytes.start {
            return self.conclude(&before, site);
        }
        let entered = if before.piece == start {
            before.entered
        } else {
            (taken < before.seen && bytes.end < end).then(|| bytes.clone())
        };
        self.walks.entry(site).and_modify(|walk| walk.entered = entered);
        None
    }

    /// The operator is over, and with it its buffers.
    pub(super) fn end(&mut self) -> Vec<Stray> {
        let walks = std::mem::take(&mut self.walks);
        let mut strays: Vec<Stray> = walks.iter().filter_map(|(site, walk)| self.conclude(walk, *site)).collect();
        strays.sort_by_key(|stray| stray.bytes.start);
        self.pieces.clear();
        strays
    }

    /// The first bytes that one operand of an instruction writes behind the end of the buffer it starts in, in another one.
    pub(super) fn overrun(&self, operand: &Range<u64>) -> Option<Range<u64>> {
        let (_, end, _) = self.find(operand.start)?;
        let (next, _, _) = self.find(end.max(operand.start)).filter(|_| end < operand.end)?;
        Some(next..operand.end)
    }

    /// The buffer that holds an address.
    pub(super) fn holding(&self, address: u64) -> Option<Range<u64>> {
        self.find(address).map(|(start, end, _)| start..end)
    }

    /// Has a walk ended inside a buffer that it came to from the one before?
    fn conclude(&self, walk: &Walk, site: Site) -> Option<Stray> {
        let bytes = walk.entered.clone()?;
        let (_, end, _) = self.find(walk.piece).filter(|(_, end, _)| walk.next < *end)?;
        debug_assert!(bytes.start <= end);
        let left = self.holding(bytes.start - 1)?;
        Some(Stray { bytes, site, left: Some(left) })
    }

    fn find(&self, address: u64) -> Option<(u64, u64, Option<u64>)> {
        let (start, piece) = self.pieces.range(..=address).next_back()?;
        (address < piece.end).then_some((*start, piece.end, piece.taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two buffers of 64 bytes, one behind the other, and an address taken of those that are named.
    fn bounds(taken: &[u64]) -> Bounds {
        let mut bounds = Bounds::default();
        bounds.made(0x1000, 64);
        bounds.made(0x1040, 64);
        taken.iter().for_each(|address| bounds.taken(*address));
        bounds
    }

    /// Goes through words from `start` to `end`, then elsewhere.
    fn walk(bounds: &mut Bounds, start: u64, end: u64) -> Option<Stray> {
        let site = Site::Code(7);
        let found = (start..end).step_by(4).find_map(|at| bounds.accessed(&(at..at + 4), site));
        found.or_else(|| bounds.accessed(&(0x1000..0x1004), site))
    }

    #[test]
    fn a_buffer_whose_address_nobody_took_is_not_to_be_touched() {
        assert_eq!(walk(&mut bounds(&[0x1000]), 0x1000, 0x1040), None);
        let stray = walk(&mut bounds(&[0x1000]), 0x1000, 0x1044).unwrap();
        assert_eq!((stray.bytes, stray.left), (0x1040..0x1044, None));
    }

    #[test]
    fn a_walk_that_ends_inside_the_next_buffer_left_its_own() {
        let stray = walk(&mut bounds(&[0x1000, 0x1040]), 0x1000, 0x1048).unwrap();
        assert_eq!((stray.bytes, stray.left), (0x1040..0x1044, Some(0x1000..0x1040)));
        let mut open = bounds(&[0x1000, 0x1040]);
        for at in (0x1000..0x1044).step_by(4) {
            assert_eq!(open.accessed(&(at..at + 4), Site::Code(7)), None);
        }
        assert_eq!(open.end().len(), 1, "the end of the operator ends it, too");
    }

    #[test]
    fn who_means_both_buffers_may() {
        assert_eq!(walk(&mut bounds(&[0x1000, 0x1040]), 0x1000, 0x1080), None, "one behind the other, to their ends");
        let mut taken_between = bounds(&[0x1000, 0x1040]);
        for at in (0x1000..0x1040).step_by(4) {
            taken_between.accessed(&(at..at + 4), Site::Code(7));
        }
        taken_between.taken(0x1040);
        assert_eq!(walk(&mut taken_between, 0x1040, 0x1048), None);
    }

    #[test]
    fn buffers_made_later_take_the_place_of_earlier_ones() {
        let mut bounds = bounds(&[0x1000]);
        bounds.made(0x1000, 128);
        bounds.taken(0x1000);
        assert_eq!(walk(&mut bounds, 0x1000, 0x1044), None);
        assert_eq!(bounds.overrun(&(0x1000..0x1080)), None);
        bounds.made(0x1080, 64);
        assert_eq!(bounds.overrun(&(0x1000..0x1084)), Some(0x1080..0x1084));
        assert_eq!(bounds.overrun(&(0x1080..0x1100)), None, "nobody has what lies behind");
    }
}
