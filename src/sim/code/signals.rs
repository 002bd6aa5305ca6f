//! Crashes of kernel code: the fiber that crashed is ended, the run goes on to its report.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use corosensei::Yielder;
use corosensei::trap::CoroutineTrapHandler;

/// How a fiber ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Exit {
    /// The entry returned.
    Returned,
    /// Kernel code crashed.
    Crashed(Crash),
}

/// What the processor said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crash {
    /// The signal.
    pub signal: i32,
    /// The address at fault; the program counter for signals without one.
    pub address: u64,
    /// Where the code was.
    pub program_counter: u64,
    /// Where it was called from, if it is a function that had not moved the stack yet; otherwise any number.
    pub return_address: u64,
    /// The address lies in the fiber's own stack or its guard page: the stack was too small.
    pub in_stack: bool,
    /// The calls that led there, innermost first, as far as code keeps frame pointers; the program counter is the first.
    pub calls: [u64; CALLS],
}

/// Calls that are followed.
pub(crate) const CALLS: usize = 8;

impl Crash {
    /// The usual name of the signal.
    pub(crate) fn name(&self) -> &'static str {
        match self.signal {
            libc::SIGSEGV => "SIGSEGV",
            libc::SIGBUS => "SIGBUS",
            libc::SIGFPE => "SIGFPE",
            libc::SIGILL => "SIGILL",
            libc::SIGABRT => "SIGABRT",
            libc::SIGTRAP => "SIGTRAP",
            _ => "signal",
        }
    }

    /// Was it no crash, but the end of the time it had?
    pub(crate) fn is_timeout(&self) -> bool {
        self.signal == libc::SIGALRM
    }
}

/// `SIGTRAP` is what a deliberate trap of the compiler (`__builtin_trap`) raises on aarch64, as `SIGILL` on x86-64.
const SIGNALS: [i32; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];
const ALTERNATE_STACK: usize = 64 * 1024;

/// The fiber that runs now; null while no kernel code runs.
pub(crate) static FIBER: AtomicPtr<CoroutineTrapHandler<Exit>> = AtomicPtr::new(std::ptr::null_mut());
static THREAD: AtomicUsize = AtomicUsize::new(0);
/// Where the way back to the engine begins in the stack of the fiber that runs, and the word there. A kernel can write
/// to it like to all of its stack.
static LINK_PLACE: AtomicPtr<usize> = AtomicPtr::new(std::ptr::null_mut());
static LINK: AtomicUsize = AtomicUsize::new(0);
/// The fiber that runs has crashed and is on its way back to the engine.
static RETURNING: AtomicBool = AtomicBool::new(false);

/// On a fiber, whenever it goes on: remembers its way back.
///
/// # Safety
/// `yielder` is that of the fiber this code runs on: corosensei keeps there, in one word, the engine's stack pointer.
pub(crate) unsafe fn remember_way_back(yielder: *const Yielder<(), ()>) {
    const { assert!(size_of::<Yielder<(), ()>>() == size_of::<usize>()) };
    let place = yielder.cast::<usize>().cast_mut();
    LINK_PLACE.store(place, Ordering::Relaxed);
    // SAFETY: a word of this fiber's stack, as the caller promises.
    LINK.store(unsafe { place.read_volatile() }, Ordering::Relaxed);
    RETURNING.store(false, Ordering::Relaxed);
}
/// Where kernel code lies: only there a fiber may be ended from outside. Services change what outlives it.
static CODE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// How often time was up and the fiber somewhere else.
static MISSED: AtomicU32 = AtomicU32::new(0);
/// Between two attempts to meet kernel code, and how many there are before the process is given up.
const AGAIN: Duration = Duration::from_millis(1);
const MOST_ATTEMPTS: u32 = 2000;

/// Handlers installed for the length of a run; the former ones come back when it is dropped.
pub(crate) struct CrashGuard {
    former: Vec<(i32, libc::sigaction)>,
    former_stack: libc::stack_t,
    _stack: Vec<u8>,
}

impl CrashGuard {
    /// Installs the handlers on this thread. Kernel code, which lies in `code`, is ended when `time` is up.
    pub(crate) fn install(code: &Range<u64>, time: Option<Duration>) -> Self {
        CODE[0].store(code.start, Ordering::Relaxed);
        CODE[1].store(code.end, Ordering::Relaxed);
        MISSED.store(0, Ordering::Relaxed);
        IS_PATIENT.store(false, Ordering::Relaxed);
        let mut stack = vec![0u8; ALTERNATE_STACK];
        // SAFETY: plain system calls with valid pointers; the alternate stack lives as long as the guard, which
        // restores the former one before it goes. The handler is async-signal-safe: it only reads atomics and edits the
        // context it was given.
        unsafe {
            THREAD.store(libc::pthread_self() as usize, Ordering::Relaxed);
            let alternate = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
            let mut former_stack: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(&alternate, &mut former_stack);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_crash as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let alarm = time.map(|_| libc::SIGALRM);
            let former = SIGNALS
                .into_iter()
                .chain(alarm)
                .map(|signal| {
                    let mut old: libc::sigaction = std::mem::zeroed();
                    libc::sigaction(signal, &action, &mut old);
                    (signal, old)
                })
                .collect();
            if let Some(time) = time {
                set_timer(time, AGAIN);
            }
            Self { former, former_stack, _stack: stack }
        }
    }

