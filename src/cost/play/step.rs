//! What single steps cost a core: code, calls, the work of ops.

use super::super::account::{Charge, CodeUnits, Part, Share};
use super::super::code::{ASSUMED_UNITS, CodeId, CodeSize, Found};
use super::super::prices::{Price, Prices};
use super::{Made, Place, Player, hop};
use crate::model::{CoreClass, CoreKind, OpPosition};
use crate::objects::TextSizes;
use crate::program::launch::micro::{Micro, expand, runs};
use crate::program::{Action, Barrier, CoreId, Program, Step};

impl Player<'_> {
    /// What a step costs before anything is waited for.
    pub(super) fn charge_step(&mut self, core: usize, step: &Step) {
        let op = step.op;
        let mut spend = |price, count, part| self.spend(core, Charge::Price(price, count), part);
        if let Some((price, count, part)) = upkeep(&step.action) {
            spend(price, count, part);
        }
        match &step.action {
            Action::PreloadHere { units } => {
                spend(Price::Preload, 1.0, Part::Code);
                self.preload_here(core, *units);
            }
            Action::Preload { function, units } => {
                spend(Price::Preload, 1.0, Part::Code);
                if let Some(op) = op {
                    self.preload(core, CodeId::Function(*function), units.unwrap_or(ASSUMED_UNITS), op);
                }
            }
            Action::PreloadPicked { units } => {
                spend(Price::Preload, 1.0, Part::Code);
                if let Some(op) = op {
                    self.preload(core, CodeId::Picked(op), *units, op);
                }
            }
            Action::Call { function, .. } => {
                if let Some(op) = op {
                    self.call(core, CodeId::Function(*function), op);
                }
            }
            Action::CallPicked { .. } => {
                if let Some(op) = op.filter(|op| runs(self.launch.program, self.cores[core].id, *op)) {
                    self.call(core, CodeId::Picked(op), op);
                }
            }
            Action::Record { .. }
            | Action::Flush
            | Action::ClearWorkspace { .. }
            | Action::Notify { .. }
            | Action::WaitEvent { .. }
            | Action::ClearEvent { .. }
            | Action::Switch { .. }
            | Action::ReleaseLock { .. }
            | Action::LoadParameters
            | Action::LoadWorkspace { .. }
            | Action::SetSyncAllBase
            | Action::InitDump { .. }
            | Action::InitProfiling { .. }
            | Action::SetFftsBase { .. }
            | Action::PipeBarrier
            | Action::Barrier(_)
            | Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::EarlyStartSet { .. }
            | Action::EarlyStartConfig { .. }
            | Action::EarlyStartWait { .. }
            | Action::EnableSyncAll { .. }
            | Action::DisableSyncAll
            | Action::EndSyncAll
            | Action::ComplementSyncAll => {}
        }
    }

    /// An op's code is about to run: it must be there; and what it does before its own wait is done at once.
    fn call(&mut self, core: usize, code: CodeId, op: OpPosition) {
        let size = self.code_size(self.cores[core].id.kind, op);
        match self.cores[core].cache.call(code, size) {
            Found::Ready => {}
            Found::Missing(units) => self.spend(core, Charge::Code(units), Part::Code),
            Found::Coming { ready, since, fetched, rest } => {
                if ready > self.cores[core].now {
                    let at = Place { core: core as u32, entry: since };
                    let from = Made { time: self.cores[core].now, at };
                    self.go_on(core, ready, from, Charge::Code(fetched), Part::Code);
                }
                if rest.misses > 0.0 {
                    self.spend(core, Charge::Code(rest), Part::Code);
                }
            }
        }
        self.starts[op][core] = Some(self.here(core));
        let facts = &self.launch.program.ops[op];
        // The halves of a MIX op hand the start on to each other: nothing is assumed to come before that.
        if facts.own_wait.is_some() && facts.class() != CoreClass::Mix {
            let share = self.at_most_half(core, op, Share { heads: 1.0, ..Share::default() });
            self.cores[core].head = Some(share);
            self.spend(core, Charge::Work { op, share }, Part::Work);
        }
    }

    /// The op's work, as far as it stands before its own set. A MIX op works when all cores of its block are in it;
    /// false: they are not yet. Where in the op its own `SyncAll` stands nobody knows: behind the work.
    pub(super) fn work_through(&mut self, core: usize, op: OpPosition) -> bool {
        let program = self.launch.program;
        let facts = &program.ops[op];
        let mut begin = self.starts[op][core];
        if facts.class() == CoreClass::Mix {
            for &other in &self.block[core] {
                if !runs(program, self.cores[other].id, op) {
                    continue;
                }
                let Some(start) = self.starts[op][other] else { return false };
                if begin.is_none_or(|begin| start.time > begin.time) {
                    begin = Some(start);
                }
            }
        }
        if let Some(begin) = begin.filter(|begin| begin.time > self.cores[core].now) {
            self.go_on(core, begin.time, begin, Charge::Price(Price::FlagBlock, 0.0), Part::Work);
        }
        let head = self.cores[core].head.take().unwrap_or_default();
        let start = self.cores[core].now - self.share(core, op, head);
        let rest = Share::ALL.without(head);
        let mut tail = Share::default();
        // A `SyncAll` that is fed stands behind the work, and so does the set: nothing of the work is left behind it.
        if facts.own_set.is_some() && !facts.feeds_sync_all {
            tail = self.at_most_half(core, op, Share { tails: 1.0, ..Share::default() });
            self.cores[core].tail = Some((op, tail));
        }
        self.spend(core, Charge::Work { op, share: rest.without(tail) }, Part::Work);
        let end = self.cores[core].now + self.share(core, op, tail);
        self.ops[op].ran(start, end);
        true
    }

    /// What an op still does behind its own set.
    pub(super) fn leave_step(&mut self, core: usize) {
        if let Some((op, share)) = self.cores[core].tail.take() {
            self.spend(core, Charge::Work { op, share }, Part::Work);
        }
    }

    /// Heads and tails never meet: neither is more than half of an op.
    fn at_most_half(&self, core: usize, op: OpPosition, share: Share) -> Share {
        if self.share(core, op, share) < self.share(core, op, Share::HALF) { share } else { Share::HALF }
    }

    pub(super) fn share(&self, core: usize, op: OpPosition, share: Share) -> f64 {
        share.time(self.work(core, op), self.prices)
    }

    fn code_size(&self, kind: CoreKind, op: OpPosition) -> CodeSize {
        code_size(self.launch.program, self.launch.sizes, kind, op)
    }

    fn preload(&mut self, core: usize, code: CodeId, units: u32, op: OpPosition) {
        let size = self.code_size(self.cores[core].id.kind, op);
        let (now, entry) = (self.cores[core].now, self.here(core).at.entry);
        self.cores[core].cache.preload(code, units, size, now, entry, self.prices);
    }

    /// The code behind the entry: taken to be the functions in the order of their first call.
    fn preload_here(&mut self, core: usize, units: u32) {
        let program = self.launch.program;
        let id = self.cores[core].id;
        let mut left = units;
        for step in &program.steps {
            if left == 0 {
                break;
            }
            let (Action::Call { function, .. }, Some(op)) = (&step.action, step.op) else { continue };
            if step.cores.contain(id) {
                let taken = self.code_size(id.kind, op).units.min(left);
                left -= taken;
                self.preload(core, CodeId::Function(*function), taken, op);
            }
        }
    }
}

