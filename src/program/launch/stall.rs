//! Plays a launch with one core that is as slow as can be, counting sets in sum.
//!
//! Why this is enough. Who may go on depends on how often flags have been set, and nobody can take a count from
//! somebody else: whatever is possible stays possible until it is done. So, with one core held at some place, the
//! others get equally far in whatever order they run, and no schedule gets them further. Holding the core at each of
//! its places in turn, and letting it go on only when nobody else can, shows everything that can happen before it: what
//! starts though it has not ended, and how far its own counters run. Done once for each script, this covers all orders.
//! Sets counted core by core never complete a round sooner than sets counted in sum, so this covers those too.

use std::collections::HashSet;

use super::super::requires::is_first_of;
use super::super::{OuterEvent, Program, Violation};
use super::flags::{Carried, Flags, Received};
use super::micro::{Flag, Micro, SetPipe, Tag};
use super::script::Cast;
use super::{Accounting, clears, ends_with_flush, polls, releases};
use crate::model::{ByPosition, EventId, OpPosition};

/// Nothing travels with the sets: what the slow core has done is looked up.
impl Carried for () {
    fn join(&mut self, (): &Self) {}
}

/// What matters about a micro step here.
#[derive(Clone, Copy)]
enum Move {
    Set(Flag, SetPipe),
    Wait(Flag),
    Start(OpPosition),
    End(OpPosition),
    Drained,
    Flushed(OpPosition),
    Waited(OpPosition, EventId),
    Notify(OpPosition),
    Switched(OpPosition),
    Release(OpPosition),
    Cleared,
    UseWorkspace(OpPosition),
}

impl From<Micro> for Move {
    fn from(micro: Micro) -> Self {
        match micro {
            Micro::Set { flag, pipe, .. } => Self::Set(flag, pipe),
            Micro::Wait { flag, .. } => Self::Wait(flag),
            Micro::Start(op) => Self::Start(op),
            Micro::End(op) => Self::End(op),
            Micro::Drained => Self::Drained,
            Micro::Flushed(op) => Self::Flushed(op),
            Micro::Waited(op, event) => Self::Waited(op, event),
            Micro::Notify(op) => Self::Notify(op),
            Micro::Switched(op) => Self::Switched(op),
            Micro::Release(op) => Self::Release(op),
            Micro::Cleared => Self::Cleared,
            Micro::UseWorkspace(op) => Self::UseWorkspace(op),
        }
    }
}

/// Plays with one core of each script as the slow one.
pub(super) fn check(program: &Program, cast: &Cast) -> Vec<Violation> {
    let scripts = Scripts::of(program, cast);
    let mut violations = Vec::new();
    for slow in cast.one_of_each() {
        let mut stalled = Stalled::new(&scripts, slow);
        stalled.run();
        stalled.violations.into_iter().for_each(|violation| report(&mut violations, violation));
    }
    violations
}

/// What every core does.
struct Scripts<'a> {
    program: &'a Program,
    cast: &'a Cast,
    /// The ops that come after each op.
    followers: Followers,
}

impl<'a> Scripts<'a> {
    fn of(program: &'a Program, cast: &'a Cast) -> Self {
        Self { program, cast, followers: Followers::of(program) }
    }

    fn next(&self, core: usize, place: usize) -> Option<Move> {
        self.cast.next(core, place).map(Move::from)
    }
}

/// The ops that come after each op: one list, cut into pieces.
struct Followers {
    /// By op: where its piece begins.
    starts: Vec<u32>,
    list: Vec<OpPosition>,
}

impl Followers {
    fn of(program: &Program) -> Self {
        let mut pairs: Vec<(OpPosition, OpPosition)> = Vec::new();
        for (op, required) in program.requires.ops.enumerate() {
            pairs.extend(required.after.iter().map(|first| (*first, op)));
        }
        pairs.sort_unstable();
        let mut starts = vec![0; program.ops.len() + 1];
        for (first, _) in &pairs {
            starts[first.place() + 1] += 1;
        }
        for op in 1..starts.len() {
            starts[op] += starts[op - 1];
        }
        Self { starts, list: pairs.into_iter().map(|(_, op)| op).collect() }
    }