    /// Ends kernel code wherever it is, from now on: by the timer, which goes back to whom it belongs when the guard goes.
    /// From any thread, while a guard is installed.
    pub(crate) fn end_kernel_code() {
        let mut borrowed = BORROWED.lock().unwrap_or_else(PoisonError::into_inner);
        if borrowed.is_some() {
            return;
        }
        IS_PATIENT.store(true, Ordering::Relaxed);
        // SAFETY: as in `install`.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_crash as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGALRM, &action, &mut old);
            *borrowed = Some(old);
        }
        set_timer(AGAIN, AGAIN);
    }
}

/// Whoever had the alarm before somebody wanted kernel code to end.
static BORROWED: Mutex<Option<libc::sigaction>> = Mutex::new(None);
/// The process is not to be given up if kernel code is not met: it ends at the next switch.
static IS_PATIENT: AtomicBool = AtomicBool::new(false);

impl Drop for CrashGuard {
    fn drop(&mut self) {
        let borrowed = BORROWED.lock().unwrap_or_else(PoisonError::into_inner).take();
        let has_timer = borrowed.is_some() || self.former.iter().any(|(signal, _)| *signal == libc::SIGALRM);
        // SAFETY: puts back exactly what `install` and `end_kernel_code` found.
        unsafe {
            if has_timer {
                set_timer(Duration::ZERO, Duration::ZERO);
                // Alarms that are on their way are nobody's.
                libc::signal(libc::SIGALRM, libc::SIG_IGN);
            }
            for (signal, old) in self.former.iter().map(|(signal, old)| (*signal, old)) {
                libc::sigaction(signal, old, std::ptr::null_mut());
            }
            if let Some(old) = borrowed.filter(|_| !self.former.iter().any(|(signal, _)| *signal == libc::SIGALRM)) {
                libc::sigaction(libc::SIGALRM, &old, std::ptr::null_mut());
            }
            libc::sigaltstack(&self.former_stack, std::ptr::null_mut());
        }
    }
}

