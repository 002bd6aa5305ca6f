//! Plays a launch on a model of the cross-core flags: every core takes its steps, sets and waits as the device does.
//!
//! What the model knows: each core's counters, the modes of sets (all cores of a kind, or the cores of a block), what
//! `SyncAll` and the early-start calls consist of, and that sub-kernels may set, wait or call `SyncAll` themselves.
//! The simulator's flags (`src/sim/machine/flags.rs`) are another model of the same hardware, independent of this one on
//! purpose: see [`flags`].
//!
//! What it shows: that every set meets the wait it is meant for, that nobody waits for ever, that no counter runs
//! over, and that ops, outer events and locks are ordered by chains of sets and waits, not by luck of timing.

pub(crate) mod clock;
pub(crate) mod flags;
mod locks;
pub(crate) mod micro;
mod script;
pub(super) mod stall;

use std::rc::Rc;

use super::requires::is_first_of;
use super::{CoreId, Direction, OuterEvent, Program, RequiredCode, Violation};
use crate::model::{CoreClass, CoreKind, EventId, OpPosition, StreamForm, SyncMode};
use clock::{Clock, Ends, Times};
pub use flags::Accounting;
use flags::{Flags, Received};
use micro::{Flag, Micro};
use script::Cast;

/// Which core goes on when several could.
pub enum Schedule<'a> {
    /// Cores of this kind run ahead as far as they can.
    Eager(CoreKind),
    /// One that the caller chooses, told how many there are.
    Chosen(&'a mut dyn FnMut(usize) -> usize),
}

/// The largest number of unanswered sets seen on any flag of any core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The largest counter value.
    pub most_ahead: usize,
}

/// Plays the cores of `blocks`, as if the launch had only those. All violations are reported, none twice.
pub fn play(
    program: &Program,
    blocks: &[u32],
    schedule: Schedule<'_>,
    accounting: Accounting,
) -> Result<Outcome, Vec<Violation>> {
    let cast = Cast::of_blocks(program, blocks);
    let mut launch = Launch::new(program, &cast, accounting);
    launch.run(schedule);
    launch.finish()
}

/// Plays every order that matters: no violation is possible where this finds none. The cost does not depend on how many
/// different block counts the ops have.
pub(super) fn check(program: &Program) -> Vec<Violation> {
    let cast = Cast::of_classes(program);
    // Core by core, sets and waits meet in the same way whoever runs first: one order will do.
    let mut launch = Launch::new(program, &cast, Accounting::PerCore);
    launch.run(Schedule::Eager(CoreKind::Aic));
    match launch.finish() {
        Ok(_) => stall::check(program, &cast),
        Err(violations) => violations,
    }
}

struct Launch<'a> {
    program: &'a Program,
    cast: &'a Cast,
    cores: Vec<Core>,
    flags: Flags<Rc<Clock>>,
    accounting: Accounting,
    ends: Ends,
    waited: Times<(OpPosition, EventId)>,
    switched: Times<OpPosition>,
    released: Times<OpPosition>,
    flushed: Times<OpPosition>,
    cleared: Times<Workspace>,
    most_ahead: usize,
    violations: Vec<Violation>,
}

/// The one workspace that all cores clear together.
#[derive(PartialEq, Eq, Hash)]
struct Workspace;

/// One core on its way through its script.
struct Core {
    id: CoreId,
    /// Micro steps that are done.
    place: usize,
    clock: Clock,
}

impl<'a> Launch<'a> {
    fn new(program: &'a Program, cast: &'a Cast, accounting: Accounting) -> Self {
        let count = cast.cores.len();
        let cores = cast.cores.iter().map(|&id| Core { id, place: 0, clock: Clock::new(count) }).collect();
        Self {
            program,
            cast,
            cores,
            flags: Flags::new(cast.cores.clone(), accounting),
            accounting,
            ends: Ends::new(program.ops.len(), count),
            waited: Times::default(),
            switched: Times::default(),
            released: Times::default(),
            flushed: Times::default(),
            cleared: Times::default(),
            most_ahead: 0,
            violations: Vec::new(),
        }
    }

    fn run(&mut self, schedule: Schedule<'_>) {
        match schedule {
            Schedule::Eager(kind) => self.run_eager(kind),
            Schedule::Chosen(choose) => self.run_chosen(choose),
        }
    }

