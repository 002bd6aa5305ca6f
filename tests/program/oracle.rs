//! Does a changed program still do what the good one did for every op, core by core?
//!
//! Told without the checker and without its list of requirements: each core is followed through its steps with the
//! few things it remembers (addresses, the early-start classes, whose `SyncAll` idle cores follow, what the switch
//! picked, whether its pipes still run), and what it does to the world is written down together with what it
//! remembered then. The account of the good program is the measure. Order *between* cores and all sets and waits of
//! flags are not told here: exploration tries those.

use std::collections::{BTreeMap, BTreeSet};

use superkernel::model::{CoreKind, EventId, OpPosition, SlotNumber, StreamForm};
use superkernel::program::{Action, Barrier, CoreId, EarlyStartConfig, Kinds, Program, Reason, Round, Step};

/// What a core remembers.
#[derive(Debug, Clone, Default)]
struct Memory {
    parameters: bool,
    workspace: Option<SlotNumber>,
    records: Option<Option<SlotNumber>>,
    dump: Option<u64>,
    profiling: bool,
    scheduler: Option<SlotNumber>,
    classes: Option<EarlyStartConfig>,
    /// The first op to which something is handed over, in the good program.
    handed_over: Option<OpPosition>,
    /// `None`: not known yet, `Some(None)`: nobody's.
    followed: Option<Option<(u64, u64)>>,
    picked: Option<OpPosition>,
    /// An op was called and no pipe has been waited for since.
    pipes_run: bool,
    seen: BTreeSet<EventId>,
    piece: Piece,
    called: BTreeSet<OpPosition>,
}

/// What has happened on a core since others of its side, or itself, were told to call an op.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    op: Option<OpPosition>,
    /// All pipes were waited for.
    waited: bool,
    /// Somebody may have learned that the op has ended.
    told: bool,
}

impl Piece {
    fn pass(&mut self, program: &Program, core: CoreId, step: &Step) {
        let of_side = match program.form {
            StreamForm::One => true,
            StreamForm::Several => step.cores.kinds == Kinds::Only(core.kind) || step.cores.kinds == Kinds::Every,
        };
        let (action, taken) = (&step.action, step.cores.contain(core));
        if of_side && matches!(action, Action::Call { .. } | Action::CallPicked { .. }) {
            *self = Self { op: step.op, waited: false, told: false };
        }
        self.waited |= taken && *action == Action::PipeBarrier;
        self.told |= taken
            && matches!(
                action,
                Action::Barrier(_) | Action::SetFlag { .. } | Action::EarlyStartSet { .. } | Action::Notify { .. }
            );
    }
}

/// What a core does.
#[derive(Debug, Default, PartialEq, Eq)]
struct Account {
    /// As often as the good program does it.
    deeds: BTreeMap<String, u32>,
    /// At least what the good program does; more does no harm.
    needed: BTreeSet<String>,
    /// Only in circumstances in which the good program does something of the kind.
    circumstances: BTreeSet<String>,
}

/// What is not as in the good program; `None`: it does the same for every op.
pub(super) fn difference(good: &Program, changed: &Program) -> Option<String> {
    if let Some(step) = changed.steps.iter().find(|step| is_for_nobody(changed, step)) {
        return Some(format!("{} is for cores that do not exist", step.action.name()));
    }
    let is_handed =
        |step: &&Step| matches!(step.action, Action::EarlyStartConfig { .. }) && step.reason != Some(Reason::OwnSet);
    let handed_over = good.steps.iter().filter(is_handed).filter_map(|step| step.op).min();
    good.cores(0..good.block_num).into_iter().find_map(|core| {
        let (wanted, found) = (account(good, core, handed_over), account(changed, core, handed_over));
        let told = |what: String| Some(format!("{core}: {what}"));
        if let Some(what) = wanted.needed.iter().find(|what| !found.needed.contains(*what)) {
            return told(format!("does not: {what}"));
        }
        let harmless = |what: &str| what.ends_with("base known: true");
        let is_new = |what: &&String| !wanted.circumstances.contains(*what) && !harmless(what);
        if let Some(what) = found.circumstances.iter().find(is_new) {
            return told(what.clone());
        }
        let names = wanted.deeds.keys().chain(found.deeds.keys());
        names.into_iter().find(|what| wanted.deeds.get(*what) != found.deeds.get(*what)).and_then(|what| {
            told(format!("{:?} instead of {:?} times: {what}", found.deeds.get(what), wanted.deeds.get(what)))
        })
    })
}

