//! Runs a launch: makes machine, observer and driver, and resumes one fiber per core, all on this thread.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use corosensei::stack::DefaultStack;
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult};

use crate::aicore::Pipe;
use crate::aicore::operand::Operands;
use crate::artifact::{DYNAMIC_BLOCK_NUM, EARLY_START_CONFIG};
use crate::cancel::Cancel;
use crate::model::{Chip, CoreKind};
use crate::sim::code::library::Library;
use crate::sim::code::signals::{Crash, CrashGuard, Exit, FIBER, remember_way_back};
use crate::sim::code::sites::Sites;
use crate::sim::drive::agents::Agents;
use crate::sim::drive::driver::{Driver, Turn};
use crate::sim::interface::error::SimError;
use crate::sim::interface::report::Report;
use crate::sim::interface::request::{ArrivalsSpec, CacheSpec, DelayPoint, DelaySpec, EventsSpec, PipesSpec, Request};
use crate::sim::interface::status::{Failure, Status};
use crate::sim::launch::alone::Alone;
use crate::sim::machine::access::Site;
use crate::sim::machine::cache::StrictCache;
use crate::sim::machine::clock::{Clock, Parties};
use crate::sim::machine::core_state::CoreState;
use crate::sim::machine::delayed::DelayedPipes;
use crate::sim::machine::flags::{Arrivals, FlagBank};
use crate::sim::machine::lines::Lines;
use crate::sim::machine::memory::{GlobalMemory, LocalMemories};
use crate::sim::machine::state::{BlockLocal, Core, Machine, Progress};
use crate::sim::machine::topology::{CoreIndex, Topology};
use crate::sim::outcome::explain;
use crate::sim::services::hooks::{self, RUN, STATE, YIELDER};
use crate::sim::services::run::Run;
use crate::sim::watch::guard::{Guards, overrun};
use crate::sim::watch::observer::{Observer, auto_sync};

/// Zero slots behind the parameter block, for kernels that read one too many.
const SLOT_PADDING: usize = 64;

/// Kernels may expect the AIV ids behind those of 25 AICs.
const FIRST_VECTOR_ID: i64 = 25;

/// An address below it is an offset from null: no buffer is as large, and none lies there.
const NULL_REACH: u64 = 1 << 32;

type Fiber = Coroutine<(), (), Exit, DefaultStack>;

/// Stacks of earlier launches, with their sizes.
static STACKS: Mutex<Vec<(usize, DefaultStack)>> = Mutex::new(Vec::new());

