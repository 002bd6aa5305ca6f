//! What a step means on one core, in sets and waits of single flags.

use super::super::requires::index_of_class;
use super::super::{Action, Barrier, CoreId, EarlyStartConfig, Pair, Program, Reason, Round, Step};
use crate::model::{Chip, CoreClass, CoreKind, EventId, OpPosition, SuperKernelType};

/// A flag, and with it the mode it is set in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Flag {
    /// 11: all cube cores.
    AllCubes,
    /// 14: all vector cores; on cube cores all cube cores (`SyncAll<true>`).
    AllOfKind,
    /// 12: the vector cores of a block to its cube core.
    Arrive,
    /// 13: the cube core of a block to its vector cores.
    Release,
    /// The same two as the in-block flags that `SyncAll` and early start use on newer chips.
    ArriveInBlock,
    /// See [`Flag::ArriveInBlock`].
    ReleaseInBlock,
}

impl Flag {
    pub(crate) const ALL: [Self; 6] =
        [Self::AllCubes, Self::AllOfKind, Self::Arrive, Self::Release, Self::ArriveInBlock, Self::ReleaseInBlock];

    pub(crate) fn number(self) -> u32 {
        match self {
            Self::AllCubes => 11,
            Self::Arrive | Self::ArriveInBlock => 12,
            Self::Release | Self::ReleaseInBlock => 13,
            Self::AllOfKind => 14,
        }
    }
}

/// What a set or a wait is for. A set must be taken by a wait for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A barrier of the super kernel.
    Barrier(Option<OpPosition>, Option<Reason>),
    /// An edge, or the cleared workspace.
    Pair(Pair),
    /// An early-start hand-over.
    Round(Round),
    /// A `SyncAll` in an op's own code.
    InOp(OpPosition),
}

impl Tag {
    /// Words for it, ops by index.
    pub(crate) fn describe(self, program: &Program) -> String {
        match self {
            Self::Barrier(Some(op), Some(reason)) => format!("barrier at op {} ({reason})", program.index(op)),
            Self::Barrier(Some(op), None) => format!("barrier at op {}", program.index(op)),
            Self::Barrier(None, Some(reason)) => format!("barrier of the super kernel ({reason})"),
            Self::Barrier(None, None) => "barrier of the super kernel".to_owned(),
            Self::Pair(Pair::Ops { sender, receiver }) => {
                format!("flag from op {} to op {}", program.index(sender), program.index(receiver))
            }
            Self::Pair(Pair::Workspace) => "flag of the cleared workspace".to_owned(),
            Self::Round(Round::Into(op)) => format!("hand-over to op {}", program.index(op)),
            Self::Round(Round::OwnWait(op)) => format!("own wait of op {}", program.index(op)),
            Self::Round(Round::AtEnd) => "hand-over at the end".to_owned(),
            Self::InOp(op) => format!("SyncAll inside op {}", program.index(op)),
        }
    }
}

/// The pipe that a set follows: it takes effect when everything on that pipe before it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetPipe {
    /// The one that results leave by: FIX on cube, MTE3 on vector cores.
    Output,
    /// Another one.
    Other,
}

/// One indivisible thing a core does, as far as order is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Micro {
    Set {
        flag: Flag,
        tag: Tag,
        pipe: SetPipe,
    },
    Wait {
        flag: Flag,
        tag: Tag,
    },
    /// From here on the op touches data.
    Start(OpPosition),
    /// From here on it issues no more; what it wrote may still be in the pipes.
    End(OpPosition),
    /// All pipes of the core have finished.
    Drained,
    /// The cache is flushed for the op: before it if it has not ended on this core, otherwise after it.
    Flushed(OpPosition),
    /// An outer event has been seen.
    Waited(OpPosition, EventId),
    /// An outer event is told.
    Notify(OpPosition),
    /// The lock of a dynamic op has been polled.
    Switched(OpPosition),
    /// It is cleared.
    Release(OpPosition),
    /// This core's share of the workspace is zero.
    Cleared,
    /// The op's feed-sync-all records are written or read.
    UseWorkspace(OpPosition),
}

/// A few micro steps, without allocation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MicroList {
    items: [Option<Micro>; 14],
    count: usize,
}

