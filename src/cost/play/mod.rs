//! Plays a launch with times: every core takes its steps as in the checker's model, and a clock runs on each.
//!
//! The order in which the cores are looked at does not matter: the k-th wait of a flag takes the k-th set, whenever that
//! was. So all times are sums and maxima of what is charged, and a larger charge never makes a launch shorter.

mod step;

pub(super) use step::code_alone;
pub(crate) use step::step_price;

use super::account::{Charge, CoreAccount, CriticalPath, OpSpan, Part, Share};
use super::code::CodeCache;
use super::error::CostError;
use super::prices::{PerPrice, Price};
use super::work::OpWork;
use crate::model::{ByPosition, OpPosition};
use crate::objects::TextSizes;
use crate::program::launch::Accounting;
use crate::program::launch::flags::{Carried, Flags, Received};
use crate::program::launch::micro::{Flag, Micro, MicroList, Tag, expand};
use crate::program::representative_blocks;
use crate::program::{CoreId, Program};

/// A launch, and what is known about it.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// What the cores do.
    pub program: &'a Program,
    /// How much code there is.
    pub sizes: &'a TextSizes,
    /// How long the ops take.
    pub work: &'a ByPosition<OpWork>,
}

/// Which cores are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Played {
    /// All of them.
    Every,
    /// One or two of each group that does the same, where that gives the same time: all, if cores differ in their work.
    Representative,
}

/// A launch that was played.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// From the start of the task to the end of its last core.
    pub total: f64,
    /// What that time is made of.
    pub path: CriticalPath,
    /// The ops.
    pub ops: ByPosition<OpSpan>,
    /// The cores that were played.
    pub cores: Vec<(CoreId, CoreAccount)>,
}

/// Plays a launch.
pub fn play(launch: Launch<'_>, prices: &PerPrice, played: Played) -> Result<Timeline, CostError> {
    let even = launch.work.iter().all(OpWork::is_even);
    let blocks = match played {
        Played::Representative if even => representative_blocks(launch.program),
        Played::Representative | Played::Every => (0..launch.program.block_num).collect(),
    };
    let mut player = Player::new(launch, prices, &blocks);
    player.run()?;
    Ok(player.finish())
}

/// A stretch of one core's time, for pictures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) start: f64,
    pub(super) end: f64,
    /// The step the core is in; `None`: it has not begun.
    pub(super) step: Option<usize>,
    pub(super) part: Part,
    /// It ended because of another core: the core's number here, and when it did what ended it.
    pub(super) from: Option<(usize, f64)>,
}

/// Plays a launch on every core and writes down what each did when.
pub(super) fn play_recorded(launch: Launch<'_>, prices: &PerPrice) -> Result<Vec<(CoreId, Vec<Stretch>)>, CostError> {
    let blocks: Vec<u32> = (0..launch.program.block_num).collect();
    let mut player = Player::new(launch, prices, &blocks);
    let start = prices[Price::TaskStart as usize];
    let first = Stretch { start: 0.0, end: start, step: None, part: Part::TaskStart, from: None };
    player.recorded = Some(vec![vec![first]; player.cores.len()]);
    player.run()?;
    let recorded = player.recorded.take().unwrap_or_default();
    Ok(player.cores.iter().map(|core| core.id).zip(recorded).collect())
}

/// When a set was made, and where the log of its core says so.
#[derive(Debug, Clone, Copy)]
struct Made {
    time: f64,
    at: Place,
}

impl Carried for Made {
    fn join(&mut self, other: &Self) {
        if other.time > self.time {
            *self = *other;
        }
    }
}

/// An entry of a core's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    core: u32,
    entry: u32,
}

/// A stretch of a core's time, behind the entry at `from`.
#[derive(Debug, Clone, Copy)]
struct Entry {
    from: Place,
    charge: Charge,
    part: Part,
}

struct Core {
    id: CoreId,
    step: usize,
    micros: MicroList,
    done: usize,
    now: f64,
    log: Vec<Entry>,
    cache: CodeCache,
    account: CoreAccount,
    /// Of the op it runs: what its code does before its own wait.
    head: Option<Share>,
    /// Of the op it ran: what its code does behind its own set.
    tail: Option<(OpPosition, Share)>,
}

struct Player<'a> {
    launch: Launch<'a>,
    prices: &'a PerPrice,
    cores: Vec<Core>,
    flags: Flags<Made>,
    /// By op, then core: where its code began.
    starts: ByPosition<Vec<Option<Made>>>,
    /// By core: the cores of its block, itself included.
    block: Vec<Vec<usize>>,
    ops: ByPosition<OpSpan>,
    /// By core: what it did when, if anybody wants to know.
    recorded: Option<Vec<Vec<Stretch>>>,
}