/// Runs a launch to its end, or until somebody wants it to stop.
pub(crate) fn launch(request: Request, cancel: &Cancel) -> Result<Report, SimError> {
    let _alone = Alone::take(&request.kernel)?;
    let library = Library::open(&request.library, &request.kernel, &hooks::table())?;
    let argument_error = |problem: String| SimError::Argument { kernel: request.kernel.clone(), problem };
    if request.blocks == 0 || request.blocks > 4096 {
        return Err(argument_error(format!("{} blocks; 1 to 4096 are possible", request.blocks)));
    }
    if let Some((lock, other)) = request.shared_lock() {
        return Err(argument_error(format!(
            "`{lock}` and `{other}` are one word: the lock of a dynamic op is its own"
        )));
    }
    let topology = Topology::new(request.kernel_type, request.blocks);
    let mut entries = Vec::with_capacity(topology.core_count());
    for kind in CoreKind::BOTH.into_iter().filter(|kind| !topology.of_kind(*kind).is_empty()) {
        let name = match kind {
            CoreKind::Aic => &request.entries.aic,
            CoreKind::Aiv => &request.entries.aiv,
        };
        let name =
            name.as_ref().ok_or_else(|| argument_error(format!("no entry function for {} cores", kind.word())))?;
        entries.extend(topology.of_kind(kind).map(|_| name.clone()));
    }
    let entries = entries.iter().map(|name| library.symbol(name)).collect::<Result<Vec<_>, _>>()?;
    library.watch(watch_bits(&request))?;
    let stack_bytes = request.stack_bytes;
    let args_offset = request.args_offset;
    let block_local = BlockLocal::new(library.block_local());
    let initial = block_local.values();
    let sites = Sites::of(&library);
    let mut run = Box::new(prepare(request, topology, block_local, sites)?);
    if args_offset.is_some() {
        tell_sub_kernel(&mut run.machine, &library);
    }
    let enter = library.symbol("sk_shim_enter")?;
    let mut fibers = Vec::with_capacity(entries.len());
    for entry in entries {
        fibers.push(fiber(enter, entry, args_offset, stack_bytes)?);
    }
    library.log_accesses(run.observer.log.raw())?;
    drive(&mut run, &mut fibers, &library.code(), cancel);
    library.log_accesses(std::ptr::null_mut())?;
    if let (Some(crash), Some((_, failure))) = (run.crash, &mut run.observer.failure) {
        if crash.is_timeout() {
            let site = run.observer.sites.chain(&crash.calls);
            (failure.file, failure.line) = run.observer.sites.resolve(site).unzip();
        } else if let Some(place) = library.place(&crash) {
            failure.function = place.function_text();
            (failure.file, failure.line) = place.line.map(|line| (line.file, line.line)).unzip();
        }
    }
    if let Some(cache) = &mut run.machine.cache {
        cache.write_back(&run.machine.memory);
        run.collect_cache_findings();
    }
    if run.observer.failure.is_none()
        && let Some((name, distance)) = overrun(&run.machine.memory)
    {
        let text = format!("something was written {distance} bytes past the end of buffer `{name}`");
        let failure = Failure { core: None, op: None, text, file: None, line: None, function: None };
        run.observer.failure = Some((Status::Overrun, failure));
    }
    // A library with unique symbols stays loaded: the next launch must find the variables as this one did.
    run.machine.block_local.store(&initial);
    let stopped = cancel.check().map_err(|_| SimError::Stopped { kernel: run.request.kernel.clone() });
    for mut fiber in fibers {
        // SAFETY: nothing on a fiber's stack needs to be dropped: kernel code is C++ that is not continued, and the hooks
        // keep nothing that owns anything across a suspension.
        unsafe { fiber.force_reset() };
        // Nobody else is here but a thread that a fork has left behind.
        if let Ok(mut stacks) = STACKS.try_lock() {
            stacks.push((stack_bytes, fiber.into_stack()));
        }
    }
    stopped.map(|()| explain::report(*run))
}

/// `SkWatch` of the header: what the kernel has to tell about.
fn watch_bits(request: &Request) -> u32 {
    let order = match request.pipes {
        PipesSpec::InOrder => u32::from(request.events >= EventsSpec::Instructions),
        PipesSpec::Checked | PipesSpec::Reordered => 1,
    };
    let cache = match request.cache {
        CacheSpec::Coherent => 0,
        CacheSpec::Strict => 2,
    };
    let kernel = if request.check_order { 4 } else { 0 };
    order | cache | kernel
}

