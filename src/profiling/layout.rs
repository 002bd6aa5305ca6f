//! The layout of a buffer, for those who read one and those who make one.
//!
//! A buffer starts with 64 bytes, of which the word at 12 is the size of a core's area. An area starts with a magic
//! word, the address of the next free record and the address of its end; records are two words: a header and a cycle.
//! Addresses are those of the device; the end of an area tells where it began.

use super::records::Subject;
use super::{Core, FIRST_CUBE};

pub(super) const MAGIC: u64 = 0xbdca_8756;
pub(super) const HEADER: usize = 64;
pub(super) const AREA_SIZE_AT: usize = 12;
/// Magic, next, end.
pub(super) const AREA_HEAD: usize = 24;
/// Where records usually start in an area.
pub(super) const FIRST_RECORD: usize = 64;
pub(super) const RECORD: usize = 16;

/// A record.
pub(super) enum Record {
    /// The first one of a launch.
    First { task: u32, core: u32 },
    /// The start or the end of something.
    Edge { subject: Subject, is_end: bool },
}

impl Record {
    pub(super) fn read(header: u64) -> Option<Self> {
        let index = (header >> 32) as u32;
        let rest = header as u32;
        if rest & 0xff == 0xff {
            return Some(Self::First { task: index, core: rest >> 8 });
        }
        if rest & !0x1f00 != 0 {
            return None;
        }
        let subject = match (rest >> 8) & 0xf {
            0x0 if index == 0 => Subject::SuperKernel,
            0x4 => Subject::Notify(index),
            0x8 => Subject::Op(index.checked_sub(1)? as usize),
            0xC => Subject::Wait(index),
            _ => return None,
        };
        Some(Self::Edge { subject, is_end: rest & 0x1000 != 0 })
    }
}

/// A buffer of the simulator: areas for all vector cores there can be and for some cube cores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Areas {
    /// Cube cores.
    pub cubes: u32,
    /// Records of a core.
    pub records: usize,
}

/// One record as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawRecord {
    /// The core whose area it is in.
    pub core: Core,
    /// `start`, `super-kernel`, `op`, `notify`, `wait`, or `unknown`.
    pub kind: &'static str,
    /// Position of an op, id of an event, the task id of the first record.
    pub index: u32,
    /// Whether it closes what an earlier record opened.
    pub is_end: bool,
    /// When.
    pub cycle: u64,
}

impl Areas {
    fn count(self) -> usize {
        (FIRST_CUBE + self.cubes) as usize
    }

    fn area_size(self) -> usize {
        FIRST_RECORD + RECORD * self.records
    }

    /// Bytes of the buffer.
    pub(crate) fn size(self) -> usize {
        HEADER + self.count() * self.area_size()
    }

    /// The bytes of an empty buffer at `address`.
    pub(crate) fn empty(self, address: u64) -> Vec<u8> {
        let size = self.area_size();
        let mut bytes = vec![0; self.size()];
        bytes[AREA_SIZE_AT..AREA_SIZE_AT + 4].copy_from_slice(&(size as u32).to_le_bytes());
        for (number, area) in bytes[HEADER..].chunks_exact_mut(size).enumerate() {
            let start = address + (HEADER + number * size) as u64;
            for (place, word) in [MAGIC, start + FIRST_RECORD as u64, start + size as u64].into_iter().enumerate() {
                area[8 * place..8 * place + 8].copy_from_slice(&word.to_le_bytes());
            }
        }
        bytes
    }

    /// All records of a buffer at `address`, core by core, each in its order; the number of an area whose head is
    /// overwritten.
    pub(crate) fn records(self, address: u64, bytes: &[u8]) -> Result<Vec<RawRecord>, usize> {
        let size = self.area_size();
        let mut found = Vec::new();
        for (number, area) in bytes[HEADER.min(bytes.len())..].chunks_exact(size).enumerate() {
            let first = address + (HEADER + number * size + FIRST_RECORD) as u64;
            let used = word64(area, 8).wrapping_sub(first);
            let used = usize::try_from(used).ok().filter(|used| *used <= size - FIRST_RECORD && used % RECORD == 0);
            let records = &area[FIRST_RECORD..FIRST_RECORD + used.ok_or(number)?];
            let core = Core::of_area(number as u32);
            found.extend(records.chunks_exact(RECORD).map(|record| RawRecord::read(core, record)));
        }
        Ok(found)
    }
}

impl RawRecord {
    fn read(core: Core, record: &[u8]) -> Self {
        let (header, cycle) = (word64(record, 0), word64(record, 8));
        let (kind, index, is_end) = match Record::read(header) {
            Some(Record::First { task, .. }) => ("start", task, false),
            Some(Record::Edge { subject, is_end }) => match subject {
                Subject::SuperKernel => ("super-kernel", 0, is_end),
                Subject::Op(position) => ("op", position as u32, is_end),
                Subject::Notify(id) => ("notify", id, is_end),
                Subject::Wait(id) => ("wait", id, is_end),
            },
            None => ("unknown", (header >> 32) as u32, header & 0x1000 != 0),
        };
        Self { core, kind, index, is_end, cycle }
    }
}

pub(super) fn word32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes)
}

pub(super) fn word64(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_into_an_empty_buffer_is_read_again() {
        let areas = Areas { cubes: 2, records: 3 };
        let mut bytes = areas.empty(0x1000);
        assert_eq!(bytes.len(), areas.size());
        assert_eq!(areas.records(0x1000, &bytes), Ok(Vec::new()));
        let area = HEADER + areas.area_size() * 51;
        let next = 0x1000 + (area + FIRST_RECORD + RECORD) as u64;
        bytes[area + 8..area + 16].copy_from_slice(&next.to_le_bytes());
        let record = area + FIRST_RECORD;
        bytes[record..record + 8].copy_from_slice(&((3_u64 << 32) | 0x1800).to_le_bytes());
        bytes[record + 8..record + 16].copy_from_slice(&77_u64.to_le_bytes());
        let found = areas.records(0x1000, &bytes).unwrap();
        let core = Core::of_area(51);
        assert_eq!(found, [RawRecord { core, kind: "op", index: 2, is_end: true, cycle: 77 }]);
        // One byte further there cannot be a record's end.
        bytes[area + 8] += 1;
        assert_eq!(areas.records(0x1000, &bytes), Err(51));
    }
}
