//! The machine: cores, flags and memories of a launch. It knows nothing of who watches it or who drives it.

use std::ops::Range;
use std::rc::Rc;

use super::access::Site;
use super::cache::{Extent, StrictCache};
use super::clock::{Clock, Moment, Parties};
use super::combining::CombiningStore;
use super::core_state::CoreState;
use super::delayed::DelayedPipes;
use super::event::EventSet;
use super::flags::{FlagBank, SetError};
use super::instructions::Prepared;
use super::lines::Lines;
use super::memory::{GlobalMemory, LINE, LineView, LocalMemories, POISON, SystemWorkspace, WORD};
use super::pipe_clock::PipeClock;
use super::topology::{CoreIndex, Topology};
use crate::aicore::operand::{Operand, Operands};
use crate::aicore::{Fault, Issued, OpCode, Pipe};
use crate::model::Chip;

/// Why a core does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It can.
    Ready,
    /// It waits for a flag.
    Flag(u32),
    /// It waits for an in-block flag.
    InBlock(u32),
    /// It is held back until this step.
    Delayed(u64),
    /// Its entry returned.
    Finished,
}

/// A core that looks at the same memory again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Poll {
    /// One line that still reads as it did.
    Line(LineView, [u8; LINE as usize]),
    /// The whole cache: worth another look once anything happened since.
    Whole(u64),
    /// One address without a flush between: worth another look once anything happened since.
    Stare(u64, u64),
}

/// The last cache maintenance call of a core, if nothing else came after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastFlush {
    /// The address, 0 for the whole cache.
    pub(crate) address: u64,
    /// What the line held when the core went on.
    pub(crate) seen: Option<[u8; LINE as usize]>,
}

/// What a core may be looking at again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looking {
    /// The line.
    pub(crate) line: u64,
    /// Most bytes of a look.
    pub(crate) most: u64,
}

/// One simulated core.
#[derive(Debug)]
pub(crate) struct Core {
    /// What kernel code sees. Boxed: the kernel holds its address.
    pub(crate) state: Box<CoreState>,
    /// Its memories and registers, as instructions see them.
    pub(crate) unit: crate::aicore::Core,
    /// Whether it can go on.
    pub(crate) progress: Progress,
    /// Whether it is polling.
    pub(crate) poll: Option<Poll>,
    /// For finding polls.
    pub(crate) last_flush: Option<LastFlush>,
    /// Consecutive flushes without anything else.
    pub(crate) spins: u64,
    /// What it knows of the others.
    pub(crate) clock: Clock,
    /// Raised flags between its pipes: (source, target, id) of a set, and how many.
    pub(crate) pipe_events: Vec<((EventSet, u32, u32, u32), i32)>,
    /// It has the scheduler's address: its flags go somewhere.
    pub(crate) ffts_known: bool,
    /// Its copy of per-core variables of the kernel.
    pub(crate) block_local: Vec<u8>,
    /// The move it issued last, if nothing else came after it: target, source, length.
    pub(crate) last_move: Option<[u64; 3]>,
    /// Where it waited or polled last.
    pub(crate) stays_at: Site,
    /// Waits of its scalar unit for its own pipes since it last let others run.
    pub(crate) scalar_waits: u32,
    /// Waits for flags of L0C so far.
    pub(crate) unit_waits: u64,
    /// What a header said the scalar unit is about to access: the hook in front of the access says nothing new.
    pub(crate) announced: Range<u64>,
}

/// All of it.
pub(crate) struct Machine {
    /// The cores' numbering.
    pub(crate) topology: Topology,
    /// The chip.
    pub(crate) chip: Chip,
    /// The cores.
    pub(crate) cores: Vec<Core>,
    /// The core that runs.
    pub(crate) current: CoreIndex,
    /// Cross-core flags.
    pub(crate) flags: FlagBank,
    /// Global memory.
    pub(crate) memory: GlobalMemory,
    /// Words cores exchange.
    pub(crate) lines: Lines,
    /// What was known to everybody who entered a barrier made of words in memory.
    pub(crate) soft: Clock,
    /// Local memories; kept alive for the cores.
    pub(crate) local: LocalMemories,
    /// Cores hear of each other through memory: clocks are kept, because somebody checks order.
    pub(crate) follows_order: bool,
    /// Whose past clocks tell apart.
    pub(crate) parties: Parties,
    /// The parameter block, with some zeroes behind it; kept alive for the cores.
    pub(crate) _slots: Vec<u64>,
    /// Per-core variables of the kernel, where its code finds them.
    pub(crate) block_local: BlockLocal,
    /// Memory for the messages of matmul objects, once somebody asked for it.
    pub(crate) workspace: Option<SystemWorkspace>,
    /// The queues of every core's pipes, if pipes run behind; else nothing.
    pub(crate) delayed: Vec<DelayedPipes>,
    /// The caches of the cores, if they are not kept the same.
    pub(crate) cache: Option<StrictCache>,
    /// The scalar store of the current core that was announced last, if it combines and was not looked at since.
    pub(crate) combining: Option<CombiningStore>,
    /// What the instruction at hand touches; kept for its allocation.
    pub(crate) operands: Operands,
}