impl MicroList {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn get(&self, place: usize) -> Option<Micro> {
        self.items.get(place).copied().flatten()
    }

    fn push(&mut self, micro: Micro) {
        self.items[self.count] = Some(micro);
        self.count += 1;
    }

    fn set(&mut self, flag: Flag, tag: Tag, pipe: SetPipe) {
        self.push(Micro::Set { flag, tag, pipe });
    }

    fn wait(&mut self, flag: Flag, tag: Tag) {
        self.push(Micro::Wait { flag, tag });
    }
}

/// The micro steps of a step on a core that takes it.
pub(crate) fn expand(program: &Program, step: &Step, core: CoreId) -> MicroList {
    let mut list = MicroList::default();
    let position = step.op.unwrap_or(OpPosition::FIRST);
    match &step.action {
        Action::Barrier(barrier) => {
            let tag = Tag::Barrier(step.op, step.reason);
            match barrier {
                Barrier::Aic => meet(&mut list, Flag::AllCubes, tag, SetPipe::Output),
                Barrier::AicAfterMte3 => meet(&mut list, Flag::AllCubes, tag, SetPipe::Other),
                Barrier::Aiv => meet(&mut list, Flag::AllOfKind, tag, SetPipe::Output),
                Barrier::All => sync_all(program, &mut list, core, tag),
            }
        }
        // Always on MTE3.
        Action::SetFlag { direction, pair } => {
            let pipe = match core.kind {
                CoreKind::Aic => SetPipe::Other,
                CoreKind::Aiv => SetPipe::Output,
            };
            list.set(Flag::of(*direction), Tag::Pair(*pair), pipe);
        }
        Action::WaitFlag { direction, pair } => list.wait(Flag::of(*direction), Tag::Pair(*pair)),
        Action::EarlyStartSet { round } => early_start_set(&mut list, core, *round),
        Action::EarlyStartWait { config, round } => early_start_wait(program, &mut list, core, *config, *round),
        Action::Notify { .. } => list.push(Micro::Notify(position)),
        Action::WaitEvent { event, .. } => list.push(Micro::Waited(position, *event)),
        Action::Switch { .. } => list.push(Micro::Switched(position)),
        Action::ClearWorkspace { .. } => list.push(Micro::Cleared),
        Action::ReleaseLock { .. } => list.push(Micro::Release(position)),
        Action::PipeBarrier => list.push(Micro::Drained),
        // Around an op; after every op, for debugging, it is an option that asks for it.
        Action::Flush if step.reason.is_none() => list.push(Micro::Flushed(position)),
        Action::Call { .. } => call(program, &mut list, core, position),
        Action::CallPicked { .. } if runs(program, core, position) => {
            list.push(Micro::Start(position));
            list.push(Micro::End(position));
        }
        Action::ComplementSyncAll => sync_all_in_op(program, &mut list, core, position),
        Action::CallPicked { .. }
        | Action::LoadParameters
        | Action::LoadWorkspace { .. }
        | Action::SetSyncAllBase
        | Action::InitDump { .. }
        | Action::InitProfiling { .. }
        | Action::SetFftsBase { .. }
        | Action::PreloadHere { .. }
        | Action::Preload { .. }
        | Action::PreloadPicked { .. }
        | Action::Record { .. }
        | Action::EarlyStartConfig { .. }
        | Action::ClearEvent { .. }
        | Action::EnableSyncAll { .. }
        | Action::DisableSyncAll
        | Action::EndSyncAll
        | Action::Flush => {}
    }
    list
}

/// Does this core run the op? (A dynamic op may run on every core of its kinds.)
pub(crate) fn runs(program: &Program, core: CoreId, op: OpPosition) -> bool {
    let facts = &program.ops[op];
    let index = index_of_class(facts.class());
    facts.class().runs_on(core.kind) && (facts.is_dynamic || core.index(index) < u64::from(facts.block_num))
}

/// A static op's code.
fn call(program: &Program, list: &mut MicroList, core: CoreId, op: OpPosition) {
    let facts = &program.ops[op];
    if let Some((config, round)) = facts.own_wait {
        early_start_wait(program, list, core, config, round);
    }
    list.push(Micro::Start(op));
    sync_all_in_op(program, list, core, op);
    list.push(Micro::End(op));
    if let Some(round) = facts.own_set {
        early_start_set(list, core, round);
    }
}

