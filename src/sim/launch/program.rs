//! Runs a program: host code that launches kernels of its own image. Global memory is an arena, a launch is a run of the
//! engine on the same library.

use std::ffi::{CString, c_char, c_int};

use super::engine;
use crate::sim::code::library::Library;
use crate::sim::interface::error::SimError;
use crate::sim::machine::arena::{self, Space};
use crate::sim::services::{hooks, host};

/// Loads a program and runs its `main` with `arguments` to its end; what it returned.
pub(crate) fn run(settings: host::Settings, arguments: &[String]) -> Result<i32, SimError> {
    let library = Library::open(&settings.library, arguments.first().map_or("", String::as_str), &hooks::table())?;
    let main = library.symbol("main")?;
    let (arena, _file) = arena::create(settings.memory, None)?;
    let space = Space::new(arena, settings.memory)?;
    host::begin(settings, engine::launch, space);
    let texts: Vec<CString> = arguments.iter().filter_map(|text| CString::new(text.as_str()).ok()).collect();
    let mut pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: `main` of the program, which takes at most these, in whatever form it declares them.
    let status = unsafe {
        std::mem::transmute::<*const (), extern "C" fn(c_int, *const *const c_char) -> c_int>(main)(
            texts.len() as c_int,
            pointers.as_ptr(),
        )
    };
    // SAFETY: flushes what host code left in buffers.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    host::finish();
    Ok(status)
}