/// A step over cores that the launch has not.
fn is_for_nobody(program: &Program, step: &Step) -> bool {
    let kinds: BTreeSet<CoreKind> = program.cores(0..1).into_iter().map(|core| core.kind).collect();
    let lacks = |kind: CoreKind| !kinds.contains(&kind);
    let (cube, vector) = (lacks(CoreKind::Aic), lacks(CoreKind::Aiv));
    let action = &step.action;
    let meets = matches!(action, Action::Barrier(Barrier::Aic | Barrier::AicAfterMte3 | Barrier::All)) && cube
        || matches!(action, Action::Barrier(Barrier::Aiv | Barrier::All)) && vector
        || matches!(action, Action::SetFlag { .. } | Action::WaitFlag { .. }) && (cube || vector);
    meets || matches!(step.cores.kinds, Kinds::Only(kind) if lacks(kind))
}

fn account(program: &Program, core: CoreId, handed_over: Option<OpPosition>) -> Account {
    let (mut memory, mut account) = (Memory { handed_over, ..Memory::default() }, Account::default());
    for step in &program.steps {
        if step.cores.contain(core) {
            account.note(program, step, &memory);
            memory.take(program, core, step);
        }
        memory.piece.pass(program, core, step);
    }
    if program.ops.iter().any(|op| op.own_set == Some(Round::AtEnd)) {
        account.need(format!("ends with the classes {:?}", memory.classes));
    }
    account
}

impl Account {
    fn deed(&mut self, what: String) {
        *self.deeds.entry(what).or_default() += 1;
    }

    fn need(&mut self, what: String) {
        self.needed.insert(what);
    }

    fn circumstance(&mut self, what: String) {
        self.circumstances.insert(what);
    }

    fn note(&mut self, program: &Program, step: &Step, memory: &Memory) {
        let op = step.op.unwrap_or(OpPosition::at(0));
        let Memory { parameters, workspace, .. } = memory;
        let action = &step.action;
        match action {
            Action::LoadWorkspace { .. } | Action::SetFftsBase { .. } => {
                self.need(format!("{action:?} with parameters: {parameters}"));
            }
            Action::SetSyncAllBase => self.need(format!("{action:?} at {workspace:?}")),
            Action::LoadParameters => self.need("loads parameters".to_owned()),
            Action::InitDump { .. } | Action::ClearWorkspace { .. } => {
                self.deed(format!("{action:?} in {workspace:?}"))
            }
            Action::InitProfiling { .. } => self.deed(format!("{action:?} with parameters: {parameters}")),
            Action::Record { .. } => self.circumstance(format!("records with area: {}", memory.profiling)),
            Action::Barrier(barrier) => {
                self.flags(memory);
                if step.reason == Some(Reason::DebugSyncAll) {
                    let Piece { op, waited, .. } = memory.piece;
                    let waited = waited || program.form == StreamForm::One;
                    let who = match barrier {
                        // All pipes have been waited for.
                        Barrier::Aic | Barrier::AicAfterMte3 => "cubes",
                        Barrier::Aiv => "vectors",
                        Barrier::All => "all",
                    };
                    self.need(format!("{who} meet for debugging after op {op:?}, pipes waited for: {waited}"));
                }
                if *barrier == Barrier::All {
                    self.circumstance(format!(
                        "meets while idle cores follow: {:?}",
                        memory.followed.map(|of| of.is_some())
                    ));
                }
            }
            Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::EarlyStartSet { .. }
            | Action::EarlyStartWait { .. } => self.flags(memory),
            Action::Notify { .. } | Action::WaitEvent { .. } | Action::ReleaseLock { .. } | Action::Switch { .. } => {
                self.deed(format!("{action:?} of op {op:?} with parameters: {parameters}"));
            }
            Action::ClearEvent { event, .. } => {
                let seen = memory.seen.contains(event);
                self.deed(format!("{action:?} of op {op:?} with parameters: {parameters}, seen: {seen}"));
            }
            Action::EnableSyncAll { .. } => {
                let base = memory.records.flatten().is_some();
                self.circumstance(format!("lets idle cores follow, base known: {base}"));
            }
            Action::EndSyncAll => {
                self.deed(format!("{action:?} of op {op:?}, called: {}", memory.called.contains(&op)))
            }
            Action::ComplementSyncAll => {
                self.flags(memory);
                self.deed(format!("{action:?} of op {op:?}, followed: {:?}", memory.followed));
            }
            Action::PreloadPicked { .. } => {
                let picked = memory.picked == Some(op);
                self.circumstance(format!("preloads what was picked for the op: {picked}"));
            }
            Action::Flush => match step.reason {
                None => self.need(format!("flushes for op {op:?}, called: {}", memory.called.contains(&op))),
                Some(_) => {
                    self.need(format!("flushes for debugging: {:?}", memory.piece));
                }
            },
            Action::Call { .. } | Action::CallPicked { .. } => {
                self.flags(memory);
                self.call(program, op, action, memory);
            }
            Action::PreloadHere { .. }
            | Action::Preload { .. }
            | Action::PipeBarrier
            | Action::EarlyStartConfig { .. }
            | Action::DisableSyncAll => {}
        }
    }

