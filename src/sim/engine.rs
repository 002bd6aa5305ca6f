//! Drives a run: one fiber per core, all on this thread.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use corosensei::stack::DefaultStack;
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult};

use super::agents::Agents;
use super::clock::Clock;
use super::core_state::CoreState;
use super::error::SimError;
use super::flags::{Arrivals, FlagBank};
use super::hooks::{RUN, STATE, YIELDER};
use super::library::Library;
use super::lines::Lines;
use super::memory::{GlobalMemory, LocalMemories};
use super::order::OrderLog;
use super::report::{Counts, Report, Status};
use super::request::{ArrivalsSpec, DelayPoint, Request};
use super::run::{Core, Progress, Run, can_go};
use super::schedule::Scheduler;
use super::signals::{Crash, CrashGuard, Exit, FIBER};
use super::topology::{CoreIndex, Topology};
use crate::aicore::operand::Operands;
use crate::model::{CoreKind, KernelType, Soc};

/// One run at a time: hooks and signal handlers find it through globals.
static DRIVING: Mutex<()> = Mutex::new(());

/// Zero slots behind the parameter block, for kernels that read one too many.
const SLOT_PADDING: usize = 64;

/// Kernels may expect the AIV ids behind those of 25 AICs.
const FIRST_VECTOR_ID: i64 = 25;

type Fiber = Coroutine<(), (), Exit, DefaultStack>;