/// What a step costs whoever takes it, and whatever others do.
fn upkeep(action: &Action) -> Option<(Price, f64, Part)> {
    match action {
        Action::Record { .. } => Some((Price::Record, 1.0, Part::Upkeep)),
        Action::Flush => Some((Price::CacheFlush, 1.0, Part::Upkeep)),
        Action::ClearWorkspace { bytes } => Some((Price::WorkspaceClear, *bytes as f64 / 512.0, Part::Upkeep)),
        Action::Notify { .. }
        | Action::WaitEvent { .. }
        | Action::ClearEvent { .. }
        | Action::Switch { .. }
        | Action::ReleaseLock { .. } => Some((Price::EventWord, 1.0, Part::Event)),
        Action::PreloadHere { .. }
        | Action::Preload { .. }
        | Action::PreloadPicked { .. }
        | Action::Call { .. }
        | Action::CallPicked { .. }
        | Action::LoadParameters
        | Action::LoadWorkspace { .. }
        | Action::SetSyncAllBase
        | Action::InitDump { .. }
        | Action::InitProfiling { .. }
        | Action::SetFftsBase { .. }
        | Action::PipeBarrier
        | Action::Barrier(_)
        | Action::SetFlag { .. }
        | Action::WaitFlag { .. }
        | Action::EarlyStartSet { .. }
        | Action::EarlyStartConfig { .. }
        | Action::EarlyStartWait { .. }
        | Action::EnableSyncAll { .. }
        | Action::DisableSyncAll
        | Action::EndSyncAll
        | Action::ComplementSyncAll => None,
    }
}

