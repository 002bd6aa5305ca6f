//! Tracks of a core's pipes.
//!
//! Instructions take no steps: between two calls of the runtime a core issues as many as it likes. They are known by the
//! cycles of a model, so those of one such burst are stretched over the time until the core's track goes on.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::sim::interface::report::Work;
use crate::trace::{Slice, Track, What};

/// The instructions of every core, in the order they were issued.
pub(super) fn by_core(instructions: &[Work]) -> HashMap<&str, Vec<&Work>> {
    let mut found: HashMap<&str, Vec<&Work>> = HashMap::new();
    for work in instructions {
        found.entry(&work.core).or_default().push(work);
    }
    found
}

/// One track per pipe of a core that did anything, below the track of the core.
pub(super) fn tracks(core: &Track, instructions: &[&Work], end: f64) -> Vec<Track> {
    let pipes: BTreeSet<&str> = instructions.iter().map(|work| &*work.pipe).collect();
    let mut tracks: Vec<Track> = pipes
        .iter()
        .map(|pipe| Track { name: format!("{} {pipe}", core.name), kind: None, slices: Vec::new() })
        .collect();
    let edges = edges(core, instructions);
    for burst in instructions.chunk_by(|one, next| one.step == next.step) {
        let start = burst[0].step as f64;
        let behind = edges.partition_point(|edge| *edge <= start);
        let until = edges.get(behind).copied().unwrap_or(end).max(start);
        let first = burst.iter().map(|work| work.start).min().unwrap_or(0);
        let last = burst.iter().map(|work| work.start + work.cycles).max().unwrap_or(first);
        let scale = (until - start) / (last - first).max(1) as f64;
        for work in burst {
            let moment = |cycle: u64| start + scale * (cycle - first) as f64;
            let mut slice = Slice::new(moment(work.start), moment(work.start + work.cycles), What::Instruction);
            slice.name = Some(Arc::from(&*work.name));
            slice.op = work.position;
            slice.detail = Some(Arc::from(detail(work).as_str()));
            let place = pipes.iter().position(|pipe| *pipe == work.pipe).expect("it was taken from these");
            tracks[place].slices.push(slice);
        }
    }
    tracks
}

/// The moments at which something of a core begins or ends, or it goes on.
fn edges(core: &Track, instructions: &[&Work]) -> Vec<f64> {
    let mut edges: Vec<f64> = core.slices.iter().flat_map(|slice| [slice.start, slice.end]).collect();
    edges.extend(instructions.iter().map(|work| work.step as f64));
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    edges
}

fn detail(work: &Work) -> String {
    let mut text = format!("{} bytes, {} cycles at {} of the core", work.bytes, work.cycles, work.start);
    if let (Some(file), Some(line)) = (&work.file, work.line) {
        text.push_str(&format!(", {file}:{line}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CoreKind;

    fn work(step: u64, pipe: &'static str, start: u64, cycles: u64) -> Work {
        Work {
            core: "AIV0".to_owned(),
            op: Some("op 0 `k`".to_owned()),
            position: Some(0),
            step,
            pipe: pipe.into(),
            name: "vadd".into(),
            start,
            cycles,
            bytes: 32,
            file: None,
            line: None,
        }
    }

    #[test]
    fn bursts_fill_the_time_until_the_core_goes_on() {
        let mut core = Track::core(CoreKind::Aiv, 0);
        core.slices.push(Slice::new(10.0, 30.0, What::Op));
        core.slices.push(Slice::new(18.0, 26.0, What::Wait));
        // Two pipes side by side, a wait, and one more.
        let all = [work(10, "MTE2", 0, 40), work(10, "V", 20, 20), work(26, "V", 40, 5), work(40, "V", 50, 5)];
        let tracks = tracks(&core, &all.iter().collect::<Vec<_>>(), 50.0);
        let told = |track: &Track| track.slices.iter().map(|slice| (slice.start, slice.end)).collect::<Vec<_>>();
        assert_eq!(tracks.iter().map(|track| track.name.as_str()).collect::<Vec<_>>(), ["AIV0 MTE2", "AIV0 V"]);
        assert_eq!(told(&tracks[0]), [(10.0, 18.0)]);
        assert_eq!(told(&tracks[1]), [(14.0, 18.0), (26.0, 30.0), (40.0, 50.0)]);
        assert_eq!(tracks[1].slices[0].name.as_deref(), Some("vadd"));
    }
}