/// A run before its first step.
fn prepare(request: Request, topology: Topology, block_local: BlockLocal, sites: Sites) -> Result<Run, SimError> {
    let chip = request.soc.chip();
    let count = topology.core_count();
    let memory = global_memory(&request);
    let agents = Agents::new(&request.agents, &memory)?;
    let delays = delays(&request, &topology)?;
    let checks_order = request.check_order && !request.ops.is_empty();
    let watches_pipes = request.pipes == PipesSpec::Checked;
    let follows_order = checks_order || watches_pipes || request.cache == CacheSpec::Strict;
    let actors = if follows_order { count + agents.len() } else { 0 };
    let parties = Parties::new(actors, if watches_pipes { count } else { 0 });
    let width = parties.width();
    let mut slots = request.slots.clone();
    slots.resize(slots.len() + SLOT_PADDING, 0);
    let local = LocalMemories::new(chip, &topology)?;
    let initial = block_local.values();
    let cores = (0..count)
        .map(|index| {
            let mut clock = Clock::new(width);
            clock.tick(index);
            Core {
                state: Box::new(state(&request, &topology, chip, &local, index, slots.as_ptr() as u64)),
                unit: crate::aicore::Core::new(local.of(index)),
                progress: Progress::Ready,
                poll: None,
                last_flush: None,
                spins: 0,
                clock,
                pipe_events: Vec::new(),
                ffts_known: request.args_offset.is_some(),
                block_local: initial.clone(),
                last_move: None,
                stays_at: Site::Unknown,
                scalar_waits: 0,
                unit_waits: 0,
                announced: 0..0,
            }
        })
        .collect();
    let arrivals = match request.arrivals {
        ArrivalsSpec::PerCore => Arrivals::PerCore,
        ArrivalsSpec::Summed => Arrivals::Summed,
    };
    let mut machine = Machine {
        flags: FlagBank::new(&topology, arrivals),
        lines: Lines::new(&memory, width),
        soft: Clock::new(width),
        current: count - 1,
        topology,
        chip,
        cores,
        memory,
        local,
        follows_order,
        parties,
        _slots: slots,
        block_local,
        operands: Operands::default(),
        workspace: None,
        combining: None,
        delayed: Vec::new(),
        cache: (request.cache == CacheSpec::Strict).then(|| StrictCache::new(count)),
    };
    if request.pipes == PipesSpec::Reordered {
        let seed = |core: CoreIndex| request.schedule.seed.wrapping_mul(8191).wrapping_add(core as u64);
        let pipes = |core| DelayedPipes::new(auto_sync(&request, &machine, core), seed(core));
        machine.delayed = machine.indices().map(pipes).collect();
    }
    let observer = Observer::new(&request, &machine, sites);
    let guards = Guards::new(&request, &machine.memory);
    let driver = Driver::new(&request, agents, delays, count, width);
    let mut run = Run { machine, observer, driver, request, guards, crash: None };
    for core in run.machine.indices() {
        run.machine.current = core;
        if !run.observer.pipes.is_empty() {
            run.machine.poison();
        }
        run.delay_at(DelayPoint::Start);
    }
    Ok(run)
}

/// The buffers. Scratch memory holds anything, if reliance on what was there before shall show.
fn global_memory(request: &Request) -> GlobalMemory {
    let mut memory = GlobalMemory::new(request.buffers.clone());
    if request.poison_local_memory || request.pipes == PipesSpec::Checked {
        let named = || request.parameters.iter().zip(&request.slots);
        let data: Vec<usize> =
            named().filter(|(slot, _)| !slot.is_scratch()).filter_map(|(_, address)| memory.find(*address)).collect();
        let scratch = named().filter(|(slot, _)| slot.is_scratch()).map(|(_, address)| *address);
        // Who passes data as workspace wants it to be there.
        let scratch: Vec<u64> =
            scratch.filter(|address| memory.find(*address).is_some_and(|buffer| !data.contains(&buffer))).collect();
        memory.scramble(scratch.into_iter(), request.schedule.seed);
    }
    memory
}

/// What kernel code sees of a core at the start.
fn state(
    request: &Request,
    topology: &Topology,
    chip: Chip,
    local: &LocalMemories,
    index: CoreIndex,
    para_base: u64,
) -> CoreState {
    let place = topology.place(index);
    let first_vector = request.first_vector_core_id.unwrap_or(FIRST_VECTOR_ID.max(i64::from(request.blocks)));
    let core_id = match place.kind {
        CoreKind::Aic => index as i64,
        CoreKind::Aiv => first_vector + (index - topology.cube_count()) as i64,
    };
    let mut state = CoreState::new(chip, place, topology.blocks, topology.vectors, core_id, para_base);
    state.set_memories(local.of(index));
    state
}