/// The process's timer: when it goes off first, and how often then. Zero: never.
fn set_timer(first: Duration, again: Duration) {
    let value = |time: Duration| libc::timeval {
        tv_sec: time.as_secs() as libc::time_t,
        tv_usec: time.subsec_micros() as libc::suseconds_t,
    };
    let timer = libc::itimerval { it_value: value(first), it_interval: value(again) };
    // SAFETY: a plain system call with a valid pointer.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

/// Time is up: may the fiber be ended where it is? Otherwise the timer tries again.
///
/// # Safety
/// In a signal handler only.
unsafe fn ends_here(here: bool, context: &libc::ucontext_t) -> bool {
    let code = CODE[0].load(Ordering::Relaxed)..CODE[1].load(Ordering::Relaxed);
    let runs = here && !FIBER.load(Ordering::Relaxed).is_null() && !RETURNING.load(Ordering::Relaxed);
    if runs && code.contains(&program_counter(context)) {
        set_timer(Duration::ZERO, Duration::ZERO);
        return true;
    }
    // SAFETY: async-signal-safe calls; the thread that drives the run lives until the guard is dropped.
    unsafe {
        if MISSED.fetch_add(1, Ordering::Relaxed) > MOST_ATTEMPTS && !IS_PATIENT.load(Ordering::Relaxed) {
            libc::signal(libc::SIGALRM, libc::SIG_DFL);
        } else if !here {
            libc::pthread_kill(THREAD.load(Ordering::Relaxed) as libc::pthread_t, libc::SIGALRM);
        }
    }
    false
}

extern "C" fn on_crash(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let fiber = FIBER.load(Ordering::Relaxed);
    // SAFETY: the kernel hands valid pointers to a SA_SIGINFO handler. `fiber` is set by the engine exactly while the
    // fiber's code runs on this thread, so its stack may be reset: nothing on it is needed any more but the way back,
    // which the fiber remembered when it went on.
    unsafe {
        let here = libc::pthread_self() as usize == THREAD.load(Ordering::Relaxed);
        if signal == libc::SIGALRM && !ends_here(here, &*context.cast::<libc::ucontext_t>()) {
            return;
        }
        if fiber.is_null() || !here || RETURNING.load(Ordering::Relaxed) {
            // Not ours, or the way back leads nowhere and every attempt would end here again: the default action, when
            // the instruction is tried again. Some are not: the program counter is behind them already.
            libc::signal(signal, libc::SIG_DFL);
            if matches!(signal, libc::SIGABRT | libc::SIGTRAP) {
                libc::raise(signal);
            }
            return;
        }
        let context = &mut *context.cast::<libc::ucontext_t>();
        let address = (*info).si_addr() as u64;
        let crash = Crash {
            signal,
            address,
            program_counter: program_counter(context),
            return_address: return_address(context, |address| (*fiber).stack_ptr_in_bounds(address)),
            in_stack: (*fiber).stack_ptr_in_bounds(address as usize),
            calls: calls(context, |address| (*fiber).stack_ptr_in_bounds(address)),
        };
        RETURNING.store(true, Ordering::Relaxed);
        LINK_PLACE.load(Ordering::Relaxed).write_volatile(LINK.load(Ordering::Relaxed));
        let registers = (*fiber).setup_trap_handler(move || Exit::Crashed(crash));
        continue_at(context, &registers);
    }
}

/// The program counter, as if it were a call's, and the return addresses that frame pointers lead to.
fn calls(context: &libc::ucontext_t, in_stack: impl Fn(usize) -> bool) -> [u64; CALLS] {
    let mut found = [0; CALLS];
    found[0] = program_counter(context).wrapping_add(1);
    // A function without a frame of its own has nothing on the stack but where it returns to.
    let caller = return_address(context, &in_stack);
    let is_code = (CODE[0].load(Ordering::Relaxed)..CODE[1].load(Ordering::Relaxed)).contains(&caller);
    found[1] = if is_code { caller } else { found[0] };
    let mut at = frame_pointer(context) as usize;
    for call in &mut found[2..] {
        if !at.is_multiple_of(align_of::<usize>()) || !in_stack(at) || !in_stack(at.wrapping_add(15)) {
            break;
        }
        // SAFETY: two aligned words of the fiber's own stack, just checked, above its guard page.
        let [next, back] = unsafe { *(at as *const [usize; 2]) };
        *call = back as u64;
        if next <= at {
            break;
        }
        at = next;
    }
    found
}

#[cfg(target_arch = "x86_64")]
fn frame_pointer(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.gregs[libc::REG_RBP as usize] as u64
}

#[cfg(target_arch = "aarch64")]
fn frame_pointer(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.regs[29]
}

#[cfg(target_arch = "x86_64")]
fn program_counter(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64
}

/// The word on top of the stack, if the stack is where it should be; the one above it in a function that has just saved
/// the frame pointer and not set its own yet.
#[cfg(target_arch = "x86_64")]
fn return_address(context: &libc::ucontext_t, in_stack: impl Fn(usize) -> bool) -> u64 {
    let top = context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize;
    let word = |at: usize| {
        if !in_stack(at) || !in_stack(at.wrapping_add(7)) || !at.is_multiple_of(8) {
            return 0;
        }
        // SAFETY: eight bytes of the fiber's own stack, above its guard page: the address is inside, and aligned.
        unsafe { (at as *const u64).read_volatile() }
    };
    match word(top) {
        saved if saved != 0 && saved == frame_pointer(context) => word(top.wrapping_add(8)),
        back => back,
    }
}

#[cfg(target_arch = "aarch64")]
fn return_address(context: &libc::ucontext_t, _in_stack: impl Fn(usize) -> bool) -> u64 {
    context.uc_mcontext.regs[30]
}

#[cfg(target_arch = "x86_64")]
fn continue_at(context: &mut libc::ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
    let general = &mut context.uc_mcontext.gregs;
    general[libc::REG_RIP as usize] = registers.rip as i64;
    general[libc::REG_RSP as usize] = registers.rsp as i64;
    general[libc::REG_RBP as usize] = registers.rbp as i64;
    general[libc::REG_RDI as usize] = registers.rdi as i64;
    general[libc::REG_RSI as usize] = registers.rsi as i64;
}

#[cfg(target_arch = "aarch64")]
fn program_counter(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.pc
}

#[cfg(target_arch = "aarch64")]
fn continue_at(context: &mut libc::ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
    let machine = &mut context.uc_mcontext;
    machine.pc = registers.pc;
    machine.sp = registers.sp;
    machine.regs[0] = registers.x0;
    machine.regs[1] = registers.x1;
    machine.regs[29] = registers.x29;
    machine.regs[30] = registers.lr;
}