    /// One kind first; the other takes a single micro step whenever the first can do nothing.
    fn run_eager(&mut self, kind: CoreKind) {
        let (eager, lazy): (Vec<usize>, Vec<usize>) =
            (0..self.cores.len()).partition(|&core| self.cores[core].id.kind == kind);
        loop {
            let mut moved = false;
            for &core in &eager {
                while self.advance(core) {
                    moved = true;
                }
            }
            if !moved && !lazy.iter().any(|&core| self.advance(core)) {
                return;
            }
        }
    }

    fn run_chosen(&mut self, choose: &mut dyn FnMut(usize) -> usize) {
        loop {
            let ready: Vec<usize> = (0..self.cores.len()).filter(|&core| self.ready(core).is_some()).collect();
            if ready.is_empty() {
                return;
            }
            self.advance(ready[choose(ready.len())]);
        }
    }

    /// The next micro step of a core, if it can take it now.
    fn ready(&self, core: usize) -> Option<Micro> {
        let micro = self.cast.next(core, self.cores[core].place)?;
        let blocked = matches!(micro, Micro::Wait { flag, .. } if self.flags.count(core, flag) == 0);
        (!blocked).then_some(micro)
    }

    /// Lets a core take its next micro step; `false` if it cannot.
    fn advance(&mut self, core: usize) -> bool {
        let Some(micro) = self.ready(core) else { return false };
        self.cores[core].clock.tick(core);
        self.take(core, micro);
        self.cores[core].place += 1;
        true
    }

    fn take(&mut self, core: usize, micro: Micro) {
        match micro {
            Micro::Set { flag, tag, pipe } => {
                let arrival = Received { tag, carried: self.cores[core].clock.carried_by(core, pipe) };
                match self.flags.set(self.program, core, flag, arrival) {
                    Ok(most) => self.most_ahead = self.most_ahead.max(most),
                    Err(problem) => self.report(problem),
                }
            }
            Micro::Wait { flag, tag } => {
                let received = self.flags.take(core, flag);
                self.cores[core].clock.join(&received.carried);
                // In sum, sets of neighbouring rounds may stand in for each other; order is checked all the same.
                if self.accounting == Accounting::PerCore && received.tag != tag {
                    let id = self.cores[core].id;
                    self.report(Violation::WrongPartner {
                        core: id,
                        flag: flag.number(),
                        wait: tag.describe(self.program),
                        set: received.tag.describe(self.program),
                    });
                }
            }
            Micro::Start(op) => self.check_start(core, op),
            Micro::End(op) => self.ends.note(op, core, self.cores[core].clock.own(core)),
            Micro::Drained => self.cores[core].clock.drain(core),
            Micro::Flushed(op) => self.check_flush(core, op),
            Micro::Waited(op, event) => self.waited.note((op, event), core, self.cores[core].clock.own(core)),
            Micro::Switched(op) => self.switched.note(op, core, self.cores[core].clock.own(core)),
            Micro::Notify(op) => {
                if !self.knows_end(core, op) {
                    self.report(Violation::EarlyNotify { op: self.program.index(op) });
                }
                for locked in self.cast.locks.before_notify(op) {
                    let clock = &self.cores[core].clock;
                    if !(0..self.cores.len()).any(|other| self.released.before(*locked, other, clock)) {
                        let [op, locked] = [op, *locked].map(|op| self.program.index(op));
                        self.report(Violation::LockedNotify { op, locked });
                    }
                }
            }
            Micro::Cleared => self.cleared.note(Workspace, core, self.cores[core].clock.own(core)),
            Micro::UseWorkspace(op) => {
                let clock = &self.cores[core].clock;
                let cleared = |(other, _): (usize, &Core)| self.cleared.before(Workspace, other, clock);
                if !self.cores.iter().enumerate().filter(|(_, other)| clears(self.program, other.id)).all(cleared) {
                    self.report(Violation::EarlyWorkspace { op: self.program.index(op) });
                }
            }
            Micro::Release(op) => {
                let clock = &self.cores[core].clock;
                let pollers = self.cores.iter().enumerate().filter(|(_, other)| polls(self.program, other.id, op));
                if !pollers.into_iter().all(|(other, _)| self.switched.before(op, other, clock)) {
                    self.report(Violation::EarlyRelease { op: self.program.index(op) });
                }
                self.released.note(op, core, self.cores[core].clock.own(core));
            }
        }
    }