impl Machine {
    /// The core that runs.
    pub(crate) fn core(&mut self) -> &mut Core {
        &mut self.cores[self.current]
    }

    /// All cores, by index.
    pub(crate) fn indices(&self) -> std::ops::Range<CoreIndex> {
        0..self.cores.len()
    }

    /// `AIC3` or `AIV7`.
    pub(crate) fn name(&self, core: CoreIndex) -> String {
        self.topology.name(core)
    }

    /// A barrier made of words in memory, which the core enters or leaves: by then everybody it waited for has entered.
    pub(crate) fn exchange(&mut self, entered: bool) {
        let Self { cores, current, soft, .. } = self;
        let clock = &mut cores[*current].clock;
        if entered {
            soft.join(clock);
            clock.tick(*current);
        } else {
            clock.join(soft);
        }
    }

    /// The line of global memory that holds an address.
    fn line(&self, address: u64) -> Option<LineView> {
        self.memory.line(address).or_else(|| self.workspace.as_ref()?.line(address))
    }

    /// The core's knowledge at this moment, to be handed on by a flag that is raised when so much of its pipes has ended;
    /// what the core does next is a new moment.
    fn hand_on(&mut self, ended: &PipeClock) -> Moment {
        let mut clock = self.cores[self.current].clock.clone();
        self.parties.learn(&mut clock, self.current, ended);
        self.tick();
        Rc::new(clock)
    }

    /// So much of the current core's pipes has ended, as its scalar unit knows: whatever it hands on tells so.
    pub(crate) fn scalar_knows(&mut self, ended: &PipeClock) {
        let Self { cores, current, parties, .. } = self;
        parties.learn(&mut cores[*current].clock, *current, ended);
    }

    /// How much of a pipe of the current core others know to have ended, and have told it.
    pub(crate) fn heard_of(&self, pipe: Pipe) -> u64 {
        u64::from(self.cores[self.current].clock.of(self.parties.of(self.current, pipe)))
    }

    fn tick(&mut self) {
        let current = self.current;
        self.core().clock.tick(current);
    }

    /// `ffts_cross_core_sync`.
    pub(crate) fn set_flag(&mut self, mode: u32, flag: u32, ended: &PipeClock) -> Result<(), SetError> {
        let moment = self.hand_on(ended);
        for &core in self.flags.set(self.current, mode, flag, &moment)? {
            if self.cores[core].progress == Progress::Flag(flag) {
                self.cores[core].progress = Progress::Ready;
            }
        }
        Ok(())
    }

    /// `wait_flag_dev`: takes one, or blocks.
    pub(crate) fn wait_flag(&mut self, flag: u32) -> Wait {
        let moment = self.flags.take(self.current, flag);
        self.waited(moment, Progress::Flag(flag))
    }

    /// `set_intra_block`.
    pub(crate) fn set_in_block(&mut self, id: u32, ended: &PipeClock) -> Result<(), SetError> {
        let moment = self.hand_on(ended);
        let receiver = self.flags.set_in_block(self.current, id, &moment)?;
        if matches!(self.cores[receiver].progress, Progress::InBlock(_)) {
            self.cores[receiver].progress = Progress::Ready;
        }
        Ok(())
    }

    /// `wait_intra_block`: takes one, or blocks.
    pub(crate) fn wait_in_block(&mut self, id: u32) -> Wait {
        let moment = self.flags.take_in_block(self.current, id);
        self.waited(moment, Progress::InBlock(id))
    }

