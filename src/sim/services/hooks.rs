//! The functions behind the `sk_rt_` names: what kernel code calls while it runs on a fiber.
//!
//! All of them run on the fiber of the current core, on the one thread that drives the run. A core that may not go on
//! is suspended in here; after a failure it is never resumed.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicPtr, Ordering};

use corosensei::Yielder;

use super::host;
use super::pipes::QueueCall;
use super::run::{Next, Run};
use crate::aicore::Issued;
use crate::model::OpPosition;
use crate::sim::code::signals::remember_way_back;
use crate::sim::interface::status::Status;
use crate::sim::machine::access::ScalarAccess;
use crate::sim::machine::access::Site;
use crate::sim::machine::cache::Extent;
use crate::sim::machine::core_state::CoreState;
use crate::sim::watch::order::Precision;

/// The run that is driven now; null outside of one.
pub(crate) static RUN: AtomicPtr<Run> = AtomicPtr::new(std::ptr::null_mut());
/// The state of the core that runs.
pub(crate) static STATE: AtomicPtr<CoreState> = AtomicPtr::new(std::ptr::null_mut());
/// The way back from the fiber of the core that runs.
pub(crate) static YIELDER: AtomicPtr<Yielder<(), ()>> = AtomicPtr::new(std::ptr::null_mut());

/// `SkFault` of the header.
mod fault {
    pub(crate) const TRAP: u32 = 1;
    pub(crate) const ASSERT: u32 = 2;
    pub(crate) const NULL_CALL: u32 = 4;
    pub(crate) const EXCEPTION: u32 = 8;
}

/// Bits of the second argument of `sk_rt_dcci`.
mod dcci_form {
    pub(crate) const WHOLE: u32 = 1;
    pub(crate) const LOCAL: u32 = 2;
}

/// A core calls: a store that it announced has happened by now.
fn with_run<R>(action: impl FnOnce(&mut Run) -> R) -> R {
    amid_store(|run| {
        if run.machine.combining.is_some() {
            run.finish_combining();
        }
        action(run)
    })
}

/// A core calls, perhaps between announcing a store and storing.
fn amid_store<R>(action: impl FnOnce(&mut Run) -> R) -> R {
    // SAFETY: hooks are only reachable from a library bound by the engine, whose code only runs while the engine drives
    // a run on this thread. The engine holds no reference into the run while a fiber runs, and `action` never suspends,
    // so this is the only one.
    action(unsafe { &mut *RUN.load(Ordering::Relaxed) })
}

fn suspend() {
    // The engine sets it before each resume; another core's resume replaces it, so it is put back afterwards.
    let yielder = YIELDER.load(Ordering::Relaxed);
    // SAFETY: the yielder of the fiber this code runs on: it lives at the base of the fiber's stack.
    unsafe { (*yielder).suspend(()) };
    YIELDER.store(yielder, Ordering::Relaxed);
    // SAFETY: the same yielder, and the engine's stack has moved on meanwhile.
    unsafe { remember_way_back(yielder) };
}

fn stop() -> ! {
    loop {
        suspend();
    }
}

fn settle(next: Next) {
    match next {
        Next::Continue => {}
        Next::Switch | Next::Block => suspend(),
        Next::Stop => stop(),
    }
}

fn retry_until_taken(mut attempt: impl FnMut(&mut Run) -> Next) {
    loop {
        match with_run(&mut attempt) {
            Next::Continue | Next::Switch => return,
            Next::Block => suspend(),
            Next::Stop => stop(),
        }
    }
}

extern "C" fn core() -> *mut CoreState {
    STATE.load(Ordering::Relaxed)
}

extern "C" fn cross_core_set(pipe: u32, mode: u32, flag: u32) {
    settle(with_run(Run::sync_point));
    suspend();
    settle(with_run(|run| run.set_flag(pipe, mode, flag)));
}

extern "C" fn wait_flag(_pipe: u32, flag: u32, frame: *const usize) {
    settle(with_run(Run::sync_point));
    if with_run(|run| run.driver.scheduler.switches_at_waits()) {
        suspend();
    }
    retry_until_taken(|run| {
        let next = run.wait_flag(flag);
        run.may_stay(frame);
        next
    });
}

extern "C" fn intra_block_set(pipe: u32, id: u32) {
    settle(with_run(Run::sync_point));
    suspend();
    settle(with_run(|run| run.set_in_block(pipe, id)));
}

