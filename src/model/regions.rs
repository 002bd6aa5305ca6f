//! The memory an op touches, where the caller knows it: `"regions"` of an `op_list` entry.

use std::fmt;

use super::ModelError;
use crate::json::Node;

/// What an op reads and writes, its workspace included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    reads: Ranges,
    writes: Ranges,
}

impl Regions {
    /// From address ranges as `(start, bytes)`; `None` if one is empty or ends beyond the address space.
    pub fn new(reads: &[(u64, u64)], writes: &[(u64, u64)]) -> Option<Self> {
        let ranges = |list: &[(u64, u64)]| {
            list.iter().map(|&(start, bytes)| Range::new(start, bytes)).collect::<Option<_>>().map(Ranges::of)
        };
        Some(Self { reads: ranges(reads)?, writes: ranges(writes)? })
    }

    /// Reads `{"reads": [[start, bytes], ...], "writes": [...]}`.
    pub(super) fn read(node: &Node<'_>) -> Result<Self, ModelError> {
        const KEYS: [&str; 2] = ["reads", "writes"];
        if let Some(unknown) = node.object()?.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let problem = "is no part of `regions`; these are `reads` and `writes`";
            return Err(ModelError::BadRegion { place: node.path.key(unknown), problem });
        }
        let ranges = |key| {
            let list = node.required(key)?;
            let ranges = list.elements()?.map(|range| read_range(&range)).collect::<Result<_, _>>()?;
            Ok::<_, ModelError>(Ranges::of(ranges))
        };
        let [reads, writes] = KEYS;
        Ok(Self { reads: ranges(reads)?, writes: ranges(writes)? })
    }

    /// Does one of the two write what the other touches?
    pub(super) fn conflict(&self, other: &Self) -> bool {
        self.writes.overlap(&other.writes) || self.writes.overlap(&other.reads) || self.reads.overlap(&other.writes)
    }
}

/// Equal regions have equal texts.
impl fmt::Display for Regions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "reads {}; writes {}", self.reads, self.writes)
    }
}

fn read_range(node: &Node<'_>) -> Result<Range, ModelError> {
    let numbers = node.elements()?.map(|number| number.count()).collect::<Result<Vec<_>, _>>()?;
    let bad = |problem| ModelError::BadRegion { place: node.path.clone(), problem };
    let [start, bytes] = numbers[..] else { return Err(bad("is not `[start, bytes]`")) };
    if bytes == 0 {
        return Err(bad("has no bytes"));
    }
    Range::new(start, bytes).ok_or_else(|| bad("ends beyond the address space"))
}

/// From `start` to before `end`, which is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    start: u64,
    end: u64,
}

impl Range {
    fn new(start: u64, bytes: u64) -> Option<Self> {
        let end = start.checked_add(bytes)?;
        (bytes > 0).then_some(Self { start, end })
    }
}

/// Rising, with gaps between them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ranges(Box<[Range]>);

impl Ranges {
    fn of(mut list: Vec<Range>) -> Self {
        list.sort_unstable();
        let mut joined: Vec<Range> = Vec::with_capacity(list.len());
        for range in list {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                Some(_) | None => joined.push(range),
            }
        }
        Self(joined.into())
    }

    fn overlap(&self, other: &Self) -> bool {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(one), Some(two)) = (mine.peek(), theirs.peek()) {
            if one.start < two.end && two.start < one.end {
                return true;
            }
            if one.end <= two.end {
                mine.next()
            } else {
                theirs.next()
            };
        }
        false
    }
}

impl fmt::Display for Ranges {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> =
            self.0.iter().map(|range| format!("{:#x}+{}", range.start, range.end - range.start)).collect();
        formatter.write_str(if texts.is_empty() { "nothing" } else { "" })?;
        formatter.write_str(&texts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::json::JsonPath;

    fn ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0u64..60, 1u64..9), 0..6)
    }

    proptest! {
        /// As told byte by byte.
        #[test]
        fn ops_conflict_if_one_writes_what_the_other_touches(lists in prop::array::uniform4(ranges())) {
            let [reads, writes, other_reads, other_writes] = &lists;
            let has = |list: &[(u64, u64)], byte: u64| list.iter().any(|(start, bytes)| (*start..start + bytes).contains(&byte));
            let expected = (0..80).any(|byte| {
                let (write, other_write) = (has(writes, byte), has(other_writes, byte));
                write && (other_write || has(other_reads, byte)) || other_write && has(reads, byte)
            });
            let one = Regions::new(reads, writes).unwrap();
            let other = Regions::new(other_reads, other_writes).unwrap();
            prop_assert_eq!(one.conflict(&other), expected);
            prop_assert_eq!(other.conflict(&one), expected);
            let mut shuffled = reads.clone();
            shuffled.reverse();
            prop_assert_eq!(Regions::new(&shuffled, writes).unwrap().to_string(), one.to_string());
        }
    }

    #[test]
    fn ranges_are_shown_in_one_form() {
        let regions = Regions::new(&[(32, 16), (0, 16), (16, 8)], &[]).unwrap();
        assert_eq!(regions.to_string(), "reads 0x0+24,0x20+16; writes nothing");
    }

    #[test]
    fn what_is_no_range_is_refused_with_its_place() {
        let refused = |value: serde_json::Value| {
            let error = Regions::read(&Node::root(&value, JsonPath::default())).unwrap_err();
            format!("{} {error}", error.id())
        };
        for (value, told) in [
            (json!([]), "SK0203"),
            (json!({"reads": []}), "SK0204 `writes`: the key is missing"),
            (json!({"reads": [], "writes": [], "write": []}), "SK0217 `write` is no part of `regions`"),
            (json!({"reads": [[0]], "writes": []}), "SK0217 `reads[0]` is not `[start, bytes]`"),
            (json!({"reads": [], "writes": [[0, 1], [4, 0]]}), "SK0217 `writes[1]` has no bytes"),
            (json!({"reads": [[u64::MAX, 2]], "writes": []}), "SK0217 `reads[0]` ends beyond the address space"),
            (json!({"reads": [[-1, 2]], "writes": []}), "SK0203"),
            (json!({"reads": [["0x10", 2]], "writes": []}), "SK0203"),
        ] {
            let found = refused(value);
            assert!(found.starts_with(told), "{found}");
        }
    }
}
