//! How each op's lock is polled and cleared, and how its outer events are waited for.
//!
//! `sync=contract` does it as the replaced software does, mended. `sync=proven` leaves out barriers that nobody needs:
//! what a core does in front of its set reaches everybody who waits for that set, so a poll or a wait that stands there
//! needs no meeting of its own, and a lock that is cleared behind the next synchronisation has been polled by all. The
//! checker proves each of these again ([`crate::program::verify`]).

use super::order::Order;
use super::steps::{barrier_of_class, whole_barrier};
use crate::model::{ByPosition, CoreClass, CoreKind, Op, OpPosition, StreamForm, SuperKernel, SyncMode};
use crate::program::{Barrier, Direction, Kinds};

/// What is decided for one op.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpSync {
    /// How it comes after those before it. (One stream; sides of several have edges.)
    pub(super) follows: Follows,
    /// When the lock of a dynamic op is polled and cleared.
    pub(super) locking: Locking,
    /// The kind whose first core clears it.
    pub(super) releaser: CoreKind,
    /// When outer events are waited for.
    pub(super) waiting: Waiting,
    /// The kind whose first core waits for them, and clears them in the end.
    pub(super) waiter: CoreKind,
}

/// How an op of one stream comes after those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// It is the first.
    Nobody,
    /// A barrier or a hand-over stands between.
    Synchronised {
        /// The kinds that ran ops since the one before: all of them have to tell.
        class: CoreClass,
    },
    /// It need not wait for any op since the last barrier or hand-over.
    Freely {
        /// Cores that ran one of those wait for their own pipes.
        pipes: Option<Kinds>,
    },
}

/// When a lock is polled and cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Locking {
    /// Polled in front of the synchronisation with the op before, which carries that; cleared after the call.
    PollEarly,
    /// Cleared after the synchronisation behind the op, which carries that all have polled.
    ClearLate,
    /// All that poll meet; cleared after the call.
    Meet,
}

/// When outer events are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// In front of the set of the op before: the hand-over carries it.
    BeforeSet,
    /// Between the synchronisation with the op before and the op, and then cores meet, unless a meeting or a hand-over
    /// follows that carries it.
    Between {
        /// Who meets.
        meeting: Option<Barrier>,
    },
}

/// Decides for every op. `order` is there for several streams.
pub(super) fn decide(kernel: &SuperKernel, order: Option<&Order>) -> ByPosition<OpSync> {
    let decisions = Decisions { kernel, order };
    let follows = follows(kernel);
    kernel.ops.positions().map(|position| decisions.of_op(position, follows[position])).collect()
}

/// Who has to meet whom, going through the list: ops that need not wait for each other stay together.
fn follows(kernel: &SuperKernel) -> ByPosition<Follows> {
    let mut together: Option<Together> = None;
    let decide = |(position, op): (OpPosition, &Op)| {
        let mut follows = Follows::Nobody;
        let now = match together {
            None => Together { class: op.class(), aic: position, aiv: position },
            Some(known) if kernel.stream_order[position].iter().all(|before| known.knows_end(op.class(), *before)) => {
                follows = Follows::Freely { pipes: kinds_of_both(known.class, op.class()) };
                Together { class: known.class.with(op.class()), ..known }
            }
            Some(known) => {
                follows = Follows::Synchronised { class: known.class };
                let is_told = |kind| !kernel.has_early_start() || op.class().runs_on(kind);
                let aic = if is_told(CoreKind::Aic) { position } else { known.aic };
                let aiv = if is_told(CoreKind::Aiv) { position } else { known.aiv };
                Together { class: op.class(), aic, aiv }
            }
        };
        together = Some(now);
        follows
    };
    kernel.ops.enumerate().map(decide).collect()
}

/// What happened since the last barrier or hand-over. A barrier tells everybody that the ops before it have ended, a
/// hand-over the cores of the op behind it.
#[derive(Clone, Copy)]
struct Together {
    /// The kinds that have run ops.
    class: CoreClass,
    /// Cube cores know that all ops before this one have ended.
    aic: OpPosition,
    /// The same for vector cores.
    aiv: OpPosition,
}

impl Together {
    /// Do all cores of the class know that the op has ended?
    fn knows_end(self, class: CoreClass, op: OpPosition) -> bool {
        class.kinds().iter().all(|kind| match kind {
            CoreKind::Aic => op < self.aic,
            CoreKind::Aiv => op < self.aiv,
        })
    }
}

