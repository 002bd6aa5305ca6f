//! Merges slices that are too short to see, where there are more than a viewer can use.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Arrow, Slice, Trace, Track, What};

/// What a file of one kernel may have: one that is larger no viewer can use.
#[derive(Debug, Clone, Copy)]
struct Limits {
    slices: usize,
    /// Of all slices together; arrows and counts come on top.
    bytes: usize,
    arrows: usize,
}

/// With its arrows and counts a file stays under 60 MB.
const LIMITS: Limits = Limits { slices: 300_000, bytes: 41_000_000, arrows: 40_000 };
/// Lengths of what is merged, from a millionth of everything on: four of them double it.
const ROUNDS: u32 = 84;

/// The same trace with as much as can be shown, and notes about what was merged.
pub(super) fn shrunk(trace: &Trace) -> Cow<'_, Trace> {
    shrunk_to(trace, LIMITS)
}

fn shrunk_to(trace: &Trace, limits: Limits) -> Cow<'_, Trace> {
    let count = |trace: &Trace| trace.tracks.iter().map(|track| track.slices.len()).sum::<usize>();
    let fits = |trace: &Trace| count(trace) <= limits.slices && bytes(trace) <= limits.bytes;
    let before = count(trace);
    let is_small = fits(trace);
    if is_small && trace.arrows.len() <= limits.arrows {
        return Cow::Borrowed(trace);
    }
    let (start, end) = trace.span();
    let (mut shown, limit) = if is_small {
        (trace.clone(), 0.0)
    } else {
        // What is shorter than this is merged.
        let length = |round: u32| (f64::from(round) / 4.0).exp2() * (end - start) / 1e6;
        // Ops are kept as long as that is possible.
        let found = [false, true].into_iter().find_map(|with_ops| {
            let made = |round: u32| merged(trace, length(round), with_ops);
            // The longer, the fewer are left.
            let (mut few, mut many) = (ROUNDS - 1, 0);
            let mut best = Some(made(few)).filter(|most| fits(most) || with_ops)?;
            while many < few {
                let middle = u32::midpoint(many, few);
                let tried = made(middle);
                if fits(&tried) {
                    (few, best) = (middle, tried);
                } else {
                    many = middle + 1;
                }
            }
            Some((best, length(few)))
        });
        found.unwrap_or_else(|| (trace.clone(), 0.0))
    };
    let after = count(&shown);
    if after < before {
        let ops = shown.tracks.iter().flat_map(|track| &track.slices).filter(|slice| slice.what == What::Op).count();
        let all = trace.tracks.iter().flat_map(|track| &track.slices).filter(|slice| slice.what == What::Op).count();
        let kept = if ops == all { "every op is there" } else { "the shortest ops as well" };
        shown.notes.push(format!(
            "{before} slices are more than can be shown: those shorter than {} {} were merged, which leaves {after} \
             ({kept}); `short steps` stand for several",
            rounded(limit),
            trace.axis.unit(),
        ));
    }
    let arrows = shown.arrows.len();
    if arrows > limits.arrows {
        let length = |arrow: &Arrow| {
            let slice = &shown.tracks[arrow.to].slices[arrow.slice];
            slice.end - slice.start
        };
        let mut lengths: Vec<(f64, usize)> = shown.arrows.iter().map(length).zip(0..).collect();
        lengths.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        let mut kept: Vec<usize> = lengths[..limits.arrows].iter().map(|(_, number)| *number).collect();
        kept.sort_unstable();
        shown.arrows = kept.into_iter().map(|number| shown.arrows[number]).collect();
        shown.notes.push(format!(
            "of {arrows} arrows from sets to waits the {} with the longest waits are shown",
            limits.arrows
        ));
    }
    Cow::Owned(shown)
}

/// About how many bytes the slices take in a file.
fn bytes(trace: &Trace) -> usize {
    // Numbers, names of fields, commas.
    const FIXED: usize = 110;
    let labels: Vec<usize> = trace.ops.iter().map(|op| op.label().len()).collect();
    let text = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len() + 12);
    let size = |slice: &Slice| {
        let label = slice.op.and_then(|op| labels.get(op)).copied().unwrap_or(0);
        FIXED + label + text(&slice.name) + text(&slice.detail) + text(&slice.reason)
    };
    trace.tracks.iter().flat_map(|track| &track.slices).map(size).sum()
}