/// What a super kernel would have told a sub-kernel that runs alone, on every core.
fn tell_sub_kernel(machine: &mut Machine, library: &Library) {
    let Machine { topology, cores, block_local, .. } = machine;
    for (index, core) in cores.iter_mut().enumerate() {
        // It has no predecessor: configurations under which its kind waits for nothing.
        let config: u32 = match topology.place(index).kind {
            CoreKind::Aic => 5,
            CoreKind::Aiv => 0,
        };
        for (name, value) in [(DYNAMIC_BLOCK_NUM, topology.blocks), (EARLY_START_CONFIG, config)] {
            for at in library.variables(name).filter_map(|address| block_local.position(address)) {
                if let Some(bytes) = core.block_local.get_mut(at..at + size_of::<u32>()) {
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
    }
    // The current core's are where its code finds them.
    block_local.store(&cores[machine.current].block_local);
}

fn delays(request: &Request, topology: &Topology) -> Result<Vec<(CoreIndex, DelaySpec)>, SimError> {
    let delay = |delay: &DelaySpec| {
        let core = topology.find(&delay.core).ok_or_else(|| SimError::Argument {
            kernel: request.kernel.clone(),
            problem: format!("a delay names core `{}`, which this launch does not have", delay.core),
        })?;
        Ok((core, delay.clone()))
    };
    request.delays.iter().map(delay).collect()
}

/// A fiber that calls `entry` through `enter` of the shim.
fn fiber(enter: *const (), entry: *const (), args_offset: Option<u64>, stack_bytes: usize) -> Result<Fiber, SimError> {
    let of_this_size = |stacks: &mut Vec<(usize, DefaultStack)>| {
        let at = stacks.iter().position(|(bytes, _)| *bytes == stack_bytes)?;
        Some(stacks.swap_remove(at).1)
    };
    let kept = STACKS.try_lock().ok().and_then(|mut stacks| of_this_size(&mut stacks));
    let stack = match kept {
        Some(stack) => stack,
        None => {
            DefaultStack::new(stack_bytes).map_err(|source| SimError::Memory { bytes: stack_bytes as u64, source })?
        }
    };
    Ok(Coroutine::with_stack(stack, move |yielder, ()| {
        YIELDER.store(std::ptr::from_ref(yielder).cast_mut(), Ordering::Relaxed);
        // SAFETY: the yielder of this very fiber.
        unsafe { remember_way_back(yielder) };
        // SAFETY: `enter` is the function of the shim with this signature, and no exception leaves it. `entry` names a
        // function of the kernel: that of a super kernel takes nothing, that of a sub-kernel the index of its first
        // parameter, as the second argument says.
        unsafe {
            let enter = std::mem::transmute::<*const (), extern "C" fn(*const (), u32, u64)>(enter);
            enter(entry, u32::from(args_offset.is_some()), args_offset.unwrap_or(0));
        }
        Exit::Returned
    }))
}

/// How often somebody looks whether the run shall end while kernel code runs.
const LOOK: Duration = Duration::from_millis(20);

/// Resumes core after core until all have finished or one has failed, or nobody wants that any more.
fn drive(run: &mut Run, fibers: &mut [Fiber], code: &Range<u64>, cancel: &Cancel) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _crashes = CrashGuard::install(code, run.request.time());
        // Kernel code does not look by itself.
        let watcher = cancel.is_shared().then(|| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) && !cancel.is_cancelled() {
                    std::thread::park_timeout(LOOK);
                }
                if !is_over.load(Ordering::Acquire) {
                    CrashGuard::end_kernel_code();
                }
            })
        });
        resume_all(run, fibers, cancel);
        is_over.store(true, Ordering::Release);
        if let Some(watcher) = watcher {
            watcher.thread().unpark();
            // The guard goes when nobody asks it for anything any more.
            let _ = watcher.join();
        }
    });
}

