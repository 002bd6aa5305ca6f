//! Runs of equal ops: which cores run them is asked once, not per op.

use crate::program::{Action, Cores, Part, Property, Step};

/// Steps that stand together: one that names an op's own values, or a row of those that do not.
pub(super) struct Run<'a> {
    pub steps: Vec<&'a Step>,
    /// The function that does it, if several runs are alike.
    pub shape: Option<usize>,
}

/// Runs that follow each other.
pub(super) enum Piece<'r, 'a> {
    /// Each step asks whom it is for.
    Mixed(&'r [Run<'a>]),
    /// Ops for the same cores, which are not all, and what stands between them.
    Straight(&'r [Run<'a>], Cores),
}

/// Cuts runs into pieces. A straight piece has two calls at least: for one, nothing is asked twice.
pub(super) fn pieces<'r, 'a>(runs: &'r [Run<'a>]) -> Vec<Piece<'r, 'a>> {
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    while at < runs.len() {
        let (length, cores) = straight(&runs[at..]);
        if let Some(cores) = cores {
            if start < at {
                pieces.push(Piece::Mixed(&runs[start..at]));
            }
            pieces.push(Piece::Straight(&runs[at..at + length], cores));
            start = at + length;
        }
        at += length;
    }
    if start < runs.len() {
        pieces.push(Piece::Mixed(&runs[start..]));
    }
    pieces
}

/// How many runs belong to the piece that starts with a call at the front, and for which cores it is; else how many runs
/// cannot start one.
fn straight(runs: &[Run<'_>]) -> (usize, Option<Cores>) {
    let Some(cores) = calls_of_some(&runs[0]) else { return (1, None) };
    let (mut last, mut calls) = (0, 0);
    for (place, run) in runs.iter().enumerate().take_while(|(_, run)| run.steps.iter().all(|step| fits(step, cores))) {
        if calls_of_some(run).is_some() {
            (last, calls) = (place, calls + 1);
        }
    }
    if calls > 1 { (last + 1, Some(cores)) } else { (last + 1, None) }
}

/// The cores of a run's first call, if they are not all of the kind.
fn calls_of_some(run: &Run<'_>) -> Option<Cores> {
    let is_one = |step: &&&Step| matches!((&step.action, step.cores.part), (Action::Call { .. }, Part::Below(..)));
    run.steps.iter().find(is_one).map(|step| step.cores)
}

/// May the step stand among ops for these cores? What all cores take is written for both sides: nothing large.
fn fits(step: &Step, cores: Cores) -> bool {
    if side(step.cores.part, cores.part).is_some() || matches!(step.action, Action::Preload { .. }) {
        return true;
    }
    let is_small =
        step.action.is(Property::Common) || matches!(step.action, Action::Record { .. } | Action::EnableSyncAll { .. });
    is_small && step.cores.part == Part::All
}

/// Which cores of a piece take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Those that run its ops.
    In,
    /// The others.
    Out,
}

/// The side that a part of the cores is, in a piece for the cores `inside`.
fn side(part: Part, inside: Part) -> Option<Side> {
    match (part, inside) {
        (Part::Below(index, count), Part::Below(of, below)) if (index, count) == (of, below) => Some(Side::In),
        (Part::From(index, count), Part::Below(of, below)) if (index, count) == (of, below) => Some(Side::Out),
        _ => None,
    }
}

/// The steps of a run on one side of a piece, where nobody has to ask any more.
pub(super) fn steps_of(run: &Run<'_>, piece: Cores, wanted: Side) -> Vec<Step> {
    let takes = |step: &&Step| match side(step.cores.part, piece.part) {
        Some(own) if own != wanted => None,
        Some(_) => Some(Step { cores: Cores { part: Part::All, ..step.cores }, ..(*step).clone() }),
        None => Some((*step).clone()),
    };
    run.steps.iter().filter_map(takes).collect()
}