extern "C" fn intra_block_wait(_pipe: u32, id: u32, frame: *const usize) {
    settle(with_run(Run::sync_point));
    retry_until_taken(|run| {
        let next = run.wait_in_block(id);
        run.may_stay(frame);
        next
    });
}

extern "C" fn set_ffts_base_addr(_address: u64) {
    with_run(|run| run.machine.core().ffts_known = true);
}

extern "C" fn pipe_flag(
    form: u32,
    source: u32,
    target: u32,
    id: u32,
    file: *const c_char,
    line: u32,
    frame: *const usize,
) {
    settle(with_run(|run| {
        let site = run.observer.sites.call(file, line, frame);
        run.pipe_flag(form, (source, target, id), site)
    }));
}

extern "C" fn pipe_barrier(pipe: u32) {
    settle(with_run(|run| run.pipe_barrier(pipe)));
}

extern "C" fn queue(
    action: u32,
    buffer: u64,
    pipe: u32,
    bytes: u64,
    position: *const c_char,
    file: *const c_char,
    line: u32,
) {
    let position = (!position.is_null()).then(|| {
        // SAFETY: the header passes string literals.
        unsafe { CStr::from_ptr(position) }.to_string_lossy().into_owned()
    });
    let call = QueueCall { action, buffer, pipe, bytes, position, site: Site::line(file, line) };
    settle(with_run(|run| run.queue(call)));
}

extern "C" fn scalar(address: u64, bytes: u32, access: u32, file: *const c_char, line: u32) {
    settle(with_run(|run| run.announced(address..address + u64::from(bytes), access, Site::line(file, line))));
}

/// Answers to code built with hooks.
mod heard {
    /// What it says has been heard.
    pub(crate) const OF: u32 = 0;
    /// Nobody needs to hear of that code again.
    pub(crate) const ENOUGH: u32 = 1;
    /// The store will combine with what is there.
    pub(crate) const COMBINES: u32 = 2;
}

/// Code built with hooks is about to load or store.
extern "C" fn access(address: u64, bytes: u64, kind: u32, code: u64, frame: *const usize) -> u32 {
    if amid_store(|run| run.observer.sites.only_scrambles(code)) {
        return heard::ENOUGH;
    }
    let access = ScalarAccess::from_number(u64::from(kind));
    let (next, combines) = amid_store(|run| {
        let site = run.observer.sites.access(code, frame);
        let next = run.hooked(address..address + bytes, access, site);
        (next, access.writes() && run.machine.combining.is_some())
    });
    settle(next);
    if combines { heard::COMBINES } else { heard::OF }
}

extern "C" fn dcci(address: u64, form: u32, frame: *const usize) {
    let extent = if form & dcci_form::WHOLE != 0 { Extent::Whole } else { Extent::Line(address) };
    if form & dcci_form::LOCAL == 0 {
        with_run(|run| run.flush_cache(extent));
    }
    settle(with_run(|run| {
        let next = run.flush(extent);
        run.may_stay(frame);
        next
    }));
    with_run(|run| run.refill(extent));
}

/// An access of `bytes` bytes around the cache: a switching point, as `dcci` is.
extern "C" fn bypass(address: u64, bytes: u32, is_write: u32, value: u64) -> u64 {
    let extent = Extent::Line(address);
    if is_write != 0 {
        settle(with_run(|run| {
            run.combines(u64::from(bytes), Site::Unknown).map_or_else(|next| next, |_| Next::Continue)
        }));
        let value = with_run(|run| run.bypass(address, bytes, true, value));
        settle(with_run(Run::told));
        return value;
    }
    settle(with_run(|run| run.flush(extent)));
    with_run(|run| run.refill(extent));
    with_run(|run| run.bypass(address, bytes, false, value))
}

extern "C" fn system_cycle() -> i64 {
    with_run(|run| {
        run.driver.steps += 1;
        run.driver.steps as i64
    })
}

extern "C" fn work(pipe: u32, bytes: u64) {
    with_run(|run| run.work(pipe, bytes));
}

extern "C" fn fault(fault: u32, text: *const c_char, file: *const c_char, line: u32) -> ! {
    // SAFETY: the header passes string literals or its own buffers, all terminated.
    let read = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    let (status, text) = match fault {
        fault::TRAP => (Status::Trap, read(text)),
        fault::ASSERT => (Status::Assert, format!("assertion `{}` failed", read(text))),
        fault::NULL_CALL => (Status::NullCall, read(text)),
        fault::EXCEPTION => (Status::Crash, read(text)),
        _ => (Status::Api, read(text)),
    };
    let site = (!file.is_null()).then(|| (read(file), line));
    if RUN.load(Ordering::Relaxed).is_null() {
        host::give_up(&text, site);
    }
    with_run(|run| run.fail(status, text, site));
    stop()
}