thread_local! {
    static STACKS: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a launch to its end.
pub fn launch(request: Request) -> Result<Report, SimError> {
    let _alone = DRIVING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = Library::open(&request.library)?;
    let argument_error =
        |problem: String| SimError::Argument { kernel: request.library.display().to_string(), problem };
    let soc = Soc::parse(&request.soc).map_err(|error| argument_error(error.to_string()))?;
    let kernel_type = KernelType::from_name(&request.kernel_type)
        .ok_or_else(|| argument_error(format!("unknown kernel type `{}`", request.kernel_type)))?;
    if request.blocks == 0 || request.blocks > 4096 {
        return Err(argument_error(format!("{} blocks; 1 to 4096 are possible", request.blocks)));
    }
    let topology = Topology::new(kernel_type, request.blocks);
    let mut entries = Vec::with_capacity(topology.core_count());
    for kind in CoreKind::BOTH.into_iter().filter(|kind| !topology.of_kind(*kind).is_empty()) {
        let name = match kind {
            CoreKind::Aic => &request.entries.aic,
            CoreKind::Aiv => &request.entries.aiv,
        };
        let name = name.as_ref().ok_or_else(|| argument_error(format!("no entry function for {kind} cores")))?;
        entries.extend(topology.of_kind(kind).map(|_| name.clone()));
    }
    let entries = entries.iter().map(|name| library.symbol(name)).collect::<Result<Vec<_>, _>>()?;
    let stack_bytes = request.stack_bytes;
    let args_offset = request.args_offset;
    let mut run = Box::new(prepare(request, topology, soc, library.block_local().to_vec())?);
    let mut fibers = Vec::with_capacity(entries.len());
    for entry in entries {
        fibers.push(fiber(entry, args_offset, stack_bytes)?);
    }
    let initial = run.block_local_initial.clone();
    drive(&mut run, &mut fibers);
    // A library with unique symbols stays loaded: the next launch must find the variables as this one did.
    store_block_local(library.block_local(), &initial);
    STACKS.with_borrow_mut(|stacks| {
        for mut fiber in fibers {
            // SAFETY: nothing on a fiber's stack needs to be dropped: kernel code is C++ that is not continued, and the
            // hooks keep nothing that owns anything across a suspension.
            unsafe { fiber.force_reset() };
            stacks.push((stack_bytes, fiber.into_stack()));
        }
    });
    Ok(run.report())
}

fn prepare(
    request: Request,
    topology: Topology,
    soc: Soc,
    block_local: Vec<(*mut u8, usize)>,
) -> Result<Run, SimError> {
    let chip = soc.chip();
    let count = topology.core_count();
    let memory = GlobalMemory::new(request.buffers.clone());
    let agents = Agents::new(&request.agents, &memory)?;
    let checks_order = request.check_order && !request.ops.is_empty();
    let width = if checks_order { count + agents.len() } else { 0 };
    let mut slots = request.slots.clone();
    slots.resize(slots.len() + SLOT_PADDING, 0);
    let local = LocalMemories::new(chip, &topology)?;
    // SAFETY: sections of the library that was just loaded; nobody runs its code yet.
    let initial: Vec<u8> = block_local
        .iter()
        .flat_map(|&(start, size)| unsafe { std::slice::from_raw_parts(start, size) })
        .copied()
        .collect();
    let first_vector = request.first_vector_core_id.unwrap_or(FIRST_VECTOR_ID.max(i64::from(request.blocks)));
    let cores = (0..count)
        .map(|index| {
            let place = topology.place(index);
            let core_id = match place.kind {
                CoreKind::Aic => index as i64,
                CoreKind::Aiv => first_vector + (index - topology.cube_count()) as i64,
            };
            let para_base = slots.as_ptr() as u64;
            let mut state = CoreState::new(chip, place, topology.blocks, topology.vectors, core_id, para_base);
            state.set_memories(local.of(index));
            state.dynamic_block_num = topology.blocks;
            if request.args_offset.is_some() {
                // A sub-kernel alone has no predecessor: configurations under which its kind waits for nothing.
                state.early_start_config = match place.kind {
                    CoreKind::Aic => 5,
                    CoreKind::Aiv => 0,
                };
            }
            let mut clock = Clock::new(width);
            clock.tick(index);
            Core {
                state: Box::new(state),
                unit: crate::aicore::Core::new(local.of(index)),
                progress: Progress::Ready,
                poll: None,
                last_flush: None,
                spins: 0,
                ops: Vec::new(),
                last_op: None,
                clock,
                part: None,
                counts: Counts::default(),
                pipe_events: Vec::new(),
                block_local: initial.clone(),
                failed: false,
            }
        })
        .collect();
    let mut delays = Vec::new();
    for delay in &request.delays {
        let core = topology.find(&delay.core).ok_or_else(|| SimError::Argument {
            kernel: request.library.display().to_string(),
            problem: format!("a delay names core `{}`, which this launch does not have", delay.core),
        })?;
        delays.push((core, delay.clone()));
    }
    let arrivals = match request.arrivals {
        ArrivalsSpec::PerCore => Arrivals::PerCore,
        ArrivalsSpec::Summed => Arrivals::Summed,
    };
    let order = checks_order.then(|| OrderLog::new(&request.ops, &slots, &memory, count));
    let mut run = Run {
        chip,
        current: count - 1,
        flags: FlagBank::new(&topology, arrivals),
        scheduler: Scheduler::new(&request.schedule, count),
        lines: Lines::new(&memory, width),
        agent_clocks: vec![Clock::new(width); agents.len()],
        ffts_known: vec![request.args_offset.is_some(); count],
        partial_output: vec![String::new(); count],
        topology,
        cores,
        memory,
        local,
        agents,
        order,
        delays,
        request,
        slots,
        steps: 0,
        switches: 0,
        activity: 0,
        idle: 0,
        failure: None,
        events: Vec::new(),
        events_dropped: 0,
        output: Vec::new(),
        warnings: Vec::new(),
        block_local,
        block_local_initial: initial,
        operands: Operands::default(),
        workspace: None,
    };
    for core in 0..count {
        run.current = core;
        run.delay_at(DelayPoint::Start);
    }
    Ok(run)
}

fn store_block_local(sections: &[(*mut u8, usize)], content: &[u8]) {
    let mut at = 0;
    for &(start, size) in sections {
        // SAFETY: sections of the loaded library; no kernel code runs now.
        unsafe { std::slice::from_raw_parts_mut(start, size) }.copy_from_slice(&content[at..at + size]);
        at += size;
    }
}

fn fiber(entry: *const (), args_offset: Option<u64>, stack_bytes: usize) -> Result<Fiber, SimError> {
    let kept = STACKS.with_borrow_mut(|stacks| {
        let at = stacks.iter().position(|(bytes, _)| *bytes == stack_bytes)?;
        Some(stacks.swap_remove(at).1)
    });
    let stack = match kept {
        Some(stack) => stack,
        None => {
            DefaultStack::new(stack_bytes).map_err(|source| SimError::Memory { bytes: stack_bytes as u64, source })?
        }
    };
    Ok(Coroutine::with_stack(stack, move |yielder, ()| {
        YIELDER.store(std::ptr::from_ref(yielder).cast_mut(), Ordering::Relaxed);
        // SAFETY: the symbol names a function of the kernel: the entry of a super kernel takes nothing, the function of
        // a sub-kernel takes the index of its first parameter.
        unsafe {
            match args_offset {
                None => std::mem::transmute::<*const (), extern "C" fn()>(entry)(),
                Some(offset) => std::mem::transmute::<*const (), extern "C" fn(u64)>(entry)(offset),
            }
        }
        Exit::Returned
    }))
}

/// Resumes core after core until all have finished or one has failed.
fn drive(run: &mut Run, fibers: &mut [Fiber]) {
    let mut handlers: Vec<CoroutineTrapHandler<Exit>> = fibers.iter().map(Coroutine::trap_handler).collect();
    let _crashes = CrashGuard::install();
    // From here on the run is only reached through this pointer: hooks take it from `RUN` while a fiber runs.
    let run: *mut Run = run;
    RUN.store(run, Ordering::Relaxed);
    // SAFETY: no fiber runs now, so this is the only access.
    while let Some(core) = unsafe { (*run).next_core() } {
        // SAFETY: as above.
        unsafe { (*run).enter(core) };
        FIBER.store(&mut handlers[core], Ordering::Relaxed);
        let result = fibers[core].resume(());
        FIBER.store(std::ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the fiber is suspended or over.
        unsafe {
            match result {
                CoroutineResult::Yield(()) => (*run).leave(core),
                CoroutineResult::Return(exit) => (*run).finish(core, exit),
            }
            if (*run).failure.is_some() {
                break;
            }
        }
    }
    RUN.store(std::ptr::null_mut(), Ordering::Relaxed);
    STATE.store(std::ptr::null_mut(), Ordering::Relaxed);
}

impl Run {
    /// Lets agents act and time pass until a core can go on; `None` at the end.
    fn next_core(&mut self) -> Option<CoreIndex> {
        let count = self.cores.len();
        loop {
            while let Some(agent) = self.next_agent() {
                self.agent_acts(agent);
            }
            let (cores, activity, steps) = (&self.cores, self.activity, self.steps);
            let picked = self.scheduler.pick(count, |core| can_go(&cores[core], activity, steps));
            if let Some(core) = picked {
                self.idle = 0;
                self.cores[core].progress = Progress::Ready;
                return Some(core);
            }
            if self.cores.iter().all(|core| core.progress == Progress::Finished) {
                return None;
            }
            if let Some(later) = self.next_time() {
                self.steps = self.steps.max(later);
                continue;
            }
            return self.next_poller();
        }
    }

    fn next_agent(&mut self) -> Option<usize> {
        if self.agents.is_empty() { None } else { self.agents.look(self.steps) }
    }

    /// The next moment at which something happens by itself.
    fn next_time(&self) -> Option<u64> {
        let delayed = self.cores.iter().filter_map(|core| match core.progress {
            Progress::Delayed(until) => Some(until),
            Progress::Ready | Progress::Flag(_) | Progress::InBlock(_) | Progress::Finished => None,
        });
        delayed.chain(self.agents.next_due()).min()
    }

    /// Nobody else can go on: polling cores look again, in turn, a limited number of times. A loop with a bounded
    /// number of tries gets its chance to give up.
    fn next_poller(&mut self) -> Option<CoreIndex> {
        let pollers: Vec<CoreIndex> =
            (0..self.cores.len()).filter(|&core| self.cores[core].progress == Progress::Ready).collect();
        if pollers.is_empty() || self.idle >= self.request.poll_limit * pollers.len() as u64 {
            self.report_deadlock();
            return None;
        }
        let chosen = pollers[(self.idle % pollers.len() as u64) as usize];
        self.idle += 1;
        Some(chosen)
    }

    /// Makes `core` the current one.
    fn enter(&mut self, core: CoreIndex) {
        if core != self.current || self.switches == 0 {
            self.switches += 1;
            self.swap_block_local(core);
        }
        self.current = core;
        STATE.store(&mut *self.cores[core].state, Ordering::Relaxed);
        if self.request.status_address != 0 {
            let op = self.cores[core].ops.last().map_or(u64::MAX, |&op| u64::from(op));
            let words = [core as u64 + 1, op, self.steps];
            // SAFETY: the caller's promise about `status_address`: four words of writable memory.
            unsafe { (self.request.status_address as *mut [u64; 3]).write_volatile(words) };
        }
        if let (Some(order), Some(part)) = (&mut self.order, &self.cores[core].part) {
            order.resume(part.op, &self.memory);
        }
    }

    fn leave(&mut self, core: CoreIndex) {
        if let (Some(order), Some(part)) = (&mut self.order, &self.cores[core].part) {
            order.pause(part.op, &self.memory);
        }
    }

    fn finish(&mut self, core: CoreIndex, exit: Exit) {
        self.activity += 1;
        self.idle = 0;
        match exit {
            Exit::Returned => self.cores[core].progress = Progress::Finished,
            Exit::Crashed(crash) => self.crashed(crash),
        }
    }

    fn crashed(&mut self, crash: Crash) {
        if crash.signal == libc::SIGSEGV && crash.program_counter < 4096 {
            self.fail(Status::NullCall, "a null function pointer was called".to_owned(), None);
            return;
        }
        let where_ = match crash.signal {
            libc::SIGSEGV if crash.in_stack => {
                format!(" (stack overflow: a core has {} bytes)", self.request.stack_bytes)
            }
            libc::SIGSEGV | libc::SIGBUS => format!(" at {}", self.memory.describe(crash.address)),
            libc::SIGFPE => " (division by zero or overflow of an integer)".to_owned(),
            libc::SIGABRT => " (abort)".to_owned(),
            _ => String::new(),
        };
        self.fail(Status::Crash, format!("kernel code crashed with {}{where_}", crash.name()), None);
    }

    /// Every core has its own copy of `__BLOCK_LOCAL__` variables: put away one, bring in the other.
    fn swap_block_local(&mut self, next: CoreIndex) {
        let mut at = 0;
        for &(start, size) in &self.block_local {
            // SAFETY: sections of the loaded library; no kernel code runs now.
            let section = unsafe { std::slice::from_raw_parts_mut(start, size) };
            self.cores[self.current].block_local[at..at + size].copy_from_slice(section);
            section.copy_from_slice(&self.cores[next].block_local[at..at + size]);
            at += size;
        }
    }
}