    fn waited(&mut self, moment: Option<Moment>, blocked: Progress) -> Wait {
        match moment {
            Some(moment) => {
                self.core().clock.join(&moment);
                Wait::Taken
            }
            None => {
                self.core().progress = blocked;
                Wait::Blocked
            }
        }
    }

    /// The first half of `dcci`: what the core wrote becomes visible. Says whether it looks at what it has looked at
    /// before, and nothing has changed since; `activity` counts everything that could have changed it.
    pub(crate) fn write_back(&mut self, extent: Extent, activity: u64) -> Looks {
        let view = match extent {
            Extent::Line(address) => self.line(address),
            Extent::Whole => None,
        };
        let (address, now) = (extent.address(), view.map(|view| view.content()));
        let repeated = self.core().last_flush.is_some_and(|last| last.address == address && last.seen == now);
        match extent {
            Extent::Whole => {
                self.lines.release_all(&self.cores[self.current].clock);
                self.tick();
            }
            Extent::Line(address) => {
                // A reader that still sees what it saw has written nothing, even if nobody has flushed the line yet.
                if let Some(content) = now.filter(|_| self.follows_order && !repeated)
                    && self.lines.differs(&self.memory, address, &content)
                {
                    self.lines.release(&self.memory, address, &content, &self.cores[self.current].clock);
                    self.tick();
                }
            }
        }
        if !repeated {
            return Looks::AtNews;
        }
        let is_strict = self.cache.is_some();
        let core = self.core();
        core.spins += 1;
        core.poll = Some(match (view, now) {
            // In front of the address a strict cache keeps what the core has seen, whatever memory says.
            (Some(view), Some(_)) if is_strict => {
                let rest = view.from(address);
                Poll::Line(rest, rest.content())
            }
            (Some(view), Some(content)) => Poll::Line(view, content),
            (None, _) | (_, None) => Poll::Whole(activity),
        });
        Looks::Again(core.spins)
    }

    /// What the current core wrote around its cache is visible at once: whoever reads it hears of the core's past.
    pub(crate) fn publish(&mut self, address: u64) {
        if let Some(view) = self.line(address).filter(|_| self.follows_order) {
            self.lines.release(&self.memory, address, &view.content(), &self.cores[self.current].clock);
            self.tick();
        }
    }

    /// The current core reads a word around its cache: it hears of the past of who wrote it.
    pub(crate) fn hear(&mut self, address: u64) {
        if let Some(view) = self.line(address).filter(|_| self.follows_order) {
            self.lines.acquire(&self.memory, address, &view.content(), &mut self.cores[self.current].clock);
        }
    }

    /// What the current core, which flushes, is about to look at again: the line that it flushed before, or a word of one
    /// that it has not written to.
    pub(crate) fn looks_again(&mut self, extent: Extent) -> Option<Looking> {
        let Extent::Line(address) = extent else { return None };
        let line = address & !(LINE - 1);
        if self.core().last_flush.is_some_and(|last| last.address == address) {
            return Some(Looking { line, most: LINE });
        }
        let content = self.line(address).filter(|_| self.follows_order)?.content();
        (!self.lines.differs(&self.memory, address, &content)).then_some(Looking { line, most: WORD })
    }

    /// The second half: the core goes on and sees what others made visible.
    pub(crate) fn refill(&mut self, extent: Extent) {
        let seen = match extent {
            Extent::Line(address) => self.line(address).map(|view| view.content()),
            Extent::Whole => None,
        };
        if let Some(content) = seen.filter(|_| self.follows_order) {
            let clock = &mut self.cores[self.current].clock;
            self.lines.acquire(&self.memory, extent.address(), &content, clock);
        }
        let core = self.core();
        core.poll = None;
        core.last_flush = Some(LastFlush { address: extent.address(), seen });
    }

    /// The current core did something other than looking again.
    pub(crate) fn stops_polling(&mut self) {
        let core = self.core();
        core.last_flush = None;
        core.poll = None;
        core.spins = 0;
    }