    /// An op may start when all ops before it have ended and its outer events have come.
    fn check_start(&mut self, core: usize, op: OpPosition) {
        let program = self.program;
        let required = &program.requires.ops[op];
        for &first in &required.after {
            if !self.knows_end(core, first) {
                let (first, second) = (self.program.index(first), self.program.index(op));
                self.report(Violation::Unordered { first, second });
            }
        }
        let clock = &self.cores[core].clock;
        let seen = |outer: &OuterEvent| {
            let waiter = self.cores.iter().position(|other| is_first_of(other.id, outer.by));
            waiter.is_none_or(|waiter| self.waited.before((op, outer.event), waiter, clock))
        };
        if !required.waits.iter().all(seen) {
            self.report(Violation::EarlyStart { op: self.program.index(op) });
        }
    }

    /// The cache is flushed for an op. Before the op, what it reads must have been written, unless its own code waits
    /// for that later.
    fn check_flush(&mut self, core: usize, op: OpPosition) {
        if !self.cast.script(core).runs(op) {
            return;
        }
        if self.ends.is_noted(op, core) {
            self.flushed.note(op, core, self.cores[core].clock.own(core));
        } else if self.program.ops[op].own_wait.is_none()
            && let Some(first) = self.program.requires.ops[op].after.iter().find(|first| !self.knows_end(core, **first))
        {
            let [first, op] = [*first, op].map(|op| self.program.index(op));
            self.report(Violation::EarlyFlush { first, op });
        }
    }

    /// Does this core know that every core that runs `op` has ended it, and has flushed its cache if it must?
    fn knows_end(&self, core: usize, op: OpPosition) -> bool {
        let clock = &self.cores[core].clock;
        let flushes = ends_with_flush(self.program, op);
        (0..self.cores.len())
            .filter(|&other| self.cast.script(other).runs(op))
            .all(|other| self.ends.before(op, other, clock) && (!flushes || self.flushed.before(op, other, clock)))
    }

    fn report(&mut self, violation: Violation) {
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    fn finish(mut self) -> Result<Outcome, Vec<Violation>> {
        for core in 0..self.cores.len() {
            let state = &self.cores[core];
            if let Some(Micro::Wait { flag, tag }) = self.cast.next(core, state.place) {
                let step = self.cast.next_step(core, state.place);
                self.report(Violation::Stuck {
                    core: state.id,
                    flag: flag.number(),
                    wait: tag.describe(self.program),
                    op: step.and_then(|step| self.program.steps[step].op).map(|op| self.program.index(op)),
                });
            }
        }
        // After a hang flags are left over for that reason alone.
        if self.violations.is_empty() {
            for (core, flag) in self.flags.left_over() {
                let id = self.cores[core].id;
                self.report(Violation::LeftRaised { core: id, flag: flag.number() });
            }
        }
        if self.violations.is_empty() { Ok(Outcome { most_ahead: self.most_ahead }) } else { Err(self.violations) }
    }
}

/// Does this core poll the lock of a dynamic op?
pub(super) fn polls(program: &Program, core: CoreId, op: OpPosition) -> bool {
    match (program.form, program.sync) {
        (StreamForm::One, SyncMode::Contract) => true,
        (StreamForm::One, SyncMode::Proven) | (StreamForm::Several, _) => program.ops[op].class().runs_on(core.kind),
    }
}

/// Does this core clear the lock of a dynamic op?
fn releases(program: &Program, core: CoreId, op: OpPosition) -> bool {
    match program.requires.ops[op].code {
        RequiredCode::Static { .. } => false,
        RequiredCode::Dynamic { releaser, .. } => is_first_of(core, releaser),
    }
}

/// Is the op over only when the cache is flushed after it? (If its code tells the next op itself, nobody waits for that.)
fn ends_with_flush(program: &Program, op: OpPosition) -> bool {
    program.requires.ops[op].flush_after && program.ops[op].own_set.is_none()
}

/// Does this core clear a share of the workspace?
pub(crate) fn clears(program: &Program, core: CoreId) -> bool {
    match program.kernel_type.class() {
        CoreClass::Aic => true,
        CoreClass::Aiv | CoreClass::Mix => core.kind == CoreKind::Aiv,
    }
}

impl Flag {
    fn of(direction: Direction) -> Self {
        match direction {
            Direction::CubeToVector => Self::Release,
            Direction::VectorToCube => Self::Arrive,
        }
    }
}
