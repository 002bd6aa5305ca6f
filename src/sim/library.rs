//! From a kernel object to code that can be called: link it to the shim, load it, bind the services.

use std::ffi::{CStr, CString, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection};
use sha2::{Digest, Sha256};

use super::error::SimError;
use super::hooks;
use crate::fs::FileError;
use crate::toolchain::host::find_program;

const SHIM: &str = include_str!("shim.cpp");
const COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];
/// Prefix of the sections that hold per-core variables (`__BLOCK_LOCAL__`).
const BLOCK_LOCAL: &str = "sk_block_local.";

/// Links kernel objects and archives with the shim into a shared library at `output`.
///
/// `cache` keeps the compiled shim.
pub fn link(objects: &[PathBuf], output: &Path, cache: &Path) -> Result<(), SimError> {
    let first = objects.first().cloned().unwrap_or_default();
    let (compiler, arguments) = find_compiler(&first)?;
    let shim = compiled_shim(&compiler, &arguments, cache, &first)?;
    let mut command = Command::new(&compiler);
    command.args(&arguments).args(["-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-Wl,-z,noexecstack"]);
    command.arg("-o").arg(output).arg(shim).arg("-Wl,--whole-archive").args(objects).arg("-Wl,--no-whole-archive");
    run(command.arg("-lm"), &first)
}

fn find_compiler(object: &Path) -> Result<(PathBuf, Vec<OsString>), SimError> {
    let path = std::env::var_os("PATH");
    if let Some(named) = std::env::var_os("CXX").filter(|named| !named.is_empty()) {
        let text = named.to_string_lossy().into_owned();
        let mut words = text.split_whitespace().map(OsString::from);
        let program = words.next().unwrap_or_default();
        if let Some(found) = find_program(&program, path.as_deref()) {
            return Ok((found, words.collect()));
        }
    }
    COMPILERS
        .iter()
        .find_map(|name| find_program(name.as_ref(), path.as_deref()))
        .map(|found| (found, Vec::new()))
        .ok_or_else(|| SimError::NoCompiler { object: object.to_path_buf(), tried: COMPILERS.join(", ") })
}

/// The shim's object, compiled once per content and compiler.
fn compiled_shim(compiler: &Path, arguments: &[OsString], cache: &Path, object: &Path) -> Result<PathBuf, SimError> {
    let mut digest = Sha256::new();
    digest.update(SHIM);
    digest.update(compiler.as_os_str().as_encoded_bytes());
    let key: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let ready = cache.join(format!("sk_shim_{key}.o"));
    if ready.is_file() {
        return Ok(ready);
    }
    std::fs::create_dir_all(cache).map_err(FileError::on("create directory", cache))?;
    let own = format!("{key}_{}", std::process::id());
    let source = cache.join(format!("sk_shim_{own}.cpp"));
    let built = cache.join(format!("sk_shim_{own}.tmp.o"));
    std::fs::write(&source, SHIM).map_err(FileError::on("write", &source))?;
    let mut command = Command::new(compiler);
    command.args(arguments).args(["-O2", "-fPIC", "-c"]).arg(&source).arg("-o").arg(&built);
    let result = run(&mut command, object);
    // Whoever comes later finds a whole file or none.
    let result =
        result.and_then(|()| std::fs::rename(&built, &ready).map_err(|e| FileError::on("rename", &built)(e).into()));
    let _ = std::fs::remove_file(&source);
    result.map(|()| ready)
}

fn run(command: &mut Command, object: &Path) -> Result<(), SimError> {
    let failed = |output: String| SimError::Link { object: object.to_path_buf(), output };
    let done = command.output().map_err(|error| failed(format!("{command:?}: {error}")))?;
    if done.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&done.stderr).into_owned()))
}

/// A loaded kernel.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    handle: *mut libc::c_void,
    block_local: Vec<(*mut u8, usize)>,
}

impl Library {
    /// Loads the library and binds its services to [`hooks`].
    pub fn open(path: &Path) -> Result<Self, SimError> {
        let data = crate::fs::read(path)?;
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| SimError::Load { library: path.to_path_buf(), reason: "the path contains a 0 byte".into() })?;
        // SAFETY: dlopen with a valid path. The initialisers of the library are those of the kernel's own globals.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(SimError::Load { library: path.to_path_buf(), reason: loader_message() });
        }
        let mut library = Self { path: path.to_path_buf(), handle, block_local: Vec::new() };
        let table = library.symbol("sk_shim_table")?.cast::<*const ()>();
        for (slot, function) in hooks::table().into_iter().enumerate() {
            // SAFETY: the table of the shim has exactly this many pointers, in this order.
            unsafe { table.cast_mut().add(slot).write(function) };
        }
        library.block_local = library.find_block_local(&data, table as usize)?;
        Ok(library)
    }

    /// The address of a function.
    pub fn symbol(&self, name: &str) -> Result<*const (), SimError> {
        let missing = || SimError::MissingFunction { library: self.path.clone(), symbol: name.to_owned() };
        let text = CString::new(name).map_err(|_| missing())?;
        // SAFETY: a live handle and a terminated name.
        let address = unsafe { libc::dlsym(self.handle, text.as_ptr()) };
        if address.is_null() { Err(missing()) } else { Ok(address.cast_const().cast()) }
    }

    /// The bytes that every core has its own copy of.
    pub fn block_local(&self) -> &[(*mut u8, usize)] {
        &self.block_local
    }

    /// Sections of per-core variables, at their loaded addresses; a known symbol gives the distance.
    fn find_block_local(&self, data: &[u8], table: usize) -> Result<Vec<(*mut u8, usize)>, SimError> {
        let broken = |reason: String| SimError::Load { library: self.path.clone(), reason };
        let file = object::File::parse(data).map_err(|error| broken(error.to_string()))?;
        let linked = file
            .dynamic_symbols()
            .find(|symbol| object::ObjectSymbol::name(symbol) == Ok("sk_shim_table"))
            .ok_or_else(|| broken("the shim is missing".to_owned()))?;
        let distance = table.wrapping_sub(object::ObjectSymbol::address(&linked) as usize);
        let sections = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(BLOCK_LOCAL)));
        Ok(sections
            .map(|section| (distance.wrapping_add(section.address() as usize) as *mut u8, section.size() as usize))
            .collect())
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