fn kinds_of_both(one: CoreClass, other: CoreClass) -> Option<Kinds> {
    let shared = |kind| one.runs_on(kind) && other.runs_on(kind);
    match (shared(CoreKind::Aic), shared(CoreKind::Aiv)) {
        (true, true) => Some(Kinds::Every),
        (true, false) => Some(Kinds::Only(CoreKind::Aic)),
        (false, true) => Some(Kinds::Only(CoreKind::Aiv)),
        (false, false) => None,
    }
}

/// Does the op tell outer events?
pub(super) fn notifies(op: &Op) -> bool {
    op.outer_sends().next().is_some()
}

/// Does the op wait for outer events?
pub(super) fn waits(op: &Op) -> bool {
    op.outer_receives().next().is_some()
}

/// The kind whose block 0 tells the outer events of an op: the one that knows, behind the sync in front of the next
/// op, that all cores have ended it.
pub(super) fn notifying_kind(kernel: &SuperKernel, position: OpPosition) -> CoreKind {
    let next = kernel.ops.get(position.next()).map(|op| op.class());
    match (kernel.ops[position].class(), next) {
        (CoreClass::Aic, _) | (CoreClass::Mix, Some(CoreClass::Aic)) => CoreKind::Aic,
        (CoreClass::Aiv | CoreClass::Mix, _) => CoreKind::Aiv,
    }
}

/// The kind whose block 0 waits for the outer events of an op, unless there is a better one.
fn waiting_kind(class: CoreClass) -> CoreKind {
    match class {
        CoreClass::Aic => CoreKind::Aic,
        CoreClass::Aiv | CoreClass::Mix => CoreKind::Aiv,
    }
}

/// The kind whose block 0 clears the lock of a dynamic op, unless there is a better one.
fn releasing_kind(class: CoreClass) -> CoreKind {
    match class {
        CoreClass::Aiv => CoreKind::Aiv,
        CoreClass::Aic | CoreClass::Mix => CoreKind::Aic,
    }
}

/// `wanted` if the class has it, otherwise a kind that it has.
fn among(class: CoreClass, wanted: CoreKind) -> CoreKind {
    if class.runs_on(wanted) { wanted } else { wanted.other() }
}

struct Decisions<'a> {
    kernel: &'a SuperKernel,
    order: Option<&'a Order>,
}

