//! What host code of a program calls: memory, facts about the chip, launches of kernels of its own image.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::Deserialize;

use crate::aicore::Memory;
use crate::diagnostic::Diagnostic;
use crate::model::{KernelType, ModelError, Platform, Soc};
use crate::sim::interface::error::SimError;
use crate::sim::interface::report::{Report, Unchecked};
use crate::sim::interface::request::{BufferSpec, Entries, OpSpec, Request};
use crate::sim::interface::tools::Tool;
use crate::sim::machine::arena::{self, Space};
use crate::sim::machine::core_state::memory_sizes;
use crate::sim::machine::memory::{self, SystemWorkspace};

/// What a program is run with.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The library made of it.
    pub library: PathBuf,
    /// The simulated chip.
    pub platform: Platform,
    /// What all its launches have in common.
    pub launch: Request,
    /// Bytes of global memory.
    pub memory: u64,
    /// The tools that need not be able to look; `None`: nobody asked for any.
    pub accepted: Option<Vec<Tool>>,
}

/// The same as JSON has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    soc: String,
    aic_num: Option<u32>,
    aiv_num: Option<u32>,
    /// Fields of every launch that are not as usual, by their names.
    launch: serde_json::Map<String, serde_json::Value>,
    memory: u64,
    accepted: Option<Vec<Tool>>,
}

impl Asked {
    /// From JSON.
    pub(crate) fn read(text: &str) -> Result<Self, SimError> {
        serde_json::from_str(text).map_err(|error| SimError::Request(error.to_string()))
    }

    /// The chip.
    pub(crate) fn platform(&self) -> Result<Platform, ModelError> {
        Platform::new(&self.soc, self.aic_num, self.aiv_num)
    }
}

impl Settings {
    /// Of a program in a library.
    pub(crate) fn new(library: PathBuf, platform: Platform, asked: Asked) -> Result<Self, SimError> {
        let entries = Entries { aic: Some(ENTRY.to_owned()), aiv: Some(ENTRY.to_owned()) };
        let usual = Request::new(library.clone(), entries, platform.soc, KernelType::AivOnly, 1, Vec::new());
        let launch = Request { check_order: false, ..usual }.with(asked.launch)?;
        Ok(Self { library, platform, launch, memory: asked.memory, accepted: asked.accepted })
    }

    /// What of a launch could not be looked at, and nobody accepts that.
    fn refused<'a>(&self, report: &'a Report) -> Vec<&'a Unchecked> {
        let Some(accepted) = &self.accepted else { return Vec::new() };
        let is_missed = |tool: &Tool| self.launch.tools.contains(tool) && !accepted.contains(tool);
        report.unchecked.iter().filter(|unchecked| unchecked.tools.iter().any(is_missed)).collect()
    }
}

/// The function every core of a launch starts in.
const ENTRY: &str = "sk_program_entry";

/// Status of a program that a failed launch ended.
const FAILED: i32 = 1;

/// How a launch is run.
pub(crate) type Launcher = fn(Request) -> Result<Report, SimError>;

/// The program that runs; host code finds it through the functions of the shim.
struct Program {
    settings: Settings,
    launcher: Launcher,
    space: Space,
    buffers: Vec<BufferSpec>,
    /// Pieces of memory that there have been.
    allocated: usize,
    /// Launches that came back.
    launched: usize,
}

static PROGRAM: Mutex<Option<Program>> = Mutex::new(None);

fn locked() -> std::sync::MutexGuard<'static, Option<Program>> {
    PROGRAM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on these are the program's memory and launches.
pub(crate) fn begin(settings: Settings, launcher: Launcher, space: Space) {
    *locked() = Some(Program { settings, launcher, space, buffers: Vec::new(), allocated: 0, launched: 0 });
}