extern "C" fn complain(text: *const c_char, frame: *const usize) {
    // SAFETY: the header passes its own buffer, terminated.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    settle(with_run(|run| {
        let site = run.observer.sites.calls(frame);
        run.complain(&text, site)
    }));
}

extern "C" fn print(text: *const c_char, length: u64) {
    // SAFETY: the header passes a buffer of at least `length` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length as usize) };
    if RUN.load(Ordering::Relaxed).is_null() {
        return host::print(bytes);
    }
    with_run(|run| run.observer.print(run.machine.current, &String::from_utf8_lossy(bytes)));
}

extern "C" fn note(note: u32, value: u64) {
    settle(with_run(|run| run.note(note, value)));
}

extern "C" fn op_begin(position: u32) {
    settle(with_run(|run| run.op_begin(OpPosition::at(position as usize), Precision::Label)));
}

extern "C" fn op_end(_position: u32) {
    settle(with_run(|run| run.op_end(Precision::Label)));
}

extern "C" fn sub_kernel_begin(offset: u64) {
    settle(with_run(|run| {
        let position = run.observer.op_by_offset(run.machine.current, offset);
        run.op_begin(position, Precision::Call)
    }));
}

extern "C" fn sub_kernel_end(_offset: u64) {
    settle(with_run(|run| run.op_end(Precision::Call)));
}

/// Called now and then by code compiled with a hook in every loop: lets others run, and counts towards the limit.
extern "C" fn spin() {
    settle(with_run(Run::step));
    suspend();
}

extern "C" fn issue(issued: *const Issued, frame: *const usize) {
    // SAFETY: the header passes a record of its own that lives during the call.
    let issued = unsafe { &*issued };
    let next = with_run(|run| {
        let site = run.observer.sites.call(issued.file, issued.line, frame);
        run.issue(issued, site)
    });
    if next != Next::Continue {
        settle(next);
        with_run(|run| run.machine.core().poll = None);
    }
}

extern "C" fn set_register(register: u32, value: u64) {
    with_run(|run| run.set_register(register, value));
}

extern "C" fn get_register(register: u32) -> u64 {
    with_run(|run| run.get_register(register))
}

extern "C" fn system_workspace() -> *mut u8 {
    with_run(|run| run.machine.system_workspace())
}

/// Code is about to look at a word that cores exchange.
extern "C" fn look(address: u64) {
    with_run(|run| {
        run.settle_accesses();
        run.machine.hear(address);
        run.scalar_hears();
    });
}

/// Code at `code`, in a function whose frame is `frame`, reads the same address again and again, and nothing else.
extern "C" fn stare(address: u64, code: u64, frame: *const usize) {
    settle(with_run(|run| {
        let site = run.observer.sites.access(code, frame);
        run.stares(address, site)
    }));
    with_run(|run| run.machine.core().poll = None);
}

/// The log of accesses is full.
extern "C" fn drain() {
    amid_store(Run::settle_accesses);
}

/// The functions in the order of the table in `shim.cpp`.
pub(crate) fn table() -> [*const (); 38] {
    [
        core as *const (),
        cross_core_set as *const (),
        wait_flag as *const (),
        intra_block_set as *const (),
        intra_block_wait as *const (),
        set_ffts_base_addr as *const (),
        pipe_flag as *const (),
        dcci as *const (),
        system_cycle as *const (),
        work as *const (),
        fault as *const (),
        print as *const (),
        note as *const (),
        op_begin as *const (),
        op_end as *const (),
        sub_kernel_begin as *const (),
        sub_kernel_end as *const (),
        spin as *const (),
        issue as *const (),
        set_register as *const (),
        get_register as *const (),
        system_workspace as *const (),
        pipe_barrier as *const (),
        queue as *const (),
        scalar as *const (),
        host::launch as *const (),
        host::allocate as *const (),
        host::release as *const (),
        host::cores as *const (),
        host::memory as *const (),
        host::soc as *const (),
        drain as *const (),
        access as *const (),
        bypass as *const (),
        stare as *const (),
        look as *const (),
        complain as *const (),
        std::ptr::null(),
    ]
}