/// A `SyncAll` in the op's code, where idle cores follow it. (Without them it hangs unless the op uses all cores,
/// which nobody here can know.)
fn sync_all_in_op(program: &Program, list: &mut MicroList, core: CoreId, op: OpPosition) {
    let facts = &program.ops[op];
    if !facts.feeds_sync_all {
        return;
    }
    list.push(Micro::UseWorkspace(op));
    match facts.class() {
        CoreClass::Aic | CoreClass::Aiv => {
            list.push(Micro::Drained);
            meet(list, Flag::AllOfKind, Tag::InOp(op), SetPipe::Output);
        }
        CoreClass::Mix => sync_all(program, list, core, Tag::InOp(op)),
    }
}

fn meet(list: &mut MicroList, flag: Flag, tag: Tag, pipe: SetPipe) {
    list.set(flag, tag, pipe);
    list.wait(flag, tag);
}

/// `SyncAll<false>`. It waits for all pipes of the core first, so the pipes of its sets do not matter.
fn sync_all(program: &Program, list: &mut MicroList, core: CoreId, tag: Tag) {
    let (arrive, release) = in_block(program);
    list.push(Micro::Drained);
    match core.kind {
        CoreKind::Aic => {
            list.wait(arrive, tag);
            meet(list, Flag::AllCubes, tag, SetPipe::Other);
            list.set(release, tag, SetPipe::Other);
        }
        CoreKind::Aiv => {
            list.set(arrive, tag, SetPipe::Other);
            list.wait(release, tag);
        }
    }
}

fn early_start_set(list: &mut MicroList, core: CoreId, round: Round) {
    list.set(own_flag(core.kind), Tag::Round(round), SetPipe::Output);
}

/// The table of `WaitPreTaskEndImpl`.
fn early_start_wait(program: &Program, list: &mut MicroList, core: CoreId, config: EarlyStartConfig, round: Round) {
    let (arrive, release) = in_block(program);
    let tag = Tag::Round(round);
    let (incoming, outgoing) = match core.kind {
        CoreKind::Aic => (arrive, release),
        CoreKind::Aiv => (release, arrive),
    };
    let other = core.kind.other();
    if config.previous.runs_on(core.kind) {
        list.wait(own_flag(core.kind), tag);
        if config.current.runs_on(other) {
            // What this core has written is known since the wait.
            list.set(outgoing, tag, SetPipe::Other);
        }
    }
    if config.previous.runs_on(other) && config.current.runs_on(core.kind) {
        list.wait(incoming, tag);
    }
}

fn own_flag(kind: CoreKind) -> Flag {
    match kind {
        CoreKind::Aic => Flag::AllCubes,
        CoreKind::Aiv => Flag::AllOfKind,
    }
}

/// The flags inside a block that `SyncAll` and early start use.
fn in_block(program: &Program) -> (Flag, Flag) {
    match (program.chip, program.kernel_type) {
        (Chip::C310, SuperKernelType::Mix1_2) => (Flag::ArriveInBlock, Flag::ReleaseInBlock),
        (Chip::C310, SuperKernelType::Aic | SuperKernelType::Aiv | SuperKernelType::Mix1_1) | (Chip::C220, _) => {
            (Flag::Arrive, Flag::Release)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one stream all cores take the call of what was picked; those of another kind have nothing to run.
    #[test]
    fn only_cores_of_its_kind_run_a_dynamic_op() {
        let program = Program::read(include_str!("../../../tests/cases/dynamic/program.txt")).unwrap();
        let mut seen = [0, 0];
        for step in program.steps.iter().filter(|step| matches!(step.action, Action::CallPicked { .. })) {
            let op = step.op.unwrap();
            for kind in CoreKind::BOTH {
                let list = expand(&program, step, CoreId { kind, block: 0, sub_block: 0, sub_blocks: 1 });
                let runs = program.ops[op].class().runs_on(kind);
                let expected: &[Micro] = if runs { &[Micro::Start(op), Micro::End(op)] } else { &[] };
                assert_eq!((0..list.len()).filter_map(|place| list.get(place)).collect::<Vec<_>>(), expected);
                seen[usize::from(runs)] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }
}
