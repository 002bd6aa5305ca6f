//! Which step of the program an event belongs to.
//!
//! A core takes its steps in order, and steps that others can notice show themselves by events of their own: read along
//! with the steps, the events of a core tell whose they are. Where the two do not go together (a run without all events,
//! a function that was not picked) nothing is told until the next op, which says where the core is.

use crate::program::{Action, Barrier, CoreId};
use crate::sim::interface::report::{Event, Happening};
use crate::trace::Told;

/// How a step shows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// The op at this position begins.
    Op(usize),
    /// The same, if its picked function is for this kind of core.
    PickedOp(usize),
    /// A set.
    Set,
    /// A wait.
    Wait,
    /// A set, then the wait for everybody else's.
    Meeting,
    /// Something with a beginning and an end of its own.
    Bracket(Happening),
    /// A flush of the whole cache.
    Flush,
    /// A preload, unless there is nothing to load.
    Preload,
    /// Looks at a word in memory until somebody outside has written it: by the time that goes by.
    Poll,
}

impl Sign {
    /// The step can also go by without any event.
    fn may_be_missing(self) -> bool {
        match self {
            Self::PickedOp(_) | Self::Preload | Self::Poll => true,
            Self::Op(_) | Self::Set | Self::Wait | Self::Meeting | Self::Bracket(_) | Self::Flush => false,
        }
    }
}

/// Goes along the steps of one core while its events come.
pub(super) struct Follower<'a> {
    told: &'a Told<'a>,
    /// Steps that show themselves, in order.
    signs: Vec<(usize, Sign)>,
    next: usize,
    /// A step that has begun, and what ends it.
    current: Option<(usize, Happening)>,
    /// Steps that polled before the last event, and were not told yet.
    polled: Vec<usize>,
}

impl<'a> Follower<'a> {
    pub(super) fn new(told: &'a Told<'a>, core: CoreId) -> Self {
        let signs = told.steps_of(core).filter_map(|number| Some((number, sign(told, number)?))).collect();
        Self { told, signs, next: 0, current: None, polled: Vec::new() }
    }

    /// The step that `event` belongs to; nothing for what happens inside an op.
    pub(super) fn step(&mut self, event: &Event) -> Option<usize> {
        match (event.what, event.position) {
            (Happening::OpBegin, Some(position)) => {
                self.current = None;
                self.seek(position)
            }
            (Happening::OpBegin | Happening::OpEnd | Happening::Failure | Happening::Agent, _) => None,
            (_, Some(_)) => None,
            (what, None) => match self.current {
                Some((step, last)) => {
                    if what == last {
                        self.current = None;
                    }
                    Some(step)
                }
                None => self.begin(what),
            },
        }
    }

    /// The program that it follows.
    pub(super) fn told(&self) -> &'a Told<'a> {
        self.told
    }