impl Decisions<'_> {
    fn op(&self, position: OpPosition) -> &Op {
        &self.kernel.ops[position]
    }

    fn previous(&self, position: OpPosition) -> Option<&Op> {
        position.previous().map(|previous| self.op(previous))
    }

    fn of_op(&self, position: OpPosition, follows: Follows) -> OpSync {
        let (locking, releaser) = self.locking(position);
        let (waiting, waiter) = self.waiting(position, locking);
        OpSync { follows, locking, releaser, waiting, waiter }
    }

    fn locking(&self, position: OpPosition) -> (Locking, CoreKind) {
        let op = self.op(position);
        let usual = releasing_kind(op.class());
        if !op.is_dynamic() || self.kernel.options.sync == SyncMode::Contract {
            return (Locking::Meet, usual);
        }
        let late = match (self.kernel.form, self.order) {
            (StreamForm::Several, Some(order)) => self.late_on_side(order, position),
            (StreamForm::One, _) | (_, None) if self.polls_early(position) => return (Locking::PollEarly, usual),
            (StreamForm::One, _) | (_, None) => self.late_in_list(position),
        };
        late.map_or((Locking::Meet, usual), |kind| (Locking::ClearLate, kind))
    }

    /// One stream: can the lock be polled before the op before is synchronised with?
    fn polls_early(&self, position: OpPosition) -> bool {
        let (op, Some(previous)) = (self.op(position), self.previous(position)) else { return false };
        // With early start only cores that set can carry it, and only if they set after it.
        let carries = |previous: &Op| {
            op.class().kinds().iter().all(|kind| previous.class().runs_on(*kind))
                && !previous.kernel.early_start.sets_itself
        };
        op.is_dynamic() && !notifies(previous) && (!self.kernel.has_early_start() || carries(previous))
    }

    /// One stream: who can clear the lock after the synchronisation with the next op?
    fn late_in_list(&self, position: OpPosition) -> Option<CoreKind> {
        let (op, after) = (self.op(position), position.next());
        let next = self.kernel.ops.get(after)?;
        if self.polls_early(after) {
            return None;
        }
        let tells = notifies(op).then(|| notifying_kind(self.kernel, position));
        let mut excluded = None;
        if self.kernel.has_early_start() {
            // The wait that would tell is inside the next op's code.
            if next.kernel.early_start.waits_itself && !self.is_split(after) {
                return None;
            }
            // A lock is cleared before the same core waits for the outside again.
            excluded = (waits(next) && self.waits_before_set(after)).then(|| self.waiter_before_set(after));
        } else if waits(next) && tells.is_none() {
            return None;
        }
        let usual = releasing_kind(op.class());
        let kinds = [usual, usual.other()].into_iter();
        kinds
            .filter(|kind| next.class().runs_on(*kind) && Some(*kind) != excluded)
            .find(|kind| tells.is_none_or(|teller| teller == *kind))
    }

    /// Several streams: who can clear the lock behind a barrier that stands there anyway?
    fn late_on_side(&self, order: &Order, position: OpPosition) -> Option<CoreKind> {
        let op = self.op(position);
        self.kernel.ops.get(position.next())?;
        let (kind, meets) = match op.class() {
            CoreClass::Mix => (notifying_kind(self.kernel, position), notifies(op)),
            CoreClass::Aic | CoreClass::Aiv => {
                let kind = among(op.class(), CoreKind::Aic);
                (kind, notifies(op) || order.meets_after(position, kind).is_some())
            }
        };
        (meets && !self.is_outrun(order, position, kind)).then_some(kind)
    }

    /// Can the flag that `kind` sets after the op arrive before its first core has cleared the lock? Where a block has two
    /// vector cores and sets are counted in sum, the second one's next set may complete the round.
    fn is_outrun(&self, order: &Order, position: OpPosition, kind: CoreKind) -> bool {
        let (_, vectors) = self.kernel.kernel_type.task_ratio();
        kind == CoreKind::Aiv && vectors > 1 && order.sent(Direction::leaving(kind), position).is_some()
    }

    fn waiting(&self, position: OpPosition, locking: Locking) -> (Waiting, CoreKind) {
        let op = self.op(position);
        let (kernel, usual) = (self.kernel, waiting_kind(op.class()));
        if !waits(op) {
            return (Waiting::Between { meeting: None }, usual);
        }
        let of_class = barrier_of_class(op.class());
        let carried = op.is_dynamic() && locking == Locking::Meet;
        let (whole, tells) = (whole_barrier(kernel.kernel_type), self.previous(position).is_some_and(notifies));
        let between = |meeting| Waiting::Between { meeting };
        match (kernel.options.sync, kernel.form) {
            (SyncMode::Contract, StreamForm::One) => (between(Some(whole)), usual),
            (SyncMode::Contract, StreamForm::Several) => (between(Some(of_class)), usual),
            (SyncMode::Proven, StreamForm::One) if self.waits_before_set(position) => {
                (Waiting::BeforeSet, self.waiter_before_set(position))
            }
            // It is the barrier between the two ops as well.
            (SyncMode::Proven, StreamForm::One) if !kernel.has_early_start() && !tells => (between(Some(whole)), usual),
            (SyncMode::Proven, StreamForm::One) if self.is_split(position) => {
                (between(None), self.waiter_before_set(position))
            }
            (SyncMode::Proven, _) => (between((!carried).then_some(of_class)), usual),
        }
    }

    /// With early start: can the hand-over carry that the op's events have come?
    fn waits_before_set(&self, position: OpPosition) -> bool {
        let fits = |previous: &Op| !notifies(previous) && !previous.kernel.early_start.sets_itself;
        self.kernel.options.sync == SyncMode::Proven
            && self.kernel.has_early_start()
            && self.previous(position).is_some_and(fits)
    }

    /// A kind that sets behind the wait.
    fn waiter_before_set(&self, position: OpPosition) -> CoreKind {
        let usual = waiting_kind(self.op(position).class());
        self.previous(position).map_or(usual, |previous| among(previous.class(), usual))
    }

    /// Is the hand-over over before the op, so that its own wait has a round of its own?
    fn is_split(&self, position: OpPosition) -> bool {
        is_split(self.kernel, position, waits(self.op(position)) && !self.waits_before_set(position))
    }
}

/// Is something to be done between the hand-over to the op at `position` and that op, so that all cores must have
/// finished the hand-over, though the op's code has a wait for it? `waits`: for outer events.
pub(super) fn is_split(kernel: &SuperKernel, position: OpPosition, waits: bool) -> bool {
    let Some(previous) = position.previous().map(|previous| &kernel.ops[previous]) else { return false };
    kernel.ops[position].kernel.early_start.waits_itself
        && (notifies(previous) || waits || owes_barrier(kernel, previous))
}

/// Has the debug barrier behind the op been put off, because its code has set?
pub(super) fn owes_barrier(kernel: &SuperKernel, op: &Op) -> bool {
    kernel.options.debug_sync_all && op.kernel.early_start.sets_itself
}