/// What a step that synchronises costs the core that pays most for it, in microseconds, once all others are there.
pub(crate) fn step_price(program: &Program, step: &Step, prices: &Prices) -> f64 {
    let own = upkeep(&step.action).map_or(0.0, |(price, count, _)| prices.get(price) * count);
    let hops = |kind: &CoreKind| {
        let list = expand(program, step, CoreId { kind: *kind, block: 0, sub_block: 0, sub_blocks: 1 });
        let price = |micro| if let Micro::Wait { flag, .. } = micro { prices.get(hop(flag)) } else { 0.0 };
        let waits = (0..list.len()).filter_map(|place| list.get(place)).map(price);
        waits.sum::<f64>()
    };
    let kinds = program.kinds().iter().filter(|kind| step.cores.kinds.contain(**kind));
    // Where all meet, the cores of one kind wait for those of the other, which have waited before.
    let join = if step.action == Action::Barrier(Barrier::All) { |sum, hops| sum + hops } else { f64::max };
    own + kinds.map(hops).fold(0.0, join)
}

/// The code that one core of `kind` fetches for an op.
fn code_size(program: &Program, sizes: &TextSizes, kind: CoreKind, op: OpPosition) -> CodeSize {
    let facts = &program.ops[op];
    let (aic, aiv) = program.kernel_type.task_ratio();
    let blocks = facts.block_num.min(program.block_num.saturating_mul(2).max(1));
    let cores = match (kind, facts.class()) {
        (CoreKind::Aic, _) => blocks.saturating_mul(u32::from(aic)),
        (CoreKind::Aiv, CoreClass::Mix) => blocks.saturating_mul(u32::from(aiv)),
        (CoreKind::Aiv, CoreClass::Aic | CoreClass::Aiv) => blocks,
    };
    alone(sizes.get(op, kind), cores, program.split)
}

/// Code that `cores` cores fetch from `copies` copies.
fn alone(bytes: Option<u64>, cores: u32, copies: u32) -> CodeSize {
    let units = bytes.map_or(ASSUMED_UNITS, |bytes| u32::try_from(bytes.div_ceil(2048)).unwrap_or(u32::MAX));
    let copies = copies.max(1);
    CodeSize { units, sharers: cores.div_ceil(copies).saturating_sub(1), other_copies: copies.min(cores.max(1)) - 1 }
}

/// What fetching the code of an op costs when it runs as a task of its own: every core fetches the one copy there is.
pub(in crate::cost) fn code_alone(bytes: Option<u64>, cores: u32) -> CodeUnits {
    let size = alone(bytes, cores, 1);
    let units = f64::from(size.units);
    CodeUnits { misses: units, shares: units * f64::from(size.sharers), copies: 0.0 }
}
