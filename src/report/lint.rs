//! Hints about a super kernel that is right, but may be better made otherwise.

use std::collections::HashSet;

use serde::Serialize;

use super::picture::cores;
use crate::model::{CoreKind, OpIndex, OpPosition, StreamForm, SuperKernel};
use crate::objects::TextSizes;
use crate::options::OptionName;

/// Code this small hardly holds work for all cores.
const TINY_CODE: u64 = 1024;

/// One hint.
#[derive(Debug, Serialize)]
pub(super) struct Lint {
    kind: LintKind,
    ops: Vec<OpIndex>,
    text: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum LintKind {
    /// Neighbours on the same kind of core that each leave half of the cores idle.
    IdleNeighbours,
    /// Neighbours on different kinds of core that run one after another.
    OtherKindIdle,
    /// Little code on every core.
    TinyOp,
    /// An option that was given and changes nothing.
    OptionWithoutEffect,
}

/// All hints.
pub(super) fn lints(kernel: &SuperKernel, sizes: &TextSizes, idle_options: &[OptionName]) -> Vec<Lint> {
    let mut found = Vec::new();
    for &kind in kernel.kernel_type.class().kinds() {
        found.extend(idle_runs(kernel, kind).into_iter().map(|run| idle_neighbours(kernel, kind, &run)));
    }
    found.extend(other_kind_idle(kernel));
    found.extend(tiny_ops(kernel, sizes));
    found.extend(idle_options.iter().map(|&option| Lint {
        kind: LintKind::OptionWithoutEffect,
        ops: Vec::new(),
        text: format!("{option}={} changes nothing here: the program is the same without", kernel.options.text(option)),
    }));
    found
}

/// Runs of two or more neighbours on `kind` that each use half of its cores at most.
fn idle_runs(kernel: &SuperKernel, kind: CoreKind) -> Vec<Vec<OpPosition>> {
    let mut runs = vec![Vec::new()];
    for (position, op) in kernel.ops.enumerate() {
        let runs_here = op.class().runs_on(kind);
        if !runs_here && kernel.form == StreamForm::Several {
            // The other side's op: it stands between nobody here.
            continue;
        }
        let is_narrow = u64::from(cores(kernel, position).of(kind)) * 2 <= u64::from(kernel.cores(kind));
        if runs_here && is_narrow && !op.is_dynamic() {
            runs.last_mut().expect("there is always one").push(position);
        } else {
            runs.push(Vec::new());
        }
    }
    runs.retain(|run| run.len() > 1);
    runs
}

fn idle_neighbours(kernel: &SuperKernel, kind: CoreKind, run: &[OpPosition]) -> Lint {
    let ops: Vec<OpIndex> = run.iter().map(|position| kernel.ops[*position].index).collect();
    let most = run.iter().map(|position| cores(kernel, *position).of(kind)).max().unwrap_or(0);
    let text = format!(
        "ops {} follow each other and each uses {most} of {} {} cores at most: built for more blocks they could be \
         faster",
        listed(&ops),
        kernel.cores(kind),
        name(kind)
    );
    Lint { kind: LintKind::IdleNeighbours, ops, text }
}

/// Neighbours that could run side by side, if the second does not need the first.
fn other_kind_idle(kernel: &SuperKernel) -> Option<Lint> {
    match kernel.form {
        StreamForm::One => {}
        StreamForm::Several => return None,
    }
    if kernel.ops.iter().any(|op| !op.kernel.early_start.is_empty()) {
        // Their code takes part in early start, which several streams do not have.
        return None;
    }
    let linked: HashSet<_> = kernel.inner_events.iter().map(|event| (event.sender, event.receiver)).collect();
    let pairs = kernel.ops.positions().filter_map(|second| Some((second.previous()?, second))).filter(|pair| {
        let (first, second) = (kernel.ops[pair.0].class(), kernel.ops[pair.1].class());
        !linked.contains(pair) && !second.kinds().iter().any(|kind| first.runs_on(*kind))
    });
    let pairs: Vec<(OpIndex, OpIndex)> =
        pairs.map(|(first, second)| (kernel.ops[first].index, kernel.ops[second].index)).collect();
    let (first, second) = pairs.first()?;
    let others = if pairs.len() > 1 { format!(" ({} such neighbours)", pairs.len()) } else { String::new() };
    let text = format!(
        "ops {first} and {second} use different kinds of core, one after the other{others}: where the second does not \
         need the first, streams of their own and stream-fusion=1 let them run side by side"
    );
    let mut ops: Vec<OpIndex> = pairs.into_iter().flat_map(|(first, second)| [first, second]).collect();
    ops.dedup();
    Some(Lint { kind: LintKind::OtherKindIdle, ops, text })
}

/// Static ops with little code on every core of their kinds.
fn tiny_ops(kernel: &SuperKernel, sizes: &TextSizes) -> Option<Lint> {
    let is_tiny = |position: OpPosition| {
        let op = &kernel.ops[position];
        let used = cores(kernel, position);
        !op.is_dynamic()
            && op.class().kinds().iter().all(|&kind| {
                let all = kernel.cores(kind);
                all > 1 && used.of(kind) == all && sizes.get(position, kind).is_some_and(|bytes| bytes <= TINY_CODE)
            })
    };
    let tiny = kernel.ops.enumerate().filter(|(position, _)| is_tiny(*position));
    let ops: Vec<OpIndex> = tiny.map(|(_, op)| op.index).collect();
    let subject = match ops.as_slice() {
        [] => return None,
        [one] => format!("op {one} has no more than {TINY_CODE} bytes of code and runs"),
        several => format!("ops {} each have no more than {TINY_CODE} bytes of code and run", listed(several)),
    };
    let text = format!(
        "{subject} on all cores: fewer blocks may do (code size is a hint; `superkernel predict` with a profile knows \
         times)"
    );
    Some(Lint { kind: LintKind::TinyOp, ops, text })
}

/// The first few.
fn listed(ops: &[OpIndex]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = ops.iter().take(SHOWN).map(ToString::to_string).collect();
    let rest = if ops.len() > SHOWN { format!(", ... ({})", ops.len()) } else { String::new() };
    shown.join(", ") + &rest
}

fn name(kind: CoreKind) -> &'static str {
    match kind {
        CoreKind::Aic => "cube",
        CoreKind::Aiv => "vector",
    }
}