    /// `SetFlag` / `WaitFlag` between two pipes of a core; `false` for a wait without a set.
    pub(crate) fn pipe_event(&mut self, is_wait: bool, key: (EventSet, u32, u32, u32)) -> bool {
        let events = &mut self.core().pipe_events;
        let at = match events.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None => {
                events.push((key, 0));
                events.len() - 1
            }
        };
        let raised = &mut events[at].1;
        *raised += if is_wait { -1 } else { 1 };
        *raised >= 0
    }

    /// Local memory does not survive from operator to operator: make reliance on it visible.
    pub(crate) fn poison(&mut self) {
        for memory in self.local.of(self.current) {
            if memory.size > 0 {
                // SAFETY: the memory belongs to this core alone, which is inside this call.
                unsafe { std::ptr::write_bytes(memory.base, POISON, memory.size as usize) };
            }
        }
    }

    /// Makes `next` the current core, with its copy of the per-core variables.
    pub(crate) fn switch_to(&mut self, next: CoreIndex) {
        let Self { cores, block_local, current, .. } = self;
        block_local.load(&mut cores[*current].block_local);
        block_local.store(&cores[next].block_local);
        *current = next;
    }
}

/// What became of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It is over.
    Taken,
    /// The core must try again when something has happened.
    Blocked,
}

/// What a core that maintains its cache looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// Something new.
    AtNews,
    /// The same as before, so often in a row.
    Again(u64),
}

/// Variables of which every core has its own copy (`__BLOCK_LOCAL__`), as sections of the loaded library.
pub(crate) struct BlockLocal(Vec<(*mut u8, usize)>);

impl BlockLocal {
    /// The sections of a library.
    pub(crate) fn new(sections: &[(*mut u8, usize)]) -> Self {
        Self(sections.to_vec())
    }

    /// Their values now.
    pub(crate) fn values(&self) -> Vec<u8> {
        let mut values = vec![0; self.0.iter().map(|(_, size)| size).sum()];
        self.load(&mut values);
        values
    }

    /// Where the variable at `address` is among the values.
    pub(crate) fn position(&self, address: *mut u8) -> Option<usize> {
        let mut at = 0;
        for &(start, size) in &self.0 {
            if let Some(inside) = (address as usize).checked_sub(start as usize).filter(|inside| *inside < size) {
                return Some(at + inside);
            }
            at += size;
        }
        None
    }

    fn load(&self, values: &mut [u8]) {
        let mut at = 0;
        for &(start, size) in &self.0 {
            // SAFETY: sections of the loaded library; no kernel code runs now.
            values[at..at + size].copy_from_slice(unsafe { std::slice::from_raw_parts(start, size) });
            at += size;
        }
    }

    /// Gives them these values.
    pub(crate) fn store(&self, values: &[u8]) {
        let mut at = 0;
        for &(start, size) in &self.0 {
            // SAFETY: sections of the loaded library; no kernel code runs now.
            unsafe { std::slice::from_raw_parts_mut(start, size) }.copy_from_slice(&values[at..at + size]);
            at += size;
        }
    }
}

impl Machine {
    /// Memory for the messages of matmul objects; null if there is no more memory.
    pub(crate) fn system_workspace(&mut self) -> *mut u8 {
        if self.workspace.is_none() {
            self.workspace = SystemWorkspace::new().ok();
        }
        self.workspace.as_ref().map_or(std::ptr::null_mut(), SystemWorkspace::base)
    }

    /// Decodes and checks one instruction of the current core. What it touches is in `operands` until the next one.
    pub(crate) fn prepare(&mut self, issued: &Issued) -> Result<Prepared, Fault> {
        let mut operands = std::mem::take(&mut self.operands);
        let unit = &self.cores[self.current].unit;
        let check = |op, operand: &Operand| self.check_global(op, operand);
        let prepared = Prepared::new(issued, unit, &mut operands, check, self.cache.is_some());
        self.operands = operands;
        prepared
    }

    /// Executes an instruction of the current core.
    pub(crate) fn execute(&mut self, prepared: &Prepared) -> Result<(), Fault> {
        // SAFETY: operands in local memory were checked against the memories of this core, those in global memory
        // against the buffers of the launch, which are mapped while it runs.
        unsafe { prepared.execute(&mut self.cores[self.current].unit) }
    }

    fn check_global(&self, op: OpCode, operand: &Operand) -> Result<(), Fault> {
        let extent = operand.shape.extent();
        let inside = |workspace: &SystemWorkspace| workspace.holds(operand.address, extent);
        if self.memory.holds(operand.address, extent) || self.workspace.as_ref().is_some_and(inside) {
            return Ok(());
        }
        let place = self.memory.describe(operand.address);
        Err(Fault::of(
            op,
            format!("{} covers {extent} bytes of GM at {place}, which are not all in one buffer", operand.name),
        ))
    }
}