/// Two digits are enough: a limit is no measurement.
fn rounded(limit: f64) -> String {
    let digits = (1.0 - limit.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{limit:.digits$}")
}

/// Runs of slices shorter than `limit` become one each.
fn merged(trace: &Trace, limit: f64, with_ops: bool) -> Trace {
    let mut shown = Trace { tracks: Vec::with_capacity(trace.tracks.len()), arrows: Vec::new(), ..trace.clone() };
    let mut places = Vec::with_capacity(trace.tracks.len());
    for track in &trace.tracks {
        let (track, place) = merged_track(track, limit, with_ops);
        shown.tracks.push(track);
        places.push(place);
    }
    let moved = |arrow: &Arrow| Some(Arrow { slice: places[arrow.to][arrow.slice]?, ..*arrow });
    shown.arrows = trace.arrows.iter().filter_map(moved).collect();
    shown
}

/// The track, and where each of its slices is now; `None`: in a merged one.
fn merged_track(track: &Track, limit: f64, with_ops: bool) -> (Track, Vec<Option<usize>>) {
    let mut out: Vec<Slice> = Vec::new();
    let mut places = Vec::with_capacity(track.slices.len());
    // Slices in a run that is still open, all after each other.
    let mut run: Vec<&Slice> = Vec::new();
    let mut inside_until = f64::NEG_INFINITY;
    let close = |run: &mut Vec<&Slice>, out: &mut Vec<Slice>| {
        if let [first, _, ..] = run.as_slice() {
            // What stands inside another one ends first.
            let end = run.iter().map(|slice| slice.end).fold(first.end, f64::max);
            let op = first.op.filter(|op| run.iter().all(|slice| slice.op == Some(*op)));
            let what = What::Merged { count: run.len() as u32 };
            out.push(Slice { op, ..Slice::new(first.start, end, what) });
        } else {
            out.extend(run.iter().map(|slice| (*slice).clone()));
        }
        run.clear();
    };
    for slice in &track.slices {
        let is_inside = slice.start < inside_until;
        let is_short = slice.end - slice.start < limit && (with_ops || slice.what != What::Op);
        if is_short && !is_inside {
            run.push(slice);
            places.push(None);
            continue;
        }
        if is_short {
            // Too short to see, and inside something that is shown.
            places.push(None);
            continue;
        }
        close(&mut run, &mut out);
        inside_until = inside_until.max(slice.end);
        places.push(Some(out.len()));
        out.push(slice.clone());
    }
    close(&mut run, &mut out);
    (Track { slices: out, ..track.clone() }, places)
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, TracedOp};
    use super::*;
    use crate::model::CoreKind;

    fn slice(start: f64, end: f64, what: What) -> Slice {
        Slice { op: (what == What::Op).then_some(0), ..Slice::new(start, end, what) }
    }

    fn trace(slices: Vec<Slice>) -> Trace {
        let mut track = Track::core(CoreKind::Aiv, 0);
        track.slices = slices;
        let arrows = (0..track.slices.len()).filter(|number| track.slices[*number].what == What::Wait);
        let arrows = arrows.map(|slice| Arrow { from: 0, at: 0.0, to: 0, slice }).collect();
        let op = TracedOp { index: 0, name: "k".to_owned(), stream: Some(0) };
        Trace {
            kernel: "k".to_owned(),
            axis: Axis::Steps,
            ops: vec![op],
            tracks: vec![track],
            arrows,
            notes: Vec::new(),
        }
    }

    /// An op, then two short steps and a long wait, over and over.
    fn repeated(times: usize) -> Trace {
        let mut slices = Vec::new();
        for round in 0..times {
            let at = 100.0 * round as f64;
            slices.push(slice(at, at + 50.0, What::Op));
            slices.push(slice(at + 50.0, at + 50.1, What::Preload));
            slices.push(slice(at + 50.1, at + 50.2, What::Flush));
            slices.push(slice(at + 50.2, at + 100.0, What::Wait));
        }
        trace(slices)
    }

    #[test]
    fn what_can_be_shown_is_shown_as_it_is() {
        let whole = repeated(10);
        assert_eq!(*shrunk_to(&whole, Limits { slices: 40, bytes: 1 << 20, arrows: 10 }), whole);
    }

    #[test]
    fn the_shortest_are_merged_and_arrows_follow_their_slices() {
        let whole = repeated(10);
        let shown = shrunk_to(&whole, Limits { slices: 30, bytes: 1 << 20, arrows: 4 });
        let slices = &shown.tracks[0].slices;
        assert_eq!(slices.len(), 30);
        assert_eq!(slices.iter().filter(|slice| slice.what == What::Op).count(), 10);
        assert_eq!(slices[1].what, What::Merged { count: 2 });
        assert!(slices.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert_eq!(shown.arrows.len(), 4);
        assert!(shown.arrows.iter().all(|arrow| slices[arrow.slice].what == What::Wait));
        assert!(shown.notes[0].contains("40 slices are more than can be shown: those shorter than 0.11 steps"));
        assert!(shown.notes[0].contains("every op is there") && shown.notes[1].contains("of 10 arrows"));
    }

    #[test]
    fn what_is_merged_with_its_inside_keeps_its_length() {
        let slices = vec![slice(0.0, 90.0, What::Op), slice(90.0, 95.0, What::Barrier), slice(91.0, 92.0, What::Set)];
        let (track, _) = merged_track(&trace(slices).tracks[0], 10.0, false);
        let merged = &track.slices[1];
        assert_eq!((merged.what, merged.start, merged.end), (What::Merged { count: 2 }, 90.0, 95.0));
    }

    #[test]
    fn long_texts_leave_room_for_fewer() {
        let mut whole = repeated(100);
        for slice in &mut whole.tracks[0].slices {
            slice.detail = Some(Arc::from("x".repeat(1000).as_str()));
        }
        let limits = Limits { slices: 1000, bytes: 300_000, arrows: 1000 };
        assert!(bytes(&whole) > limits.bytes);
        let shown = shrunk_to(&whole, limits);
        assert!(bytes(&shown) <= limits.bytes && shown.notes[0].contains("every op is there"));
        assert_eq!(shown.tracks[0].slices.iter().filter(|slice| slice.what == What::Op).count(), 100);
    }

    #[test]
    fn ops_are_merged_only_where_nothing_else_helps() {
        let ops = (0..1000).map(|at| slice(f64::from(at), f64::from(at) + 1.0, What::Op)).collect();
        let whole = trace(ops);
        let shown = shrunk_to(&whole, Limits { slices: 10, bytes: 1 << 20, arrows: 10 });
        assert!(shown.tracks[0].slices.len() <= 10);
        assert!(shown.notes[0].contains("the shortest ops as well"));
    }
}