    /// The steps that polled before the last event.
    pub(super) fn polled(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.polled)
    }

    /// The step that polls now, if there is one.
    pub(super) fn polls(&self) -> Option<usize> {
        self.awaited().filter(|(_, sign)| *sign == Sign::Poll).map(|(step, _)| step)
    }

    /// Does the step meet other cores by a set and a wait that nothing encloses?
    pub(super) fn is_meeting(&self, step: usize) -> bool {
        sign(self.told, step) == Some(Sign::Meeting)
    }

    fn begin(&mut self, what: Happening) -> Option<usize> {
        let (step, sign) = self.awaited()?;
        let (is_whole, last) = match (what, sign) {
            (Happening::Set, Sign::Set) | (Happening::Waited, Sign::Wait) => (true, None),
            (Happening::Flush, Sign::Flush) | (Happening::Preload, Sign::Preload) => (true, None),
            (Happening::Set, Sign::Meeting) => (true, Some(Happening::Waited)),
            (begins, Sign::Bracket(awaited)) if begins == awaited => (true, closing(begins)),
            // It will be waited for later on.
            (Happening::Blocked, Sign::Wait) => return Some(step),
            (_, _) => (false, None),
        };
        if !is_whole {
            return self.skip().then(|| self.begin(what)).flatten();
        }
        self.next += 1;
        self.current = last.map(|last| (step, last));
        Some(step)
    }

    fn awaited(&self) -> Option<(usize, Sign)> {
        self.signs.get(self.next).copied()
    }

    /// Goes past a step that may have shown nothing.
    fn skip(&mut self) -> bool {
        let skips = self.awaited().is_some_and(|(_, sign)| sign.may_be_missing());
        if skips {
            self.polled.extend(self.polls());
            self.next += 1;
        }
        skips
    }

    fn seek(&mut self, position: usize) -> Option<usize> {
        let is_it = |(_, sign): &(usize, Sign)| match sign {
            Sign::Op(op) | Sign::PickedOp(op) => *op == position,
            Sign::Set | Sign::Wait | Sign::Meeting | Sign::Bracket(_) | Sign::Flush | Sign::Preload | Sign::Poll => {
                false
            }
        };
        let found = self.next + self.signs[self.next..].iter().position(is_it)?;
        let polls = self.signs[self.next..found].iter().filter(|(_, sign)| *sign == Sign::Poll);
        self.polled.extend(polls.map(|(step, _)| step));
        self.next = found + 1;
        Some(self.signs[found].0)
    }
}

/// What ends something that has a beginning and an end.
fn closing(begins: Happening) -> Option<Happening> {
    match begins {
        Happening::SyncAll => Some(Happening::SyncAllEnd),
        Happening::WaitPreTask => Some(Happening::WaitPreTaskEnd),
        Happening::Complement => Some(Happening::ComplementEnd),
        // The call tells of itself, and then sets.
        Happening::SetNextTask => Some(Happening::Set),
        Happening::OpBegin
        | Happening::OpEnd
        | Happening::Failure
        | Happening::Agent
        | Happening::Set
        | Happening::Blocked
        | Happening::Waited
        | Happening::SyncAllEnd
        | Happening::WaitPreTaskEnd
        | Happening::ComplementEnd
        | Happening::Preload
        | Happening::Flush => None,
    }
}

fn sign(told: &Told<'_>, number: usize) -> Option<Sign> {
    let step = told.step(number);
    match &step.action {
        Action::Call { .. } => step.op.map(|op| Sign::Op(op.place())),
        Action::CallPicked { .. } => step.op.map(|op| Sign::PickedOp(op.place())),
        Action::Preload { .. } | Action::PreloadHere { .. } | Action::PreloadPicked { .. } => Some(Sign::Preload),
        Action::Barrier(Barrier::Aic | Barrier::AicAfterMte3 | Barrier::Aiv) => Some(Sign::Meeting),
        Action::Barrier(Barrier::All) => Some(Sign::Bracket(Happening::SyncAll)),
        Action::SetFlag { .. } => Some(Sign::Set),
        Action::WaitFlag { .. } => Some(Sign::Wait),
        Action::EarlyStartSet { .. } => Some(Sign::Bracket(Happening::SetNextTask)),
        Action::EarlyStartWait { .. } => Some(Sign::Bracket(Happening::WaitPreTask)),
        Action::ComplementSyncAll => Some(Sign::Bracket(Happening::Complement)),
        Action::Flush => Some(Sign::Flush),
        Action::WaitEvent { .. } | Action::Switch { .. } => Some(Sign::Poll),
        Action::LoadParameters
        | Action::LoadWorkspace { .. }
        | Action::SetSyncAllBase
        | Action::InitDump { .. }
        | Action::InitProfiling { .. }
        | Action::SetFftsBase { .. }
        | Action::ClearWorkspace { .. }
        | Action::Record { .. }
        | Action::PipeBarrier
        | Action::EarlyStartConfig { .. }
        | Action::Notify { .. }
        | Action::ClearEvent { .. }
        | Action::EnableSyncAll { .. }
        | Action::DisableSyncAll
        | Action::EndSyncAll
        | Action::ReleaseLock { .. } => None,
    }
}