    fn flags(&mut self, memory: &Memory) {
        self.circumstance(format!("uses flags with scheduler {:?}", memory.scheduler));
    }

    fn call(&mut self, program: &Program, op: OpPosition, action: &Action, memory: &Memory) {
        let facts = &program.ops[op];
        let waits = facts.own_wait.is_some();
        let classes = memory.handed_over.is_some_and(|first| op >= first).then_some(memory.classes);
        let picked = matches!(action, Action::CallPicked { .. }).then_some(memory.picked);
        let Memory { parameters, dump, followed, .. } = memory;
        let pipes_run = memory.pipes_run && !waits;
        self.deed(format!(
            "{action:?} of op {op:?} with parameters: {parameters}, dump {dump:?}, followed {followed:?}, classes \
             {classes:?}, picked {picked:?}, pipes run {pipes_run:?}"
        ));
    }
}

impl Memory {
    fn take(&mut self, program: &Program, core: CoreId, step: &Step) {
        let op = step.op.unwrap_or(OpPosition::at(0));
        match &step.action {
            Action::LoadParameters => self.parameters = true,
            Action::LoadWorkspace { slot } => self.workspace = Some(*slot),
            Action::SetSyncAllBase => self.records = Some(self.workspace),
            Action::InitDump { offset } => self.dump = Some(*offset),
            Action::InitProfiling { .. } => self.profiling = true,
            Action::SetFftsBase { slot } => self.scheduler = Some(*slot),
            Action::EarlyStartConfig { config } => self.classes = Some(*config),
            Action::EnableSyncAll { records } => self.followed = Some(Some((records.aic, records.aiv))),
            Action::DisableSyncAll => self.followed = Some(None),
            Action::Switch { .. } => self.picked = step.op,
            Action::PipeBarrier | Action::Barrier(Barrier::Aic | Barrier::Aiv | Barrier::All) => self.pipes_run = false,
            // The core's kind has met, each core after its pipes.
            Action::EarlyStartWait { config, .. } => {
                self.pipes_run &= !config.previous.kinds().contains(&core.kind);
            }
            Action::Call { .. } | Action::CallPicked { .. } => {
                self.pipes_run |= program.ops[op].class().kinds().contains(&core.kind);
                self.called.insert(op);
            }
            Action::WaitEvent { event, .. } => drop(self.seen.insert(*event)),
            Action::Flush
            | Action::ClearWorkspace { .. }
            | Action::PreloadHere { .. }
            | Action::Preload { .. }
            | Action::PreloadPicked { .. }
            | Action::Record { .. }
            | Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::Barrier(Barrier::AicAfterMte3)
            | Action::EarlyStartSet { .. }
            | Action::Notify { .. }
            | Action::ClearEvent { .. }
            | Action::EndSyncAll
            | Action::ComplementSyncAll
            | Action::ReleaseLock { .. } => {}
        }
    }
}
