//! Which ops of a stream must have ended before each op.
//!
//! An op comes after all before it, unless the caller has told what memory each of two ops touches and neither writes
//! what the other touches. Some ops come after all others whatever they touch: they meet other cores themselves, or
//! somebody outside, and that must not happen while another op still runs.

use std::collections::{HashMap, HashSet};

use super::{ByPosition, CoreClass, InnerEvent, KernelType, Op, OpPosition, StreamForm, StreamId, SyncMode};

/// Ops that are compared with each other; the one behind them comes after all.
const MOST_COMPARED: usize = u64::BITS as usize;

/// For every op the ops of its stream (one stream: of the list) that must have ended before it starts, without those
/// that must have ended before one of these starts.
pub(super) fn in_streams(
    ops: &ByPosition<Op>,
    events: &[InnerEvent],
    form: StreamForm,
    sync: SyncMode,
) -> ByPosition<Box<[OpPosition]>> {
    let linked: HashSet<(OpPosition, OpPosition)> = match form {
        StreamForm::One => events.iter().map(|event| (event.sender, event.receiver)).collect(),
        // These become edges of their own.
        StreamForm::Several => HashSet::new(),
    };
    let mut streams: HashMap<StreamId, Stretch> = HashMap::new();
    ops.enumerate()
        .map(|(position, op)| {
            let stream = match form {
                // Whatever their streams, one list holds them.
                StreamForm::One => StreamId::default(),
                StreamForm::Several => op.stream_id,
            };
            let depends = |earlier: OpPosition| linked.contains(&(earlier, position)) || depend(&ops[earlier], op);
            let alone = sync == SyncMode::Contract || comes_after_all(op);
            streams.entry(stream).or_default().add(position, alone, depends)
        })
        .collect()
}

/// The ops of a stream since the last one that comes after all before it, that one included.
#[derive(Default)]
struct Stretch {
    /// Each with the ops of the stretch, by place, that have ended when it starts.
    ops: Vec<(OpPosition, u64)>,
    /// The first one comes before all behind it.
    is_headed: bool,
}

impl Stretch {
    fn add(&mut self, position: OpPosition, alone: bool, depends: impl Fn(OpPosition) -> bool) -> Box<[OpPosition]> {
        let alone = alone || self.ops.len() == MOST_COMPARED;
        let (mut after, mut ended) = (Vec::new(), 0_u64);
        for (place, &(earlier, known)) in self.ops.iter().enumerate().rev() {
            let bit = 1_u64 << place;
            if ended & bit == 0 && (alone || place == 0 && self.is_headed || depends(earlier)) {
                after.push(earlier);
                ended |= known | bit;
            }
        }
        if alone {
            *self = Self { ops: vec![(position, 0)], is_headed: true };
        } else {
            self.ops.push((position, ended));
        }
        after.reverse();
        after.into()
    }
}

/// Must the later of two ops of which neither [comes after all](comes_after_all) wait for the other?
fn depend(earlier: &Op, later: &Op) -> bool {
    let (Some(one), Some(other)) = (&earlier.regions, &later.regions) else { return true };
    // The flags between the cores of a block are for one op at a time.
    (earlier.class() == CoreClass::Mix && later.class() == CoreClass::Mix) || one.conflict(other)
}

/// Does the op come after all before it, and before all behind it, as far as is known?
fn comes_after_all(op: &Op) -> bool {
    op.regions.is_none() || meets_others(op)
}

/// Does it do so whatever it touches?
fn meets_others(op: &Op) -> bool {
    op.is_dynamic()
        || op.outer_sends().next().is_some()
        || op.outer_receives().next().is_some()
        || !op.kernel.early_start.is_empty()
        || op.kernel.may_call_sync_all
        // Its flags may be for all cores of its kind.
        || matches!(op.kernel.kernel_type, KernelType::MixAic1_0 | KernelType::MixAiv1_0)
}

impl Op {
    /// Must the op `later` wait for this one only because it is not known what they touch?
    pub(crate) fn regions_would_help(&self, later: &Self) -> bool {
        let mixed = self.class() == CoreClass::Mix && later.class() == CoreClass::Mix;
        (self.regions.is_none() || later.regions.is_none()) && !mixed && ![self, later].into_iter().any(meets_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(stretch: &mut Stretch, position: usize, alone: bool, depends: &[usize]) -> Vec<usize> {
        let found = stretch.add(OpPosition::at(position), alone, |earlier| depends.contains(&earlier.place()));
        found.iter().map(|op| op.place()).collect()
    }

    #[test]
    fn what_follows_from_other_orders_is_left_out() {
        let mut stretch = Stretch::default();
        assert!(after(&mut stretch, 0, false, &[]).is_empty());
        assert!(after(&mut stretch, 1, false, &[]).is_empty());
        assert_eq!(after(&mut stretch, 2, false, &[0]), [0]);
        assert_eq!(after(&mut stretch, 3, false, &[0, 1, 2]), [1, 2]);
        assert_eq!(after(&mut stretch, 4, false, &[0]), [0]);
        // Alone: behind all that nobody else is behind, and in front of all that follow.
        assert_eq!(after(&mut stretch, 5, true, &[]), [3, 4]);
        assert_eq!(after(&mut stretch, 6, false, &[]), [5]);
        assert_eq!(after(&mut stretch, 7, false, &[]), [5]);
        assert_eq!(after(&mut stretch, 8, true, &[]), [6, 7]);
        assert_eq!(after(&mut stretch, 9, true, &[]), [8]);
    }

    #[test]
    fn not_more_than_so_many_are_compared() {
        let mut stretch = Stretch::default();
        for position in 0..MOST_COMPARED {
            assert!(after(&mut stretch, position, false, &[]).is_empty());
        }
        assert_eq!(after(&mut stretch, MOST_COMPARED, false, &[]).len(), MOST_COMPARED);
        assert_eq!(after(&mut stretch, MOST_COMPARED + 1, false, &[]), [MOST_COMPARED]);
    }
}