fn resume_all(run: &mut Run, fibers: &mut [Fiber], cancel: &Cancel) {
    let mut handlers: Vec<CoroutineTrapHandler<Exit>> = fibers.iter().map(Coroutine::trap_handler).collect();
    // From here on the run is only reached through this pointer: hooks take it from `RUN` while a fiber runs.
    let run: *mut Run = run;
    RUN.store(run, Ordering::Relaxed);
    // SAFETY: no fiber runs now, so this is the only access.
    while let Some(core) = unsafe { (*run).next_core() }.filter(|_| !cancel.is_cancelled()) {
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
            if (*run).observer.failure.is_some() {
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
        loop {
            match self.driver.next_turn(&self.machine) {
                Turn::Agent(agent) => self.agent_acts(agent),
                Turn::Core(core) => return Some(core),
                Turn::Over => return None,
                Turn::Deadlock => {
                    self.observer.deadlock(&self.machine);
                    return None;
                }
            }
        }
    }

    /// Makes `core` the current one.
    fn enter(&mut self, core: CoreIndex) {
        if core != self.machine.current || self.driver.switches == 0 {
            self.driver.switches += 1;
            self.machine.switch_to(core);
        }
        self.machine.core().progress = Progress::Ready;
        self.machine.core().scalar_waits = 0;
        STATE.store(&mut *self.machine.core().state, Ordering::Relaxed);
        if self.request.status_address != 0 {
            let op = self.observer.cores[core].ops.last().map_or(u64::MAX, |op| op.place() as u64);
            let words = [core as u64 + 1, op, self.driver.steps];
            // SAFETY: the caller's promise about `status_address`: four words of writable memory.
            unsafe { (self.request.status_address as *mut [u64; 3]).write_volatile(words) };
        }
        self.observer.resume(core, &self.machine.memory);
        if let Some(cache) = &mut self.machine.cache {
            cache.enter(core, &self.machine.memory);
        }
    }

    fn leave(&mut self, core: CoreIndex) {
        self.after_scrambling();
        if let Some(cache) = &mut self.machine.cache {
            cache.leave(&self.machine.memory);
        }
        self.check_guards();
        self.settle_accesses();
        self.observer.pause(core, &self.machine.memory);
    }

    fn finish(&mut self, core: CoreIndex, exit: Exit) {
        self.finish_combining();
        self.settle_accesses();
        self.driver.core_ended();
        match exit {
            Exit::Returned => {
                self.machine.cores[core].progress = Progress::Finished;
                self.drain(&Pipe::ALL);
                self.pipes_leave_op();
                self.leave(core);
            }
            Exit::Crashed(crash) => self.crashed(crash),
        }
    }

    fn crashed(&mut self, crash: Crash) {
        self.crash = Some(crash);
        if crash.is_timeout() {
            let seconds = self.request.timeout.unwrap_or_default();
            let text = format!("the kernel did not come back within {seconds} seconds; its code was running");
            self.fail(Status::Timeout, text, None);
            return;
        }
        if crash.signal == libc::SIGSEGV && crash.program_counter < 4096 {
            self.fail(Status::NullCall, "a null function pointer was called".to_owned(), None);
            return;
        }
        let where_ = match crash.signal {
            libc::SIGSEGV if crash.in_stack => {
                format!(" (stack overflow: a core has {} bytes)", self.request.stack_bytes)
            }
            libc::SIGSEGV | libc::SIGBUS => {
                format!(" at {}{}", self.machine.memory.describe(crash.address), self.null_parameters(crash.address))
            }
            libc::SIGFPE => " (division by zero or overflow of an integer)".to_owned(),
            libc::SIGABRT => " (abort)".to_owned(),
            _ => String::new(),
        };
        self.fail(Status::Crash, format!("kernel code crashed with {}{where_}", crash.name()), None);
    }

    /// The parameters of the current operator that are null, if the address looks like an offset from null.
    fn null_parameters(&self, address: u64) -> String {
        let op = self.observer.cores[self.machine.current].ops.last().and_then(|op| self.observer.ops.get(*op));
        let Some(op) = op.filter(|_| address < NULL_REACH) else { return String::new() };
        let own = (op.param_offset..op.param_offset.saturating_add(op.param_count)).map(|slot| slot as usize);
        let null = own.filter(|slot| self.request.slots.get(*slot) == Some(&0));
        let names: Vec<String> = null
            .filter_map(|slot| {
                let parameter = self.request.parameters.get(slot)?;
                let owner = parameter.op.map_or_else(String::new, |op| format!(" of op {op}"));
                Some(format!("parameter {}{owner} is 0", parameter.name))
            })
            .collect();
        if names.is_empty() { String::new() } else { format!("; {}", names.join(", ")) }
    }
}
