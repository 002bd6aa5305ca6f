//! Crashes of kernel code: the fiber that crashed is ended, the run goes on to its report.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

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
}

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

/// Handlers installed for the length of a run; the former ones come back when it is dropped.
pub(crate) struct CrashGuard {
    former: Vec<(i32, libc::sigaction)>,
    former_stack: libc::stack_t,
    _stack: Vec<u8>,
}

impl CrashGuard {
    /// Installs the handlers on this thread.
    pub(crate) fn install() -> Self {
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
            let former = SIGNALS
                .iter()
                .map(|&signal| {
                    let mut old: libc::sigaction = std::mem::zeroed();
                    libc::sigaction(signal, &action, &mut old);
                    (signal, old)
                })
                .collect();
            Self { former, former_stack, _stack: stack }
        }
    }
}

impl Drop for CrashGuard {
    fn drop(&mut self) {
        // SAFETY: puts back exactly what `install` found.
        unsafe {
            for (signal, old) in &self.former {
                libc::sigaction(*signal, old, std::ptr::null_mut());
            }
            libc::sigaltstack(&self.former_stack, std::ptr::null_mut());
        }
    }
}

extern "C" fn on_crash(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let fiber = FIBER.load(Ordering::Relaxed);
    // SAFETY: the kernel hands valid pointers to a SA_SIGINFO handler. `fiber` is set by the engine exactly while the
    // fiber's code runs on this thread, so its stack may be reset: nothing on it is needed any more but the way back,
    // which the fiber remembered when it went on.
    unsafe {
        let here = libc::pthread_self() as usize == THREAD.load(Ordering::Relaxed);
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
        };
        RETURNING.store(true, Ordering::Relaxed);
        LINK_PLACE.load(Ordering::Relaxed).write_volatile(LINK.load(Ordering::Relaxed));
        let registers = (*fiber).setup_trap_handler(move || Exit::Crashed(crash));
        continue_at(context, &registers);
    }
}

#[cfg(target_arch = "x86_64")]
fn program_counter(context: &libc::ucontext_t) -> u64 {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64
}

/// The word on top of the stack, if the stack is where it should be.
#[cfg(target_arch = "x86_64")]
fn return_address(context: &libc::ucontext_t, in_stack: impl Fn(usize) -> bool) -> u64 {
    let top = context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize;
    if !in_stack(top) || !in_stack(top.wrapping_add(7)) || !top.is_multiple_of(8) {
        return 0;
    }
    // SAFETY: eight bytes of the fiber's own stack, above its guard page: the stack pointer is inside, and aligned.
    unsafe { (top as *const u64).read_volatile() }
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
