//! From a kernel object to code that can be called: link it to the shim, load it, bind the services.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol};

use super::access_log::RawLog;
use super::signals::Crash;
use crate::artifact::BLOCK_LOCAL_PREFIX;
use crate::cancel::Cancel;
use crate::elf;
use crate::fs::{self, absolute};
use crate::locate::{CodeFile, CodePlace};
use crate::sim::interface::error::SimError;
use crate::store::digest::ContentDigest;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{HostCompiler, ToolchainError};

const SHIM: &str = concat!(include_str!("shim.cpp"), include_str!("accesses.cpp"));
/// Functions of the C library that touch memory for kernel code: the shim comes first.
const WRAPPED: [&str; 3] = ["-Wl,--wrap=memcpy", "-Wl,--wrap=memmove", "-Wl,--wrap=memset"];
/// Prefixes of the sections that hold per-core variables: the kernel's (`__BLOCK_LOCAL__`), and the emulation's own.
const BLOCK_LOCAL: [&str; 2] = [BLOCK_LOCAL_PREFIX, "sk_block_local."];
/// Part of the names of functions in AscendC's headers that fill memories with random numbers.
const SCRAMBLER: &str = "AscendC5TPipe12SetBufferCtx";
/// A kernel with this section keeps per-core state in ordinary variables: all of them are per core.
const WHOLE_IMAGE: &str = "sk_whole_image";

/// Links kernel objects and archives with the shim into a shared library at `output`.
///
/// `cache` keeps the compiled shim.
pub(crate) fn link(
    objects: &[PathBuf],
    output: &Path,
    cache: &Path,
    compiler: &HostCompiler,
    cancel: &Cancel,
) -> Result<(), SimError> {
    for object in objects {
        check_limits(object)?;
    }
    let shim = compiled_shim(compiler, cache, cancel)?;
    let object = objects.first().cloned().unwrap_or_default();
    // To a compiler `@k.o` is a list of arguments, and `-k.o` an option.
    let objects: Vec<PathBuf> = objects.iter().map(|object| absolute(object)).collect();
    let linking = compiler.command(format!("the simulator's library of `{}`", object.display()));
    let linking = linking.args(["-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-Wl,-z,noexecstack", "-o"]).arg(output);
    let linking = linking.args(WRAPPED).arg(shim).arg("-Wl,--whole-archive").args(&objects).args([
        "-Wl,--no-whole-archive",
        "-lm",
        "-ldl",
    ]);
    match linking.run(cancel) {
        Ok(_) => Ok(()),
        // The compiler is right: the object is not what it should be.
        Err(ToolchainError::Failed { stderr, .. }) => Err(SimError::Link { object, output: stderr }),
        Err(other) => Err(other.into()),
    }
}

