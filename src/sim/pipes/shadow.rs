//! Who touched which bytes of a memory last.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use crate::aicore::operand::Access;
use crate::aicore::{OpCode, Pipe};
use crate::sim::machine::access::Site;
use crate::sim::machine::memory::Unwritten;
use crate::sim::machine::pipe_clock::Stamp;

/// Who made an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actor {
    /// An instruction, with the name of the operand.
    Instruction(OpCode, &'static str),
    /// The scalar unit.
    Scalar,
}

/// One access, as reports name it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    /// When, in its core.
    pub stamp: Stamp,
    /// By whom.
    pub actor: Actor,
    /// Read or written.
    pub access: Access,
    /// Where the call stands.
    pub site: Site,
    /// Which operator, counted by the core.
    pub epoch: u32,
}

/// The first use of memory that nobody wrote.
#[derive(Debug)]
pub(crate) struct Hollow {
    /// Who read it.
    pub touch: Touch,
    /// What it was, in the words of the kernel.
    pub place: String,
    /// Which of global memory; `None`: local memory.
    pub global: Option<Unwritten>,
}

/// Bytes that nobody wrote.
#[derive(Debug, Clone)]
pub(crate) struct Hole {
    /// Which.
    pub bytes: Range<u64>,
    /// They were written, with what was computed of those.
    pub origin: Option<Rc<Hollow>>,
}

/// Bytes with the same history.
#[derive(Debug, Clone)]
struct Segment {
    end: u64,
    write: Option<Rc<Touch>>,
    /// What was written comes of what nobody wrote.
    hollow: Option<Rc<Hollow>>,
    /// By pipe: the last read since the write.
    reads: [Option<Rc<Touch>>; Pipe::COUNT],
}

impl Segment {
    fn untouched(end: u64) -> Self {
        Self { end, write: None, hollow: None, reads: Default::default() }
    }

    fn touches(&self, with_reads: bool) -> impl Iterator<Item = &Rc<Touch>> {
        self.write.iter().chain(self.reads.iter().flatten().filter(move |_| with_reads))
    }
}

/// One memory.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    segments: BTreeMap<u64, Segment>,
}

impl Shadow {
    /// `touch` accesses `bytes`: `meets` hears of every earlier access that it conflicts with by kind, and which bytes.
    pub(crate) fn touch(&mut self, bytes: Range<u64>, touch: &Rc<Touch>, mut meets: impl FnMut(&Touch, Range<u64>)) {
        let is_write = touch.access.writes();
        self.split(bytes.start);
        self.split(bytes.end);
        for (&start, segment) in self.segments.range(bytes.clone()) {
            for earlier in segment.touches(is_write) {
                meets(earlier, start..segment.end);
            }
        }
        if is_write {
            let inside: Vec<u64> = self.segments.range(bytes.clone()).map(|(&start, _)| start).collect();
            for start in inside {
                self.segments.remove(&start);
            }
            let segment = Segment { write: Some(touch.clone()), ..Segment::untouched(bytes.end) };
            self.segments.insert(bytes.start, segment);
            return;
        }
        let mut at = bytes.start;
        while at < bytes.end {
            let next = self.segments.range(at..bytes.end).next().map_or(bytes.end, |(&start, _)| start);
            if next > at {
                self.segments.insert(at, Segment::untouched(next));
            }
            let Some(segment) = self.segments.get_mut(&at) else { return };
            segment.reads[touch.stamp.pipe.index()] = Some(touch.clone());
            at = segment.end;
        }
    }

    /// What was just written to `bytes` comes of what nobody wrote.
    pub(crate) fn hollow(&mut self, bytes: Range<u64>, origin: &Rc<Hollow>) {
        self.split(bytes.start);
        self.split(bytes.end);
        for (_, segment) in self.segments.range_mut(bytes).filter(|(_, segment)| segment.write.is_some()) {
            segment.hollow = Some(origin.clone());
        }
    }