impl<'a> Player<'a> {
    fn new(launch: Launch<'a>, prices: &'a PerPrice, blocks: &[u32]) -> Self {
        let ids = launch.program.cores(blocks.iter().copied());
        let block =
            ids.iter().map(|id| (0..ids.len()).filter(|other| ids[*other].block == id.block).collect()).collect();
        let start = prices[Price::TaskStart as usize];
        let cores = (0_u32..)
            .zip(&ids)
            .map(|(number, id)| {
                let mut core = Core {
                    id: *id,
                    step: 0,
                    micros: MicroList::default(),
                    done: 0,
                    now: start,
                    log: Vec::new(),
                    cache: CodeCache::default(),
                    account: CoreAccount::new(),
                    head: None,
                    tail: None,
                };
                let from = Place { core: number, entry: 0 };
                let charge = Charge::Price(Price::TaskStart, 1.0);
                core.log.push(Entry { from, charge, part: Part::TaskStart });
                core.account.parts[Part::TaskStart as usize] += start;
                core
            })
            .collect();
        let count = launch.program.ops.len();
        Self {
            launch,
            prices,
            cores,
            starts: ByPosition::filled(count, vec![None; ids.len()]),
            flags: Flags::new(ids, Accounting::PerCore),
            block,
            ops: ByPosition::filled(count, OpSpan::unseen()),
            recorded: None,
        }
    }