    fn of_op(&self, op: OpPosition) -> &[OpPosition] {
        let [start, end] = [op.place(), op.place() + 1].map(|at| self.starts[at] as usize);
        &self.list[start..end]
    }
}

struct Stalled<'a> {
    scripts: &'a Scripts<'a>,
    slow: usize,
    places: Vec<usize>,
    flags: Flags<()>,
    outside: Outside,
    /// Ops that the slow core has left while its pipes may still run.
    in_pipes: Vec<OpPosition>,
    /// Ops with a flush that a core has ended.
    left: HashSet<(OpPosition, usize)>,
    /// What the slow core has done, by op.
    ended: ByPosition<bool>,
    flushed: ByPosition<bool>,
    switched: ByPosition<bool>,
    released: ByPosition<bool>,
    waited: HashSet<(OpPosition, EventId)>,
    cleared: bool,
    violations: Vec<Violation>,
}

impl<'a> Stalled<'a> {
    fn new(scripts: &'a Scripts<'a>, slow: usize) -> Self {
        let count = scripts.program.ops.len();
        Self {
            scripts,
            slow,
            places: vec![0; scripts.cast.cores.len()],
            flags: Flags::new(scripts.cast.cores.clone(), Accounting::Summed),
            outside: Outside::new(scripts),
            in_pipes: Vec::new(),
            left: HashSet::new(),
            ended: ByPosition::filled(count, false),
            flushed: ByPosition::filled(count, false),
            switched: ByPosition::filled(count, false),
            released: ByPosition::filled(count, false),
            waited: HashSet::new(),
            cleared: false,
            violations: Vec::new(),
        }
    }

    fn run(&mut self) {
        loop {
            let mut moved = false;
            for core in 0..self.places.len() {
                if core == self.slow {
                    continue;
                }
                while self.advance(core).is_some() {
                    moved = true;
                }
            }
            if moved {
                continue;
            }
            // Only a set or a notify can let others go on.
            loop {
                match self.advance(self.slow) {
                    Some(Move::Set(..) | Move::Notify(_)) => break,
                    Some(
                        Move::Wait(_)
                        | Move::Start(_)
                        | Move::End(_)
                        | Move::Drained
                        | Move::Flushed(_)
                        | Move::Waited(..)
                        | Move::Switched(_)
                        | Move::Release(_)
                        | Move::Cleared
                        | Move::UseWorkspace(_),
                    ) => {}
                    None => return self.finish(),
                }
            }
        }
    }

    /// Lets a core take its next move, if it can.
    fn advance(&mut self, core: usize) -> Option<Move> {
        let next = self.scripts.next(core, self.places[core])?;
        match next {
            Move::Wait(flag) if self.flags.count(core, flag) == 0 => return None,
            Move::Waited(op, _) | Move::Switched(op) if !self.outside.answers(op) => return None,
            Move::Set(..)
            | Move::Wait(_)
            | Move::Start(_)
            | Move::End(_)
            | Move::Drained
            | Move::Flushed(_)
            | Move::Waited(..)
            | Move::Notify(_)
            | Move::Switched(_)
            | Move::Release(_)
            | Move::Cleared
            | Move::UseWorkspace(_) => {}
        }
        self.places[core] += 1;
        self.take(core, next);
        Some(next)
    }

    /// The slow core has done something that others may rely on too early.
    fn note(&mut self, done: Move) {
        match done {
            Move::End(op) => self.in_pipes.push(op),
            // What the pipe carries is written before the set takes effect.
            Move::Set(_, SetPipe::Output) | Move::Drained => {
                self.in_pipes.drain(..).for_each(|op| self.ended[op] = true);
            }
            Move::Flushed(op) => self.flushed[op] |= self.ended[op] || self.in_pipes.contains(&op),
            Move::Waited(op, event) => drop(self.waited.insert((op, event))),
            Move::Switched(op) => self.switched[op] = true,
            Move::Release(op) => self.released[op] = true,
            Move::Cleared => self.cleared = true,
            Move::Set(_, SetPipe::Other) | Move::Wait(_) | Move::Start(_) | Move::Notify(_) | Move::UseWorkspace(_) => {
            }
        }
    }