impl Program {
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let address = self.space.allocate(bytes, None).ok().flatten()?;
        let name = format!("memory{}", self.allocated);
        self.allocated += 1;
        let launch = &self.settings.launch;
        let fresh = self.settings.accepted.is_some() && launch.tools.contains(&Tool::Init);
        let buffer = BufferSpec { name, address, size: bytes, guard: arena::slack(bytes), fresh };
        if fresh {
            memory::fill(&buffer, launch.schedule.seed);
        }
        self.buffers.push(buffer);
        Some(address)
    }

    fn release(&mut self, address: u64) -> bool {
        let Some(at) = self.buffers.iter().position(|buffer| buffer.address == address) else { return false };
        let size = self.buffers.remove(at).size;
        self.space.release(address, size).is_ok()
    }

    fn request(&self, launch: &Launch) -> Result<Request, SimError> {
        let (kernel, kernel_type) = (text(launch.kernel), text(launch.kernel_type));
        let unknown =
            || SimError::Argument { kernel: kernel.clone(), problem: format!("unknown kernel type `{kernel_type}`") };
        // One kernel at a time: its cores may race, and nobody else is there.
        let op =
            OpSpec { name: kernel.clone(), param_offset: 0, param_count: 0, stream: None, reads: None, writes: None };
        let ops = if self.settings.launch.check_order { vec![op] } else { Vec::new() };
        let blocks = u32::try_from(launch.blocks).ok().filter(|blocks| *blocks > 0);
        let none = || SimError::Argument {
            kernel: kernel.clone(),
            problem: format!("{} blocks; there must be one at least", launch.blocks),
        };
        Ok(Request {
            ops,
            kernel_type: KernelType::from_name(&kernel_type).ok_or_else(unknown)?,
            args_offset: Some(launch.call),
            blocks: blocks.ok_or_else(none)?,
            buffers: self.buffers.clone(),
            kernel,
            ..self.settings.launch.clone()
        })
    }
}

/// `SkProgramLaunch` of `sk_program/launch.h`.
#[repr(C)]
pub(crate) struct Launch {
    kernel: *const c_char,
    kernel_type: *const c_char,
    file: *const c_char,
    line: u32,
    blocks: i64,
    call: u64,
}

thread_local! {
    /// The name of the kernel that runs on this thread. (Nothing that is destroyed: handlers of a program's end launch too,
    /// when the variables of its thread are gone.)
    static RUNNING: Cell<*const c_char> = const { Cell::new(std::ptr::null()) };
}

fn text(text: *const c_char) -> String {
    // SAFETY: the header passes literals.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Runs a kernel to its end. A failure ends the program.
pub(crate) extern "C" fn launch(launch: *const Launch) {
    // SAFETY: the header passes a structure of its own that lives during the call.
    let launch = unsafe { &*launch };
    let place = format!("{}:{}", text(launch.file), launch.line);
    let kernel = text(launch.kernel);
    let outer = RUNNING.get();
    if !outer.is_null() {
        refuse(&place, &SimError::NestedLaunch { kernel, outer: text(outer) });
    }
    // Kernel code allocates nothing, so nobody needs the program while it runs.
    let request = locked().as_ref().map(|program| {
        // What host code wrote there is not the kernel's doing.
        program.buffers.iter().for_each(|buffer| arena::guard(buffer.address, buffer.size));
        program.request(launch).map(|request| (program.launcher, request))
    });
    let launched = match request {
        Some(Ok((launcher, request))) => {
            RUNNING.set(launch.kernel);
            let report = launcher(request);
            RUNNING.set(std::ptr::null());
            report
        }
        Some(Err(error)) => Err(error),
        None => Err(SimError::Request("a kernel was launched outside of a program".to_owned())),
    };
    // SAFETY: what host code printed so far comes first.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    match launched {
        Ok(report) => {
            let mut output = std::io::stdout().lock();
            for line in &report.output {
                let _ = writeln!(output, "{line}");
            }
            let _ = output.flush();
            for warning in &report.warnings {
                eprintln!("{place}: launch of `{kernel}`: warning: {warning}");
            }
            if let Some((id, solution)) = report.error() {
                let told = explained(&report, &place, &kernel);
                eprintln!("superkernel: error [{id}]: {told}\n  hint: {solution}");
                end();
            }
            let missed = locked().as_mut().map_or_else(Vec::new, |program| {
                program.launched += 1;
                program.settings.refused(&report)
            });
            if !missed.is_empty() {
                let texts: Vec<&str> = missed.iter().map(|unchecked| unchecked.text.as_str()).collect();
                nothing_checked(&format!("{place}: launch of `{kernel}`: could not look at {}", texts.join("; ")));
                end();
            }
        }
        Err(error) => refuse(&place, &error),
    }
}