/// Refuses an object that would cost gigabytes to link or to load. What else is wrong with it the linker tells.
fn check_limits(object: &Path) -> Result<(), SimError> {
    let bytes = fs::read(object)?;
    match elf::check_file_limits(&bytes).and_then(|()| elf::check_block_local(&bytes)) {
        Err(source) if source.is_excess() => Err(SimError::Excess { object: object.to_path_buf(), source }),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The shim's object, compiled once per content and compiler.
fn compiled_shim(compiler: &HostCompiler, cache: &Path, cancel: &Cancel) -> Result<PathBuf, SimError> {
    let command = compiler.command("the simulator's shim").args([
        "-O2",
        "-fPIC",
        "-fno-omit-frame-pointer",
        "-c",
        "shim.cpp",
        "-o",
        "shim.o",
    ]);
    let tools: String = compiler.identity().iter().map(|tool| format!("\n{tool}")).collect();
    let key = ContentDigest::of_all([SHIM, &command.line(), &tools].map(str::as_bytes)).short();
    let ready = cache.join(format!("sk_shim_{key}.o"));
    if !ready.is_file() {
        let work = WorkDir::create(cache, "shim", cancel)?;
        work.write("shim.cpp", SHIM.as_bytes())?;
        command.current_dir(work.path()).run(cancel)?;
        // Whoever comes meanwhile finds a whole file or none.
        fs::rename(&work.file("shim.o"), &ready)?;
    }
    Ok(ready)
}

/// A loaded kernel.
#[derive(Debug)]
pub(crate) struct Library {
    kernel: String,
    path: PathBuf,
    /// Between the addresses in the file and those of this process.
    distance: u64,
    handle: *mut libc::c_void,
    /// Functions of AscendC's headers that fill local memories with anything, as their CPU mode does before a kernel.
    scramblers: Vec<Range<u64>>,
    block_local: Vec<(*mut u8, usize)>,
    /// Made with AscendC's own headers, in whole or in part.
    has_foreign_headers: bool,
    /// The kernel's per-core variables by name.
    variables: Vec<(String, *mut u8)>,
    /// Where its code lies.
    code: Range<u64>,
}

impl Library {
    /// Loads the library and gives it the services that its code calls.
    pub(crate) fn open(path: &Path, kernel: &str, services: &[*const ()]) -> Result<Self, SimError> {
        let data = fs::read(path)?;
        let refused = |reason: String| SimError::Load { kernel: kernel.to_owned(), reason };
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| refused("the path of its library contains a 0 byte".to_owned()))?;
        // SAFETY: dlopen with a valid path. The initialisers of the library are those of the kernel's own globals.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(refused(loader_message()));
        }
        let path = path.to_path_buf();
        let mut library = Self {
            kernel: kernel.to_owned(),
            path,
            distance: 0,
            handle,
            scramblers: Vec::new(),
            block_local: Vec::new(),
            has_foreign_headers: false,
            variables: Vec::new(),
            code: 0..0,
        };
        let table = library.symbol("sk_shim_table")?.cast::<*const ()>();
        for (slot, function) in services.iter().enumerate() {
            // SAFETY: the table of the shim has exactly this many pointers, in this order.
            unsafe { table.cast_mut().add(slot).write(*function) };
        }
        library.find_sections(&data, table as usize)?;
        Ok(library)
    }

    /// The address of a function.
    pub(crate) fn symbol(&self, name: &str) -> Result<*const (), SimError> {
        let missing = || SimError::MissingFunction { kernel: self.kernel.clone(), symbol: name.to_owned() };
        let text = CString::new(name).map_err(|_| missing())?;
        // SAFETY: a live handle and a terminated name.
        let address = unsafe { libc::dlsym(self.handle, text.as_ptr()) };
        if address.is_null() { Err(missing()) } else { Ok(address.cast_const().cast()) }
    }

    /// Tells the kernel what it has to report: bits of `SkWatch`.
    pub(crate) fn watch(&self, bits: u32) -> Result<(), SimError> {
        let variable = self.symbol("sk_rt_watch")?.cast::<u32>().cast_mut();
        // SAFETY: a variable of the shim, of this type; no kernel code runs now.
        unsafe { variable.write(bits) };
        Ok(())
    }

    /// Has kernel code write its accesses to `log`; null: to none.
    pub(crate) fn log_accesses(&self, log: *mut RawLog) -> Result<(), SimError> {
        let place = self.symbol("sk_shim_log")?.cast::<*mut RawLog>().cast_mut();
        // SAFETY: a variable of the shim, of this type; no code of the library runs now.
        unsafe { place.write(log) };
        Ok(())
    }

    /// Where code is that fills local memories with anything, and means nothing by it.
    pub(crate) fn scramblers(&self) -> Vec<Range<u64>> {
        self.scramblers.clone()
    }

    /// Do all calls on tensors say so before they load or store? Those of our own headers do.
    pub(super) fn announces_tensors(&self) -> bool {
        !self.has_foreign_headers
    }

    /// Where its code lies.
    pub(crate) fn code(&self) -> Range<u64> {
        self.code.clone()
    }

    /// Its file, and the distance between addresses there and those of this process.
    pub(crate) fn file(&self) -> (PathBuf, u64) {
        (self.path.clone(), self.distance)
    }

    /// The bytes that every core has its own copy of.
    pub(crate) fn block_local(&self) -> &[(*mut u8, usize)] {
        &self.block_local
    }

    /// Where per-core variables of this name are.
    pub(crate) fn variables(&self, name: &str) -> impl Iterator<Item = *mut u8> {
        self.variables.iter().filter(move |(known, _)| known == name).map(|(_, address)| *address)
    }

    /// Where the code of a crash is: where it was, or, outside of the library, where that was called from.
    pub(crate) fn place(&self, crash: &Crash) -> Option<CodePlace> {
        let data = fs::read(&self.path).ok()?;
        let code = CodeFile::parse(&data).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let inside = |address: u64| {
            let holds = |section: object::Section<'_, '_>| {
                section.kind() == object::SectionKind::Text
                    && address.checked_sub(section.address()).is_some_and(|offset| offset < section.size())
            };
            file.sections().any(holds).then_some(address)
        };
        let here = inside(crash.program_counter.wrapping_sub(self.distance));
        // A call returns to the instruction behind it.
        let caller = || inside(crash.return_address.wrapping_sub(self.distance).wrapping_sub(1));
        here.or_else(caller).map(|address| code.at(address))
    }

    /// Sections of per-core variables, at their loaded addresses; a known symbol gives the distance.
    fn find_sections(&mut self, data: &[u8], table: usize) -> Result<(), SimError> {
        let broken = |reason: String| SimError::Load { kernel: self.kernel.clone(), reason };
        let file = object::File::parse(data).map_err(|error| broken(error.to_string()))?;
        let linked = file
            .dynamic_symbols()
            .find(|symbol| symbol.name() == Ok("sk_shim_table"))
            .ok_or_else(|| broken("the shim is missing".to_owned()))?;
        let distance = table.wrapping_sub(linked.address() as usize);
        let whole = file.section_by_name(WHOLE_IMAGE).is_some();
        self.has_foreign_headers = whole;
        let is_per_core = |name: &str| {
            BLOCK_LOCAL.iter().any(|prefix| name.starts_with(prefix)) || (whole && matches!(name, ".data" | ".bss"))
        };
        let sections: Vec<object::Section<'_, '_>> =
            file.sections().filter(|section| section.name().is_ok_and(is_per_core)).collect();
        let loaded = |address: u64| distance.wrapping_add(address as usize) as *mut u8;
        self.block_local =
            sections.iter().map(|section| (loaded(section.address()), section.size() as usize)).collect();
        let per_core: HashSet<_> = sections.iter().map(|section| Some(section.index())).collect();
        let variables =
            file.symbols().filter(|symbol| symbol.is_definition() && per_core.contains(&symbol.section_index()));
        self.variables =
            variables.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), loaded(symbol.address())))).collect();
        self.distance = distance as u64;
        let code = file.sections().filter(|section| section.kind() == object::SectionKind::Text);
        let code = code.map(|section| {
            let start = self.distance.wrapping_add(section.address());
            start..start.wrapping_add(section.size())
        });
        self.code = code.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)).unwrap_or(0..0);
        let scramblers = file
            .symbols()
            .filter(|symbol| symbol.is_definition() && symbol.name().is_ok_and(|name| name.contains(SCRAMBLER)));
        self.scramblers = scramblers
            .map(|symbol| {
                let start = self.distance.wrapping_add(symbol.address());
                start..start.wrapping_add(symbol.size())
            })
            .collect();
        Ok(())
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle is open; fibers that ran its code are gone when the run has ended.
        unsafe {
            libc::dlclose(self.handle);
        }
    }
}

fn loader_message() -> String {
    // SAFETY: dlerror returns null or a string that is valid until the next call on this thread.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { "unknown reason".to_owned() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}