    fn take(&mut self, core: usize, next: Move) {
        if core == self.slow {
            self.note(next);
        }
        let program = self.scripts.program;
        let slow = self.scripts.cast.cores[self.slow];
        let script = self.scripts.cast.script(self.slow);
        let unended = |this: &Self, op: OpPosition| {
            script.runs(op) && (!this.ended[op] || (ends_with_flush(program, op) && !this.flushed[op]))
        };
        match next {
            Move::Set(flag, _) => {
                let arrival = Received { tag: Tag::Barrier(None, None), carried: () };
                if let Err(problem) = self.flags.set(program, core, flag, arrival) {
                    self.report(problem);
                }
            }
            Move::Wait(flag) => drop(self.flags.take(core, flag)),
            Move::Start(op) => {
                let second = program.index(op);
                let required = &program.requires.ops[op];
                for &first in &required.after {
                    if !unended(self, first) {
                        continue;
                    }
                    report(&mut self.violations, Violation::Unordered { first: program.index(first), second });
                }
                let unseen =
                    |outer: &OuterEvent| is_first_of(slow, outer.by) && !self.waited.contains(&(op, outer.event));
                if required.waits.iter().any(unseen) {
                    self.report(Violation::EarlyStart { op: second });
                }
            }
            Move::End(op) => {
                let required = &program.requires.ops[op];
                if required.flush_before || required.flush_after {
                    self.left.insert((op, core));
                }
            }
            Move::Drained | Move::Waited(..) | Move::Switched(_) | Move::Cleared => {}
            Move::Flushed(op) => {
                let is_before = self.scripts.cast.script(core).runs(op)
                    && program.ops[op].own_wait.is_none()
                    && !self.left.contains(&(op, core));
                let open = program.requires.ops[op].after.iter().find(|first| is_before && unended(self, **first));
                if let Some(first) = open {
                    let [first, op] = [*first, op].map(|op| program.index(op));
                    self.report(Violation::EarlyFlush { first, op });
                }
            }
            Move::Notify(op) => {
                if unended(self, op) {
                    self.report(Violation::EarlyNotify { op: program.index(op) });
                }
                for &locked in self.scripts.cast.locks.before_notify(op) {
                    if releases(program, slow, locked) && !self.released[locked] {
                        let [op, locked] = [op, locked].map(|op| program.index(op));
                        self.report(Violation::LockedNotify { op, locked });
                    }
                }
                self.outside.hears(op, self.scripts);
            }
            Move::Release(op) => {
                if polls(program, slow, op) && !self.switched[op] {
                    self.report(Violation::EarlyRelease { op: program.index(op) });
                }
            }
            Move::UseWorkspace(op) => {
                if clears(program, slow) && !self.cleared {
                    self.report(Violation::EarlyWorkspace { op: program.index(op) });
                }
            }
        }
    }

    fn report(&mut self, violation: Violation) {
        report(&mut self.violations, violation);
    }

    fn finish(&mut self) {
        let program = self.scripts.program;
        for core in 0..self.places.len() {
            match self.scripts.next(core, self.places[core]) {
                Some(Move::Waited(op, _) | Move::Switched(op)) => {
                    self.report(Violation::Unanswered { op: program.index(op) });
                }
                // Stuck for that reason, or found by the play that counts core by core.
                Some(
                    Move::Set(..)
                    | Move::Wait(_)
                    | Move::Start(_)
                    | Move::End(_)
                    | Move::Drained
                    | Move::Flushed(_)
                    | Move::Notify(_)
                    | Move::Release(_)
                    | Move::Cleared
                    | Move::UseWorkspace(_),
                )
                | None => {}
            }
        }
    }
}