    fn run(&mut self) -> Result<(), CostError> {
        for core in 0..self.cores.len() {
            self.enter_next_step(core);
        }
        loop {
            let mut moved = false;
            for core in 0..self.cores.len() {
                while self.advance(core)? {
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        match self.cores.iter().find(|core| core.step < self.launch.program.steps.len()) {
            None => Ok(()),
            Some(core) => {
                let step = &self.launch.program.steps[core.step];
                let waits = core.micros.get(core.done).map_or_else(String::new, |micro| format!("{micro:?}"));
                Err(self.stuck(format!("{} waits for ever in `{}`: {waits}", core.id, step.action.name())))
            }
        }
    }

    fn stuck(&self, problem: String) -> CostError {
        CostError::Stuck { kernel: self.launch.program.kernel_name.clone(), problem }
    }

    /// Takes the next micro step of a core; false if it cannot.
    fn advance(&mut self, core: usize) -> Result<bool, CostError> {
        let Some(micro) = self.cores[core].micros.get(self.cores[core].done) else { return Ok(false) };
        match micro {
            Micro::Wait { flag, tag } => {
                if self.flags.count(core, flag) == 0 {
                    return Ok(false);
                }
                let made = self.flags.take(core, flag).carried;
                self.wait(core, made, hop(flag), part(tag));
            }
            Micro::Set { flag, tag, .. } => {
                let made = self.here(core);
                let set = self.flags.set(self.launch.program, core, flag, Received { tag, carried: made });
                set.map_err(|violation| self.stuck(violation.to_string()))?;
            }
            Micro::Start(op) => {
                if !self.work_through(core, op) {
                    return Ok(false);
                }
            }
            Micro::End(_)
            | Micro::Drained
            | Micro::Flushed(_)
            | Micro::Waited(..)
            | Micro::Notify(_)
            | Micro::Switched(_)
            | Micro::Release(_)
            | Micro::Cleared
            | Micro::UseWorkspace(_) => {}
        }
        self.cores[core].done += 1;
        if self.cores[core].done == self.cores[core].micros.len() {
            self.leave_step(core);
            self.cores[core].step += 1;
            self.enter_next_step(core);
        }
        Ok(true)
    }

    /// Goes to the first step that holds a core up, charging all steps on the way.
    fn enter_next_step(&mut self, core: usize) {
        let program = self.launch.program;
        while let Some(step) = program.steps.get(self.cores[core].step) {
            let id = self.cores[core].id;
            if step.cores.contain(id) {
                self.charge_step(core, step);
                let micros = expand(program, step, id);
                if micros.len() > 0 {
                    self.cores[core].micros = micros;
                    self.cores[core].done = 0;
                    return;
                }
            }
            self.cores[core].step += 1;
        }
        self.cores[core].micros = MicroList::default();
        self.cores[core].done = 0;
    }

    fn wait(&mut self, core: usize, made: Made, price: Price, part: Part) {
        let heard = made.time + self.prices[price as usize];
        if heard > self.cores[core].now {
            self.go_on(core, heard, made, Charge::Price(price, 1.0), part);
        }
    }

    fn here(&self, core: usize) -> Made {
        let state = &self.cores[core];
        Made { time: state.now, at: Place { core: core as u32, entry: state.log.len() as u32 - 1 } }
    }

    fn amount(&self, core: usize, charge: Charge) -> f64 {
        match charge {
            Charge::Price(price, count) => self.prices[price as usize] * count,
            Charge::Code(units) => units.time(self.prices),
            Charge::Work { op, share } => self.share(core, op, share),
        }
    }

    /// The core itself is busy.
    fn spend(&mut self, core: usize, charge: Charge, part: Part) {
        let us = self.amount(core, charge);
        if us > 0.0 || matches!(charge, Charge::Work { .. }) {
            let now = self.cores[core].now;
            self.record(core, now + us.max(0.0), part, None);
        }
        if us <= 0.0 {
            return;
        }
        let from = self.here(core).at;
        let state = &mut self.cores[core];
        state.now += us;
        state.account.parts[part as usize] += us;
        state.log.push(Entry { from, charge, part });
    }

    /// The core goes on at `time`, because of what happened elsewhere.
    fn go_on(&mut self, core: usize, time: f64, from: Made, charge: Charge, part: Part) {
        self.record(core, time, part, Some(from));
        let from = from.at;
        let amount = self.amount(core, charge);
        let state = &mut self.cores[core];
        let stood = time - state.now;
        let busy = amount.min(stood);
        state.account.parts[part as usize] += busy;
        state.account.waiting += stood - busy;
        state.now = time;
        state.log.push(Entry { from, charge, part });
    }

    /// Writes down what a core does until `end`.
    fn record(&mut self, core: usize, end: f64, part: Part, from: Option<Made>) {
        let Some(recorded) = &mut self.recorded else { return };
        let (start, step) = (self.cores[core].now, Some(self.cores[core].step));
        let from = from.map(|made| (made.at.core as usize, made.time)).filter(|(other, _)| *other != core);
        recorded[core].push(Stretch { start, end, step, part, from });
    }

    fn work(&self, core: usize, op: OpPosition) -> f64 {
        let id = self.cores[core].id;
        self.launch.work.get(op).map_or(0.0, |work| work.of(id.kind).on(id))
    }

    fn finish(self) -> Timeline {
        let last = (0..self.cores.len()).max_by(|left, right| self.cores[*left].now.total_cmp(&self.cores[*right].now));
        let total = last.map_or(0.0, |core| self.cores[core].now);
        let path = last.map_or_else(CriticalPath::new, |core| self.path(core));
        let mut accounts: Vec<(CoreId, CoreAccount)> = Vec::with_capacity(self.cores.len());
        for core in self.cores {
            let mut account = core.account;
            account.waiting += total - core.now;
            accounts.push((core.id, account));
        }
        Timeline { total, path, ops: self.ops, cores: accounts }
    }

    /// Walks back from the end of a core along what it had to wait for.
    fn path(&self, core: usize) -> CriticalPath {
        let mut path = CriticalPath::new();
        let mut work: std::collections::BTreeMap<OpPosition, f64> = std::collections::BTreeMap::new();
        let mut at = self.here(core).at;
        loop {
            let entry = &self.cores[at.core as usize].log[at.entry as usize];
            path.parts[entry.part as usize] += self.amount(at.core as usize, entry.charge);
            match entry.charge {
                Charge::Price(price, count) => path.counts[price as usize] += count,
                Charge::Code(units) => {
                    for (price, count) in units.counts() {
                        path.counts[price as usize] += count;
                    }
                }
                Charge::Work { op, share } => {
                    *work.entry(op).or_default() += share.times;
                    path.counts[Price::OpHead as usize] += share.heads;
                    path.counts[Price::OpTail as usize] += share.tails;
                }
            }
            if entry.from == at {
                break;
            }
            at = entry.from;
        }
        path.ops = work.into_iter().filter(|(_, times)| *times != 0.0).collect();
        path
    }
}

fn hop(flag: Flag) -> Price {
    match flag {
        Flag::AllCubes | Flag::AllOfKind => Price::FlagAll,
        Flag::Arrive | Flag::Release | Flag::ArriveInBlock | Flag::ReleaseInBlock => Price::FlagBlock,
    }
}

fn part(tag: Tag) -> Part {
    match tag {
        Tag::Barrier(..) => Part::Barrier,
        Tag::Round(_) => Part::HandOver,
        Tag::Pair(_) => Part::CrossFlag,
        Tag::InOp(_) => Part::SyncAll,
    }
}