/// Ends the program: this launch is not possible.
fn refuse(place: &str, error: &SimError) -> ! {
    eprintln!("superkernel: error [{}]: {place}: {error}\n  hint: {}", error.id(), error.solution());
    end()
}

/// Somebody asked for tools, and they had nothing to look at.
fn nothing_checked(problem: &str) {
    eprintln!("superkernel: error [SK0944]: {problem}\n  hint: do that, or allow it with --allow-unchecked");
}

/// `main` has returned: a program of which nothing was looked at has not been found right.
pub(crate) fn finished(status: c_int) -> c_int {
    let is_unchecked = |program: &Program| {
        let is_missed =
            |accepted: &Vec<Tool>| program.settings.launch.tools.iter().any(|tool| !accepted.contains(tool));
        program.launched == 0 && program.settings.accepted.as_ref().is_some_and(is_missed)
    };
    if status != 0 || !locked().as_ref().is_some_and(is_unchecked) {
        return status;
    }
    nothing_checked("the program launched no kernel: nothing was looked at");
    FAILED
}

fn explained(report: &Report, place: &str, kernel: &str) -> String {
    let site = report.failure.as_ref().and_then(|failure| failure.file.as_ref().zip(failure.line));
    let site = site.map(|(file, line)| format!("{file}:{line}: ")).unwrap_or_default();
    format!("{site}{}\n{place}: launch of `{kernel}` failed", report.message)
}

fn end() -> ! {
    exit(FAILED)
}

/// Ends the process as a program ends: what it registered is called, its variables are destroyed, other threads of it
/// just end. Its memory and its kernels are there until then.
pub(crate) fn exit(status: c_int) -> ! {
    // SAFETY: the process of a program has nothing else to do; buffers of host code are written.
    unsafe { libc::exit(status) }
}

/// Host code prints, between launches.
pub(crate) fn print(bytes: &[u8]) {
    let mut output = std::io::stdout().lock();
    // At once: the process may end without asking anybody.
    let _ = output.write_all(bytes).and_then(|()| output.flush());
}

/// Host code cannot go on.
pub(crate) fn give_up(text: &str, site: Option<(String, u32)>) -> ! {
    let place = site.map(|(file, line)| format!("{file}:{line}: ")).unwrap_or_default();
    eprintln!("{place}{text}");
    end()
}

/// Global memory; null if there is no more.
pub(crate) extern "C" fn allocate(bytes: u64) -> *mut c_void {
    locked().as_mut().and_then(|program| program.allocate(bytes)).map_or(std::ptr::null_mut(), |at| at as *mut c_void)
}

/// Gives memory back; 0 if there was none.
pub(crate) extern "C" fn release(memory: *mut c_void) -> c_int {
    c_int::from(locked().as_mut().is_some_and(|program| program.release(memory as u64)))
}

/// How many cores of a kind the simulated chip has.
pub(crate) extern "C" fn cores(is_vector: u32) -> u32 {
    let counts = locked().as_ref().map(|program| program.settings.platform.cores);
    counts.map_or(0, |counts| if is_vector == 0 { counts.aic } else { counts.aiv })
}

/// The name of the simulated SoC, as the settings give it.
pub(crate) extern "C" fn soc() -> *const c_char {
    static NAMES: LazyLock<Vec<(Soc, CString)>> = LazyLock::new(|| {
        Soc::ALL.into_iter().filter_map(|soc| Some((soc, CString::new(soc.as_str()).ok()?))).collect()
    });
    let asked = locked().as_ref().map(|program| program.settings.platform.soc);
    let name = NAMES.iter().find(|(soc, _)| Some(*soc) == asked);
    name.map_or(c"".as_ptr(), |(_, name)| name.as_ptr())
}

/// Bytes of one of the simulated chip's memories, by the numbers of `SkProgramMemory`; 0 if there is none.
pub(crate) extern "C" fn memory(number: u32) -> u64 {
    let number = number as usize;
    if number == Memory::LOCAL.len() {
        return SystemWorkspace::BYTES;
    }
    let chip = locked().as_ref().map(|program| program.settings.platform.soc.chip());
    chip.and_then(|chip| memory_sizes(chip).get(number).copied()).unwrap_or(0)
}