fn report(violations: &mut Vec<Violation>, violation: Violation) {
    if !violations.contains(&violation) {
        violations.push(violation);
    }
}

/// The world outside, as unhelpful as it may be: it answers an op's waits, and tells it its tiling, only when it has
/// heard the events of all ops that come before.
struct Outside {
    /// By op: its own notifies still to come.
    unheard: ByPosition<usize>,
    /// By op: ops directly before it that, or whose predecessors, have notifies still to come.
    open: ByPosition<usize>,
}

impl Outside {
    fn new(scripts: &Scripts<'_>) -> Self {
        let requires = &scripts.program.requires;
        let mut outside = Self {
            unheard: requires.ops.iter().map(|required| required.notifies.len()).collect(),
            open: requires.ops.iter().map(|required| required.after.len()).collect(),
        };
        let complete = |op: &OpPosition| outside.unheard[*op] == 0 && outside.open[*op] == 0;
        let done = requires.ops.positions().filter(complete).collect();
        outside.close(done, scripts);
        outside
    }

    /// Has everything been told that may have to be told before this op's partners answer?
    fn answers(&self, op: OpPosition) -> bool {
        self.open[op] == 0
    }

    fn hears(&mut self, op: OpPosition, scripts: &Scripts<'_>) {
        if self.unheard[op] == 0 {
            return;
        }
        self.unheard[op] -= 1;
        if self.unheard[op] == 0 && self.open[op] == 0 {
            self.close(vec![op], scripts);
        }
    }

    fn close(&mut self, mut done: Vec<OpPosition>, scripts: &Scripts<'_>) {
        while let Some(op) = done.pop() {
            for &follower in scripts.followers.of_op(op) {
                self.open[follower] -= 1;
                if self.open[follower] == 0 && self.unheard[follower] == 0 {
                    done.push(follower);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Launch, Schedule};
    use super::*;
    use crate::model::CoreKind;

    /// Is it about what comes first? Flags that are wrong in themselves are not looked for here.
    fn is_about_order(violation: &Violation) -> bool {
        match violation {
            Violation::Unordered { .. }
            | Violation::EarlyNotify { .. }
            | Violation::EarlyStart { .. }
            | Violation::EarlyWorkspace { .. }
            | Violation::EarlyRelease { .. }
            | Violation::LockedNotify { .. }
            | Violation::EarlyFlush { .. } => true,
            Violation::NoReason { .. }
            | Violation::NoSuchKind { .. }
            | Violation::OtherKind { .. }
            | Violation::Missing { .. }
            | Violation::NotRequired { .. }
            | Violation::OutOfTurn { .. }
            | Violation::WrongPartner { .. }
            | Violation::NoPartner { .. }
            | Violation::Overflow { .. }
            | Violation::Stuck { .. }
            | Violation::LeftRaised { .. }
            | Violation::BrokenPromise { .. }
            | Violation::Unanswered { .. } => false,
        }
    }

    /// A slow core shows what cores cannot know, without the help of the play that tells what they know.
    #[test]
    fn a_slow_core_shows_what_cores_cannot_know() {
        let mut seen = 0;
        for kind in ["unordered", "early-notify", "early-start", "early-workspace", "early-release"] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken").join(kind);
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.extension().is_none_or(|have| have != "txt") {
                    continue;
                }
                let program = Program::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
                let cast = Cast::of_classes(&program);
                let mut launch = Launch::new(&program, &cast, Accounting::PerCore);
                launch.run(Schedule::Eager(CoreKind::Aic));
                let told = launch.finish().unwrap_err();
                let found = check(&program, &cast);
                for violation in told.iter().filter(|violation| is_about_order(violation)) {
                    assert!(found.contains(violation), "{}: {violation} is not in {found:?}", path.display());
                    seen += 1;
                }
            }
        }
        assert!(seen >= 25, "only {seen} violations");
    }
}