    /// The parts of `bytes` that nobody has written, those whose last writer is not `accepted`, and what comes of such.
    pub(crate) fn unwritten(&self, bytes: Range<u64>, accepted: impl Fn(&Touch) -> bool) -> Vec<Hole> {
        let mut parts: Vec<Hole> = Vec::new();
        let mut add = |bytes: Range<u64>, origin: Option<&Rc<Hollow>>| match parts.last_mut() {
            Some(last)
                if last.bytes.end == bytes.start && last.origin.as_ref().map(Rc::as_ptr) == origin.map(Rc::as_ptr) =>
            {
                last.bytes.end = bytes.end;
            }
            _ if bytes.is_empty() => {}
            _ => parts.push(Hole { bytes, origin: origin.cloned() }),
        };
        let before = self.segments.range(..bytes.start).next_back().filter(|(_, segment)| segment.end > bytes.start);
        let mut at = bytes.start;
        for (&start, segment) in before.into_iter().chain(self.segments.range(bytes.clone())) {
            let part = start.max(bytes.start)..segment.end.min(bytes.end);
            add(at..part.start, None);
            at = part.end;
            if !segment.write.as_deref().is_some_and(&accepted) {
                add(part, None);
            } else if segment.hollow.is_some() {
                add(part, segment.hollow.as_ref());
            }
        }
        add(at..bytes.end, None);
        parts
    }

    /// Makes `at` a border.
    fn split(&mut self, at: u64) {
        let Some((_, segment)) = self.segments.range_mut(..at).next_back() else { return };
        if segment.end > at {
            let rest = segment.clone();
            segment.end = at;
            self.segments.insert(at, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(pipe: Pipe, number: u64, access: Access) -> Rc<Touch> {
        let stamp = Stamp { pipe, number };
        Rc::new(Touch { stamp, actor: Actor::Scalar, access, site: Site::Unknown, epoch: 0 })
    }

    fn met(shadow: &mut Shadow, bytes: Range<u64>, touch: &Rc<Touch>) -> Vec<(u64, Range<u64>)> {
        let mut met = Vec::new();
        shadow.touch(bytes, touch, |earlier, bytes| met.push((earlier.stamp.number, bytes)));
        met
    }

    #[test]
    fn writes_meet_writes_and_reads_reads_meet_writes() {
        let mut shadow = Shadow::default();
        assert!(met(&mut shadow, 0..64, &touch(Pipe::Mte2, 1, Access::Write)).is_empty());
        assert_eq!(met(&mut shadow, 32..96, &touch(Pipe::V, 2, Access::Read)), [(1, 32..64)]);
        assert!(met(&mut shadow, 64..80, &touch(Pipe::S, 3, Access::Read)).is_empty());
        let all = met(&mut shadow, 0..128, &touch(Pipe::Mte3, 4, Access::Write));
        // Reads come in the order of the pipes.
        assert_eq!(all, [(1, 0..32), (1, 32..64), (2, 32..64), (3, 64..80), (2, 64..80), (2, 80..96)]);
        assert_eq!(met(&mut shadow, 100..101, &touch(Pipe::V, 5, Access::Read)), [(4, 100..101)]);
    }

    #[test]
    fn what_nobody_wrote_is_known() {
        let mut shadow = Shadow::default();
        met(&mut shadow, 32..64, &touch(Pipe::V, 1, Access::Write));
        met(&mut shadow, 0..16, &touch(Pipe::V, 2, Access::Read));
        met(&mut shadow, 96..128, &touch(Pipe::V, 3, Access::Write));
        let parts = |shadow: &Shadow, bytes, accepted: fn(&Touch) -> bool| -> Vec<Range<u64>> {
            shadow.unwritten(bytes, accepted).into_iter().map(|hole| hole.bytes).collect()
        };
        assert_eq!(parts(&shadow, 8..112, |_| true), [8..32, 64..96]);
        assert_eq!(parts(&shadow, 8..112, |touch| touch.stamp.number == 3), vec![8..96; 1]);
        assert!(parts(&shadow, 40..41, |_| true).is_empty());
        let touch = *touch(Pipe::V, 4, Access::Read);
        shadow.hollow(40..48, &Rc::new(Hollow { touch, place: String::new(), global: None }));
        assert_eq!(parts(&shadow, 32..112, |_| true), [40..48, 64..96]);
        assert!(shadow.unwritten(32..64, |_| true)[0].origin.is_some());
        met(&mut shadow, 44..64, &super::tests::touch(Pipe::V, 5, Access::Write));
        assert_eq!(parts(&shadow, 32..64, |_| true), vec![40..44; 1], "written anew");
    }
}
