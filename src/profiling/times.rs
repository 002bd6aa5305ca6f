//! Times of damaged records: a core's counter never runs backwards, so what does not fit was not counted.

use super::records::Subject;

/// More cycles than any launch lasts: hours, whatever the clock.
const FAR: u64 = 1 << 42;

/// A record of one launch, with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamped {
    /// What starts or ends (`true`) here; `None`: the launch.
    pub edge: Option<(Subject, bool)>,
    /// When.
    pub cycle: u64,
}

/// Gives records whose times cannot be right those of their neighbours, and tells how many there were. As many times as
/// possible stay: of those that are left none runs backwards.
///
/// What starts is taken to start with the record before it, what ends to end with the one behind it: so nothing gets
/// shorter than it was.
pub(super) fn mend(records: &mut [Stamped]) -> usize {
    let kept = longest_rise(records);
    if kept.len() == records.len() {
        return 0;
    }
    let mut is_kept = vec![false; records.len()];
    for number in &kept {
        is_kept[*number] = true;
    }
    let known: Vec<u64> = kept.iter().map(|number| records[*number].cycle).collect();
    let (mut passed, mut last) = (0_usize, 0);
    for (record, is_kept) in records.iter_mut().zip(is_kept) {
        if is_kept {
            passed += 1;
            last = record.cycle;
            continue;
        }
        let before = passed.checked_sub(1).map(|number| known[number]);
        let behind = known.get(passed).copied();
        let ends = record.edge.is_some_and(|(_, is_end)| is_end);
        let wanted = if ends { behind.or(before) } else { before.or(behind) };
        record.cycle = wanted.unwrap_or(0).max(last);
        last = record.cycle;
    }
    records.len() - kept.len()
}

/// Numbers of the longest run of records, not all neighbours, whose times never fall.
fn longest_rise(records: &[Stamped]) -> Vec<usize> {
    let mut sorted: Vec<u64> = records.iter().map(|record| record.cycle).collect();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    // By length: the record that a run of this length ends with, at the least time; and what came before each record.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; records.len()];
    for (number, record) in records.iter().enumerate().filter(|(_, record)| record.cycle.abs_diff(middle) < FAR) {
        let place = ends.partition_point(|end| records[*end].cycle <= record.cycle);
        before[number] = place.checked_sub(1).map(|last| ends[last]);
        match ends.get_mut(place) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut found: Vec<usize> = std::iter::successors(ends.last().copied(), |number| before[*number]).collect();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(cycles: &[u64]) -> (usize, Vec<u64>) {
        // Every second record ends what the one before it starts.
        let edge = |number: usize| number.checked_sub(1).map(|number| (Subject::Op(number / 2), number % 2 == 1));
        let stamped = |(number, cycle): (usize, &u64)| Stamped { edge: edge(number), cycle: *cycle };
        let mut records: Vec<Stamped> = cycles.iter().enumerate().map(stamped).collect();
        let wrong = mend(&mut records);
        (wrong, records.iter().map(|record| record.cycle).collect())
    }

    #[test]
    fn times_that_rise_stay_as_they_are() {
        assert_eq!(mended(&[]), (0, vec![]));
        assert_eq!(mended(&[5]), (0, vec![5]));
        assert_eq!(mended(&[5, 5, 7, 7, 7, 9]), (0, vec![5, 5, 7, 7, 7, 9]));
    }

    #[test]
    fn one_time_among_many_is_wrong() {
        // Starts take the time before them, ends the one behind.
        assert_eq!(mended(&[1, 10, 20, 900, 40, 50, 60]), (1, vec![1, 10, 20, 20, 40, 50, 60]));
        assert_eq!(mended(&[1, 10, 900, 30, 40, 50, 60]), (1, vec![1, 10, 30, 30, 40, 50, 60]));
        assert_eq!(mended(&[1, 10, 20, 0, 40, 50, 60]), (1, vec![1, 10, 20, 20, 40, 50, 60]));
        assert_eq!(mended(&[900, 10, 20, 30]), (1, vec![10, 10, 20, 30]));
    }

    #[test]
    fn far_away_is_wrong_wherever_it_stands() {
        let far = 10 + (1 << 50);
        assert_eq!(mended(&[1, 10, 20, far, far + 1]), (2, vec![1, 10, 20, 20, 20]));
        assert_eq!(mended(&[1, far + 10, far + 20]), (1, vec![far + 10, far + 10, far + 20]));
        assert_eq!(mended(&[u64::MAX, 0]), (1, vec![u64::MAX; 2]));
    }

    #[test]
    fn what_was_mended_never_runs_backwards() {
        let mut state = 7_u64;
        for length in 0..200 {
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> [33, 60, 10][length % 3]
            };
            let cycles: Vec<u64> = (0..length).map(|_| random()).collect();
            let (wrong, times) = mended(&cycles);
            assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
            assert!(wrong <= length);
        }
    }
}
